//! A pool's budget: the bytes that it has from the driver, and the most that it may have.
//!
//! Bytes are reserved before the driver is asked for them and given back after it has them again,
//! so the maximum holds at every moment, whatever many threads ask for at once.

use crate::pool::limit::Limit;
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts bytes; no other memory is published by them, so nothing here orders any.
#[derive(Debug)]
pub(crate) struct Budget {
    /// The most that may be reserved.
    pub(crate) maximum: Limit,
    /// Had from the driver, growth in flight included.
    reserved: AtomicUsize,
    high: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(maximum: Option<usize>) -> Self {
        Self {
            maximum: Limit::new(maximum),
            reserved: AtomicUsize::new(0),
            high: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub(crate) fn reserved(&self) -> usize {
        self.reserved.load(Relaxed)
    }

    /// The most that was reserved when growth that succeeded began, or since.
    pub(crate) fn high(&self) -> usize {
        self.high.load(Relaxed)
    }

    pub(crate) fn reset_high(&self) {
        self.high.store(self.reserved(), Relaxed);
    }

    /// Bytes that would have to be given back before there is room for so many.
    pub(crate) fn shortage(&self, bytes: usize) -> usize {
        let sum = self.reserved().saturating_add(bytes);
        sum.saturating_sub(self.maximum.bytes())
    }

    /// Reserves bytes for growth, if the maximum allows it.
    pub(crate) fn reserve(&self, bytes: usize) -> Option<Growth<'_>> {
        let reserved = self.add(bytes)?;
        Some(Growth {
            budget: self,
            bytes,
            reserved,
        })
    }

    /// What is reserved with these bytes more.
    fn add(&self, bytes: usize) -> Option<usize> {
        let maximum = self.maximum.bytes();
        let within = |reserved: usize| {
            let sum = reserved.checked_add(bytes)?;
            (sum <= maximum).then_some(sum)
        };
        let before = self.reserved.fetch_update(Relaxed, Relaxed, within).ok()?;
        Some(before + bytes)
    }

    /// Counts memory that the pool no longer has: the driver has it back.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.reserved.fetch_sub(bytes, Relaxed);
    }

    /// Counts memory that is all the pool will ever have.
    pub(crate) fn fix(&self, bytes: usize) {
        self.reserved.store(bytes, Relaxed);
        self.high.store(bytes, Relaxed);
    }
}

/// Reserved bytes that the driver is being asked for; given back unless they are kept.
#[derive(Debug)]
#[must_use = "what isn't kept is given back"]
pub(crate) struct Growth<'a> {
    budget: &'a Budget,
    bytes: usize,
    /// What the pool had reserved with them.
    reserved: usize,
}

impl Growth<'_> {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reserves what the driver gave beyond what was asked for, if the maximum allows it.
    pub(crate) fn extend_to(&mut self, bytes: usize) -> bool {
        let Some(reserved) = self.budget.add(bytes - self.bytes) else {
            return false;
        };
        (self.bytes, self.reserved) = (bytes, reserved);
        true
    }

    /// The driver gave the memory.
    pub(crate) fn keep(self) {
        let high = self.reserved.max(self.budget.reserved());
        self.budget.high.fetch_max(high, Relaxed);
        std::mem::forget(self);
    }
}

impl Drop for Growth<'_> {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}
