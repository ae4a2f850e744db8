//! Who used an allocation last: the state behind rule O2.
//!
//! An allocation remembers its last writer and its readers since, as points. Two numbers suffice
//! while only its home queue, in-order, uses it; uses by other queues go to a list with one entry
//! for each queue. Recording and capturing are O(1) for any backlog.
//!
//! The protocol: all of it is read and written only under the line of the allocation's home queue
//! (`queue/line.rs`), which every command on the allocation takes, whichever queue it runs on. So
//! what a command captures and what it records is one atomic step, dependencies always point to
//! commands submitted earlier, and there are no cycles. The fields are atomics for the sake of
//! shared ownership; their ordering comes from the lock.
//!
//! A write forgets all earlier uses, since it is ordered behind them. Memory that goes back to a
//! cache keeps its tracking: whoever gets it next is ordered behind the last use by it.
//!
//! What has completed need not be remembered. But then what is remembered depends on timing; where
//! a pool must not (rule R3 is off), its memory is *timeless*: uses count until the host has
//! waited for them.

use std::sync::{Arc, PoisonError};

use millpond_hal::{Access, Point};
use smallvec::SmallVec;

use crate::clock::Clock;
use crate::memory::Dependencies;
use crate::memory::uses::{JOIN, Uses, move_among, record_among};
use crate::queue::Native;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use crate::sync::{Mutex, lock};

/// The uses of one allocation that later commands must respect.
#[derive(Debug, Default)]
pub(crate) struct Tracking {
    /// Last write by the home queue; 0 for none.
    write: AtomicU64,
    /// Last read by the home queue since; 0 for none.
    read: AtomicU64,
    /// Whether the last write was for an owner that is gone: what it wrote is nobody's content.
    stale: AtomicBool,
    /// Whether uses that have completed count until the host has waited for them.
    timeless: bool,
    /// Whether `others` has entries.
    has_others: AtomicBool,
    /// Whether the bytes were taken back while there were handles.
    revoked: AtomicBool,
    others: Mutex<Uses>,
}

impl Tracking {
    /// Of memory that was freed, but may be in use until the points are reached.
    pub(crate) fn behind(conditions: &[(Arc<Native>, u64)]) -> Self {
        let tracking = Self::default();
        tracking.follow(None, conditions);
        tracking.forget_content();
        tracking
    }

    /// Counts points of others as uses, whatever they were: later commands come behind them.
    pub(crate) fn follow(&self, home: Option<&Arc<Native>>, points: &[(Arc<Native>, u64)]) {
        for (queue, sequence) in points {
            if queue.in_order && home.is_some_and(|home| Arc::ptr_eq(home, queue)) {
                self.write
                    .store(self.write.load(Relaxed).max(*sequence), Relaxed);
                continue;
            }
            // Several points of an out-of-order queue may be unordered: all of them are kept.
            let access = if queue.in_order {
                Access::Write
            } else {
                Access::Read
            };
            self.record_other(queue, *sequence, access);
        }
    }

    /// Comes behind every use of other memory, which has the same home.
    pub(crate) fn inherit(&self, home: &Arc<Native>, other: &Self) {
        self.follow(Some(home), &other.unfinished(home));
    }

    /// Says whether uses that have completed count until the host has waited for them.
    #[inline]
    pub(crate) fn set_timeless(&mut self, timeless: bool) {
        self.timeless = timeless;
    }

    /// Whether they do.
    #[inline]
    pub(crate) fn is_timeless(&self) -> bool {
        self.timeless
    }

    /// Earlier uses count for order alone from now on: what they wrote is nobody's content, and
    /// their failures are nobody's.
    #[inline]
    pub(crate) fn forget_content(&self) {
        self.stale.store(true, Relaxed);
        if self.has_others.load(Relaxed) {
            for entry in lock(&self.others).iter_mut() {
                entry.stale = true;
            }
        }
    }

    /// The same for memory that nobody else has, and whether other queues may still be using it, as
    /// far as can be told without asking their drivers.
    #[inline]
    pub(crate) fn abandon(&mut self) -> bool {
        *self.stale.get_mut() = true;
        *self.has_others.get_mut() && self.abandon_others()
    }

    #[cold]
    fn abandon_others(&mut self) -> bool {
        let timeless = self.timeless;
        let others = self.others.get_mut();
        let others = others.unwrap_or_else(PoisonError::into_inner);
        let mut any_over = false;
        for entry in others.iter_mut() {
            entry.stale = true;
            any_over |= !entry.may_go_on(timeless);
        }
        if any_over {
            others.retain(|entry| entry.may_go_on(timeless));
        }
        let has_others = *self.revoked.get_mut() || !others.is_empty();
        *self.has_others.get_mut() = has_others;
        has_others
    }

