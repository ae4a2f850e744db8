//! Whether the runtime may be used in this process, and what remains of it at the end.
//!
//! One word says it: *running*, *shut down* (after [`shut_down`]) or *forked* (in a child of
//! `fork`). Every call that touches a device reads the word first. In the last two states memory
//! and queues are leaked rather than given back: the threads and drivers that would be needed are
//! gone or going (rule O10).

use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::{Error, Result};

const RUNNING: u8 = 0;
const SHUT_DOWN: u8 = 1;
const FORKED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(RUNNING);

/// Fails unless the runtime may be used for `what`.
#[inline]
pub(crate) fn check(what: &'static str) -> Result<()> {
    match STATE.load(Ordering::Relaxed) {
        RUNNING => Ok(()),
        SHUT_DOWN => Err(Error::ShutDown { what }),
        _ => Err(Error::Forked { what }),
    }
}

/// Whether destructors may call drivers and take locks.
#[inline]
pub(crate) fn is_running() -> bool {
    STATE.load(Ordering::Relaxed) == RUNNING
}

/// Whether this is a forked child, where nobody may be left to unlock what was locked.
pub(crate) fn is_forked() -> bool {
    STATE.load(Ordering::Relaxed) == FORKED
}

/// From now on every call answers [`Error::ShutDown`] and destructors leak.
pub(crate) fn shut_down() {
    // In a forked child the stronger answer stays.
    let _ = STATE.compare_exchange(RUNNING, SHUT_DOWN, Ordering::SeqCst, Ordering::SeqCst);
}

/// Arranges that children of `fork` know what they are. Called when a device is opened.
pub(crate) fn watch_forks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(register);
}

extern "C" fn in_child() {
    STATE.store(FORKED, Ordering::SeqCst);
}

fn register() {
    // SAFETY: the handler is a plain function that stores one atomic, which is allowed in the
    // child of a multi-threaded process; the null handlers are documented as absent.
    let status = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    // Without memory for the handler a fork isn't noticed; nothing else suffers.
    debug_assert_eq!(status, 0, "pthread_atfork failed");
}
