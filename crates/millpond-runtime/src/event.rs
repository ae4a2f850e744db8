//! Events: places in a queue's history that one can wait for.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use millpond_hal::{Point, Times};

use crate::clock::Clock;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::lifecycle;
use crate::queue::{Queue, QueueCore, as_task};

/// What has become of the work that an event stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Not finished.
    Pending,
    /// Finished well.
    Complete,
    /// Failed; [`Event::wait`] says how.
    Failed,
}

/// A place in a queue's history, with what its queue knew of others when it was recorded (O6).
///
/// Plain data and cheap to clone: no driver object stands behind it. `Send`, `Sync`.
#[derive(Clone)]
pub struct Event {
    queue: Arc<QueueCore>,
    sequence: u64,
    clock: Clock,
    /// Whether it stands for everything before it on its queue.
    is_last_of_all: bool,
}

impl Event {
    /// An event for one command, which stands for those before it where they have an order.
    pub(crate) fn new(queue: Arc<QueueCore>, sequence: u64, clock: Clock) -> Self {
        Self {
            is_last_of_all: queue.native().in_order,
            queue,
            sequence,
            clock,
        }
    }

    /// The same of a command that nothing before it can outlast.
    pub(crate) fn of_all(self) -> Self {
        Self {
            is_last_of_all: true,
            ..self
        }
    }

    pub(crate) fn queue_core(&self) -> &Arc<QueueCore> {
        &self.queue
    }

    /// The number of the command on its queue; 0 is before the first.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The same as plain data.
    pub fn point(&self) -> Point {
        self.queue.native().point(self.sequence)
    }

    /// What the queue knew of others when the event was recorded.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The queue it was recorded on.
    pub fn queue(&self) -> Queue {
        Queue::of(Arc::clone(&self.queue))
    }

    /// The device of that queue.
    pub fn device(&self) -> Device {
        self.queue.device().clone()
    }

    /// What has become of the work, without waiting.
    pub fn status(&self) -> Status {
        let native = self.queue.native();
        if !native.reached(self.sequence) {
            Status::Pending
        } else if native.has_failed(self.sequence) {
            Status::Failed
        } else {
            Status::Complete
        }
    }

    /// Waits until the work has finished.
    ///
    /// # Errors
    /// Its failure, every time it is asked; the queue's wait won't repeat it.
    pub fn wait(&self) -> Result<()> {
        self.wait_until(None)
    }

    /// Waits until the work has finished or the deadline has passed.
    ///
    /// # Errors
    /// As for [`Event::wait`]; [`Error::TimedOut`].
    pub fn wait_until(&self, deadline: Option<Instant>) -> Result<()> {
        self.wait_finished(deadline)?;
        self.queue
            .native()
            .success(self.sequence)
            .map_err(|failure| {
                failure.surface();
                Error::Failed(failure)
            })
    }

    /// Waits until the work has finished, well or not, or the deadline has passed. Tells of no
    /// failure, so that a wait can be made in slices.
    ///
    /// # Errors
    /// [`Error::TimedOut`].
    pub fn wait_finished(&self, deadline: Option<Instant>) -> Result<()> {
        lifecycle::check("waiting")?;
        let native = self.queue.native();
        native.wait_until(self.sequence, deadline, Instant::now())?;
        if self.is_last_of_all {
            native.observe_all(self.sequence);
        }
        self.queue.device().site().after_wait(self.point());
        Ok(())
    }

    /// Calls back when the work has finished: at once if it has, else from a thread of the
    /// backend, which the callback must not block.
    pub fn on_complete(&self, callback: impl FnOnce(Status) + Send + 'static) {
        let event = self.clone();
        // The event may be the last that holds the device.
        let call = move || as_task(move || callback(event.status()));
        let native = self.queue.native();
        native.hal().on_reached(self.sequence, Box::new(call));
    }

    /// When the command was submitted, started and finished.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the queue doesn't profile or the command hasn't finished.
    pub fn times(&self) -> Result<Times> {
        let times = self.queue.native().hal().times(self.sequence);
        times.ok_or_else(|| Error::Invalid {
            what: "times of an event",
            reason: if self.queue().is_profiling() {
                format!("command {} has not finished", self.sequence)
            } else {
                "the queue was made without profiling".to_owned()
            },
        })
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Event({} of {}, {:?})",
            self.sequence,
            self.queue.native().id(),
            self.status()
        )
    }
}
