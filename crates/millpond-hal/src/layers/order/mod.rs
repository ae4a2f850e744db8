//! Checks that whatever uses the same bytes is ordered: a race detector for queues.
//!
//! The layer keeps, for each range of bytes, the last command that wrote it and those that read it
//! since. A submission that uses bytes in a conflicting way must happen after them: by its place on
//! an in-order queue, by barriers, by its `after` and `behind` points, transitively; or because they
//! had finished when it was submitted. What isn't ordered in any of these ways is put on a list
//! with both commands, and passed on. Work that is joined to a launch is part of it: it uses more,
//! and happens after what the launch was submitted behind.
//!
//! Memory that a pool hands out again too early shows as two commands that use the same bytes
//! without order. Beyond that pools tell of the life of their memory, and what commands claim to
//! use by its address must keep to it: come after the allocation's points, and before its free.

mod finding;
mod knowledge;
mod lives;
mod shadow;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wrap::{Layer, Site};
use crate::arena::Arena;
use crate::command::{Command, Submission, Touch};
use crate::device::RawAllocation;
use crate::error::DeviceError;
use crate::kernel::Access;
use crate::life::Life;
use crate::point::{Point, QueueId};
use crate::queue::{Joined, Queue, QueueOptions};
pub use finding::{Actor, Conflict, Race};
use knowledge::{Clock, Line};
use lives::{Lives, State as Became};
use shadow::Shadow;

/// The layer that checks.
#[derive(Debug, Default)]
pub struct Order {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lines: HashMap<QueueId, Line>,
    shadow: Shadow,
    lives: Lives,
    races: Vec<Race>,
}

/// Races that are kept; more say nothing new.
const MOST: usize = 64;

impl Order {
    /// Takes the races found since the last call, at most 64.
    pub fn take_races(&self) -> Vec<Race> {
        std::mem::take(&mut self.lock().races)
    }

    /// Forgets who used memory that is given back.
    fn forget(&self, allocation: &RawAllocation) {
        let start = allocation.address.get();
        let range = start..start + allocation.layout.size();
        self.lock().forget(&range);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets who used bytes.
    fn forget(&mut self, range: &Range<usize>) {
        self.shadow.forget(range);
        self.lives.forget(range);
    }

    /// What happens before something that follows these points.
    fn clock_after(&self, points: &[Point]) -> Clock {
        let mut clock = Clock::default();
        for point in points {
            if let Some(line) = self.lines.get(&point.queue) {
                line.tell(*point, &mut clock);
            }
        }
        clock
    }

    /// Records a command, and looks for those before it that it has no right to meet.
    fn record(&mut self, actor: &Actor, known: &Clock, uses: &[Bytes], claims: &[Bytes]) {
        let Self {
            lines,
            shadow,
            lives,
            races,
        } = self;
        let is_ordered = |point: Point| is_ordered(lines, known, point);
        for (bytes, _) in claims {
            for (part, became) in lives.of(bytes) {
                let (first, conflict) = match became {
                    Became::Freed(free) => (free, Conflict::AfterFree),
                    Became::Live(_, after) if after.iter().all(|&point| is_ordered(point)) => {
                        continue;
                    }
                    Became::Live(owner, _) => (owner, Conflict::BeforeAllocation),
                };
                tell(races, part, first, actor, conflict);
            }
        }
        for (bytes, access) in uses.iter().chain(claims) {
            shadow.record(
                bytes,
                actor,
                *access,
                &is_ordered,
                &mut |part, first, conflict| {
                    tell(races, part, first, actor, conflict);
                },
            );
        }
    }

    /// Bytes become an allocation, which must come after all uses for owners before.
    fn begin(&mut self, bytes: &Range<usize>, owner: &Actor, after: &[Point]) {
        self.look_for_users(bytes, owner, after, Conflict::AllocatedInUse);
        let state = Became::Live(owner.clone(), after.to_vec());
        for (part, before) in self.lives.set(bytes, state) {
            if let Became::Live(first, _) = before {
                tell(
                    &mut self.races,
                    part,
                    &first,
                    owner,
                    Conflict::AllocatedTwice,
                );
            }
        }
    }

    /// An allocation is freed, which must come after all uses.
    fn end(&mut self, bytes: &Range<usize>, free: &Actor, after: &[Point]) {
        self.look_for_users(bytes, free, after, Conflict::FreedInUse);
        self.lives.set(bytes, Became::Freed(free.clone()));
    }

    /// Tells of uses that what comes after these points isn't ordered behind.
    fn look_for_users(
        &mut self,
        bytes: &Range<usize>,
        second: &Actor,
        after: &[Point],
        conflict: Conflict,
    ) {
        let known = self.clock_after(after);
        let Self {
            lines,
            shadow,
            races,
            ..
        } = self;
        for (part, user) in shadow.users(bytes) {
            if !is_ordered(lines, &known, user.point) {
                tell(races, part, user, second, conflict);
            }
        }
    }
}

/// Whether a command comes before what has this clock: known to, or finished.
fn is_ordered(lines: &HashMap<QueueId, Line>, known: &Clock, point: Point) -> bool {
    let has_finished = || {
        let line = lines.get(&point.queue);
        line.is_none_or(|line| line.has_reached(point.sequence))
    };
    known.covers(point) || has_finished()
}

fn tell(
    races: &mut Vec<Race>,
    bytes: Range<usize>,
    first: &Actor,
    second: &Actor,
    conflict: Conflict,
) {
    if races.len() < MOST {
        races.push(Race {
            bytes,
            first: first.clone(),
            second: second.clone(),
            conflict,
        });
    }
}

/// A range of bytes and what is done there.
type Bytes = (Range<usize>, Access);

fn bytes(touches: &[Touch]) -> impl Iterator<Item = Bytes> {
    touches.iter().map(|touch| {
        let start = touch.address.get();
        (start..start.saturating_add(touch.bytes), touch.access)
    })
}

impl Layer for Order {
    unsafe fn release(&self, site: &Site, allocation: RawAllocation) {
        self.forget(&allocation);
        // SAFETY: the caller promises what the device asks for.
        unsafe { site.device.release(allocation) }
    }

