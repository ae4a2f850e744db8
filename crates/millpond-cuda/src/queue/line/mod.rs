//! What a queue has yet to finish, as a plain state machine.
//!
//! A line knows which command may begin next, which are on their way on a lane, and what becomes of
//! the others when one moves on. It makes no call of the driver, runs no foreign code, takes no
//! lock and knows no thread: its owner holds it in a mutex and acts on what it answers.
//!
//! A command that the device carries out *begins* when what it follows has been given to the device
//! as well, and follows that there, by a [`Signal`]. One that touches what only the host sees begins
//! when what it follows has *ended*.

mod failures;
mod flight;
mod following;
mod slot;

use std::collections::VecDeque;
use std::sync::Arc;

use millpond_hal::unordered::Unordered;
use millpond_hal::{Command, Failure, HostKernel};
use smallvec::SmallVec;

use super::dependent::{Dependent, Effects};
use super::route::Route;
use crate::lanes::Signal;
use failures::Failures;
use flight::Flights;
pub(super) use flight::{Flight, Report};
pub(super) use following::Answer;
pub(crate) use following::Standpoint;
pub(crate) use slot::{Begun, Notes};
use slot::{Slot, Stage};

/// Capacity that an empty line may keep.
const KEPT_SLOTS: usize = 4096;

/// The unfinished commands of a queue, and its failures.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Line {
    in_order: bool,
    /// Every command up to this number is finished.
    completed: u64,
    /// In order only: every command up to this number has begun.
    begun: u64,
    /// In order only: whether a thread carries out the last that has begun, or prepares it.
    host_busy: bool,
    /// The commands after `completed`.
    slots: VecDeque<Slot>,
    /// Out of order only: commands that may begin.
    unordered: Unordered,
    /// What is on its way.
    pub(super) flights: Flights,
    failures: Failures,
    /// Callbacks for commands that aren't submitted yet.
    early: Vec<(u64, Dependent)>,
    /// Dependents that nobody but the device's progress will release.
    attached: usize,
    /// Threads that sleep until something moves.
    pub(super) sleepers: usize,
    /// Whether the courier looks after it.
    pub(super) enlisted: bool,
    /// Whether no handle is left.
    pub(super) closed: bool,
}

impl Line {
    pub(super) fn new(in_order: bool) -> Self {
        Self {
            in_order,
            completed: 0,
            begun: 0,
            host_busy: false,
            slots: VecDeque::new(),
            unordered: Unordered::default(),
            flights: Flights::default(),
            failures: Failures::default(),
            early: Vec::new(),
            attached: 0,
            sleepers: 0,
            enlisted: false,
            closed: false,
        }
    }

    /// Every command up to this number is finished.
    pub(super) const fn completed(&self) -> u64 {
        self.completed
    }

