//! Numbers under which queues keep their caches of pools: small, and used again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::lifecycle;

/// A number that no other pool has while this lives.
#[derive(Debug)]
pub(crate) struct Slot(usize);

fn taken() -> MutexGuard<'static, Vec<bool>> {
    static TAKEN: Mutex<Vec<bool>> = Mutex::new(Vec::new());
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slot {
    /// The smallest number that is free.
    pub(crate) fn take() -> Self {
        let mut taken = taken();
        let index = taken.iter().position(|taken| !taken).unwrap_or(taken.len());
        if index == taken.len() {
            taken.push(true);
        } else {
            taken[index] = true;
        }
        Self(index)
    }

    #[inline]
    pub(crate) fn index(&self) -> usize {
        self.0
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // In a forked child nobody may be left to unlock the list.
        if lifecycle::is_running() {
            taken()[self.0] = false;
        }
    }
}
