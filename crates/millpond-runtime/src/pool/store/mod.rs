//! The second tier of a pool: segments from the driver and the extents in them.
//!
//! An extent is *free* once its last use has completed: free extents are kept by address, to merge
//! neighbours, and by size, to find the smallest that fits. Until then it is *pending* under one
//! of the points that it waits for; when that one is reached it moves to the next. Points are kept
//! by queue and sequence, so that looking for what has completed costs O(1) for each extent that
//! has, and a stuck queue delays only its own. Nothing here calls a driver.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use millpond_hal::{Address, QueueId, RawAllocation};
use smallvec::SmallVec;

use crate::queue::Native;

/// Points that must be reached before an extent is free.
pub(crate) type Conditions = SmallVec<[(Arc<Native>, u64); 2]>;

/// Segments and extents of one pool; guarded by the pool's lock.
#[derive(Debug, Default)]
pub(crate) struct Store {
    segments: BTreeMap<usize, Segment>,
    free: BTreeMap<usize, Free>,
    /// Length and begin of the free extents that requests may be cut from.
    by_size: BTreeSet<(usize, usize)>,
    pending: BTreeMap<usize, Pending>,
    ledgers: BTreeMap<QueueId, Ledger>,
    free_bytes: usize,
    pending_bytes: usize,
}

