//! The one place where the runtime blocks a thread.
//!
//! A surface whose threads hold a lock that others need while they run (an interpreter's, rule O9)
//! installs a hook that lets go of it for the time of the wait. Every wait goes through it, also
//! those that a program doesn't see: for room on a queue, for memory, and for commands on memory
//! that is shared with the host. These can be given up, for instance when the user interrupts the
//! program; waits whose command uses a borrowed buffer can't.

use std::sync::OnceLock;
use std::time::Instant;

use crate::queue::interrupt_holds;

/// Waits until the moment given, or without end; whether what is waited for is there.
pub type Slice<'a> = dyn FnMut(Option<Instant>) -> bool + Send + 'a;

/// Calls the slice with the surface's locks let go of, until it answers that what is waited for is
/// there, and answers so too. Only where the second argument allows may it give up and answer
/// `false`; else it calls the slice without a moment.
pub type Hook = fn(&mut Slice<'_>, bool) -> bool;

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Installs the hook; the first one stays. Whether this call installed it.
pub fn set_hook(hook: Hook) -> bool {
    HOOK.set(hook).is_ok()
}

/// Runs a wait inside of the hook; whether what was waited for is there.
pub(crate) fn run(may_stop: bool, mut slice: impl FnMut(Option<Instant>) -> bool + Send) -> bool {
    interrupt_holds();
    match HOOK.get() {
        Some(hook) => hook(&mut slice, may_stop),
        None => slice(None),
    }
}
