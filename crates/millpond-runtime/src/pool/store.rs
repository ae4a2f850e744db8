//! The second tier of a pool: segments from the driver and the free extents in them.
//!
//! Extents whose last use has completed are kept by address, to merge neighbours, and by size, to
//! find the smallest that fits. Extents whose last use hasn't completed wait in line; each is
//! looked at again when memory is needed. Nothing here calls a driver.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use millpond_hal::{Address, RawAllocation};
use smallvec::SmallVec;

use crate::queue::Native;

/// Points that must be reached before an extent is free.
pub(crate) type Conditions = SmallVec<[(Arc<Native>, u64); 2]>;

/// Segments and extents of one pool; guarded by the pool's lock.
#[derive(Debug, Default)]
pub(crate) struct Store {
    segments: BTreeMap<usize, RawAllocation>,
    by_address: BTreeMap<usize, usize>,
    by_size: BTreeSet<(usize, usize)>,
    pending: VecDeque<Pending>,
    free: usize,
    waiting: usize,
    pub(crate) reserved: usize,
    pub(crate) reserved_high: usize,
}

#[derive(Debug)]
struct Pending {
    begin: usize,
    len: usize,
    conditions: Conditions,
}

impl Store {
    /// Bytes of free extents.
    pub(crate) fn free_bytes(&self) -> usize {
        self.free
    }

    /// Bytes of extents that wait for their last use.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.waiting
    }

    /// Cuts `size` bytes from the smallest extent that has them.
    pub(crate) fn take(&mut self, size: usize) -> Option<Address> {
        let &(len, begin) = self.by_size.range((size, 0)..).next()?;
        self.remove(begin, len);
        if len > size {
            self.insert(begin + size, len - size);
        }
        Some(Address::new(begin))
    }

    /// Gives an extent back, free as soon as the conditions are met.
    pub(crate) fn put(&mut self, begin: Address, len: usize, conditions: Conditions) {
        if conditions.is_empty() {
            self.merge(begin.get(), len);
        } else {
            self.waiting += len;
            self.pending.push_back(Pending {
                begin: begin.get(),
                len,
                conditions,
            });
        }
    }

    /// Frees what has completed among the first `limit` waiting extents; whether any was.
    pub(crate) fn poll(&mut self, limit: usize) -> bool {
        let mut any = false;
        for _ in 0..self.pending.len().min(limit) {
            let Some(mut extent) = self.pending.pop_front() else {
                break;
            };
            extent
                .conditions
                .retain(|(queue, sequence)| !queue.reached(*sequence));
            if extent.conditions.is_empty() {
                self.waiting -= extent.len;
                self.merge(extent.begin, extent.len);
                any = true;
            } else {
                // At the end of the line, so that a stuck queue delays only its own extents.
                self.pending.push_back(extent);
            }
        }
        any
    }

    /// The points that the extent waiting longest waits for.
    pub(crate) fn oldest_conditions(&self) -> Option<Conditions> {
        self.pending.front().map(|extent| extent.conditions.clone())
    }

    /// Adds a segment, all of it free.
    pub(crate) fn add_segment(&mut self, segment: RawAllocation) {
        let (begin, len) = (segment.address.get(), segment.layout.size());
        self.reserved += len;
        self.reserved_high = self.reserved_high.max(self.reserved);
        self.segments.insert(begin, segment);
        self.insert(begin, len);
    }

    /// Takes out segments of which nothing is used, until at most `keep` bytes are reserved.
    pub(crate) fn idle_segments(&mut self, keep: usize) -> Vec<RawAllocation> {
        let idle: Vec<(usize, usize)> = self
            .segments
            .iter()
            .map(|(&begin, segment)| (begin, segment.layout.size()))
            .filter(|(begin, len)| self.by_address.get(begin) == Some(len))
            .collect();
        let mut taken = Vec::new();
        for (begin, len) in idle {
            if self.reserved <= keep {
                break;
            }
            self.remove(begin, len);
            self.reserved -= len;
            taken.extend(self.segments.remove(&begin));
        }
        taken
    }

    fn insert(&mut self, begin: usize, len: usize) {
        self.free += len;
        self.by_address.insert(begin, len);
        self.by_size.insert((len, begin));
    }

    fn remove(&mut self, begin: usize, len: usize) {
        self.free -= len;
        self.by_address.remove(&begin);
        self.by_size.remove(&(len, begin));
    }

    /// Inserts an extent together with free neighbours of the same segment.
    fn merge(&mut self, begin: usize, len: usize) {
        let (mut begin, mut end) = (begin, begin + len);
        if let Some((&before, &before_len)) = self.by_address.range(..begin).next_back()
            && before + before_len == begin
            && !self.segments.contains_key(&begin)
        {
            self.remove(before, before_len);
            begin = before;
        }
        if !self.segments.contains_key(&end)
            && let Some(&after_len) = self.by_address.get(&end)
        {
            self.remove(end, after_len);
            end += after_len;
        }
        self.insert(begin, end - begin);
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use millpond_types::MemoryKind;

    use super::*;

    fn segment(begin: usize, len: usize) -> RawAllocation {
        RawAllocation {
            address: Address::new(begin),
            layout: Layout::from_size_align(len, 256).unwrap(),
            kind: MemoryKind::Device,
            zeroed: false,
        }
    }

    #[test]
    fn the_smallest_sufficient_extent_is_cut_and_neighbours_merge() {
        let mut store = Store::default();
        store.add_segment(segment(0x1_0000, 0x1000));
        store.add_segment(segment(0x9_0000, 0x400));
        assert_eq!(store.take(0x400), Some(Address::new(0x9_0000)));
        let a = store.take(0x400).unwrap();
        let b = store.take(0x400).unwrap();
        assert_eq!(store.take(0x1000), None);
        store.put(a, 0x400, Conditions::new());
        store.put(b, 0x400, Conditions::new());
        assert_eq!(store.take(0x1000), Some(Address::new(0x1_0000)));
        assert_eq!(store.free_bytes(), 0);
    }

    #[test]
    fn extents_of_adjacent_segments_stay_apart() {
        for swapped in [false, true] {
            let mut store = Store::default();
            store.add_segment(segment(0x1_0000, 0x400));
            store.add_segment(segment(0x1_0400, 0x400));
            let (a, b) = (store.take(0x400).unwrap(), store.take(0x400).unwrap());
            let (first, second) = if swapped { (b, a) } else { (a, b) };
            store.put(first, 0x400, Conditions::new());
            store.put(second, 0x400, Conditions::new());
            assert_eq!(store.take(0x800), None);
            assert_eq!(store.idle_segments(0).len(), 2);
            assert_eq!(
                (store.reserved, store.free_bytes(), store.reserved_high),
                (0, 0, 0x800)
            );
        }
    }
}
