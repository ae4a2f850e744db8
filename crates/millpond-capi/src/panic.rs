//! The border that no panic crosses.

use std::panic::{AssertUnwindSafe, catch_unwind};

use millpond::Failure;

use crate::status::{Problem, Result, Status, keep};

/// Runs the body of a function of the interface; its status. What went wrong is kept for the thread.
pub(crate) fn guard(body: impl FnOnce() -> Result<()>) -> Status {
    // What a panic left half done is behind locks that know of it, or of this call alone.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(problem)) => keep(problem),
        Err(payload) => keep(Problem::Panic(Failure::panic_reason(payload))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::last;

    #[test]
    fn a_panic_becomes_a_status_and_a_message() {
        let status = guard(|| std::panic::resume_unwind(Box::new("ouch")));
        assert_eq!(status, Status::Panic);
        let message = last().unwrap().to_string();
        assert_eq!(message, "a fault in millpond: panicked: ouch");
        assert_eq!(guard(|| Ok(())), Status::Ok);
        assert!(last().is_some(), "success forgets nothing");
    }
}
