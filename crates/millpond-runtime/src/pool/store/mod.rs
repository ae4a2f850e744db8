//! The second tier of a pool: segments from the driver and the extents in them.
//!
//! An extent is *free* once its last use has completed: free extents are kept by address, to merge
//! neighbours, and by size, to find the smallest that fits. Until then it is *pending* under one
//! of the points that it waits for; when that one is reached it moves to the next. Points are kept
//! by queue and sequence, so that looking for what has completed costs O(1) for each extent that
//! has, and a stuck queue delays only its own. Nothing here calls a driver.

mod segments;
mod stock;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use millpond_hal::{Address, QueueId};
use smallvec::SmallVec;

use crate::pool::class::LARGEST;
use crate::pool::store::segments::Segment;
use crate::queue::Native;

pub(crate) use stock::Stock;

/// Memory is scarce when less than this part of it isn't in use, and there is no more to be had.
const SCARCE: usize = 8;

/// Points that must be reached before an extent is free.
pub(crate) type Conditions = SmallVec<[(Arc<Native>, u64); 2]>;

/// Segments and extents of one pool; guarded by the pool's lock.
#[derive(Debug, Default)]
pub(crate) struct Store {
    segments: BTreeMap<usize, Segment>,
    /// Begins of the segments of which nothing is in use, and the bytes of these and of all.
    unused: BTreeSet<usize>,
    unused_bytes: usize,
    bytes: usize,
    free: BTreeMap<usize, Free>,
    /// Length and begin of the free extents that requests may be cut from.
    by_size: BTreeSet<(usize, usize)>,
    pending: BTreeMap<usize, Pending>,
    ledgers: BTreeMap<QueueId, Ledger>,
    stock: Arc<Stock>,
    /// Whether the pool couldn't grow for a request, and hasn't since, and little was left.
    was_scarce: bool,
}

/// A free extent: a part that was used, then one that nobody touched since it came from the driver.
/// Memory is cut from the front, so what is untouched stays at the back.
#[derive(Clone, Copy, Debug)]
struct Free {
    len: usize,
    /// Where the untouched part begins: the end, if there is none.
    fresh_from: usize,
}

#[derive(Debug)]
struct Pending {
    len: usize,
    conditions: Conditions,
}

/// Pending extents under points of one queue.
#[derive(Debug)]
struct Ledger {
    queue: Arc<Native>,
    /// Begins of extents, by the sequence number that they wait for.
    waiting: BTreeSet<(u64, usize)>,
}

impl Ledger {
    /// An extent whose point is reached.
    fn next(&self, reached: impl Fn(&Native, u64) -> bool) -> Option<usize> {
        // A command of an in-order queue isn't reached before those ahead of it.
        let most = if self.queue.in_order { 1 } else { usize::MAX };
        let mut waiting = self.waiting.iter().take(most);
        let found = waiting.find(|(sequence, _)| reached(&self.queue, *sequence));
        found.map(|&(_, begin)| begin)
    }
}

/// Bytes cut from a free extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) base: Address,
    /// Untouched since it came from the driver.
    pub(crate) fresh: bool,
    /// Untouched since the driver filled it with zeros.
    pub(crate) zeroed: bool,
}

impl Store {
    /// Bytes of free extents.
    pub(crate) fn free_bytes(&self) -> usize {
        self.stock.free()
    }

