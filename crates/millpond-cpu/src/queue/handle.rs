//! The handle that users of a queue hold.
//!
//! Separate from the queue itself, which pending commands keep alive after the last handle is
//! dropped (rule B6).

use std::time::Instant;

use millpond_hal::recorder::now;
use millpond_hal::{
    DeviceError, Failure, Point, Progress, Queue, QueueId, Submission, Times, Wait,
};
use smallvec::SmallVec;

use super::CpuQueue;
use super::dependent::{Callback, Dependent, notify};
use super::line::Notes;
use crate::sync::{Arc, Ordering, lock};

/// A user's handle of a queue.
pub(crate) struct QueueHandle(pub(crate) Arc<CpuQueue>);

/// A point that a command must wait for, or whose failure it must look up.
struct Need {
    queue: Arc<CpuQueue>,
    sequence: u64,
    shares_failure: bool,
}

impl CpuQueue {
    /// The points that aren't known to have been reached well.
    fn needs(
        self: &Arc<Self>,
        after: &[Point],
        behind: &[Point],
    ) -> Result<SmallVec<[Need; 4]>, DeviceError> {
        let mut needs = SmallVec::new();
        let after = after.iter().map(|point| (point, true));
        let behind = behind.iter().map(|point| (point, false));
        for (point, shares_failure) in after.chain(behind) {
            let queue = if point.queue == self.id {
                Arc::clone(self)
            } else {
                // A queue that has ended has finished all its commands.
                match self.registry.find(point.queue) {
                    Some(queue) => queue,
                    None => continue,
                }
            };
            let submitted = queue.submitted.load(Ordering::Acquire);
            if point.sequence > submitted {
                return Err(DeviceError::Invalid {
                    call: "submit",
                    reason: format!("{point} was not submitted yet, the last is {submitted}"),
                });
            }
            let reached = queue.progress.completed() >= point.sequence;
            let settled = if shares_failure {
                reached && queue.progress.failed() == 0
            } else {
                reached || (self.in_order && point.queue == self.id)
            };
            if !settled {
                needs.push(Need {
                    queue,
                    sequence: point.sequence,
                    shares_failure,
                });
            }
        }
        Ok(needs)
    }

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
        let needs = self.needs(after, behind)?;
        // One blocker more than needs, if there are any, so that the command doesn't start while
        // they are gone through.
        let blockers = if needs.is_empty() {
            0
        } else {
            needs.len() as u32 + 1
        };
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
    fn settle(self: &Arc<Self>, sequence: u64, needs: SmallVec<[Need; 4]>) {
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
