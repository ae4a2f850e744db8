//! A queue's line: the state that one command at a time passes through.
//!
//! # Protocol
//! Submitting a command is one atomic step (rule O1): under the lock of the queue it runs on *and*
//! of the home queues of all its operands, taken by ascending id,
//! 1. the uses recorded on its operands are captured: what it must follow;
//! 2. the command is handed to the backend, which gives it the next sequence number;
//! 3. its own uses are recorded on the operands.
//!
//! Any two commands with an operand in common hold that operand's home line in turn, so they agree
//! who was first; whoever comes second sees what the first recorded. Dependencies therefore point
//! backwards in one total order and can't form a cycle, whatever queues and threads are involved.
//!
//! A command may grow after it was submitted, as long as nobody can tell: `window.rs` has the
//! protocol.
//!
//! A small command whose queue and operands are quiet runs right there, on the calling thread,
//! while the lines are held: it needs no sequence number and leaves no trace, since nobody can see
//! its operands before it is done.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::explain::Closed;
use crate::memory::Dependencies;
use crate::pool::{Cache, Site};
use crate::queue::submit::Use;
use crate::queue::window::Window;
use crate::queue::{Counted, QueueCore, hold};
use crate::sync::{Mutex, MutexGuard, lock, try_lock};

/// Queues that a clock may know of before it is tidied.
const CLOCK: usize = 16;

/// A line behind its lock. It has cache lines of its own, and stays where it is for whoever looks
/// into the queue's caches, after the queue has ended too: there is nothing in it then.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct LineLock(Mutex<Line>);

impl LineLock {
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Line> {
        self.try_lock().unwrap_or_else(|| self.lock_contended())
    }

    /// The line, if nobody has it locked.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Line>> {
        try_lock(&self.0)
    }

    /// Who has it may be this very thread, or a thread that waits for a line which this one holds.
    #[cold]
    fn lock_contended(&self) -> MutexGuard<'_, Line> {
        hold::interrupt();
        lock(&self.0)
    }
}

/// Guarded by the queue's lock.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The last sequence number given out.
    pub(crate) submitted: u64,
    /// What the next command must follow beside its operands.
    pub(crate) waits: Dependencies,
    /// What everything submitted from now on happens after.
    pub(crate) clock: Clock,
    /// How many queues the clock knew of when it was last tidied.
    tidied: usize,
    /// The last command that was submitted to finish after everything before it, on a queue without order.
    pub(crate) joined: u64,
    /// Closed to new work.
    pub(crate) closed: bool,
    /// How many of the queue's failures a wait has looked at.
    pub(crate) told: usize,
    /// Whether there may be something to wait for or to tell.
    pub(crate) counted: Counted,
    /// The last command, while it may grow.
    pub(crate) window: Option<Window>,
    /// Freed blocks, by the slot of their pool.
    caches: Vec<Option<Box<Cache>>>,
}

impl Line {
    /// The cache of the pool in this slot, made when the queue first uses the pool.
    #[inline]
    pub(crate) fn cache(&mut self, slot: usize, make: impl FnOnce() -> Cache) -> &mut Cache {
        if self.caches.len() <= slot {
            self.caches.resize_with(slot + 1, || None);
        }
        self.caches[slot].get_or_insert_with(|| Box::new(make()))
    }

    /// The same, if the queue ever used that pool.
    #[inline]
    pub(crate) fn cache_if_any(&mut self, slot: usize) -> Option<&mut Cache> {
        self.caches.get_mut(slot)?.as_deref_mut()
    }

    /// The same, with what the queue knows of others.
    pub(crate) fn cache_and_clock(&self, slot: usize) -> Option<(&Cache, &Clock)> {
        Some((self.caches.get(slot)?.as_deref()?, &self.clock))
    }

    /// Lets go of the cache of a pool that is gone.
    pub(crate) fn forget_cache(&mut self, slot: usize) {
        if let Some(cache) = self.caches.get_mut(slot) {
            *cache = None;
        }
    }

    /// Learns that everything submitted from now on happens after an event.
    pub(crate) fn learn(&mut self, event: &Event, site: &Site) {
        self.clock.merge(event.clock());
        self.clock.learn(event.point());
        self.tidy_clock(site);
    }

    /// Forgets queues that are gone whenever the clock has doubled: it stays as long as there are
    /// queues, however many come and go.
    #[inline]
    pub(crate) fn tidy_clock(&mut self, site: &Site) {
        if self.clock.len() > (2 * self.tidied).max(CLOCK) {
            site.forget_queues(&mut self.clock);
            self.tidied = self.clock.len();
        }
    }

    /// Fails if the queue was closed.
    #[inline]
    pub(crate) fn check_open(&self, queue: &QueueCore) -> Result<()> {
        if self.closed {
            return Err(Error::Closed {
                queue: queue.native().id().to_string(),
            });
        }
        Ok(())
    }

    /// Takes out all caches.
    pub(crate) fn take_caches(&mut self) -> Vec<Option<Box<Cache>>> {
        std::mem::take(&mut self.caches)
    }
}

/// The lines that a command passes through: its queue's and those of its operands' homes.
pub(crate) struct Lines<'a> {
    pub(crate) own: MutexGuard<'a, Line>,
    _others: SmallVec<[MutexGuard<'a, Line>; 2]>,
}

impl<'a> Lines<'a> {
    /// Locks them in the one order that all commands use.
    #[inline]
    pub(crate) fn lock(queue: &'a Arc<QueueCore>, uses: &[Use<'a>]) -> Self {
        if uses
            .iter()
            .all(|use_| Arc::ptr_eq(use_.allocation.block().home(), queue))
        {
            return Self {
                own: queue.lock(),
                _others: SmallVec::new(),
            };
        }
        Self::lock_several(queue, uses)
    }

    #[cold]
    fn lock_several(queue: &'a Arc<QueueCore>, uses: &[Use<'a>]) -> Self {
        let mut queues: SmallVec<[&'a Arc<QueueCore>; 4]> = uses
            .iter()
            .map(|use_| use_.allocation.block().home())
            .collect();
        queues.push(queue);
        queues.sort_unstable_by_key(|queue| queue.native().id());
        queues.dedup_by_key(|queue| queue.native().id());
        let mut own = None;
        let mut others = SmallVec::new();
        for other in queues {
            if Arc::ptr_eq(other, queue) {
                own = Some(other.lock());
            } else {
                let line = other.lock();
                line.seal(Closed::OtherQueue);
                others.push(line);
            }
        }
        Self {
            own: own.expect("the queue itself is in the list"),
            _others: others,
        }
    }
}
