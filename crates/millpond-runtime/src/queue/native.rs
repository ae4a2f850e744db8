//! A backend's queue with what the runtime asks of it all the time.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use millpond_hal as hal;
use millpond_hal::{Failure, Point, Progress, QueueId, Wait};

use crate::error::Error;
use crate::waiting;

/// A backend's queue, kept alive by whoever may have to ask whether a point of it was reached.
pub(crate) struct Native {
    queue: Arc<dyn hal::Queue>,
    id: QueueId,
    /// The driver it belongs to; only queues of one driver can follow each other natively.
    pub(crate) driver: u64,
    /// Whether its commands take effect in order.
    pub(crate) in_order: bool,
}

impl Native {
    pub(crate) fn new(queue: Arc<dyn hal::Queue>, driver: u64, in_order: bool) -> Self {
        let id = queue.id();
        Self {
            queue,
            id,
            driver,
            in_order,
        }
    }

    #[inline]
    pub(crate) fn id(&self) -> QueueId {
        self.id
    }

    /// The point after a command of this queue.
    pub(crate) fn point(&self, sequence: u64) -> Point {
        Point {
            queue: self.id,
            sequence,
        }
    }

    #[inline]
    pub(crate) fn progress(&self) -> &Progress {
        self.queue.progress()
    }

    /// Whether exactly this command has finished.
    pub(crate) fn reached(&self, sequence: u64) -> bool {
        sequence <= self.queue.progress().completed() || self.queue.reached(sequence)
    }

    /// Whether this command has finished and failed; cheap for a queue without failures.
    #[inline]
    pub(crate) fn has_failed(&self, sequence: u64) -> bool {
        sequence != 0
            && self.queue.progress().failed() != 0
            && matches!(self.queue.outcome(sequence), Some(Err(_)))
    }

    /// Waits without a deadline, whatever the surface has to say; the failure if it failed.
    pub(crate) fn wait(&self, sequence: u64) -> Result<(), Failure> {
        if !self.reached(sequence) {
            waiting::run(false, |_| self.queue.wait(sequence, None) == Wait::Reached);
        }
        self.success(sequence)
    }

    /// Waits without a deadline, unless the surface gives up; the failure if it failed.
    pub(crate) fn wait_or_stop(&self, sequence: u64, what: &'static str) -> Result<(), Error> {
        let reached = self.reached(sequence)
            || waiting::run(true, |until| {
                self.queue.wait(sequence, until) == Wait::Reached
            });
        if !reached {
            return Err(Error::Interrupted { what });
        }
        Ok(self.success(sequence)?)
    }

    /// Waits for one command, well or not, until the deadline.
    pub(crate) fn wait_until(
        &self,
        sequence: u64,
        deadline: Option<Instant>,
        begin: Instant,
    ) -> Result<(), Error> {
        if self.reached(sequence) {
            return Ok(());
        }
        let mut answer = Wait::Reached;
        waiting::run(false, |_| {
            answer = self.queue.wait(sequence, deadline);
            true
        });
        match answer {
            Wait::Reached => Ok(()),
            Wait::TimedOut => Err(Error::TimedOut {
                waited: begin.elapsed(),
            }),
        }
    }

    /// How a finished command ended.
    pub(crate) fn success(&self, sequence: u64) -> Result<(), Failure> {
        if self.has_failed(sequence) {
            return self.queue.outcome(sequence).unwrap_or(Ok(()));
        }
        Ok(())
    }

    pub(crate) fn hal(&self) -> &Arc<dyn hal::Queue> {
        &self.queue
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)
    }
}
