//! How much there is in a store: numbers that are written under its lock only, and read without it
//! by requests that pass by a store which has nothing for them.

use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes of a store's extents.
#[derive(Debug, Default)]
pub(crate) struct Stock {
    free: AtomicUsize,
    pending: AtomicUsize,
}

impl Stock {
    /// Bytes of free extents. Who knows that some were freed finds them counted.
    pub(crate) fn free(&self) -> usize {
        self.free.load(Relaxed)
    }

    /// Bytes of extents that wait for their last use.
    pub(crate) fn pending(&self) -> usize {
        self.pending.load(Relaxed)
    }

    /// Counts bytes that are free from now on, or no longer; under the lock.
    pub(super) fn count_free(&self, change: isize) {
        let now = self.free().wrapping_add_signed(change);
        self.free.store(now, Relaxed);
    }

    /// The same for bytes that wait.
    pub(super) fn count_pending(&self, change: isize) {
        let now = self.pending().wrapping_add_signed(change);
        self.pending.store(now, Relaxed);
    }
}
