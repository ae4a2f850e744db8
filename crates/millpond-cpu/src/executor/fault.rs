//! Foreign code that goes wrong: its panics are caught here, before they could end a thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use millpond_hal::{Command, Failure, FailureKind, KernelError};

/// What went wrong, not yet tied to a command.
#[derive(Debug)]
pub(crate) struct Fault {
    kind: FailureKind,
    reason: String,
}

impl Fault {
    /// The failure of `command` by this fault.
    pub(crate) fn of(self, command: Command, origin: Option<Arc<str>>) -> Failure {
        let Self { kind, reason } = self;
        // A kernel describes itself, so even this may panic.
        let name = guard(|| Ok::<_, String>(command.to_string()));
        discard(command);
        let name = name.unwrap_or_else(|_| "command without a description".to_owned());
        Failure::with_origin(kind, name, reason, origin)
    }
}

/// Runs foreign code. Its error or its panic is a fault.
pub(crate) fn guard<T, E: Into<KernelError>>(
    body: impl FnOnce() -> Result<T, E>,
) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let KernelError { kind, reason } = error.into();
            Err(Fault { kind, reason })
        }
        Err(payload) => Err(Fault {
            kind: FailureKind::Panic,
            reason: Failure::panic_reason(payload),
        }),
    }
}

/// Drops what foreign code made. A panic in that has nowhere to go.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Whoever panics twice in a row leaks.
        std::mem::forget(payload);
    }
}
