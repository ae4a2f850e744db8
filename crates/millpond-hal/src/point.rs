//! Places in a queue's history, and how far a queue has come.

use std::fmt;
use std::sync::atomic::Ordering;

use crate::sync::AtomicU64;

/// Identity of a queue within the process; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId(u64);

impl QueueId {
    /// A new identity, different from all others made in this process.
    #[must_use]
    pub fn next() -> Self {
        // Not part of what is modelled, and a model has no statics of its own.
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The number behind the identity.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "queue {}", self.0)
    }
}

/// A place in a queue's history: after the command with this sequence number.
///
/// Sequence 0 is before the first command and always reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point {
    /// The queue.
    pub queue: QueueId,
    /// The command's number on it, from 1.
    pub sequence: u64,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.sequence, self.queue)
    }
}

/// How far a queue has come; written by its backend, read by anyone without a lock.
#[derive(Debug, Default)]
pub struct Progress {
    completed: AtomicU64,
    failed: AtomicU64,
}

impl Progress {
    /// Every command up to this number has finished (the longest finished prefix).
    ///
    /// The load acquires: effects of those commands are visible afterwards.
    #[inline]
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// How many commands of the queue have failed so far.
    #[inline]
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Acquire)
    }

    /// For backends: publishes a longer prefix. Never goes back.
    pub fn advance(&self, completed: u64) {
        self.completed.fetch_max(completed, Ordering::Release);
    }

    /// For backends: counts a failed command, before its completion is published.
    pub fn count_failure(&self) {
        self.failed.fetch_add(1, Ordering::Release);
    }
}
