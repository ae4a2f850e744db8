//! Who follows whom: what a command has yet to follow, and who is told when it moves on.

use millpond_hal::Failure;

use super::Line;
use super::slot::Stage;
use crate::lanes::Signal;
use crate::queue::dependent::Dependent;

/// How far a command is, for one that follows it.
pub(in crate::queue) enum Answer {
    /// It is finished, with its failure.
    Finished(Option<Failure>),
    /// The device will have done it at this signal.
    Follow(Signal),
    /// Not so far; whoever asked will be told.
    Later,
}

/// Where a command stands, for a stream that is to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standpoint {
    /// It is finished.
    Reached,
    /// The device will have done it at this signal.
    Given(Signal),
    /// The device hasn't got it yet.
    Ahead,
}

impl Line {
    /// How far a command is, for a dependent, which is kept if that is not far enough.
    pub(in crate::queue) fn attach(
        &mut self,
        sequence: u64,
        dependent: Dependent,
    ) -> (Answer, Option<Dependent>) {
        if self.is_finished(sequence) {
            let failure = self.failure(sequence).cloned();
            return (Answer::Finished(failure), Some(dependent));
        }
        match self.slot(sequence) {
            Some(slot) => {
                if let Stage::Issued(signal) = slot.stage
                    && dependent.follows_issue(slot.doubtful)
                {
                    return (Answer::Follow(signal), Some(dependent));
                }
                slot.dependents.push(dependent);
                self.attached += 1;
            }
            None => self.early.push((sequence, dependent)),
        }
        (Answer::Later, None)
    }

    /// Takes `count` blockers off a command. What it must follow on the device is added to its
    /// signals; a failure becomes its own.
    ///
    /// Does nothing if the command has begun, which happens after [`Line::give_up`].
    pub(in crate::queue) fn unblock(
        &mut self,
        sequence: u64,
        count: u32,
        signals: &[Signal],
        failure: Option<&Failure>,
    ) {
        let Some(slot) = self.slot(sequence) else {
            return;
        };
        if slot.stage != Stage::Waiting || slot.blockers == 0 {
            return;
        }
        if slot.failure.is_none() {
            slot.failure = failure.cloned();
        }
        slot.signals.extend_from_slice(signals);
        slot.blockers = slot.blockers.saturating_sub(count);
        if slot.blockers == 0 {
            self.unblocked(sequence);
        }
    }

    /// Has a command that hasn't begun follow something on the device.
    pub(in crate::queue) fn follow(&mut self, sequence: u64, signal: Signal) {
        if let Some(slot) = self.slot(sequence) {
            slot.signals.push(signal);
        }
    }

    /// Where a command stands, for a stream that is to wait for it.
    pub(in crate::queue) fn standpoint(&mut self, sequence: u64) -> Standpoint {
        if self.is_finished(sequence) {
            return Standpoint::Reached;
        }
        match self.slot(sequence).map(|slot| slot.stage) {
            Some(Stage::Issued(signal)) => Standpoint::Given(signal),
            _ => Standpoint::Ahead,
        }
    }

    pub(super) fn unblocked(&mut self, sequence: u64) {
        if !self.in_order {
            self.unordered.unblocked(sequence, self.completed);
        }
    }

    /// The failure of the commands of its own queue that a command depends on, as far as is known.
    pub(in crate::queue) fn inherited(&mut self, sequence: u64) -> Option<Failure> {
        if self.failures.is_empty() {
            return None;
        }
        let shares = self.slot(sequence)?.shares.clone();
        shares.iter().find_map(|&on| self.failure(on).cloned())
    }

    /// Whether a command depends on one of its queue's that may yet be found to have failed.
    pub(super) fn shares_doubt(&mut self, sequence: u64) -> bool {
        let shares = self.slot(sequence).map(|slot| slot.shares.clone());
        let mut shares = shares.unwrap_or_default().into_iter();
        shares.any(|on| self.slot(on).is_some_and(|slot| slot.doubtful))
    }

    /// Takes the callbacks for commands that will never be submitted.
    pub(in crate::queue) fn take_early(&mut self) -> Vec<(u64, Dependent)> {
        std::mem::take(&mut self.early)
    }
}
