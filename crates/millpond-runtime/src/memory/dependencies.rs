//! What a command must follow: points, of which those that its content depends on and those that it
//! only must not overtake are told apart.

use std::sync::Arc;

use millpond_hal::Point;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::queue::{Native, stop_if_interrupted};

/// What a command must follow, gathered over its operands.
#[derive(Debug, Default)]
pub(crate) struct Dependencies {
    /// Points whose content it needs: order, and failure passed on.
    pub(crate) after: SmallVec<[(Arc<Native>, u64); 4]>,
    /// Points that it only must not overtake.
    pub(crate) behind: SmallVec<[(Arc<Native>, u64); 4]>,
}

impl Dependencies {
    /// Adds what others have to follow.
    pub(crate) fn append(&mut self, mut others: Self) {
        self.after.append(&mut others.after);
        self.behind.append(&mut others.behind);
    }

    /// Adds an event, unless it is reached.
    pub(crate) fn follow(&mut self, event: &Event) {
        let native = event.queue_core().native();
        if !native.reached(event.sequence()) {
            self.behind.push((Arc::clone(native), event.sequence()));
        }
    }

    /// Whether there is nothing to follow.
    pub(crate) fn is_empty(&self) -> bool {
        self.after.is_empty() && self.behind.is_empty()
    }

    /// The points of a list that belong to queues of `driver`, which its queues can follow.
    pub(crate) fn points(list: &[(Arc<Native>, u64)], driver: u64) -> SmallVec<[Point; 4]> {
        list.iter()
            .filter(|(queue, _)| queue.driver == driver)
            .map(|(queue, sequence)| Point {
                queue: queue.id(),
                sequence: *sequence,
            })
            .collect()
    }

    /// The points of a list that belong to queues of other drivers.
    pub(crate) fn strangers(
        list: &[(Arc<Native>, u64)],
        driver: u64,
    ) -> impl Iterator<Item = &(Arc<Native>, u64)> {
        list.iter().filter(move |(queue, _)| queue.driver != driver)
    }

    /// Waits on the host for all of it; the failure of what content was needed of.
    pub(crate) fn wait(&self) -> Result<()> {
        const WHAT: &str = "a wait for memory";
        for (queue, sequence) in &self.behind {
            stop_if_interrupted(queue.wait_or_stop(*sequence, WHAT))?;
        }
        for (queue, sequence) in &self.after {
            let waited = queue.wait_or_stop(*sequence, WHAT);
            if let Err(Error::Failed(failure)) = &waited {
                failure.surface();
            }
            waited?;
        }
        Ok(())
    }
}
