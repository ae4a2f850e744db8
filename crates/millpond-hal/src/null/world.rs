//! All queues of one null driver under one lock, and what may run next.
//!
//! Foreign code (tasks, callbacks, destructors of both) runs with the lock released. Whoever
//! changes the state notifies, and waiters look for work themselves before they sleep, so
//! nothing that may run is left lying while somebody waits for it.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::command::{Command, Submission};
use crate::error::{Failure, FailureKind};
use crate::point::{Point, Progress, QueueId};
use crate::queue::{QueueOptions, Wait};

type Callback = Box<dyn FnOnce() + Send>;

/// The queues of a driver.
pub(super) struct World {
    manual: bool,
    /// Ordered, so that schedules are the same in every run.
    lines: Mutex<BTreeMap<QueueId, Line>>,
    changed: Condvar,
}

/// One queue.
struct Line {
    in_order: bool,
    progress: Arc<Progress>,
    submitted: u64,
    /// What hasn't finished, by sequence number.
    pending: VecDeque<Pending>,
    failures: Vec<(u64, Failure)>,
    callbacks: BTreeMap<u64, Vec<Callback>>,
    /// Whether no handle is left.
    closed: bool,
}

struct Pending {
    sequence: u64,
    /// `None` while it runs.
    command: Option<Command>,
    barrier: bool,
    after: Vec<Point>,
    behind: Vec<Point>,
    origin: Option<Arc<str>>,
}

/// A command that was taken to be ended.
struct Work {
    point: Point,
    command: Command,
    origin: Option<Arc<str>>,
    /// The failure that it shares instead of running (rule B3).
    shared: Result<(), Failure>,
}

/// Which commands a search may take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// All.
    All,
    /// All but those with foreign code (rule B5).
    NoTasks,
    /// Those of one queue.
    Queue(QueueId),
}

