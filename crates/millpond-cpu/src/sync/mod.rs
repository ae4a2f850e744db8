//! The synchronisation types that the executor is built from, in one place.
//!
//! Under `cfg(loom)` they are those of the model checker, so that the models in
//! `executor/model.rs` run the code itself. Reference counts stay the standard library's, and so
//! does the registry's lock: nothing happens under it that another thread could see half done.

#[cfg(not(loom))]
mod host {
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread_local;

    pub(crate) mod thread {
        pub(crate) use std::thread::{
            Builder, JoinHandle, Thread, ThreadId, current, park, park_timeout, yield_now,
        };

        /// Whether a thread has ended.
        pub(crate) fn is_finished(handle: &JoinHandle<()>) -> bool {
            handle.is_finished()
        }
    }
}

#[cfg(loom)]
mod modelled;

#[cfg(not(loom))]
pub(crate) use host::*;
#[cfg(loom)]
pub(crate) use modelled::*;
pub(crate) use std::sync::{Arc, PoisonError, RwLock, Weak};

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
