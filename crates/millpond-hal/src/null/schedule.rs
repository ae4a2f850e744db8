//! What a queue holds and which command may start next: plain data, without a lock.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::command::{Command, Submission};
use crate::error::{Failure, FailureKind};
use crate::point::{Point, Progress, QueueId};
use crate::queue::QueueOptions;
use crate::watch::Watch;

pub(super) type Callback = Box<dyn FnOnce() + Send>;

/// All queues; ordered, so that schedules are the same in every run.
pub(super) type Lines = BTreeMap<QueueId, Line>;

/// One queue.
pub(super) struct Line {
    in_order: bool,
    progress: Arc<Progress>,
    submitted: u64,
    /// What hasn't finished, by sequence number.
    pending: VecDeque<Pending>,
    pub(super) failures: Vec<(u64, Failure)>,
    pub(super) callbacks: BTreeMap<u64, Vec<Callback>>,
    /// Whether no handle is left.
    pub(super) closed: bool,
}

struct Pending {
    sequence: u64,
    /// `None` while it runs.
    command: Option<Command>,
    barrier: bool,
    after: Vec<Point>,
    behind: Vec<Point>,
    origin: Option<Arc<str>>,
    watch: Option<Arc<dyn Watch>>,
}

/// A command that was taken to be ended.
pub(super) struct Work {
    pub(super) point: Point,
    command: Command,
    origin: Option<Arc<str>>,
    watch: Option<Arc<dyn Watch>>,
    /// The failure that it shares instead of running (rule B3).
    shared: Result<(), Failure>,
}

/// Which commands a search may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// All.
    All,
    /// All but those with foreign code (rule B5).
    NoTasks,
    /// Those of one queue.
    Queue(QueueId),
}

impl Line {
    pub(super) fn new(options: &QueueOptions, progress: Arc<Progress>) -> Self {
        Self {
            in_order: !options.out_of_order,
            progress,
            submitted: 0,
            pending: VecDeque::new(),
            failures: Vec::new(),
            callbacks: BTreeMap::new(),
            closed: false,
        }
    }

    /// Appends a command; the answer is its sequence number.
    pub(super) fn append(&mut self, submission: Submission<'_>) -> u64 {
        self.submitted += 1;
        self.pending.push_back(Pending {
            sequence: self.submitted,
            barrier: matches!(submission.command, Command::Barrier),
            command: Some(submission.command),
            after: submission.after.to_vec(),
            behind: submission.behind.to_vec(),
            origin: submission.origin,
            watch: submission.watch,
        });
        self.submitted
    }

    pub(super) fn finished(&self, sequence: u64) -> bool {
        sequence <= self.submitted && self.position(sequence).is_err()
    }

    fn position(&self, sequence: u64) -> Result<usize, usize> {
        self.pending
            .binary_search_by_key(&sequence, |pending| pending.sequence)
    }

    /// The commands that the queue's own order lets start, `after` points aside.
    fn startable(&self) -> impl Iterator<Item = &Pending> {
        let free = if self.in_order {
            self.pending.len().min(1)
        } else {
            match self.pending.iter().position(|pending| pending.barrier) {
                Some(0) => 1,
                Some(first) => first,
                None => self.pending.len(),
            }
        };
        self.pending.range(..free)
    }

    /// Ends a command; the answer is the callbacks that are due.
    pub(super) fn finish(&mut self, sequence: u64, outcome: Result<(), Failure>) -> Vec<Callback> {
        if let Ok(position) = self.position(sequence) {
            self.pending.remove(position);
        }
        if let Err(failure) = outcome {
            self.failures.push((sequence, failure));
            self.progress.count_failure();
        }
        let prefix = match self.pending.front() {
            Some(first) => first.sequence - 1,
            None => self.submitted,
        };
        self.progress.advance(prefix);
        self.callbacks.remove(&sequence).unwrap_or_default()
    }
}

/// Takes the first command that may start.
pub(super) fn take(lines: &mut Lines, scope: Scope) -> Option<Work> {
    let (point, shared) = lines.iter().find_map(|(&queue, line)| {
        if matches!(scope, Scope::Queue(only) if only != queue) {
            return None;
        }
        line.startable().find_map(|pending| {
            let point = Point {
                queue,
                sequence: pending.sequence,
            };
            may_start(lines, pending, scope).map(|shared| (point, shared))
        })
    })?;
    let line = lines.get_mut(&point.queue)?;
    let position = line.position(point.sequence).ok()?;
    let pending = &mut line.pending[position];
    Some(Work {
        point,
        command: pending.command.take()?,
        origin: pending.origin.take(),
        watch: pending.watch.take(),
        shared,
    })
}

/// `Some` if the command may start; an error is the failure that it shares instead (rule B3).
fn may_start(lines: &Lines, pending: &Pending, scope: Scope) -> Option<Result<(), Failure>> {
    let command = pending.command.as_ref()?;
    let mut points = pending.after.iter().chain(&pending.behind);
    if !points.all(|&point| finished(lines, point)) {
        return None;
    }
    let shared = pending
        .after
        .iter()
        .find_map(|&point| failure(lines, point));
    let starts = shared.is_some()
        || match command {
            Command::Gate(gate) => gate.is_open(),
            Command::Task { .. } => scope != Scope::NoTasks,
            _ => true,
        };
    starts.then(|| shared.map_or(Ok(()), Err))
}

/// Whether a point is reached. A queue that is forgotten had finished without a failure.
pub(super) fn finished(lines: &Lines, point: Point) -> bool {
    lines
        .get(&point.queue)
        .is_none_or(|line| line.finished(point.sequence))
}

pub(super) fn failure(lines: &Lines, point: Point) -> Option<Failure> {
    let failures = &lines.get(&point.queue)?.failures;
    let (_, failure) = failures
        .iter()
        .find(|(sequence, _)| *sequence == point.sequence)?;
    Some(failure.clone())
}

/// Forgets a queue that nobody holds and whose points are all reached without a failure. The
/// answer is for the caller to drop without the lock, as it may hold callbacks.
#[must_use]
pub(super) fn forget_if_done(lines: &mut Lines, queue: QueueId) -> Option<Line> {
    let done = |line: &Line| line.closed && line.pending.is_empty() && line.failures.is_empty();
    lines
        .get(&queue)
        .is_some_and(done)
        .then(|| lines.remove(&queue))
        .flatten()
}

impl Work {
    pub(super) fn run(mut self) -> Result<(), Failure> {
        let watch = self.watch.take();
        if let Some(watch) = watch.as_ref().filter(|_| self.shared.is_ok()) {
            watch.began();
        }
        let outcome = self.carry_out();
        if let Some(watch) = watch {
            watch.ended(outcome.as_ref().err());
        }
        outcome
    }

    fn carry_out(self) -> Result<(), Failure> {
        self.shared?;
        let name = self.command.to_string();
        let fail = |kind, reason| Err(Failure::with_origin(kind, name, reason, self.origin));
        match self.command {
            Command::Task { task, .. } => match catch_unwind(AssertUnwindSafe(task)) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(reason)) => fail(FailureKind::Command, reason),
                Err(panic) => fail(FailureKind::Panic, Failure::panic_reason(panic)),
            },
            Command::Gate(gate) => gate.outcome().unwrap_or(Ok(())),
            _ => Ok(()),
        }
    }
}
