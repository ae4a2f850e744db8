//! How many queues of a device a wait could be for, to be asked without a lock.
//!
//! A queue counts from its first command, or the first event that it is told to follow, until a wait
//! finds it idle with every failure told. Both are noted under its line. Whoever finds that none
//! counts knows as much as whoever looked at all of them:
//!
//! * What a thread submitted, or heard of, was counted before; the count goes down only for a wait
//!   that found it finished.
//! * That wait saw what the commands wrote, and hands it on: who reads the count sees it too.
//!
//! Commands that ran on the calling thread leave no trace, here neither.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// The queues of a device that count.
#[derive(Debug, Default)]
pub(crate) struct Unsettled(AtomicUsize);

impl Unsettled {
    /// Whether there is none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }
}

/// Whether one queue counts; guarded by its line.
#[derive(Debug, Default)]
pub(crate) struct Counted(bool);

impl Counted {
    /// Counts the queue, before it gets something to wait for.
    #[inline]
    pub(crate) fn begin(&mut self, all: &Unsettled) {
        if !self.0 {
            self.0 = true;
            all.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts it no more, once a wait has seen that there is nothing left.
    #[inline]
    pub(crate) fn end(&mut self, all: &Unsettled) {
        if self.0 {
            self.0 = false;
            all.0.fetch_sub(1, Ordering::Release);
        }
    }
}