/// Memory had from the driver, or lent by a user.
#[derive(Debug)]
struct Segment {
    raw: RawAllocation,
    /// Serves one request and goes back when that one is over.
    dedicated: bool,
    /// Whether all of it was free when ages were last looked at.
    was_idle: bool,
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
        self.free_bytes
    }

    /// Bytes of extents that wait for their last use.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// Length of the largest free extent.
    pub(crate) fn largest_free(&self) -> usize {
        self.by_size.last().map_or(0, |&(len, _)| len)
    }

    /// The bytes of the first segment: of a pool over a buffer all there are.
    pub(crate) fn first_segment(&self) -> Option<Range<usize>> {
        let (&begin, segment) = self.segments.first_key_value()?;
        Some(begin..begin + segment.raw.layout.size())
    }

    /// Whether there are no segments.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Cuts `size` bytes, aligned as asked, from the smallest extent that has them.
    pub(crate) fn take(&mut self, size: usize, align: usize) -> Option<Cut> {
        let mut fits = self.by_size.range((size, 0)..);
        let (len, begin, base) = fits.find_map(|&(len, begin)| {
            let base = begin.checked_next_multiple_of(align)?;
            (base - begin <= len - size).then_some((len, begin, base))
        })?;
        Some(self.cut(begin, len, base, size))
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
        self.insert(begin.get(), len, conditions);
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
        self.pending_bytes += len;
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

    /// Adds a segment, all of it free.
    pub(crate) fn add_segment(&mut self, raw: RawAllocation, dedicated: bool) {
        let (begin, len) = (raw.address.get(), raw.layout.size());
        self.segments.insert(
            begin,
            Segment {
                raw,
                dedicated,
                was_idle: false,
            },
        );
        self.insert_free(begin, len, begin);
    }

    /// Cuts the front of a dedicated segment that was just added.
    pub(crate) fn take_dedicated(&mut self, begin: Address, size: usize) -> Cut {
        let begin = begin.get();
        self.cut(begin, self.free[&begin].len, begin, size)
    }

    /// Takes out segments of which nothing is used, at most `most` of them, until at most `keep`
    /// bytes are here.
    pub(crate) fn idle_segments(&mut self, keep: usize, most: usize) -> Vec<RawAllocation> {
        let sizes = self.segments.values();
        let mut bytes: usize = sizes.map(|segment| segment.raw.layout.size()).sum();
        let mut taken = Vec::new();
        for begin in self.idle(|_| true) {
            if taken.len() >= most || bytes <= keep {
                break;
            }
            if let Some(segment) = self.remove_segment(begin) {
                bytes -= segment.layout.size();
                taken.push(segment);
            }
        }
        taken
    }

    /// Takes out dedicated segments whose request is over.
    pub(crate) fn idle_dedicated(&mut self) -> Vec<RawAllocation> {
        let over = self.idle(|segment| segment.dedicated);
        over.into_iter()
            .filter_map(|begin| self.remove_segment(begin))
            .collect()
    }

    /// Takes out segments that were free at the last call already, at most `most` of them.
    pub(crate) fn aged_segments(&mut self, most: usize) -> Vec<RawAllocation> {
        let mut aged = self.idle(|segment| segment.was_idle);
        aged.truncate(most);
        let taken = aged
            .into_iter()
            .filter_map(|begin| self.remove_segment(begin))
            .collect();
        let idle = self.idle(|_| true);
        for (begin, segment) in &mut self.segments {
            segment.was_idle = idle.binary_search(begin).is_ok();
        }
        taken
    }

    /// Begins of the segments that `select` wants and of which nothing is used, in order.
    fn idle(&self, select: impl Fn(&Segment) -> bool) -> Vec<usize> {
        let is_idle = |begin: &usize, segment: &Segment| {
            let free = self.free.get(begin).map(|free| free.len);
            free == Some(segment.raw.layout.size()) && select(segment)
        };
        let segments = self.segments.iter();
        let idle = segments.filter(|(begin, segment)| is_idle(begin, segment));
        idle.map(|(&begin, _)| begin).collect()
    }

    fn remove_segment(&mut self, begin: usize) -> Option<RawAllocation> {
        self.remove_free(begin);
        self.segments.remove(&begin).map(|segment| segment.raw)
    }

    /// Free and pending extents by address, each with the begin of its segment.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let mut free = self.free.iter().peekable();
        let mut pending = self.pending.iter().peekable();
        std::iter::from_fn(move || {
            let next_is_free = match (free.peek(), pending.peek()) {
                (Some((free, _)), Some((pending, _))) => free < pending,
                (free, _) => free.is_some(),
            };
            let (begin, len, conditions) = if next_is_free {
                let (&begin, extent) = free.next()?;
                (begin, extent.len, None)
            } else {
                let (&begin, extent) = pending.next()?;
                (begin, extent.len, Some(&extent.conditions))
            };
            let (&segment, found) = self.segments.range(..=begin).next_back()?;
            Some(Run {
                segment,
                segment_len: found.raw.layout.size(),
                begin,
                len,
                conditions,
                dedicated: found.dedicated,
            })
        })
    }

    /// The first byte and the length of the segment that an address lies in.
    pub(crate) fn segment_around(&self, address: Address) -> Option<(Address, usize)> {
        let raw = &self.segment_of(address.get())?.raw;
        let is_inside = address.get() - raw.address.get() < raw.layout.size();
        is_inside.then_some((raw.address, raw.layout.size()))
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
        if let Some((_, segment)) = self.segments.range_mut(..=begin).next_back() {
            segment.was_idle = false;
        }
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
        self.free_bytes += len;
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
        self.free_bytes -= extent.len;
        self.by_size.remove(&(extent.len, begin));
        extent.fresh_from
    }

    fn remove_pending(&mut self, begin: usize) -> Option<Pending> {
        let extent = self.pending.remove(&begin)?;
        self.pending_bytes -= extent.len;
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
        let (mut begin, end) = (begin, begin + len);
        if let Some((&before, extent)) = self.free.range(..begin).next_back()
            && before + extent.len == begin
            && !self.segments.contains_key(&begin)
        {
            self.remove_free(before);
            begin = before;
        }
        if !self.segments.contains_key(&end)
            && let Some(after) = self.free.get(&end)
        {
            let after = after.len;
            let fresh_from = self.remove_free(end);
            self.insert_free(begin, end + after - begin, fresh_from);
            return;
        }
        self.insert_free(begin, end - begin, end);
    }
}

/// An extent that nobody uses, free or pending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    pub(crate) segment: usize,
    pub(crate) segment_len: usize,
    pub(crate) begin: usize,
    pub(crate) len: usize,
    /// What it waits for, if it does.
    pub(crate) conditions: Option<&'a Conditions>,
    pub(crate) dedicated: bool,
}
