//! Where commands come from: source lines, kept for messages when a surface asks for it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

static ANY: AtomicBool = AtomicBool::new(false);

thread_local! {
    static ORIGIN: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Sets the source line that commands submitted by this thread come from; `None` for unknown.
///
/// Surfaces call it when `MILLPOND_TRACE_LINES` is on.
pub fn set_origin(origin: Option<Arc<str>>) {
    if origin.is_some() {
        ANY.store(true, Ordering::Relaxed);
    }
    ORIGIN.set(origin);
}

/// The source line set last by this thread.
pub(crate) fn current_origin() -> Option<Arc<str>> {
    if !ANY.load(Ordering::Relaxed) {
        return None;
    }
    ORIGIN.with_borrow(Clone::clone)
}
