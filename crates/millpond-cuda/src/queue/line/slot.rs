//! A command of a line: how far it is, what it waits for and who waits for it.

use std::sync::Arc;

use millpond_hal::{Command, Failure, FailureKind, Watch};
use smallvec::SmallVec;

use crate::card::CudaError;
use crate::lanes::Signal;
use crate::library::Job;
use crate::program::Program;
use crate::queue::dependent::Dependent;
use crate::queue::route::Route;

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not begun.
    Waiting,
    /// On its way on a lane, for others of the device to follow.
    Issued(Signal),
    /// On its way on a lane, and it will fail.
    Failing,
    /// A thread carries it out.
    Started,
    /// A gate that was reached and is closed.
    Gated,
    /// Finished, behind others that aren't.
    Finished,
}

/// One command that isn't finished, or is but not yet part of the finished prefix.
pub(super) struct Slot {
    pub(super) stage: Stage,
    pub(super) route: Route,
    /// Points that it must follow and that haven't moved far enough yet.
    pub(super) blockers: u32,
    pub(super) command: Option<Command>,
    /// The failure of one of its `after` points.
    pub(super) failure: Option<Failure>,
    /// What it must follow on the device.
    pub(super) signals: SmallVec<[Signal; 2]>,
    /// Commands of this queue whose failure is its own; of a queue in order only.
    pub(super) shares: SmallVec<[u64; 2]>,
    /// Whether it may be found to have failed only once the device has done it.
    pub(super) doubtful: bool,
    pub(super) notes: Notes,
    pub(super) dependents: Vec<Dependent>,
}

/// What goes with a command and doesn't change what it does.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) origin: Option<Arc<str>>,
    pub(crate) watch: Option<Arc<dyn Watch>>,
}

/// A command that was taken out of the line to be carried out.
pub(crate) struct Begun {
    pub(crate) sequence: u64,
    pub(crate) command: Command,
    pub(crate) route: Route,
    pub(crate) signals: SmallVec<[Signal; 2]>,
    /// Set if the command must not run but fail with this.
    pub(crate) failure: Option<Failure>,
    pub(crate) notes: Notes,
    /// What a kernel became.
    pub(crate) program: Option<Arc<Program>>,
    /// Whether that is of the code that does its work meanwhile, as its own is being made.
    pub(crate) is_meanwhile: bool,
    /// What a kernel became that a library carries out.
    pub(crate) job: Option<Box<Job>>,
}

impl Begun {
    /// A failure of the command.
    pub(in crate::queue) fn fail(&self, kind: FailureKind, reason: String) -> Failure {
        self.command.fail(kind, reason, self.notes.origin.clone())
    }

    /// The failure of the command by an error of the driver's.
    pub(in crate::queue) fn fail_by(&self, error: &CudaError) -> Failure {
        error.fail(&self.command, self.notes.origin.clone())
    }
}
