//! What can go wrong at the driver interface, now ([`DeviceError`]) or later ([`Failure`]).

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use millpond_types::MemoryKind;

use crate::arena::HandleError;

/// A call on the driver interface that failed at once; nothing was changed by it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The device could not give the memory.
    #[error("out of {kind} memory on {device}: {bytes} bytes asked for ({reason})")]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// The kind asked for.
        kind: MemoryKind,
        /// The bytes asked for.
        bytes: usize,
        /// What the system said.
        reason: String,
    },
    /// The device or queue doesn't offer this.
    #[error("{what} is not supported by {device}")]
    Unsupported {
        /// The device's name.
        device: String,
        /// What was asked for.
        what: String,
    },
    /// An argument breaks the contract of the call.
    #[error("invalid argument to {call}: {reason}")]
    Invalid {
        /// The call.
        call: &'static str,
        /// What is wrong, with the values.
        reason: String,
    },
    /// A handle to another process's memory is of no use.
    #[error(transparent)]
    Handle(#[from] HandleError),
    /// The device is gone, or was shut down; every later call says so too.
    #[error("{device} is lost: {reason}")]
    Lost {
        /// The device's name.
        device: String,
        /// Why.
        reason: String,
    },
}

/// Why a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The command itself reported an error.
    Command,
    /// The command found an index outside of its axis.
    Index,
    /// The command found values that can't be what they are used as.
    Value,
    /// The command met numbers for which its result is undefined, such as a singular matrix.
    Numeric,
    /// The command panicked.
    Panic,
    /// The device was lost or shut down before the command ran.
    Lost,
    /// A fault layer made it fail.
    Injected,
}

/// A command that failed after it was submitted.
///
/// Cheap to clone: every command that depends on the failed one carries the same failure.
#[derive(Clone, Debug)]
pub struct Failure(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: FailureKind,
    command: String,
    reason: String,
    origin: Option<Arc<str>>,
    surfaced: AtomicBool,
}

impl PartialEq for Failure {
    /// Whether it is the same failure of the same command, not one that looks alike.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Failure {}

impl Failure {
    /// A failure of the command described by `command`, for `reason`.
    #[must_use]
    pub fn new(kind: FailureKind, command: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::with_origin(kind, command, reason, None)
    }

    /// The same, with the source line that submitted the command.
    #[must_use]
    pub fn with_origin(
        kind: FailureKind,
        command: impl Into<String>,
        reason: impl Into<String>,
        origin: Option<Arc<str>>,
    ) -> Self {
        Self(Arc::new(Inner {
            kind,
            command: command.into(),
            reason: reason.into(),
            origin,
            surfaced: AtomicBool::new(false),
        }))
    }

    /// The reason of a failure by a panic: what the panic said.
    ///
    /// Takes the payload, whose end is foreign code as well: if that panics in turn, the second
    /// payload is leaked.
    #[must_use]
    pub fn panic_reason(payload: Box<dyn Any + Send>) -> String {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let reason = format!("panicked: {}", text.unwrap_or("the payload is not text"));
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        reason
    }

    /// Why it failed, as a kind.
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// The command with its shapes and dtypes.
    pub fn command(&self) -> &str {
        &self.0.command
    }

    /// What it reported.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Notes that a user has been told of it; whether this call was the first to note it.
    pub fn surface(&self) -> bool {
        !self.0.surfaced.swap(true, Ordering::Relaxed)
    }

    /// Whether a user has been told of it.
    pub fn is_surfaced(&self) -> bool {
        self.0.surfaced.load(Ordering::Relaxed)
    }

    /// The source line that submitted it, where lines are traced.
    pub fn origin(&self) -> Option<&str> {
        self.0.origin.as_deref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.0.command, self.0.reason)?;
        match &self.0.origin {
            Some(origin) => write!(f, " (submitted at {origin})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::*;

    /// A payload that panics when it is dropped, with one of its kind.
    struct Thorn;

    impl Drop for Thorn {
        fn drop(&mut self) {
            resume_unwind(Box::new(Thorn));
        }
    }

    #[test]
    fn a_panic_is_told_by_its_text() {
        let text = |body: fn()| Failure::panic_reason(catch_unwind(body).unwrap_err());
        assert_eq!(text(|| panic!("plain")), "panicked: plain");
        let number = || resume_unwind(Box::new(format!("number {}", 7)));
        assert_eq!(text(number), "panicked: number 7");
        let other = || resume_unwind(Box::new(7));
        assert_eq!(text(other), "panicked: the payload is not text");
    }

    #[test]
    fn a_payload_that_panics_itself_goes_no_further() {
        let reason = Failure::panic_reason(Box::new(Thorn));
        assert_eq!(reason, "panicked: the payload is not text");
    }
}
