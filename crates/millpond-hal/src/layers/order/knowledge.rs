//! What is known to happen before a command: vector clocks over queues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::point::{Point, QueueId};
use crate::queue::Queue;

/// The commands that something happens after.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(BTreeMap<QueueId, Known>);

/// The commands of one queue among them.
#[derive(Clone, Debug, Default)]
struct Known {
    /// All up to this one.
    prefix: u64,
    /// And these, of a queue whose commands have no order of their own.
    exact: BTreeSet<u64>,
}

impl Clock {
    /// Whether a command is among them.
    pub(super) fn covers(&self, point: Point) -> bool {
        self.0.get(&point.queue).is_some_and(|known| {
            point.sequence <= known.prefix || known.exact.contains(&point.sequence)
        })
    }

    fn merge(&mut self, other: &Self) {
        for (&queue, theirs) in &other.0 {
            let ours = self.0.entry(queue).or_default();
            ours.prefix = ours.prefix.max(theirs.prefix);
            ours.exact.extend(&theirs.exact);
        }
    }

    fn learn(&mut self, point: Point, in_order: bool) {
        let known = self.0.entry(point.queue).or_default();
        if in_order {
            known.prefix = known.prefix.max(point.sequence);
        } else {
            known.exact.insert(point.sequence);
        }
    }

    /// Forgets what has finished, which comes before anything now: of each queue the commands up
    /// to what `completed` says, of a queue that is gone all.
    pub(super) fn forget_finished(&mut self, completed: impl Fn(QueueId) -> Option<u64>) {
        self.0.retain(|&queue, known| {
            let Some(completed) = completed(queue) else {
                return false;
            };
            known.exact = known.exact.split_off(&(completed + 1));
            known.prefix > completed || !known.exact.is_empty()
        });
    }

    fn learn_all(&mut self, last: Point) {
        let known = self.0.entry(last.queue).or_default();
        known.prefix = known.prefix.max(last.sequence);
        known.exact.retain(|&sequence| sequence > last.sequence);
    }
}

/// A queue as the checker sees it.
pub(super) struct Line {
    queue: Arc<dyn Queue>,
    in_order: bool,
    closed: bool,
    submitted: u64,
    /// What every later command happens after.
    floor: Clock,
    /// What unfinished commands happen after.
    commands: BTreeMap<u64, Clock>,
}

impl Line {
    pub(super) fn new(queue: Arc<dyn Queue>, in_order: bool) -> Self {
        Self {
            queue,
            in_order,
            closed: false,
            submitted: 0,
            floor: Clock::default(),
            commands: BTreeMap::new(),
        }
    }

    /// Whether a command has finished.
    pub(super) fn has_reached(&self, sequence: u64) -> bool {
        sequence <= self.completed() || self.queue.reached(sequence)
    }

    /// Adds a command of this queue, and what it happens after, to a clock.
    pub(super) fn tell(&self, point: Point, clock: &mut Clock) {
        if let Some(before) = self.commands.get(&point.sequence) {
            clock.merge(before);
        }
        clock.learn(point, self.in_order);
    }

    /// What a command happens after, while it is the last.
    pub(super) fn before(&self, sequence: u64) -> Clock {
        self.commands.get(&sequence).cloned().unwrap_or_default()
    }

    /// Up to here every command has finished.
    pub(super) fn completed(&self) -> u64 {
        self.queue.progress().completed()
    }

    /// Adds what the queue itself says of its next command.
    pub(super) fn tell_next(&self, clock: &mut Clock, is_barrier: bool) {
        if is_barrier {
            for before in self.commands.values() {
                clock.merge(before);
            }
        }
        clock.merge(&self.floor);
        if self.in_order || is_barrier {
            clock.learn_all(self.last());
        }
    }

    /// Notes a submitted command. What finished commands happen after has finished too.
    pub(super) fn append(&mut self, sequence: u64, clock: Clock, is_barrier: bool) {
        self.submitted = sequence;
        if self.in_order || is_barrier {
            // The command itself comes before all that follow it.
            self.floor = clock.clone();
            self.floor.learn_all(self.last());
        }
        self.commands = self.commands.split_off(&(self.completed() + 1));
        self.commands.insert(sequence, clock);
    }

    fn last(&self) -> Point {
        Point {
            queue: self.queue.id(),
            sequence: self.submitted,
        }
    }

    /// Notes that nobody can submit any more.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Whether nothing of the queue matters any more.
    pub(super) fn is_over(&self) -> bool {
        self.closed && self.submitted <= self.completed()
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line")
            .field("submitted", &self.submitted)
            .field("in_order", &self.in_order)
            .finish_non_exhaustive()
    }
}