    /// Whether everything is.
    pub(super) fn is_done(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether the device has something of it.
    pub(super) fn in_flight(&self) -> bool {
        !self.flights.is_empty()
    }

    /// The signal of a command that is on its way on a lane.
    pub(super) fn issued_as(&mut self, sequence: u64) -> Option<Signal> {
        match self.slot(sequence)?.stage {
            Stage::Issued(signal) => Some(signal),
            _ => None,
        }
    }

    /// Whether something only moves on if somebody looks at what the device has done.
    pub(super) fn wants_courier(&self) -> bool {
        let held = if self.in_order {
            self.begun < self.completed + self.slots.len() as u64
        } else {
            self.slots.iter().any(|slot| slot.stage == Stage::Waiting)
        };
        self.window().is_some() || (self.in_flight() && (held || self.attached > 0 || self.closed))
    }

    /// The kernel that could begin, but may still grow: it is the last, and nobody has sealed it.
    pub(super) fn window(&self) -> Option<&Arc<dyn HostKernel>> {
        if !self.in_order || self.host_busy {
            return None;
        }
        let index = (self.begun - self.completed) as usize;
        let slot = self.slots.get(index).filter(|slot| slot.blockers == 0)?;
        let is_last = index + 1 == self.slots.len();
        match &slot.command {
            Some(Command::Launch { kernel, .. })
                if is_last && slot.route == Route::Kernel && kernel.grows() =>
            {
                Some(kernel)
            }
            _ => None,
        }
    }

    fn slot(&mut self, sequence: u64) -> Option<&mut Slot> {
        let index = sequence.checked_sub(self.completed + 1)?;
        self.slots.get_mut(usize::try_from(index).ok()?)
    }

    pub(super) fn is_finished(&self, sequence: u64) -> bool {
        match sequence.checked_sub(self.completed + 1) {
            None => true,
            Some(index) => self
                .slots
                .get(index as usize)
                .is_some_and(|slot| slot.stage == Stage::Finished),
        }
    }

    pub(super) fn failure(&self, sequence: u64) -> Option<&Failure> {
        self.failures.of(sequence)
    }

    /// The failures but the first `skip`.
    pub(super) fn failures(&self, skip: usize) -> &[(u64, Failure)] {
        self.failures.after(skip)
    }

    /// Appends a command that can't begin before `blockers` were taken off it.
    pub(super) fn push(
        &mut self,
        command: Command,
        route: Route,
        notes: Notes,
        shares: SmallVec<[u64; 2]>,
        blockers: u32,
    ) -> u64 {
        let sequence = self.completed + self.slots.len() as u64 + 1;
        let mut dependents = Vec::new();
        if !self.early.is_empty() {
            let all = self.early.extract_if(.., |(wanted, _)| *wanted == sequence);
            dependents.extend(all.map(|(_, dependent)| dependent));
        }
        dependents.extend(notes.watch.clone().map(Dependent::Watch));
        self.attached += dependents.len();
        if !self.in_order {
            let is_barrier = matches!(command, Command::Barrier);
            self.unordered.add(sequence, is_barrier);
        }
        self.slots.push_back(Slot {
            stage: Stage::Waiting,
            route,
            blockers,
            command: Some(command),
            failure: None,
            signals: SmallVec::new(),
            shares,
            doubtful: false,
            notes,
            dependents,
        });
        if blockers == 0 {
            self.unblocked(sequence);
        }
        sequence
    }

    fn next(&self) -> Option<u64> {
        if !self.in_order {
            return self.unordered.next();
        }
        let slot = self.slots.get((self.begun - self.completed) as usize)?;
        let may = slot.blockers == 0
            && if slot.route.on_host() {
                self.begun == self.completed
            } else {
                !self.host_busy && (slot.route != Route::Upload || !self.flights.have_landings())
            };
        (may && self.window().is_none()).then_some(self.begun + 1)
    }

    /// Takes the next command that may begin, if there is one.
    pub(super) fn begin(&mut self) -> Option<Begun> {
        let sequence = self.next()?;
        if self.in_order {
            self.begun = sequence;
        } else {
            self.unordered.start();
        }
        let in_order = self.in_order;
        let inherited = self.inherited(sequence);
        let slot = self.slot(sequence)?;
        let command = slot.command.take()?;
        if slot.failure.is_none() {
            slot.failure = inherited;
        }
        let gated = slot.failure.is_none() && matches!(command, Command::Gate(_));
        slot.stage = if gated { Stage::Gated } else { Stage::Started };
        let begun = Begun {
            sequence,
            command,
            route: slot.route,
            signals: std::mem::take(&mut slot.signals),
            failure: slot.failure.take(),
            notes: std::mem::take(&mut slot.notes),
            program: None,
            is_meanwhile: false,
            job: None,
        };
        if in_order {
            self.host_busy = begun.route.on_host();
        }
        Some(begun)
    }

    /// Holds back what comes after the last command that has begun, while a thread prepares it.
    pub(super) fn hold_back(&mut self, held: bool) {
        if self.in_order {
            self.host_busy = held;
        }
    }

    /// Takes back a command that has begun but turned out to be the host's: it begins anew when what
    /// it follows has ended.
    pub(super) fn leave_to_host(&mut self, begun: Begun) {
        let Begun {
            sequence,
            command,
            signals,
            failure,
            notes,
            ..
        } = begun;
        if self.in_order {
            self.begun = sequence - 1;
        } else {
            self.unordered.take_back(sequence);
        }
        if let Some(slot) = self.slot(sequence) {
            slot.stage = Stage::Waiting;
            slot.route = Route::Host;
            slot.command = Some(command);
            (slot.signals, slot.failure, slot.notes) = (signals, failure, notes);
        }
    }

    /// Records that a command which was begun is on its way on a lane. Those that follow it on a
    /// device need wait no longer.
    pub(super) fn issued(
        &mut self,
        lane: usize,
        signal: Signal,
        flight: Flight,
        effects: &mut Effects,
    ) {
        let (sequence, fails) = (flight.sequence, flight.failure.is_some());
        let reports = flight.report.is_some();
        self.flights.add(lane, flight);
        let doubtful = reports || self.shares_doubt(sequence);
        let Some(slot) = self.slot(sequence) else {
            return;
        };
        if fails {
            slot.stage = Stage::Failing;
            return;
        }
        slot.stage = Stage::Issued(signal);
        slot.doubtful = doubtful;
        let mut released = 0;
        for dependent in slot
            .dependents
            .extract_if(.., |it| it.follows_issue(doubtful))
        {
            effects.issued(dependent, signal);
            released += 1;
        }
        self.attached -= released;
    }

    /// Records that a command which was begun has ended.
    pub(super) fn finish(
        &mut self,
        sequence: u64,
        failure: Option<Failure>,
        effects: &mut Effects,
    ) {
        let Some(slot) = self.slot(sequence) else {
            return;
        };
        slot.stage = Stage::Finished;
        let on_host = slot.route.on_host();
        let dependents = std::mem::take(&mut slot.dependents);
        self.attached -= dependents.len();
        for dependent in dependents {
            effects.finished(dependent, failure.as_ref());
        }
        if let Some(failure) = failure {
            self.failures.add(sequence, failure);
        }
        if self.in_order && on_host {
            self.host_busy = false;
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
    }

    /// Whether the command is a gate that was reached and is still closed.
    pub(super) fn is_gated(&mut self, sequence: u64) -> bool {
        self.slot(sequence)
            .is_some_and(|slot| slot.stage == Stage::Gated)
    }

    /// Whether a thread carries out one of its commands.
    pub(super) fn is_running(&self) -> bool {
        self.slots.iter().any(|slot| slot.stage == Stage::Started)
    }

    /// Lets every command that waits for a point begin, in order to fail with `failure`, and
    /// answers the gates that are closed.
    pub(super) fn give_up(&mut self, failure: &Failure) -> Vec<u64> {
        let mut gates = Vec::new();
        for sequence in self.completed + 1..=self.completed + self.slots.len() as u64 {
            self.unblock(sequence, u32::MAX, &[], Some(failure));
            if self.is_gated(sequence) {
                gates.push(sequence);
            }
        }
        gates
    }
}
