//! Who is told when a command moves on, and how: without recursion and without a lock.
//!
//! What happens under a queue's lock is collected as [`Effects`] and carried out when the lock is
//! gone. An effect may move another queue, whose effects join the list; so a chain of any length
//! needs constant stack.

use std::collections::VecDeque;
use std::sync::Arc;

use millpond_hal::{Failure, Watch};

use super::line::Begun;
use super::{CudaQueue, Work};
use crate::lanes::Signal;
use crate::order::Order;

/// Code that wants to know that a command has finished.
pub(crate) type Callback = Box<dyn FnOnce() + Send>;

/// Who waits for a command.
pub(super) enum Dependent {
    /// A command that starts after it.
    Command {
        /// Its queue.
        queue: Arc<CudaQueue>,
        /// Its number.
        sequence: u64,
        /// Whether a failure becomes its own.
        shares_failure: bool,
        /// Whether the device can make it wait, so that it need not be held back.
        follows_issue: bool,
    },
    /// A callback.
    Callback(Callback),
    /// Who asked to be told of this very command.
    Watch(Arc<dyn Watch>),
}

impl Dependent {
    /// Whether it need not wait for the end of what it follows, which is doubtful if the device may yet
    /// find it to have failed.
    pub(super) const fn follows_issue(&self, doubtful: bool) -> bool {
        match self {
            Self::Command {
                follows_issue,
                shares_failure,
                ..
            } => *follows_issue && (!*shares_failure || !doubtful),
            Self::Callback(_) | Self::Watch(_) => false,
        }
    }
}

/// One thing to be done without a lock.
enum Effect {
    Unblock {
        queue: Arc<CudaQueue>,
        sequence: u64,
        signal: Option<Signal>,
        failure: Option<Failure>,
    },
    Run(Arc<CudaQueue>, Begun),
    Make(Order),
    Call(Arc<CudaQueue>, Callback),
}

/// What is to be done once the lock is gone.
#[must_use = "effects must be carried out"]
pub(super) struct Effects {
    queue: Arc<CudaQueue>,
    list: VecDeque<Effect>,
}

impl Effects {
    /// Those of a queue.
    pub(super) fn of(queue: &Arc<CudaQueue>) -> Self {
        Self {
            queue: Arc::clone(queue),
            list: VecDeque::new(),
        }
    }

    /// A command that `dependent` follows was given to the device.
    pub(super) fn issued(&mut self, dependent: Dependent, signal: Signal) {
        if let Dependent::Command {
            queue, sequence, ..
        } = dependent
        {
            self.list.push_back(Effect::Unblock {
                queue,
                sequence,
                signal: Some(signal),
                failure: None,
            });
        }
    }

    /// A command that `dependent` follows has ended.
    pub(super) fn finished(&mut self, dependent: Dependent, failure: Option<&Failure>) {
        let effect = match dependent {
            Dependent::Command {
                queue,
                sequence,
                shares_failure,
                ..
            } => Effect::Unblock {
                queue,
                sequence,
                signal: None,
                failure: failure.filter(|_| shares_failure).cloned(),
            },
            Dependent::Callback(callback) => Effect::Call(Arc::clone(&self.queue), callback),
            Dependent::Watch(watch) => {
                let failure = failure.cloned();
                let ended = Box::new(move || watch.ended(failure.as_ref()));
                // Right now, under the lock, so that it comes behind what was told before.
                return self.queue.station().courier.post(ended);
            }
        };
        self.list.push_back(effect);
    }

    /// The device was given a command: whoever watches it is told by the courier.
    pub(super) fn began(&self, watch: Arc<dyn Watch>) {
        let began = Box::new(move || watch.began());
        self.queue.station().courier.post(began);
    }

    /// A command of the queue is for a thread to carry out.
    pub(super) fn run(&mut self, begun: Begun) {
        let effect = Effect::Run(Arc::clone(&self.queue), begun);
        self.list.push_back(effect);
    }

    /// A program, if there is one, is for a thread to make.
    pub(super) fn make(&mut self, order: Option<Order>) {
        self.list.extend(order.map(Effect::Make));
    }

    /// Carries everything out; work for threads goes to the crews.
    pub(super) fn carry_out(self) {
        let keep = false;
        let kept = self.go(keep);
        debug_assert!(kept.is_none());
    }

    /// Carries everything out on a thread of a crew, which keeps the first work for itself.
    pub(super) fn carry_out_but_one(self) -> Option<Work> {
        self.go(true)
    }

    fn go(mut self, keep: bool) -> Option<Work> {
        let mut kept = None;
        while let Some(effect) = self.list.pop_front() {
            match effect {
                Effect::Unblock {
                    queue,
                    sequence,
                    signal,
                    failure,
                } => {
                    let mut more = queue.unblock(sequence, 1, signal.as_slice(), failure.as_ref());
                    self.list.append(&mut more.list);
                }
                Effect::Run(queue, begun) if keep && kept.is_none() => {
                    kept = Some(Work::Command(queue, begun));
                }
                Effect::Run(queue, begun) => {
                    let station = Arc::clone(queue.station());
                    station.crew.give(Work::Command(queue, begun));
                }
                Effect::Make(order) => {
                    let station = self.queue.station();
                    station.orders.give(station, order);
                }
                Effect::Call(queue, callback) => queue.station().courier.post(callback),
            }
        }
        kept
    }
}
