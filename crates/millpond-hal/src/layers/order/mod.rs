//! Checks that whatever uses the same bytes is ordered: a race detector for queues.
//!
//! The layer keeps, for each range of bytes, the last command that wrote it and those that read it
//! since. A submission that uses bytes in a conflicting way must happen after them: by its place on
//! an in-order queue, by barriers, by its `after` and `behind` points, transitively; or because they
//! had finished when it was submitted. What isn't ordered in any of these ways is put on a list
//! with both commands, and passed on.
//!
//! It knows nothing of allocations. Memory that a pool hands out again too early shows as two
//! commands that use the same bytes without order.

mod knowledge;
mod shadow;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wrap::{Layer, Site};
use crate::command::{Command, Submission};
use crate::device::RawAllocation;
use crate::error::DeviceError;
use crate::kernel::Access;
use crate::point::{Point, QueueId};
use crate::queue::{Queue, QueueOptions};
use knowledge::Line;
use shadow::Shadow;

/// A command, as findings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Its place.
    pub point: Point,
    /// What it is.
    pub command: Arc<str>,
    /// The source line it comes from, where lines are traced.
    pub origin: Option<Arc<str>>,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (command {}", self.command, self.point)?;
        match &self.origin {
            Some(origin) => write!(f, ", {origin})"),
            None => f.write_str(")"),
        }
    }
}

/// Two commands that use the same bytes, at least one of them writing, in no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The bytes.
    pub bytes: Range<usize>,
    /// The one submitted first.
    pub first: Actor,
    /// Whether it writes.
    pub first_writes: bool,
    /// The one submitted second.
    pub second: Actor,
    /// Whether it writes.
    pub second_writes: bool,
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |writes| if writes { "writes" } else { "reads" };
        write!(
            f,
            "{} {} and {} {} the {} bytes at {:#x}, and nothing orders them",
            self.first,
            verb(self.first_writes),
            self.second,
            verb(self.second_writes),
            self.bytes.len(),
            self.bytes.start
        )
    }
}

/// The layer that checks.
#[derive(Debug, Default)]
pub struct Order {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lines: HashMap<QueueId, Line>,
    shadow: Shadow,
    races: Vec<Race>,
}

/// Races that are kept; more say nothing new.
const MOST: usize = 64;

impl Order {
    /// Takes the races found since the last call, at most 64.
    pub fn take_races(&self) -> Vec<Race> {
        std::mem::take(&mut self.lock().races)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Records a command and looks for commands that it races with.
    fn record(&mut self, actor: &Actor, known: &knowledge::Clock, uses: &[(Range<usize>, Access)]) {
        let Self {
            lines,
            shadow,
            races,
        } = self;
        let is_ordered = |point: Point| {
            known.covers(point)
                || lines
                    .get(&point.queue)
                    .is_none_or(|line| line.has_reached(point.sequence))
        };
        for (bytes, access) in uses {
            shadow.record(bytes, actor, *access, &is_ordered, &mut |race| {
                if races.len() < MOST {
                    races.push(race);
                }
            });
        }
    }
}

/// The bytes that a command uses, and how.
fn uses(submission: &Submission<'_>) -> Vec<(Range<usize>, Access)> {
    let named = submission.command.touches();
    let touches = named.iter().chain(submission.touches);
    let uses = touches.map(|touch| {
        let start = touch.address.get();
        (start..start.saturating_add(touch.bytes), touch.access)
    });
    uses.collect()
}

impl Layer for Order {
    unsafe fn release(&self, site: &Site, allocation: RawAllocation) {
        let start = allocation.address.get();
        self.lock()
            .shadow
            .forget(&(start..start + allocation.layout.size()));
        // SAFETY: the caller promises what the device asks for.
        unsafe { site.device.release(allocation) }
    }

    fn create_queue(
        &self,
        site: &Site,
        options: &QueueOptions,
    ) -> Result<Arc<dyn Queue>, DeviceError> {
        let queue = site.device.create_queue(options)?;
        let line = Line::new(Arc::clone(&queue), !options.out_of_order);
        self.lock().lines.insert(queue.id(), line);
        Ok(queue)
    }

    unsafe fn submit(
        &self,
        site: &Site,
        queue: &Arc<dyn Queue>,
        submission: Submission<'_>,
    ) -> Result<Point, DeviceError> {
        let _ = site;
        let uses = uses(&submission);
        let command: Arc<str> = submission.command.to_string().into();
        let origin = submission.origin.clone();
        let is_barrier = matches!(submission.command, Command::Barrier);
        let before: Vec<Point> = submission
            .after
            .iter()
            .chain(submission.behind)
            .copied()
            .collect();
        // What has finished by now has finished before the command can start. So the clock is made
        // first, and the command handed over after it.
        let mut state = self.lock();
        let mut known = knowledge::Clock::default();
        for point in before {
            if let Some(line) = state.lines.get(&point.queue) {
                line.tell(point, &mut known);
            }
        }
        if let Some(line) = state.lines.get_mut(&queue.id()) {
            line.advance(&mut known, is_barrier);
        }
        // SAFETY: the caller promises what the queue asks for. No backend runs foreign code or
        // waits for a command in `submit`, so the lock may be held.
        let point = unsafe { queue.submit(submission) }?;
        let actor = Actor {
            point,
            command,
            origin,
        };
        state.record(&actor, &known, &uses);
        if let Some(line) = state.lines.get_mut(&queue.id()) {
            line.append(point.sequence, known);
        }
        Ok(point)
    }

    fn close(&self, queue: &Arc<dyn Queue>) {
        let mut state = self.lock();
        if let Some(line) = state.lines.get_mut(&queue.id()) {
            line.close();
        }
        state.lines.retain(|_, line| !line.is_over());
    }
}
