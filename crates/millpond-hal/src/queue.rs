//! A line of commands on one device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::command::{Submission, Touch};
use crate::error::{DeviceError, Failure};
use crate::point::{Point, Progress, QueueId};

/// How a queue is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueOptions {
    /// Commands may start as soon as their `after` points are reached.
    pub out_of_order: bool,
    /// Keep the times of each command for [`Queue::times`].
    pub profiling: bool,
}

/// When a command was submitted, started and finished, since a moment fixed for the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Handed to the queue.
    pub submitted: Duration,
    /// Began to run.
    pub started: Duration,
    /// Finished.
    pub finished: Duration,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The point is reached.
    Reached,
    /// The deadline passed first.
    TimedOut,
}

/// Work that was joined to a launch ([`Growing`](crate::Growing)) rather than submitted.
#[derive(Clone, Debug)]
pub struct Joined<'a> {
    /// The number of the launch on its queue.
    pub sequence: u64,
    /// What the launch is by now.
    pub command: Arc<str>,
    /// What the work uses.
    pub touches: &'a [Touch],
    /// The source line it comes from, where lines are traced.
    pub origin: Option<Arc<str>>,
}

/// A line of commands on one device.
pub trait Queue: Send + Sync {
    /// Identity, part of every point.
    fn id(&self) -> QueueId;

    /// How far it has come.
    fn progress(&self) -> &Progress;

    /// Appends a command; it starts after what the crate's rules B2 and B3 say.
    ///
    /// # Errors
    /// [`DeviceError::Lost`]; a command that the backend doesn't offer. Nothing was appended then.
    ///
    /// # Safety
    /// Rules A1 to A4 of the crate, and the safety rules of the kernel in a launch.
    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Point, DeviceError>;

    /// Told of work that was joined to the last command, by whoever serialises the calls of
    /// [`submit`](Queue::submit). A queue needn't know; layers that check do, and are told where the
    /// device [listens](crate::Device::listens).
    fn joined(&self, joined: &Joined<'_>) {
        let _ = joined;
    }

    /// Whether exactly this command of this queue has finished, well or not. Polls the device.
    fn reached(&self, sequence: u64) -> bool;

    /// How a finished command ended; `None` while it hasn't. The backend remembers the failures
    /// of a queue for as long as the queue lives.
    fn outcome(&self, sequence: u64) -> Option<Result<(), Failure>>;

    /// The failures of the queue in the order in which they happened, but the first `skip`, each
    /// with the sequence number of the command that failed.
    fn failures(&self, skip: usize) -> Vec<(u64, Failure)>;

    /// Waits until the command has finished, well or not, or the deadline passes. A host device
    /// lets the waiting thread help.
    fn wait(&self, sequence: u64, deadline: Option<Instant>) -> Wait;

    /// Calls `callback` when the command has finished: at once if it has, else from a thread of
    /// the backend, which the callback must not block.
    fn on_reached(&self, sequence: u64, callback: Box<dyn FnOnce() + Send>);

    /// The times of a finished command, where profiling is on and they are still kept.
    fn times(&self, sequence: u64) -> Option<Times>;
}
