//! The synchronisation types of what is modelled: those of a checker where one runs the code.
//!
//! Under `cfg(loom)` only the number behind [`Progress`](crate::Progress) is: what a load may see
//! is its question. Under `cfg(shuttle)`, which asks for the order of steps, the locks are as well,
//! so that the models of whole pools run over the null driver. Reference counts, and what statics
//! hold, stay the standard library's.

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64},
};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic::AtomicBool};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::AtomicU64;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::atomic::AtomicU64;
