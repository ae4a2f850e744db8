//! What a queue has yet to finish, as a plain state machine.
//!
//! A line knows which command may start next and what becomes of the others when one finishes.
//! Each operation costs constant time however many commands wait (a barrier's release is charged
//! to the commands it held back). It runs no foreign code, takes no lock and knows no thread:
//! its owner holds it in a mutex and acts on what it answers.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use millpond_hal::recorder::Recorder;
use millpond_hal::unordered::Unordered;
use millpond_hal::{Command, Failure, Times, Watch};

use super::dependent::Dependent;
use crate::sync::Arc;
use crate::sync::thread::ThreadId;

/// Capacity that an empty line may keep.
const KEPT_SLOTS: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not started.
    Waiting,
    /// A thread runs it.
    Started,
    /// A gate that was reached and is closed.
    Gated,
    /// Finished, behind others that aren't.
    Finished,
}

/// One command that isn't finished, or is but not yet part of the finished prefix.
struct Slot {
    stage: Stage,
    /// Points that it must follow and that aren't reached yet.
    blockers: u32,
    command: Option<Command>,
    /// The failure of one of its `after` points.
    failure: Option<Failure>,
    notes: Notes,
    dependents: Vec<Dependent>,
}

/// What goes with a command and doesn't change what it does.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) origin: Option<Arc<str>>,
    pub(crate) watch: Option<Arc<dyn Watch>>,
}

/// A command that was taken out of the line to be run.
pub(crate) struct Begun {
    pub(crate) sequence: u64,
    pub(crate) command: Command,
    /// Set if the command must not run but fail with this.
    pub(crate) failure: Option<Failure>,
    pub(crate) notes: Notes,
}

/// The unfinished commands of a queue, its failures and its times.
pub(crate) struct Line {
    in_order: bool,
    /// Every command up to this number is finished.
    completed: u64,
    /// The commands after `completed`.
    slots: VecDeque<Slot>,
    /// Out of order only: commands that may start.
    unordered: Unordered,
    /// In the order in which they happened.
    failures: Vec<(u64, Failure)>,
    /// Where among them that of a command is.
    failure_of: HashMap<u64, usize>,
    /// Dependents of commands that aren't submitted yet.
    early: Vec<(u64, Dependent)>,
    recorder: Option<Recorder>,
}

impl Line {
    pub(crate) fn new(in_order: bool, profiling: bool) -> Self {
        Self {
            in_order,
            completed: 0,
            slots: VecDeque::new(),
            unordered: Unordered::default(),
            failures: Vec::new(),
            failure_of: HashMap::new(),
            early: Vec::new(),
            recorder: profiling.then(Recorder::default),
        }
    }

    /// Every command up to this number is finished.
    pub(crate) fn completed(&self) -> u64 {
        self.completed
    }

    fn slot(&mut self, sequence: u64) -> Option<&mut Slot> {
        let index = sequence.checked_sub(self.completed + 1)?;
        self.slots.get_mut(usize::try_from(index).ok()?)
    }

    pub(crate) fn is_finished(&self, sequence: u64) -> bool {
        match sequence.checked_sub(self.completed + 1) {
            None => true,
            Some(index) => self
                .slots
                .get(index as usize)
                .is_some_and(|slot| slot.stage == Stage::Finished),
        }
    }

    pub(crate) fn failure(&self, sequence: u64) -> Option<&Failure> {
        let index = *self.failure_of.get(&sequence)?;
        self.failures.get(index).map(|(_, failure)| failure)
    }

    /// The failures but the first `skip`.
    pub(crate) fn failures(&self, skip: usize) -> &[(u64, Failure)] {
        self.failures.get(skip..).unwrap_or_default()
    }

    pub(crate) fn times(&self, sequence: u64) -> Option<Times> {
        self.recorder.as_ref()?.times(sequence)
    }

    /// Appends a command that can't start before `blockers` calls of [`Line::unblock`].
    pub(crate) fn push(
        &mut self,
        command: Command,
        notes: Notes,
        blockers: u32,
        now: impl FnOnce() -> Duration,
    ) -> u64 {
        let sequence = self.completed + self.slots.len() as u64 + 1;
        let mut dependents = Vec::new();
        if !self.early.is_empty() {
            let all = self.early.extract_if(.., |(wanted, _)| *wanted == sequence);
            dependents.extend(all.map(|(_, dependent)| dependent));
        }
        dependents.extend(notes.watch.clone().map(Dependent::Watch));
        if !self.in_order {
            let is_barrier = matches!(command, Command::Barrier);
            self.unordered.add(sequence, is_barrier);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.submitted(sequence, now());
        }
        self.slots.push_back(Slot {
            stage: Stage::Waiting,
            blockers,
            command: Some(command),
            failure: None,
            notes,
            dependents,
        });
        if blockers == 0 {
            self.unblocked(sequence);
        }
        sequence
    }

    /// Takes `count` blockers off a command; a failure among them becomes the command's.
    ///
    /// Does nothing if the command is past waiting, which happens after [`Line::give_up`].
    pub(crate) fn unblock(&mut self, sequence: u64, count: u32, failure: Option<&Failure>) {
        let Some(slot) = self.slot(sequence) else {
            return;
        };
        if slot.stage != Stage::Waiting || slot.blockers == 0 {
            return;
        }
        if slot.failure.is_none() {
            slot.failure = failure.cloned();
        }
        slot.blockers = slot.blockers.saturating_sub(count);
        if slot.blockers == 0 {
            self.unblocked(sequence);
        }
    }

