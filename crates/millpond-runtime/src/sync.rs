//! Locks of the runtime and the order in which they are taken.
//!
//! Lock ranks, taken in this order only: lines of queues, by ascending queue id; an allocation's
//! list of uses; a pool's store; the list of queues that keep blocks of a pool; the list of deferred
//! releases; the count of ways that memory is on. A lock that is only tried has no rank. No driver call that can block, no
//! user code and no destructor of foreign memory runs under any of them; kernels of small inline
//! commands do run under the lines that guard their operands.
//!
//! The types are those of a model checker where one runs the code (`pool/model`). Under
//! `cfg(loom)` only numbers are, since what a load may see is its question; under `cfg(shuttle)`,
//! which asks for the order of steps, locks and flags are as well. Reference counts stay the
//! standard library's, and so do statics and most of what threads hold.

use std::sync::{PoisonError, TryLockError};

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

#[cfg(shuttle)]
pub(crate) use shuttle::thread_local;
#[cfg(not(shuttle))]
pub(crate) use std::thread_local;

#[cfg(loom)]
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8};
}
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::atomic;

/// Locks a mutex whose data is valid at every unwind point, so that poison can be ignored.
#[inline]
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, if nobody has it locked.
#[inline]
pub(crate) fn try_lock<T: ?Sized>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Lets the checker run another thread where the code looks at a count that it doesn't know.
#[inline]
pub(crate) fn between_counts() {
    #[cfg(shuttle)]
    shuttle::thread::yield_now();
}
