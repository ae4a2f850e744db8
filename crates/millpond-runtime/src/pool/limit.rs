//! A number of bytes that may be set, read by any thread.

use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// At most so many bytes, if that is said.
#[derive(Debug)]
pub(crate) struct Limit(AtomicUsize);

impl Limit {
    pub(crate) fn new(bytes: Option<usize>) -> Self {
        Self(AtomicUsize::new(bytes.unwrap_or(usize::MAX)))
    }

    /// The bytes; more than there can be, if nothing is said.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.0.load(Relaxed)
    }

    /// The bytes, if they are said.
    pub(crate) fn get(&self) -> Option<usize> {
        known(self.bytes())
    }

    /// Changes it; what it was.
    pub(crate) fn set(&self, bytes: Option<usize>) -> Option<usize> {
        known(self.0.swap(bytes.unwrap_or(usize::MAX), Relaxed))
    }
}

fn known(bytes: usize) -> Option<usize> {
    (bytes != usize::MAX).then_some(bytes)
}
