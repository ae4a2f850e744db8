//! A test that may wait for ever, where a rule is broken: it ends the program with a word then.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Longer than any test takes.
const LIMIT: Duration = Duration::from_mins(1);

/// Runs a test, unless it lasts too long.
#[track_caller]
pub(crate) fn watched(test: impl FnOnce()) {
    let place = std::panic::Location::caller();
    let (ended, end) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("the test at {place} waits for ever");
                std::process::abort();
            }
        });
        // Dropped when the test ends, however it does.
        let _ended = ended;
        test();
    });
}
