//! A queue of the null driver: a handle to its line in the world.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::device::Shared;
use super::world::World;
use crate::command::Submission;
use crate::error::{DeviceError, Failure};
use crate::point::{Point, Progress, QueueId};
use crate::queue::{Queue, QueueOptions, Times, Wait};

/// A queue that touches no memory.
pub struct NullQueue {
    id: QueueId,
    progress: Arc<Progress>,
    device: Arc<Shared>,
    /// What messages call the device.
    label: Arc<str>,
}

impl NullQueue {
    pub(super) fn new(device: &Arc<Shared>, label: Arc<str>, options: &QueueOptions) -> Self {
        let (id, progress) = device.world.open_line(options);
        Self {
            id,
            progress,
            device: Arc::clone(device),
            label,
        }
    }

    /// Ends one command, if one may start: the answer is its sequence number.
    pub fn step(&self) -> Option<u64> {
        self.world().step(Some(self.id)).map(|point| point.sequence)
    }

    /// Ends every command of this queue that may start, until none is left that may; the answer
    /// is their number.
    pub fn run_all(&self) -> usize {
        std::iter::from_fn(|| self.step()).count()
    }

    fn world(&self) -> &Arc<World> {
        &self.device.world
    }

    fn point(&self, sequence: u64) -> Point {
        Point {
            queue: self.id,
            sequence,
        }
    }
}

impl Queue for NullQueue {
    fn id(&self) -> QueueId {
        self.id
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Point, DeviceError> {
        self.device.check_alive(&self.label)?;
        Ok(self.world().append(self.id, submission))
    }

    fn reached(&self, sequence: u64) -> bool {
        if self.progress.completed() >= sequence {
            return true;
        }
        self.world().poll();
        self.world().finished(self.point(sequence))
    }

    fn outcome(&self, sequence: u64) -> Option<Result<(), Failure>> {
        self.world().poll();
        self.world().outcome(self.point(sequence))
    }

    fn failures(&self, skip: usize) -> Vec<(u64, Failure)> {
        self.world().poll();
        self.world().failures(self.id, skip)
    }

    fn wait(&self, sequence: u64, deadline: Option<Instant>) -> Wait {
        self.world().wait(self.point(sequence), deadline)
    }

    fn on_reached(&self, sequence: u64, callback: Box<dyn FnOnce() + Send>) {
        self.world().on_finish(self.point(sequence), callback);
    }

    fn times(&self, _sequence: u64) -> Option<Times> {
        None
    }
}

impl Drop for NullQueue {
    fn drop(&mut self) {
        self.world().close_line(self.id);
    }
}

impl fmt::Debug for NullQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NullQueue")
            .field("id", &self.id)
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}
