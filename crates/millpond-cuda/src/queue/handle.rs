//! The handle that users of a queue hold.
//!
//! Separate from the queue itself, which pending commands keep alive after the last handle is
//! dropped (rule B6).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use millpond_hal::needs::{Followed, Needs};
use millpond_hal::recorder::now;
use millpond_hal::{
    DeviceError, Failure, Point, Progress, Queue, QueueId, Submission, Times, Wait,
};
use smallvec::SmallVec;

use super::CudaQueue;
use super::dependent::{Callback, Dependent, Effects};
use super::line::{Answer, Notes};
use super::route::Route;
use crate::device::shut_down;

/// A user's handle of a queue.
pub(crate) struct QueueHandle(pub(crate) Arc<CudaQueue>);

impl Followed for CudaQueue {
    fn id(&self) -> QueueId {
        self.id
    }

    fn is_in_order(&self) -> bool {
        self.in_order
    }

    fn submitted(&self) -> u64 {
        self.submitted()
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl CudaQueue {
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
        let notes = Notes { origin, watch };
        let route = Route::of(&self.station, self.in_order, &command)?;
        let registry = &self.station.system.registry;
        let mut needs = Needs::of(self, after, behind, |id| registry.find(id))?;
        let mut shares = SmallVec::new();
        if self.in_order {
            // What comes before it on its queue does so anyway; what became of that is looked up.
            needs.retain(|need| {
                let is_own = need.queue.id == self.id;
                if is_own && need.shares_failure {
                    shares.push(need.sequence);
                }
                !is_own
            });
        }
        let blockers = needs.blockers();
        let mut effects = Effects::of(self);
        let sequence = {
            let mut state = self.lock();
            // Under the lock, so that a shutdown that begins now waits for the command.
            if self.station.is_closing() {
                return Err(shut_down(self.station.card.label()));
            }
            let early = self.begin_early(&mut state, &command)?;
            let sequence = state.line.push(command, route, notes, shares, blockers);
            if let Some(signal) = early {
                state.line.follow(sequence, signal);
            }
            if let Some(recorder) = &mut state.recorder {
                recorder.submitted(sequence, now());
            }
            self.submitted.store(sequence, Ordering::Release);
            self.advance(&mut state, &mut effects);
            sequence
        };
        effects.carry_out();
        if blockers > 0 {
            self.meet(sequence, route, needs);
        }
        Ok(Point {
            queue: self.id,
            sequence,
        })
    }

    /// Makes a command follow its needs; what is far enough already counts at once.
    fn meet(self: &Arc<Self>, sequence: u64, route: Route, needs: Needs<Arc<Self>>) {
        let mut met = 1;
        let mut signals = SmallVec::<[_; 4]>::new();
        let mut failure = None;
        for need in needs {
            let dependent = Dependent::Command {
                queue: Arc::clone(self),
                sequence,
                shares_failure: need.shares_failure,
                follows_issue: route.follows_issue(),
            };
            let mut effects = Effects::of(&need.queue);
            let mut state = need.queue.lock();
            let (answer, unused) = state.line.attach(need.sequence, dependent);
            need.queue.advance(&mut state, &mut effects);
            drop(state);
            effects.carry_out();
            // The dependent holds a queue, which must not end under a lock.
            drop(unused);
            match answer {
                Answer::Later => continue,
                Answer::Follow(signal) => signals.push(signal),
                Answer::Finished(reason) => {
                    if need.shares_failure && failure.is_none() {
                        failure = reason;
                    }
                }
            }
            met += 1;
        }
        self.unblock(sequence, met, &signals, failure.as_ref())
            .carry_out();
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
        let station = &self.0.station;
        if station.is_closing() {
            return Err(shut_down(station.card.label()));
        }
        if let Some(error) = station.card.gone() {
            return Err(error);
        }
        self.0.append(submission)
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
        let state = self.0.lock();
        Some(state.line.failure(sequence).cloned().map_or(Ok(()), Err))
    }

    fn failures(&self, skip: usize) -> Vec<(u64, Failure)> {
        self.0.poll();
        self.0.lock().line.failures(skip).to_vec()
    }

    fn wait(&self, sequence: u64, deadline: Option<Instant>) -> Wait {
        self.0.wait_for(sequence, deadline)
    }

    fn on_reached(&self, sequence: u64, callback: Callback) {
        if self.0.is_reached(sequence) {
            callback();
            return;
        }
        let (answer, unused) = {
            let mut state = self.0.lock();
            state.line.attach(sequence, Dependent::Callback(callback))
        };
        if let (Answer::Finished(_), Some(Dependent::Callback(callback))) = (answer, unused) {
            callback();
            return;
        }
        // The courier looks after it from now on, if need be.
        self.0.poll();
        if sequence > self.0.submitted() && self.0.station.is_closed() {
            self.0.release_early();
        }
    }

    fn times(&self, sequence: u64) -> Option<Times> {
        self.0.poll();
        let state = self.0.lock();
        let finished = state.line.is_finished(sequence);
        state
            .recorder
            .as_ref()
            .filter(|_| finished)?
            .times(sequence)
    }
}

impl Drop for QueueHandle {
    fn drop(&mut self) {
        self.0.lock().line.closed = true;
        self.0.poll();
    }
}
