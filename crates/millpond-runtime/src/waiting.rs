//! The one place where the runtime blocks a thread.
//!
//! A surface whose threads hold a lock that others need while they run (an interpreter's, rule O9)
//! installs a hook that lets go of it for the time of the wait. Every wait goes through it, also
//! those that a program doesn't see: for room on a queue, for memory, and for commands on memory
//! that is shared with the host.

use std::sync::OnceLock;

/// Calls its argument exactly once, with the surface's locks let go of.
pub type Hook = fn(&mut (dyn FnMut() + Send));

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Installs the hook; the first one stays. Whether this call installed it.
pub fn set_hook(hook: Hook) -> bool {
    HOOK.set(hook).is_ok()
}

/// Runs a wait inside of the hook.
pub(crate) fn run(wait: impl FnOnce() + Send) {
    let mut wait = Some(wait);
    let mut once = || {
        if let Some(wait) = wait.take() {
            wait();
        }
    };
    match HOOK.get() {
        Some(hook) => hook(&mut once),
        None => once(),
    }
}