impl World {
    pub(super) fn new(manual: bool) -> Self {
        Self {
            manual,
            lines: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// A new queue.
    pub(super) fn open_line(&self, options: &QueueOptions) -> (QueueId, Arc<Progress>) {
        let id = QueueId::next();
        let progress = Arc::new(Progress::default());
        let line = Line {
            in_order: !options.out_of_order,
            progress: Arc::clone(&progress),
            submitted: 0,
            pending: VecDeque::new(),
            failures: Vec::new(),
            callbacks: BTreeMap::new(),
            closed: false,
        };
        self.lock().insert(id, line);
        (id, progress)
    }

    /// Notes that the last handle of a queue is gone (rule B6).
    pub(super) fn close_line(&self, queue: QueueId) {
        let mut lines = self.lock();
        if let Some(line) = lines.get_mut(&queue) {
            line.closed = true;
        }
        let forgotten = forget_if_done(&mut lines, queue);
        drop(lines);
        drop(forgotten);
        self.poll();
    }

    /// Appends a command.
    pub(super) fn append(self: &Arc<Self>, queue: QueueId, submission: Submission<'_>) -> Point {
        let gate = match &submission.command {
            Command::Gate(gate) if !self.manual => Some(gate.clone()),
            _ => None,
        };
        let mut lines = self.lock();
        let line = lines
            .get_mut(&queue)
            .expect("a line is there while its queue has a handle");
        line.submitted += 1;
        let sequence = line.submitted;
        line.pending.push_back(Pending {
            sequence,
            barrier: matches!(submission.command, Command::Barrier),
            command: Some(submission.command),
            after: submission.after.to_vec(),
            behind: submission.behind.to_vec(),
            origin: submission.origin,
        });
        drop(lines);
        self.changed.notify_all();
        if let Some(gate) = gate {
            // An open gate calls back here and now, where no task may run.
            let appended = Arc::new(AtomicBool::new(false));
            let (world, after) = (Arc::downgrade(self), Arc::clone(&appended));
            gate.on_open(move |_| {
                if after.load(Ordering::Acquire)
                    && let Some(world) = world.upgrade()
                {
                    world.poll();
                }
            });
            appended.store(true, Ordering::Release);
        }
        if !self.manual {
            while self.run_one(Scope::NoTasks).is_some() {}
        }
        Point { queue, sequence }
    }

    /// Ends one command, of one queue or of any.
    pub(super) fn step(&self, queue: Option<QueueId>) -> Option<Point> {
        self.run_one(queue.map_or(Scope::All, Scope::Queue))
    }

    /// Ends whatever may end, unless that is left to the test.
    pub(super) fn poll(&self) {
        if !self.manual {
            while self.run_one(Scope::All).is_some() {}
        }
    }

    pub(super) fn finished(&self, point: Point) -> bool {
        finished(&self.lock(), point)
    }

    pub(super) fn outcome(&self, point: Point) -> Option<Result<(), Failure>> {
        let lines = self.lock();
        finished(&lines, point).then(|| failure(&lines, point).map_or(Ok(()), Err))
    }

    pub(super) fn failures(&self, queue: QueueId, skip: usize) -> Vec<(u64, Failure)> {
        let lines = self.lock();
        let failures = lines.get(&queue).map(|line| &*line.failures);
        failures
            .and_then(|failures| failures.get(skip..))
            .unwrap_or_default()
            .to_vec()
    }

    /// Runs what may run, then sleeps, until the point is reached.
    pub(super) fn wait(&self, point: Point, deadline: Option<Instant>) -> Wait {
        let mut lines = self.lock();
        loop {
            if finished(&lines, point) {
                return Wait::Reached;
            }
            if !self.manual
                && let Some(work) = take(&mut lines, Scope::All)
            {
                drop(lines);
                self.run(work);
                lines = self.lock();
                continue;
            }
            lines = match deadline {
                None => self
                    .changed
                    .wait(lines)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let patience = deadline.saturating_duration_since(Instant::now());
                    if patience.is_zero() {
                        return Wait::TimedOut;
                    }
                    let woken = self.changed.wait_timeout(lines, patience);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Calls back once the point is reached.
    pub(super) fn on_finish(&self, point: Point, callback: Callback) {
        let mut lines = self.lock();
        match lines.get_mut(&point.queue) {
            Some(line) if !line.finished(point.sequence) => {
                line.callbacks
                    .entry(point.sequence)
                    .or_default()
                    .push(callback);
                drop(lines);
                self.poll();
            }
            _ => {
                drop(lines);
                callback();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<QueueId, Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_one(&self, scope: Scope) -> Option<Point> {
        let work = take(&mut self.lock(), scope)?;
        let point = work.point;
        self.run(work);
        Some(point)
    }

    /// Ends a command that was taken.
    fn run(&self, work: Work) {
        let point = work.point;
        let outcome = work.run();
        let mut lines = self.lock();
        let mut callbacks = Vec::new();
        if let Some(line) = lines.get_mut(&point.queue) {
            callbacks = line.finish(point.sequence, outcome);
        }
        let forgotten = forget_if_done(&mut lines, point.queue);
        drop(lines);
        drop(forgotten);
        self.changed.notify_all();
        for callback in callbacks {
            callback();
        }
    }
}

impl Line {
    fn finished(&self, sequence: u64) -> bool {
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
    fn finish(&mut self, sequence: u64, outcome: Result<(), Failure>) -> Vec<Callback> {
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

impl Work {
    fn run(self) -> Result<(), Failure> {
        self.shared?;
        let name = self.command.to_string();
        let fail = |kind, reason| Err(Failure::with_origin(kind, name, reason, self.origin));
        match self.command {
            Command::Task { task, .. } => match catch_unwind(AssertUnwindSafe(task)) {
                Ok(Ok(())) => Ok(()),
                Ok(Err(reason)) => fail(FailureKind::Command, reason),
                Err(panic) => fail(FailureKind::Panic, message(&*panic)),
            },
            Command::Gate(gate) => gate.outcome().unwrap_or(Ok(())),
            _ => Ok(()),
        }
    }
}

/// Takes the first command that may start.
fn take(lines: &mut BTreeMap<QueueId, Line>, scope: Scope) -> Option<Work> {
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
        shared,
    })
}

/// `Some` if the command may start; an error is the failure that it shares instead (rule B3).
fn may_start(
    lines: &BTreeMap<QueueId, Line>,
    pending: &Pending,
    scope: Scope,
) -> Option<Result<(), Failure>> {
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
fn finished(lines: &BTreeMap<QueueId, Line>, point: Point) -> bool {
    lines
        .get(&point.queue)
        .is_none_or(|line| line.finished(point.sequence))
}

fn failure(lines: &BTreeMap<QueueId, Line>, point: Point) -> Option<Failure> {
    let failures = &lines.get(&point.queue)?.failures;
    let (_, failure) = failures
        .iter()
        .find(|(sequence, _)| *sequence == point.sequence)?;
    Some(failure.clone())
}

/// Forgets a queue that nobody holds and whose points are all reached without a failure. The
/// answer is for the caller to drop without the lock, as it may hold callbacks.
#[must_use]
fn forget_if_done(lines: &mut BTreeMap<QueueId, Line>, queue: QueueId) -> Option<Line> {
    let done = |line: &Line| line.closed && line.pending.is_empty() && line.failures.is_empty();
    lines
        .get(&queue)
        .is_some_and(done)
        .then(|| lines.remove(&queue))
        .flatten()
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
        .to_owned()
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("manual", &self.manual)
            .field("queues", &self.lock().len())
            .finish_non_exhaustive()
    }
}
