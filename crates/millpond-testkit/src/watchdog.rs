//! Makes a test that hangs fail instead.
//!
//! The body runs on a thread of its own. When it takes longer than a generous limit the caller
//! panics and the thread is left behind: a hung queue can't be stopped from outside.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The limit of [`watched`]: far beyond what any test needs on a loaded machine.
pub const LIMIT: Duration = Duration::from_mins(2);

/// Runs a body under [`LIMIT`].
///
/// # Panics
/// With the panic of the body, or when the limit passes.
pub fn watched<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    watched_for(LIMIT, body)
}

/// Runs a body under a limit.
///
/// # Panics
/// With the panic of the body, or when the limit passes.
pub fn watched_for<T: Send + 'static>(
    limit: Duration,
    body: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, finished) = channel();
    let name = thread::current().name().unwrap_or("watched").to_owned();
    let worker = thread::Builder::new()
        .name(name)
        .spawn(move || {
            // The receiver has gone only if the limit passed, and then nobody wants the result.
            let _ = done.send(body());
        })
        .expect("the system has a thread for the test");
    match finished.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("the test did not end within {limit:?}"),
        Err(RecvTimeoutError::Disconnected) => match worker.join() {
            Err(panic) => resume_unwind(panic),
            Ok(()) => unreachable!("the body ends by a result or by a panic"),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_result_comes_through() {
        assert_eq!(watched(|| 7), 7);
    }

    #[test]
    #[should_panic(expected = "its own words")]
    fn a_panic_keeps_its_message() {
        watched(|| panic!("its own words"));
    }

    #[test]
    #[should_panic(expected = "did not end")]
    fn a_hang_is_a_failure() {
        let (_open, closed) = channel::<()>();
        let _ = watched_for(Duration::from_millis(20), move || closed.recv());
    }
}