    /// Bytes of all segments.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of extents that wait for their last use.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.stock.pending()
    }

    /// Both, to be read without the lock.
    pub(crate) fn stock(&self) -> &Arc<Stock> {
        &self.stock
    }

    /// Length of the largest free extent.
    pub(crate) fn largest_free(&self) -> usize {
        self.by_size.last().map_or(0, |&(len, _)| len)
    }

    /// Whether there are no segments.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Cuts `size` bytes, aligned as asked, from the smallest extent that has them.
    pub(crate) fn take(&mut self, size: usize, align: usize) -> Option<Cut> {
        let mut fits = self.by_size.range((size, 0)..);
        let (len, begin, base) = fits.find_map(|&(len, begin)| {
            // Large blocks come from the end, so that small ones don't part what they leave.
            let first = begin.checked_next_multiple_of(align)?;
            let last = (begin + len - size) / align * align;
            let base = if size > LARGEST { last } else { first };
            (first <= last).then_some((len, begin, base))
        })?;
        Some(self.cut(begin, len, base, size))
    }

    /// Notes that the pool can't grow for a request.
    pub(crate) fn note_scarcity(&mut self) {
        self.was_scarce = true;
    }

    /// Whether little was left when the pool couldn't grow, and is still: what is granted is then
    /// not rounded up to classes, which would take from others what their requests need.
    pub(crate) fn is_scarce(&mut self) -> bool {
        self.was_scarce &= self.free_bytes() + self.pending_bytes() < self.bytes / SCARCE;
        self.was_scarce
    }

    /// Takes out the pending extent that fits and whose points `cost` says are nearest, with what
    /// of it isn't needed left pending.
    pub(crate) fn take_pending(
        &mut self,
        size: usize,
        align: usize,
        cost: impl Fn(&Conditions) -> Option<u64>,
    ) -> Option<(Address, Conditions)> {
        let fits = |begin: usize, len: usize| len >= size && begin.is_multiple_of(align);
        let (_, _, begin) = self
            .pending
            .iter()
            .filter(|&(&begin, extent)| fits(begin, extent.len) && !self.is_dedicated(begin))
            .filter_map(|(&begin, extent)| Some((cost(&extent.conditions)?, extent.len, begin)))
            .min()?;
        let extent = self.remove_pending(begin)?;
        self.count_use(begin, extent.len as isize);
        if extent.len > size {
            // What is left over keeps waiting for all that the whole waited for.
            self.put(
                Address::new(begin + size),
                extent.len - size,
                extent.conditions.clone(),
            );
        }
        Some((Address::new(begin), extent.conditions))
    }

    /// Gives an extent back, free as soon as the conditions are met.
    pub(crate) fn put(&mut self, begin: Address, len: usize, conditions: Conditions) {
        self.count_use(begin.get(), -(len as isize));
        self.insert(begin.get(), len, conditions);
    }

    /// The same for many, in the order of their addresses: neighbours that are free already come as
    /// one.
    pub(crate) fn put_all(&mut self, extents: impl Iterator<Item = (Address, usize, Conditions)>) {
        let mut run = 0..0;
        let mut limit = 0;
        for (begin, len, conditions) in extents {
            let end = begin.get() + len;
            if !conditions.is_empty() {
                self.put(begin, len, conditions);
            } else if begin.get() == run.end && end <= limit {
                run.end = end;
            } else {
                self.put_run(&run);
                run = begin.get()..end;
                let segment = self.segment_around(begin);
                limit = segment.map_or(end, |(first, len)| first.get() + len);
            }
        }
        self.put_run(&run);
    }

    fn put_run(&mut self, run: &Range<usize>) {
        if !run.is_empty() {
            self.put(Address::new(run.start), run.len(), Conditions::new());
        }
    }

    fn insert(&mut self, begin: usize, len: usize, conditions: Conditions) {
        let Some((queue, sequence)) = conditions.first() else {
            self.merge(begin, len);
            return;
        };
        let ledger = self.ledgers.entry(queue.id()).or_insert_with(|| Ledger {
            queue: Arc::clone(queue),
            waiting: BTreeSet::new(),
        });
        ledger.waiting.insert((*sequence, begin));
        self.stock.count_pending(len as isize);
        self.pending.insert(begin, Pending { len, conditions });
    }

    /// The points that pending extents wait for first: what to ask the drivers about, without a
    /// lock, before [`Store::poll`]. The first of an in-order queue stands for all of it.
    pub(crate) fn witnesses(&self) -> Conditions {
        let mut witnesses = Conditions::new();
        for ledger in self.ledgers.values() {
            let most = if ledger.queue.in_order { 1 } else { usize::MAX };
            for &(sequence, _) in ledger.waiting.iter().take(most) {
                witnesses.push((Arc::clone(&ledger.queue), sequence));
            }
        }
        witnesses
    }

    /// Frees what has completed, as `reached` tells, which must not block.
    pub(crate) fn poll(&mut self, reached: impl Fn(&Native, u64) -> bool) {
        let queues: SmallVec<[QueueId; 8]> = self.ledgers.keys().copied().collect();
        for id in queues {
            while let Some(begin) = self
                .ledgers
                .get(&id)
                .and_then(|ledger| ledger.next(&reached))
            {
                if let Some(mut extent) = self.remove_pending(begin) {
                    extent
                        .conditions
                        .retain(|(queue, sequence)| !reached(queue, *sequence));
                    self.insert(begin, extent.len, extent.conditions);
                }
            }
        }
    }

    /// Cuts the front of a dedicated segment that was just added.
    pub(crate) fn take_dedicated(&mut self, begin: Address, size: usize) -> Cut {
        let begin = begin.get();
        self.cut(begin, self.free[&begin].len, begin, size)
    }

    /// Pending extents: how long each is, and what it waits for.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (usize, &Conditions)> {
        let pending = self.pending.values();
        pending.map(|extent| (extent.len, &extent.conditions))
    }

    /// Pending extents and the free ones beside them, by address.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let mut done = 0;
        self.pending.iter().flat_map(move |(&begin, extent)| {
            let end = begin + extent.len;
            let before = self.free.range(done..begin).next_back();
            let before = before.filter(|(free, extent)| *free + extent.len == begin);
            let after = self.free.get_key_value(&end);
            done = after.map_or(end, |(&free, extent)| free + extent.len);
            let free = |(&begin, extent): (&usize, &Free)| (begin, extent.len, None);
            let runs = [
                before.map(free),
                Some((begin, extent.len, Some(&extent.conditions))),
                after.map(free),
            ];
            runs.into_iter()
                .flatten()
                .filter_map(|(begin, len, conditions)| {
                    let (&segment, found) = self.segments.range(..=begin).next_back()?;
                    Some(Run {
                        segment,
                        begin,
                        len,
                        conditions,
                        dedicated: found.dedicated,
                    })
                })
        })
    }

    fn segment_of(&self, begin: usize) -> Option<&Segment> {
        let (_, segment) = self.segments.range(..=begin).next_back()?;
        Some(segment)
    }

    fn is_dedicated(&self, begin: usize) -> bool {
        self.segment_of(begin)
            .is_some_and(|segment| segment.dedicated)
    }

    /// Takes `size` bytes from `base` out of the free extent at `begin`.
    fn cut(&mut self, begin: usize, len: usize, base: usize, size: usize) -> Cut {
        let fresh_from = self.remove_free(begin);
        self.count_use(begin, size as isize);
        let end = base + size;
        if base > begin {
            self.insert_free(begin, base - begin, fresh_from.min(base));
        }
        if begin + len > end {
            self.insert_free(end, begin + len - end, fresh_from.max(end));
        }
        let fresh = base >= fresh_from;
        Cut {
            base: Address::new(base),
            fresh,
            zeroed: fresh
                && self
                    .segment_of(base)
                    .is_some_and(|segment| segment.raw.zeroed),
        }
    }

    fn insert_free(&mut self, begin: usize, len: usize, fresh_from: usize) {
        self.stock.count_free(len as isize);
        self.free.insert(begin, Free { len, fresh_from });
        if !self.is_dedicated(begin) {
            self.by_size.insert((len, begin));
        }
    }

    /// Where its untouched part began.
    fn remove_free(&mut self, begin: usize) -> usize {
        let Some(extent) = self.free.remove(&begin) else {
            return usize::MAX;
        };
        self.stock.count_free(-(extent.len as isize));
        self.by_size.remove(&(extent.len, begin));
        extent.fresh_from
    }

    fn remove_pending(&mut self, begin: usize) -> Option<Pending> {
        let extent = self.pending.remove(&begin)?;
        self.stock.count_pending(-(extent.len as isize));
        if let Some((queue, sequence)) = extent.conditions.first()
            && let Some(ledger) = self.ledgers.get_mut(&queue.id())
        {
            ledger.waiting.remove(&(*sequence, begin));
            if ledger.waiting.is_empty() {
                self.ledgers.remove(&queue.id());
            }
        }
        Some(extent)
    }

    /// Inserts a used extent together with free neighbours of the same segment.
    fn merge(&mut self, begin: usize, len: usize) {
        let (mut end, mut fresh_from) = (begin + len, begin + len);
        if !self.segments.contains_key(&end)
            && let Some(after) = self.free.get(&end)
        {
            let after = after.len;
            fresh_from = self.remove_free(end);
            end += after;
        }
        // What lies before only becomes longer, and keeps its place.
        let before = self.free.range_mut(..begin).next_back();
        if let Some((&before, extent)) = before
            && before + extent.len == begin
            && !self.segments.contains_key(&begin)
        {
            let len = end - before;
            let shorter = std::mem::replace(extent, Free { len, fresh_from });
            self.stock.count_free((len - shorter.len) as isize);
            if self.by_size.remove(&(shorter.len, before)) {
                self.by_size.insert((len, before));
            }
            return;
        }
        self.insert_free(begin, end - begin, fresh_from);
    }
}

/// An extent that nobody uses, free or pending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) segment: usize,
    pub(crate) begin: usize,
    pub(crate) len: usize,
    /// What it waits for, if it does.
    pub(crate) conditions: Option<&'a Conditions>,
    pub(crate) dedicated: bool,
}