    /// Whether other queues are still using memory that nobody else has.
    pub(crate) fn others_go_on(&mut self) -> bool {
        !self.others_rest(self.timeless)
    }

    /// Ends the right to use the memory by this record. It is never quiet again, so that every
    /// way of using it comes by [`Tracking::is_revoked`].
    pub(crate) fn revoke(&self) {
        self.revoked.store(true, Relaxed);
        self.has_others.store(true, Relaxed);
    }

    /// Whether the memory is somebody else's by now.
    #[inline]
    pub(crate) fn is_revoked(&self) -> bool {
        self.revoked.load(Relaxed)
    }

    /// Whether no use has yet to complete and no writer failed.
    pub(crate) fn is_idle(&self, home: &Native) -> bool {
        self.rests(home, false)
    }

    /// Whether every use is over and no writer failed, seen from the home queue.
    #[inline]
    pub(crate) fn is_quiet(&self, home: &Native) -> bool {
        self.rests(home, self.timeless)
    }

    #[inline]
    fn rests(&self, home: &Native, timeless: bool) -> bool {
        if self.has_others.load(Relaxed) && !self.others_rest(timeless) {
            return false;
        }
        let write = self.write.load(Relaxed);
        let last = write.max(self.read.load(Relaxed));
        let failed = || !self.stale.load(Relaxed) && home.has_failed(write);
        last == 0 || (last <= home.known(timeless) && !failed())
    }

    #[cold]
    fn others_rest(&self, timeless: bool) -> bool {
        let mut others = lock(&self.others);
        let revoked = self.is_revoked();
        others.retain(|entry| entry.matters_still(self.timeless));
        self.has_others
            .store(revoked || !others.is_empty(), Relaxed);
        !revoked && !others.iter().any(|entry| entry.matters(timeless))
    }

    /// Gathers what a command of `on` with this access must follow; no queue stands for the host.
    pub(crate) fn capture(
        &self,
        home: &Arc<Native>,
        on: Option<&Arc<Native>>,
        access: Access,
        found: &mut Dependencies,
    ) {
        let same_line = on.is_some_and(|on| Arc::ptr_eq(home, on) && on.in_order);
        let completed = home.known(self.timeless);
        let write = self.write.load(Relaxed);
        if write != 0 {
            if access.reads() && !self.stale.load(Relaxed) {
                if write > completed || home.has_failed(write) {
                    found.after.push((Arc::clone(home), write));
                }
            } else if write > completed && !same_line {
                found.behind.push((Arc::clone(home), write));
            }
        }
        let read = self.read.load(Relaxed);
        if access.writes() && read > completed && !same_line {
            found.behind.push((Arc::clone(home), read));
        }
        if self.has_others.load(Relaxed) {
            for entry in lock(&self.others).iter() {
                entry.capture(on, access, self.timeless, found);
            }
        }
    }

    /// Records that command `sequence` of `on` uses the allocation.
    pub(crate) fn record(
        &self,
        home: &Arc<Native>,
        on: &Arc<Native>,
        sequence: u64,
        access: Access,
    ) {
        let same_line = Arc::ptr_eq(home, on) && on.in_order;
        if access.writes() {
            if self.has_others.load(Relaxed) {
                lock(&self.others).clear();
                self.has_others.store(false, Relaxed);
            }
            self.read.store(0, Relaxed);
            self.stale.store(false, Relaxed);
            self.write
                .store(if same_line { sequence } else { 0 }, Relaxed);
            if same_line {
                return;
            }
        } else if same_line {
            self.read.store(sequence, Relaxed);
            return;
        }
        self.record_other(on, sequence, access);
    }

    fn record_other(&self, on: &Arc<Native>, sequence: u64, access: Access) {
        record_among(&mut lock(&self.others), on, sequence, access, self.timeless);
        self.has_others.store(true, Relaxed);
    }

    /// The unfinished reads of an out-of-order queue, if there are so many that they should be
    /// joined into one command before the next is recorded.
    pub(crate) fn reads_to_join(&self, on: &Arc<Native>) -> Option<SmallVec<[u64; 2]>> {
        if on.in_order || !self.has_others.load(Relaxed) {
            return None;
        }
        let mut others = lock(&self.others);
        let entry = others
            .iter_mut()
            .find(|entry| Arc::ptr_eq(&entry.queue, on))?;
        if entry.reads.len() < JOIN {
            return None;
        }
        entry.reads.retain(|read| !on.is_over(*read, self.timeless));
        (entry.reads.len() >= JOIN).then(|| std::mem::take(&mut entry.reads))
    }

