//! Each rule of the library, broken in turn: the other tests notice.
//!
//! ```text
//! cargo test -p millpond-ur --features mutants --test conformance mutants
//! ```

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ur_adapter_millpond::mutants::Rule;

/// What names the rule to break.
const NAMED: &str = "MILLPOND_UR_MUTANT";

/// Tests that a broken rule has wait for ever have noticed it.
const LIMIT: Duration = Duration::from_secs(30);

/// Whether all other tests pass, with a rule broken or none.
fn passes(rule: Option<Rule>) -> bool {
    let program = std::env::current_exe().expect("a test has a program");
    let mut command = Command::new(program);
    command.args(["--quiet", "--skip", "mutants::"]);
    if let Some(rule) = rule {
        command.env(NAMED, format!("{rule:?}"));
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a test can be run again");
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

#[test]
fn every_broken_rule_is_noticed() {
    assert!(passes(None), "the tests pass while nothing is broken");
    let survivors: Vec<_> = Rule::ALL
        .iter()
        .filter(|rule| passes(Some(**rule)))
        .collect();
    assert!(
        survivors.is_empty(),
        "nobody notices {survivors:?} of {}",
        Rule::ALL.len()
    );
}
