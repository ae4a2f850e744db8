//! The synchronisation types that the executor is built from, in one place.
//!
//! A model checker replaces them here and nowhere else.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, Weak};

/// Locks a mutex. Poisoning is ignored: no foreign code runs under the crate's locks, and the
/// crate's own code leaves its data whole at every point where it could panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value on a cache line pair of its own, so that threads that write it don't slow down those
/// that use its neighbours.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);
