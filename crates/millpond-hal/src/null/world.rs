//! All queues of one null driver under one lock, and whoever may be waiting.
//!
//! Foreign code (tasks, callbacks, destructors of both) runs with the lock released. Whoever
//! changes the state notifies, and waiters look for work themselves before they sleep, so
//! nothing that may run is left lying while somebody waits for it.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::schedule::{
    Callback, Line, Lines, Scope, Work, failure, finished, forget_if_done, take,
};
use crate::command::{Command, Submission};
use crate::error::Failure;
use crate::point::{Point, Progress, QueueId};
use crate::queue::{QueueOptions, Wait};
use crate::sync::{AtomicBool, Condvar, Mutex, MutexGuard};

/// The queues of a driver.
pub(super) struct World {
    manual: bool,
    lines: Mutex<Lines>,
    changed: Condvar,
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
        let line = Line::new(options, Arc::clone(&progress));
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
        let sequence = line.append(submission);
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

    fn lock(&self) -> MutexGuard<'_, Lines> {
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

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("manual", &self.manual)
            .field("queues", &self.lock().len())
            .finish_non_exhaustive()
    }
}