    /// Every use that isn't over.
    pub(crate) fn unfinished(&self, home: &Arc<Native>) -> SmallVec<[(Arc<Native>, u64); 2]> {
        let mut found = SmallVec::new();
        let last = self.write.load(Relaxed).max(self.read.load(Relaxed));
        if last > home.known(self.timeless) {
            found.push((Arc::clone(home), last));
        }
        if self.has_others.load(Relaxed) {
            for entry in lock(&self.others).iter() {
                for &sequence in entry.reads.iter().chain([&entry.write]) {
                    if sequence != 0 && !entry.queue.is_over(sequence, self.timeless) {
                        found.push((Arc::clone(&entry.queue), sequence));
                    }
                }
            }
        }
        found
    }

    /// Every use that is remembered, over or not, and whether it wrote.
    pub(crate) fn remembered(&self, home: &Native) -> Vec<(Point, bool)> {
        let own = [(&self.write, true), (&self.read, false)];
        let own = own.map(|(last, writes)| (home.point(last.load(Relaxed)), writes));
        let mut found = own.to_vec();
        if self.has_others.load(Relaxed) {
            for entry in lock(&self.others).iter() {
                let point = |sequence: &u64| entry.queue.point(*sequence);
                found.extend(entry.reads.iter().map(|read| (point(read), false)));
                found.push((point(&entry.write), true));
            }
        }
        found.retain(|(point, _)| point.sequence != 0);
        found
    }

    /// Whether the clock comes after every use (rule R2).
    pub(crate) fn is_before(&self, home: &Native, clock: &Clock) -> bool {
        let last = self.write.load(Relaxed).max(self.read.load(Relaxed));
        home.in_order
            && last <= clock.of(home.id())
            && (!self.has_others() || self.others_are_before(clock))
    }

    /// Whether the clock comes after every use by queues other than the home.
    pub(crate) fn others_are_before(&self, clock: &Clock) -> bool {
        let others = lock(&self.others);
        !self.is_revoked() && others.iter().all(|entry| entry.is_before(clock))
    }

    /// The same, asked by who has the memory alone.
    pub(crate) fn others_are_known_before(&mut self, clock: &Clock) -> bool {
        let others = self.others.get_mut();
        let others = others.unwrap_or_else(PoisonError::into_inner);
        !*self.revoked.get_mut() && others.iter().all(|entry| entry.is_before(clock))
    }

    /// The same uses, for an allocation that is at home on another queue from now on.
    pub(crate) fn rehome(&mut self, old: &Arc<Native>) {
        let (write, read) = (self.write.load(Relaxed), self.read.load(Relaxed));
        self.write.store(0, Relaxed);
        self.read.store(0, Relaxed);
        // What is over needs nobody behind it: its content is nobody's from here on.
        let known = old.known(self.timeless);
        let others = self
            .others
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if write.max(read) > known {
            let after = |sequence: u64| (sequence > known).then_some(sequence);
            move_among(others, old, after(write), after(read), self.timeless);
            self.has_others.store(true, Relaxed);
        }
        self.stale.store(true, Relaxed);
        for entry in others {
            entry.stale = true;
        }
    }

    /// Whether other queues than an in-order home used it since it was last quiet.
    #[inline]
    pub(crate) fn has_others(&self) -> bool {
        self.has_others.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use millpond_hal::null::NullDriver;
    use millpond_hal::{Driver, QueueOptions};
    use millpond_types::MemoryKind;

    use super::*;
    use crate::device::Device;
    use crate::memory::uses::MANY;
    use crate::queue::Use as Operand;

    #[test]
    fn queues_that_read_and_are_done_are_not_remembered() {
        let device = Device::open(NullDriver::default().devices().unwrap().remove(0));
        let memory = device
            .default_queue()
            .unwrap()
            .allocate(MemoryKind::Device, 8)
            .unwrap();
        for _ in 0..300 {
            let queue = device.create_queue(&QueueOptions::default()).unwrap();
            let uses = [Operand {
                allocation: &memory,
                access: Access::Read,
            }];
            queue
                .task("read", &uses, || Ok(()))
                .unwrap()
                .wait()
                .unwrap();
            assert!(lock(&memory.block().tracking.others).len() <= MANY);
        }
    }
}
