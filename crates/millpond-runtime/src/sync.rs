//! Locks of the runtime and the order in which they are taken.
//!
//! Lock ranks, taken in this order only: lines of queues, by ascending queue id; an allocation's
//! list of uses; a pool's store; the list of deferred releases. No driver call that can block, no
//! user code and no destructor of foreign memory runs under any of them; kernels of small inline
//! commands do run under the lines that guard their operands.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose data is valid at every unwind point, so that poison can be ignored.
#[inline]
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
