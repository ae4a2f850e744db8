//! Queues without handles whose work goes on.
//!
//! Dropping the last handle of a queue neither stops nor waits for what was submitted to it. A
//! wait for the device is for that work too, and tells of failures that nobody else can tell of.

use std::sync::Arc;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::queue::Native;
use crate::sync::{Mutex, lock};

/// The queues of a device that are gone and matter still.
#[derive(Debug, Default)]
pub(crate) struct Gone(Mutex<Vec<Left>>);

/// What is left of a queue.
#[derive(Debug)]
struct Left {
    native: Arc<Native>,
    /// Its last command.
    last: u64,
    /// How many of its failures were told.
    told: usize,
}

impl Left {
    fn matters(&self) -> bool {
        let native = &self.native;
        native.known(false) < self.last || native.progress().failed() as usize > self.told
    }
}

impl Gone {
    /// Takes note of a queue whose last handle goes.
    pub(crate) fn add(&self, native: &Arc<Native>, last: u64, told: usize) {
        native.leave();
        let left = Left {
            native: Arc::clone(native),
            last,
            told,
        };
        if !left.matters() {
            return;
        }
        let mut gone = lock(&self.0);
        if gone.len() == gone.capacity() {
            gone.retain(Left::matters);
        }
        gone.push(left);
    }

    /// Waits for all that is left, or until the deadline.
    pub(crate) fn finish(&self, deadline: Option<Instant>) -> Result<()> {
        let begin = Instant::now();
        let left: Vec<(Arc<Native>, u64)> = lock(&self.0)
            .iter()
            .map(|left| (Arc::clone(&left.native), left.last))
            .collect();
        for (native, last) in left {
            // The last of an out-of-order queue may end before others.
            while native.known(false) < last {
                native.wait_until(native.known(false) + 1, deadline, begin)?;
            }
        }
        lock(&self.0).retain(Left::matters);
        Ok(())
    }

    /// Tells of the first failure that wasn't told yet.
    pub(crate) fn check(&self) -> Result<()> {
        for left in lock(&self.0).iter_mut() {
            for (_, failure) in left.native.hal().failures(left.told) {
                left.told += 1;
                if failure.surface() {
                    return Err(Error::Failed(failure));
                }
            }
        }
        Ok(())
    }

    /// Whether nothing is left to wait for nor to tell.
    pub(crate) fn is_settled(&self) -> bool {
        let mut gone = lock(&self.0);
        gone.retain(Left::matters);
        gone.is_empty()
    }
}
