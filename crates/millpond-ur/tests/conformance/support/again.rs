//! The tests of this program, run again in another way.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Tests that something has wait for ever have noticed it.
const LIMIT: Duration = Duration::from_mins(1);

/// This program with all tests but those whose names have one of these words.
pub(crate) fn command(skipped: &[&str]) -> Command {
    let program = std::env::current_exe().expect("a test has a program");
    let mut command = Command::new(program);
    command.arg("--quiet");
    for word in skipped {
        command.args(["--skip", word]);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Whether all of them pass.
pub(crate) fn passes(mut command: Command) -> bool {
    let mut child: Child = command.spawn().expect("a test can be run again");
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child is there") {
            return status.success();
        }
        if begin.elapsed() > LIMIT {
            child.kill().expect("a child is there");
            child.wait().expect("a child is there");
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
