//! What went wrong in foreign code, before it is tied to a command.

use std::any::Any;
use std::sync::Arc;

use millpond_hal::{Command, Failure, FailureKind};

/// The kind and the reason of a failure.
#[derive(Debug)]
pub(crate) struct Fault {
    kind: FailureKind,
    reason: String,
}

impl Fault {
    /// The failure of `command` by this fault.
    pub(crate) fn of(self, command: &Command, origin: Option<Arc<str>>) -> Failure {
        command.fail(self.kind, self.reason, origin)
    }
}

impl From<(FailureKind, String)> for Fault {
    fn from((kind, reason): (FailureKind, String)) -> Self {
        Self { kind, reason }
    }
}

/// The message of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "panic with a payload that isn't text".to_owned()
    }
}
