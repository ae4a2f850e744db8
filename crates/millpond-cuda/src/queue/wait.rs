//! Waiting for a command.
//!
//! While the device has the command, the waiting thread looks at the counter that it will move, at a
//! [`Pace`] and without the queue's lock; while it has another of the queue, the thread lets the queue
//! move on. Else it sleeps until a thread has done so.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use millpond_hal::Wait;

use super::CudaQueue;
use crate::crew::Blocked;
use crate::lanes::Signal;
use crate::pace::Pace;

impl CudaQueue {
    /// Whether a command has finished, by what is known.
    pub(super) fn is_known(&self, sequence: u64) -> bool {
        self.progress.completed() >= sequence
            || (!self.in_order && self.lock().line.is_finished(sequence))
    }

    /// Whether a command has finished, after a look at the device.
    pub(super) fn is_reached(self: &Arc<Self>, sequence: u64) -> bool {
        self.is_known(sequence) || {
            self.poll();
            self.is_known(sequence)
        }
    }

    /// Waits for a command.
    pub(super) fn wait_for(self: &Arc<Self>, sequence: u64, deadline: Option<Instant>) -> Wait {
        if self.is_reached(sequence) {
            return Wait::Reached;
        }
        let _blocked = Blocked::begin();
        let pace = Pace::new();
        loop {
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late || self.is_beyond_the_end(sequence) {
                return Wait::TimedOut;
            }
            let standing = {
                let mut state = self.lock();
                (state.line.issued_as(sequence), state.line.in_flight())
            };
            match standing {
                (Some(signal), _) => self.watch(signal, &pace, deadline),
                (None, true) => {
                    if pace.step(deadline) {
                        self.probe();
                    }
                }
                (None, false) => self.sleep(sequence, deadline),
            }
            if self.is_reached(sequence) {
                return Wait::Reached;
            }
        }
    }

    /// Looks at a counter until it has come so far, or for a pause: there may be more to look at.
    fn watch(&self, signal: Signal, pace: &Pace, deadline: Option<Instant>) {
        while !signal.is_given() {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return;
            }
            if pace.step(deadline) {
                return self.probe();
            }
        }
    }

    /// Sleeps until something moves, unless the device has something by now.
    fn sleep(&self, sequence: u64, deadline: Option<Instant>) {
        let mut state = self.lock();
        let here = state.line.completed() >= sequence || state.line.is_finished(sequence);
        if here || state.line.in_flight() {
            return;
        }
        state.line.sleepers += 1;
        let mut state = match deadline {
            None => self
                .wake
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                let answer = self.wake.wait_timeout(state, left);
                answer.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        state.line.sleepers -= 1;
    }

    /// Whether the command was not submitted and never can be.
    fn is_beyond_the_end(&self, sequence: u64) -> bool {
        sequence > self.submitted() && self.station.is_closed()
    }

    /// Wakes whoever waits, for instance because the device was shut down.
    pub(crate) fn rouse(&self) {
        self.wake.notify_all();
    }
}