    unsafe fn release_in(&self, _site: &Site, arena: &Arc<dyn Arena>, allocation: RawAllocation) {
        self.forget(&allocation);
        // SAFETY: the caller promises what the arena asks for.
        unsafe { arena.release(allocation) }
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
        let named = submission.command.touches();
        let uses: Vec<Bytes> = bytes(&named).chain(bytes(submission.touches)).collect();
        let claims: Vec<Bytes> = bytes(submission.claims).collect();
        let command: Arc<str> = submission.command.to_string().into();
        let origin = submission.origin.clone();
        let is_barrier = matches!(submission.command, Command::Barrier);
        let allocation = match &submission.command {
            Command::Allocate { bytes, place, .. } => Some((Arc::clone(place), *bytes)),
            _ => None,
        };
        let before: Vec<Point> = submission
            .after
            .iter()
            .chain(submission.behind)
            .copied()
            .collect();
        // What has finished by now has finished before the command can start. So the clock is made
        // first, and the command handed over after it.
        let mut state = self.lock();
        let mut known = state.clock_after(&before);
        if let Some(line) = state.lines.get(&queue.id()) {
            line.tell_next(&mut known, is_barrier);
        }
        known.forget_finished(|queue| state.lines.get(&queue).map(Line::completed));
        // SAFETY: the caller promises what the queue asks for. No backend runs foreign code or
        // waits for a command in `submit`, so the lock may be held.
        let point = unsafe { queue.submit(submission) }?;
        if let Some((place, bytes)) = allocation
            && let Some(start) = place.get()
        {
            // A driver's pool orders whom it gives bytes to, by means that nobody else sees.
            state.forget(&(start.get()..start.get() + bytes));
        }
        let actor = Actor {
            point,
            command,
            origin,
        };
        state.record(&actor, &known, &uses, &claims);
        if let Some(line) = state.lines.get_mut(&queue.id()) {
            line.append(point.sequence, known, is_barrier);
        }
        Ok(point)
    }

    fn joined(&self, queue: &Arc<dyn Queue>, joined: &Joined<'_>) {
        queue.joined(joined);
        let point = Point {
            queue: queue.id(),
            sequence: joined.sequence,
        };
        let actor = Actor {
            point,
            command: Arc::clone(&joined.command),
            origin: joined.origin.clone(),
        };
        let uses: Vec<Bytes> = bytes(joined.touches).collect();
        let mut state = self.lock();
        // It happens when the launch does, after what that was submitted behind.
        let line = state.lines.get(&point.queue);
        let known = line.map_or_else(Clock::default, |line| line.before(point.sequence));
        state.record(&actor, &known, &uses, &[]);
    }

    fn listens(&self, site: &Site) -> bool {
        let _ = site;
        true
    }

    fn note(&self, site: &Site, life: &Life<'_>) {
        site.device.note(life);
        let actor = |what: &str, bytes: &Range<usize>, at, origin: &Option<Arc<str>>| Actor {
            point: at,
            command: format!("{what} of {} bytes", bytes.len()).into(),
            origin: origin.clone(),
        };
        let mut state = self.lock();
        match life {
            Life::Begin {
                bytes,
                at,
                after,
                origin,
            } => state.begin(bytes, &actor("allocation", bytes, *at, origin), after),
            Life::End {
                bytes,
                at,
                after,
                origin,
            } => state.end(bytes, &actor("free", bytes, *at, origin), after),
            Life::Lend { bytes } => state.lives.lend(bytes),
            Life::Return { bytes } => state.lives.take_back(bytes),
        }
    }

    fn close(&self, queue: &Arc<dyn Queue>) {
        let mut state = self.lock();
        if let Some(line) = state.lines.get_mut(&queue.id()) {
            line.close();
        }
        state.lines.retain(|_, line| !line.is_over());
    }
}
