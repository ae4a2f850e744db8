//! A backend's queue with what the runtime asks of it all the time.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use millpond_hal as hal;
use millpond_hal::{Failure, Point, Progress, QueueId, Wait};

use crate::error::Error;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, lock};
use crate::waiting;

/// How many commands of an out-of-order queue are remembered that the host waited for one by one,
/// beyond those before which it waited for all. More are forgotten, the oldest first: they count as
/// over when the host waits for all of the queue.
const ALONE: usize = 1024;

/// A backend's queue, kept alive by whoever may have to ask whether a point of it was reached.
pub(crate) struct Native {
    queue: Arc<dyn hal::Queue>,
    id: QueueId,
    /// The driver it belongs to; only queues of one driver can follow each other natively.
    pub(crate) driver: u64,
    /// Whether its commands take effect in order.
    pub(crate) in_order: bool,
    /// Up to here the host has waited for every command. Who reads it sees what these wrote, also
    /// if another thread waited.
    observed: AtomicU64,
    /// The commands beyond that it has waited for, on a queue where they stand for no others.
    observed_alone: Mutex<BTreeSet<u64>>,
    /// Whether it has no handles any more.
    is_gone: AtomicBool,
}

impl Native {
    pub(crate) fn new(queue: Arc<dyn hal::Queue>, driver: u64, in_order: bool) -> Self {
        let id = queue.id();
        Self {
            queue,
            id,
            driver,
            in_order,
            observed: AtomicU64::new(0),
            observed_alone: Mutex::default(),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Up to here every command is over: has completed or, if the answer must not depend on
    /// timing, was waited for by the host. Nobody can wait for a queue that is gone, so what has
    /// completed there is over.
    #[inline]
    pub(crate) fn known(&self, timeless: bool) -> u64 {
        if timeless && !self.is_gone.load(Ordering::Relaxed) {
            self.observed.load(Ordering::Acquire)
        } else {
            self.progress().completed()
        }
    }

    /// Whether exactly this command is over, in the same sense.
    #[inline]
    pub(crate) fn is_over(&self, sequence: u64, timeless: bool) -> bool {
        sequence <= self.known(timeless)
            || if timeless {
                !self.in_order && lock(&self.observed_alone).contains(&sequence)
            } else {
                self.queue.reached(sequence)
            }
    }

    /// Notes that the host has waited for a command, which stands for those before it where they
    /// have an order.
    #[inline]
    fn observe(&self, sequence: u64) {
        if self.in_order {
            self.observe_all(sequence);
        } else {
            self.observe_alone(sequence);
        }
    }

    #[cold]
    fn observe_alone(&self, sequence: u64) {
        let mut alone = lock(&self.observed_alone);
        let mut observed = self.observed.load(Ordering::Relaxed);
        if sequence > observed {
            alone.insert(sequence);
        }
        while alone.first().is_some_and(|&first| first <= observed + 1) {
            observed = observed.max(alone.pop_first().unwrap_or(0));
        }
        if alone.len() > ALONE {
            alone.pop_first();
        }
        self.observe_all(observed);
    }

    /// Notes that the host has waited for every command up to this one.
    #[inline]
    pub(crate) fn observe_all(&self, sequence: u64) {
        if self.observed.load(Ordering::Relaxed) < sequence {
            self.observed.fetch_max(sequence, Ordering::Release);
        }
    }

    /// Notes that there are no handles any more.
    pub(crate) fn leave(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
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
        self.is_over(sequence, false)
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
        self.observe(sequence);
        self.success(sequence)
    }

    /// Waits without a deadline, unless the surface gives up; the failure if it failed.
    pub(crate) fn wait_or_stop(&self, sequence: u64, what: &'static str) -> Result<(), Error> {
        self.stall(sequence, what)?;
        self.observe(sequence);
        Ok(self.success(sequence)?)
    }

    /// The same where it depends on timing whether there is a wait at all: it is no wait of the
    /// host's that memory may count on, and how the command ended is for others to tell.
    pub(crate) fn stall(&self, sequence: u64, what: &'static str) -> Result<(), Error> {
        let reached = self.reached(sequence)
            || waiting::run(true, |until| {
                self.queue.wait(sequence, until) == Wait::Reached
            });
        if !reached {
            return Err(Error::Interrupted { what });
        }
        Ok(())
    }

    /// Waits for one command, well or not, until a moment, unless the surface gives up; whether it
    /// is reached.
    pub(crate) fn wait_some(
        &self,
        sequence: u64,
        moment: Instant,
        what: &'static str,
    ) -> Result<bool, Error> {
        let mut reached = self.reached(sequence);
        let ended = reached
            || waiting::run(true, |until| {
                let end = until.map_or(moment, |until| until.min(moment));
                reached = self.queue.wait(sequence, Some(end)) == Wait::Reached;
                reached || Instant::now() >= moment
            });
        if !ended {
            return Err(Error::Interrupted { what });
        }
        if reached {
            self.observe(sequence);
        }
        Ok(reached)
    }

    /// Waits for one command, well or not, until the deadline.
    pub(crate) fn wait_until(
        &self,
        sequence: u64,
        deadline: Option<Instant>,
        begin: Instant,
    ) -> Result<(), Error> {
        if self.reached(sequence) {
            self.observe(sequence);
            return Ok(());
        }
        let mut answer = Wait::Reached;
        waiting::run(false, |_| {
            answer = self.queue.wait(sequence, deadline);
            true
        });
        match answer {
            Wait::Reached => {
                self.observe(sequence);
                Ok(())
            }
            Wait::TimedOut => Err(Error::TimedOut {
                waited: begin.elapsed(),
            }),
        }
    }

    /// Waits for every command up to this one, well or not, until the deadline.
    pub(crate) fn wait_for_all(
        &self,
        last: u64,
        deadline: Option<Instant>,
        begin: Instant,
    ) -> Result<(), Error> {
        if self.in_order {
            return self.wait_until(last, deadline, begin);
        }
        // The last of an out-of-order queue may end before others.
        while self.known(false) < last {
            self.wait_until(self.known(false) + 1, deadline, begin)?;
        }
        self.observe_all(last);
        Ok(())
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