    fn unblocked(&mut self, sequence: u64) {
        if !self.in_order {
            self.unordered.unblocked(sequence, self.completed);
        }
    }

    fn next(&self) -> Option<u64> {
        if !self.in_order {
            return self.unordered.next();
        }
        let front = self.slots.front()?;
        (front.stage == Stage::Waiting && front.blockers == 0).then_some(self.completed + 1)
    }

    /// Whether a command may start now.
    pub(crate) fn is_runnable(&self) -> bool {
        self.next().is_some()
    }

    /// Takes the next command that may start, if there is one and `permit` agrees.
    pub(crate) fn begin(
        &mut self,
        permit: impl FnOnce(&Self, u64, &Command) -> bool,
        now: impl FnOnce() -> Duration,
    ) -> Option<Begun> {
        let sequence = self.next()?;
        let index = (sequence - self.completed - 1) as usize;
        if !permit(self, sequence, self.slots[index].command.as_ref()?) {
            return None;
        }
        if !self.in_order {
            self.unordered.start();
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.started(sequence, now());
        }
        let slot = &mut self.slots[index];
        let command = slot.command.take()?;
        let gated = slot.failure.is_none() && matches!(command, Command::Gate(_));
        slot.stage = if gated { Stage::Gated } else { Stage::Started };
        Some(Begun {
            sequence,
            command,
            failure: slot.failure.take(),
            notes: std::mem::take(&mut slot.notes),
        })
    }

    /// Records that a command which was begun has ended, and answers who waits for it.
    pub(crate) fn finish(
        &mut self,
        sequence: u64,
        failure: Option<Failure>,
        now: impl FnOnce() -> Duration,
    ) -> Vec<Dependent> {
        let Some(slot) = self.slot(sequence) else {
            return Vec::new();
        };
        slot.stage = Stage::Finished;
        let dependents = std::mem::take(&mut slot.dependents);
        if let Some(failure) = failure {
            self.failure_of.insert(sequence, self.failures.len());
            self.failures.push((sequence, failure));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.finished(sequence, now());
        }
        let before = self.completed;
        while self
            .slots
            .front()
            .is_some_and(|slot| slot.stage == Stage::Finished)
        {
            self.slots.pop_front();
            self.completed += 1;
        }
        if self.slots.is_empty() && self.slots.capacity() > KEPT_SLOTS {
            self.slots = VecDeque::new();
            self.unordered.shrink();
        }
        if !self.in_order && self.completed > before {
            let first = self.completed + 1;
            let last = self.completed + self.slots.len() as u64;
            let slots = &self.slots;
            self.unordered
                .advanced(sequence, self.completed, last, |sequence| {
                    let slot = slots.get((sequence - first) as usize);
                    slot.is_some_and(|slot| slot.blockers == 0)
                });
        }
        dependents
    }

    /// Whether the command is a gate that was reached and is still closed.
    pub(crate) fn is_gated(&mut self, sequence: u64) -> bool {
        self.slot(sequence)
            .is_some_and(|slot| slot.stage == Stage::Gated)
    }

    /// Adds a dependent to a command; gives it back if the command is finished.
    pub(crate) fn attach(&mut self, sequence: u64, dependent: Dependent) -> Result<(), Dependent> {
        if self.is_finished(sequence) {
            return Err(dependent);
        }
        match self.slot(sequence) {
            Some(slot) => slot.dependents.push(dependent),
            None => self.early.push((sequence, dependent)),
        }
        Ok(())
    }

    /// Takes a waiting thread off a command again: once, as it may wait for it more than once.
    pub(crate) fn detach(&mut self, sequence: u64, thread: ThreadId) {
        let is_it =
            |dependent: &Dependent| matches!(dependent, Dependent::Thread(it) if it.id() == thread);
        let early =
            |(wanted, dependent): &(u64, Dependent)| *wanted == sequence && is_it(dependent);
        if let Some(index) = self.early.iter().position(early) {
            self.early.swap_remove(index);
        } else if let Some(slot) = self.slot(sequence)
            && let Some(index) = slot.dependents.iter().rposition(is_it)
        {
            slot.dependents.remove(index);
        }
    }

    /// Whether a command could start or is running.
    pub(crate) fn is_active(&self) -> bool {
        let started = |slot: &Slot| slot.stage == Stage::Started;
        self.is_runnable()
            || if self.in_order {
                self.slots.front().is_some_and(started)
            } else {
                self.slots.iter().any(started)
            }
    }

    /// Lets every command that waits for a point start, in order to fail with `failure`, and
    /// answers the gates that are closed.
    pub(crate) fn give_up(&mut self, failure: &Failure) -> Vec<u64> {
        let mut gates = Vec::new();
        for sequence in self.completed + 1..=self.completed + self.slots.len() as u64 {
            self.unblock(sequence, u32::MAX, Some(failure));
            if self.is_gated(sequence) {
                gates.push(sequence);
            }
        }
        gates
    }

    /// Takes the dependents of commands that will never be submitted.
    pub(crate) fn take_early(&mut self) -> Vec<(u64, Dependent)> {
        std::mem::take(&mut self.early)
    }
}
