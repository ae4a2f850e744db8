//! Reclaimers: callbacks that give memory up when it becomes short, in levels.
//!
//! They run on the thread that allocates, without any lock of the runtime, in the order in which
//! they were registered. What they free may be pending: the allocation then waits for it like for
//! any other free. An allocation that a reclaimer makes itself calls none.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use millpond_types::MemoryKind;

use crate::lifecycle;
use crate::sync::{Mutex, lock, thread_local};

/// How short memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// A tag is beyond its soft budget. The allocation succeeds.
    Soft,
    /// The pool can't grow: without memory given up the allocation has to wait.
    Growth,
    /// Nothing is left to wait for: without memory given up the allocation fails.
    Critical,
}

/// What a reclaimer is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pressure {
    /// How short memory is.
    pub level: Level,
    /// The pool that is asked, by name.
    pub pool: String,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// Bytes that are wanted.
    pub wanted: usize,
    /// The tag that is beyond its soft budget.
    pub tag: Option<String>,
}

type Callback = dyn Fn(&Pressure) + Send + Sync;

/// The reclaimers of a device.
#[derive(Default)]
pub(crate) struct Reclaimers {
    list: Mutex<Vec<(u64, Arc<Callback>)>>,
}

/// A registered reclaimer; it is called until this is dropped.
#[must_use = "the reclaimer is removed when this is dropped"]
pub struct Reclaimer {
    id: u64,
    of: Weak<Reclaimers>,
}

thread_local! {
    /// Whether this thread runs a reclaimer.
    static RECLAIMING: Cell<bool> = const { Cell::new(false) };
}

impl Reclaimers {
    pub(crate) fn add(self: &Arc<Self>, callback: Arc<Callback>) -> Reclaimer {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Relaxed);
        lock(&self.list).push((id, callback));
        Reclaimer {
            id,
            of: Arc::downgrade(self),
        }
    }

    /// Calls one reclaimer after the other for as long as `enough` says that there isn't; whether
    /// there is in the end.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.list).is_empty()
    }

    pub(crate) fn call(&self, pressure: &Pressure, mut enough: impl FnMut() -> bool) -> bool {
        struct Restore;
        impl Drop for Restore {
            fn drop(&mut self) {
                RECLAIMING.with(|flag| flag.set(false));
            }
        }
        if RECLAIMING.with(Cell::get) {
            return false;
        }
        let callbacks: Vec<_> = lock(&self.list)
            .iter()
            .map(|(_, one)| Arc::clone(one))
            .collect();
        for callback in callbacks {
            RECLAIMING.with(|flag| flag.set(true));
            let restore = Restore;
            callback(pressure);
            drop(restore);
            if enough() {
                return true;
            }
        }
        false
    }
}

impl Drop for Reclaimer {
    fn drop(&mut self) {
        let Some(reclaimers) = self.of.upgrade() else {
            return;
        };
        if !lifecycle::is_running() {
            // Nobody is called any more, and in a forked child the list may stay locked for ever.
            std::mem::forget(reclaimers);
            return;
        }
        let mut list = lock(&reclaimers.list);
        let position = list.iter().position(|(id, _)| *id == self.id);
        let removed = position.map(|position| list.remove(position));
        drop(list);
        // What the callback holds may be memory.
        drop(removed);
    }
}

impl fmt::Debug for Reclaimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reclaimer({})", self.id)
    }
}

impl fmt::Debug for Reclaimers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reclaimers({})", lock(&self.list).len())
    }
}
