//! Uses of an allocation by queues other than an in-order home, one entry for each queue.

use std::sync::Arc;

use millpond_hal::Access;
use smallvec::SmallVec;

use crate::clock::Clock;
use crate::memory::Dependencies;
use crate::queue::Native;

/// One for each queue. Memory rarely has uses by more than one other queue at a time.
pub(super) type Uses = SmallVec<[Use; 1]>;

/// Uses by one queue other than an in-order home.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) queue: Arc<Native>,
    /// Its last write; 0 for none.
    pub(super) write: u64,
    /// Whether all of it was for an owner that is gone: everyone comes behind, also who only reads.
    pub(super) stale: bool,
    /// Its reads since the last write of anyone: one number for an in-order queue, where it stands
    /// for all before; each of them for an out-of-order queue.
    pub(super) reads: SmallVec<[u64; 2]>,
}

/// Queues whose uses an allocation remembers before it looks which of them are over.
pub(super) const MANY: usize = 8;

/// Reads of an out-of-order queue are joined into one when there are this many.
pub(super) const JOIN: usize = 64;

/// Records a use among those by other queues.
pub(super) fn record_among(
    others: &mut Uses,
    on: &Arc<Native>,
    sequence: u64,
    access: Access,
    timeless: bool,
) {
    let position = others
        .iter()
        .position(|entry| Arc::ptr_eq(&entry.queue, on));
    let index = position.unwrap_or_else(|| {
        // Memory that many queues read, one after the other, remembers those that matter.
        if others.len() >= MANY && others.len().is_power_of_two() {
            others.retain(|entry| entry.matters_still(timeless));
        }
        others.push(Use {
            queue: Arc::clone(on),
            write: 0,
            stale: false,
            reads: SmallVec::new(),
        });
        others.len() - 1
    });
    let entry = &mut others[index];
    if access.writes() {
        // Points of memory that was freed come in any order.
        entry.write = entry.write.max(sequence);
        entry.stale = false;
    } else if on.in_order {
        entry.reads = SmallVec::from_slice(&[sequence]);
    } else {
        if entry.reads.len() >= JOIN / 2 {
            entry.reads.retain(|read| !on.is_over(*read, timeless));
        }
        entry.reads.push(sequence);
    }
}

/// Counts the last uses by a home, which is another one from now on, among those by other queues.
#[inline]
pub(super) fn move_among(
    others: &mut Uses,
    old: &Arc<Native>,
    write: Option<u64>,
    read: Option<u64>,
    timeless: bool,
) {
    if others.is_empty() {
        return others.push(Use {
            queue: Arc::clone(old),
            write: write.unwrap_or(0),
            stale: true,
            reads: read.into_iter().collect(),
        });
    }
    let uses = [(write, Access::Write), (read, Access::Read)];
    for (sequence, access) in uses {
        if let Some(sequence) = sequence {
            record_among(others, old, sequence, access, timeless);
        }
    }
}

impl Use {
    /// Whether anyone has to come behind it still.
    pub(super) fn matters(&self, timeless: bool) -> bool {
        let is_over = |&sequence: &u64| self.queue.is_over(sequence, timeless);
        !self.reads.iter().all(is_over)
            || (self.write != 0 && (!is_over(&self.write) || self.has_failed()))
    }

    /// The same, forgetting the reads that are over.
    pub(super) fn matters_still(&mut self, timeless: bool) -> bool {
        self.reads
            .retain(|read| !self.queue.is_over(*read, timeless));
        self.matters(timeless)
    }

    /// Whether some of it may not be over, as far as counters say.
    pub(super) fn may_go_on(&self, timeless: bool) -> bool {
        !self.is_within(self.queue.known(timeless))
    }

    /// Whether no use of it is a later command than this one.
    fn is_within(&self, last: u64) -> bool {
        self.write <= last && self.reads.iter().all(|&read| read <= last)
    }

    /// Whether the clock comes after all of it.
    pub(super) fn is_before(&self, clock: &Clock) -> bool {
        // A point of an out-of-order queue says nothing of those with smaller numbers.
        self.queue.in_order && self.is_within(clock.of(self.queue.id()))
    }

    /// Whether its last write has failed, which is somebody's content.
    pub(super) fn has_failed(&self) -> bool {
        !self.stale && self.queue.has_failed(self.write)
    }

    pub(super) fn capture(
        &self,
        on: Option<&Arc<Native>>,
        access: Access,
        timeless: bool,
        found: &mut Dependencies,
    ) {
        let same_line = on.is_some_and(|on| Arc::ptr_eq(&self.queue, on) && on.in_order);
        let write = self.write;
        if write != 0 {
            let unfinished = !self.queue.is_over(write, timeless);
            if access.reads() && !self.stale {
                if unfinished || self.queue.has_failed(write) {
                    found.after.push((Arc::clone(&self.queue), write));
                }
            } else if unfinished && !same_line {
                found.behind.push((Arc::clone(&self.queue), write));
            }
        }
        if (access.writes() || self.stale) && !same_line {
            for &read in &self.reads {
                if !self.queue.is_over(read, timeless) {
                    found.behind.push((Arc::clone(&self.queue), read));
                }
            }
        }
    }
}
