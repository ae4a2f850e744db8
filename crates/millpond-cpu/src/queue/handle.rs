//! The handle that users of a queue hold.
//!
//! Separate from the queue itself, which pending commands keep alive after the last handle is
//! dropped (rule B6).

use std::time::Instant;

use millpond_hal::needs::{Followed, Needs};
use millpond_hal::recorder::now;
use millpond_hal::{
    DeviceError, Failure, Point, Progress, Queue, QueueId, Submission, Times, Wait,
};

use super::CpuQueue;
use super::dependent::{Callback, Dependent, notify};
use super::line::Notes;
use crate::sync::{Arc, Ordering, lock};

/// A user's handle of a queue.
pub(crate) struct QueueHandle(pub(crate) Arc<CpuQueue>);

impl Followed for CpuQueue {
    fn id(&self) -> QueueId {
        self.id
    }

    fn is_in_order(&self) -> bool {
        self.in_order
    }

    fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl CpuQueue {
    fn append(self: &Arc<Self>, submission: Submission<'_>) -> Result<Point, DeviceError> {
        let Submission {
            command,
            after,
            behind,
            touches: _,
            claims: _,
            origin,
            watch,
        } = submission;
        let needs = Needs::of(self, after, behind, |id| self.registry.find(id))?;
        let blockers = needs.blockers();
        let (sequence, offer) = {
            let mut line = lock(&self.line);
            let sequence = line.push(command, Notes { origin, watch }, blockers, now);
            self.submitted.store(sequence, Ordering::Release);
            (sequence, self.offer(&line))
        };
        self.publish(&offer);
        if blockers > 0 {
            self.settle(sequence, needs);
        }
        Ok(Point {
            queue: self.id,
            sequence,
        })
    }

    /// Makes a command wait for its needs; those that are reached already count at once.
    fn settle(self: &Arc<Self>, sequence: u64, needs: Needs<Arc<Self>>) {
        let mut settled = 1;
        let mut failure = None;
        for need in needs {
            let dependent = Dependent::Command {
                queue: Arc::clone(self),
                sequence,
                shares_failure: need.shares_failure,
            };
            let mut line = lock(&need.queue.line);
            let answer = line.attach(need.sequence, dependent);
            if answer.is_err() {
                settled += 1;
                if need.shares_failure && failure.is_none() {
                    failure = line.failure(need.sequence).cloned();
                }
            }
            // The answer may hold a queue, which must not end under a lock.
            drop(line);
        }
        self.unblock(sequence, settled, failure.as_ref());
    }
}

impl Queue for QueueHandle {
    fn id(&self) -> QueueId {
        self.0.id
    }

    fn progress(&self) -> &Progress {
        &self.0.progress
    }

    unsafe fn submit(&self, submission: Submission<'_>) -> Result<Point, DeviceError> {
        let crew = self.0.crew();
        if !CpuQueue::offers(&submission.command) {
            return Err(DeviceError::Unsupported {
                device: crew.label().to_owned(),
                what: submission.command.to_string(),
            });
        }
        if !crew.enter() {
            return Err(crate::device::shut_down(crew.label()));
        }
        self.0.append(submission).inspect_err(|_| crew.leave())
    }

    fn reached(&self, sequence: u64) -> bool {
        self.0.is_reached(sequence)
    }

    fn outcome(&self, sequence: u64) -> Option<Result<(), Failure>> {
        if !self.0.is_reached(sequence) {
            return None;
        }
        if self.0.progress.failed() == 0 {
            return Some(Ok(()));
        }
        let line = lock(&self.0.line);
        Some(line.failure(sequence).cloned().map_or(Ok(()), Err))
    }

    fn failures(&self, skip: usize) -> Vec<(u64, Failure)> {
        lock(&self.0.line).failures(skip).to_vec()
    }

    fn wait(&self, sequence: u64, deadline: Option<Instant>) -> Wait {
        self.0.wait_for(sequence, deadline)
    }

    fn on_reached(&self, sequence: u64, callback: Callback) {
        let answer = lock(&self.0.line).attach(sequence, Dependent::Callback(callback));
        match answer {
            Ok(()) => {
                let submitted = self.0.submitted.load(Ordering::Acquire);
                if sequence > submitted && self.0.crew().is_finished() {
                    self.0.release_early();
                }
            }
            Err(dependent) => notify(vec![dependent], None),
        }
    }

    fn times(&self, sequence: u64) -> Option<Times> {
        lock(&self.0.line).times(sequence)
    }
}
