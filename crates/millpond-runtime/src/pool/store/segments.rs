//! The segments of a store: which there are, how much of each is in use, and which can go back.

use std::ops::Range;

use millpond_hal::{Address, RawAllocation};

use crate::pool::store::{Conditions, Store};

/// Memory had from the driver, or lent by a user.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) raw: RawAllocation,
    /// Bytes that are neither free nor pending.
    used: usize,
    /// Serves one request and goes back when that one is over.
    pub(super) dedicated: bool,
    /// Whether all of it was free when ages were last looked at.
    was_idle: bool,
}

impl Store {
    /// Adds a segment, all of it free.
    pub(crate) fn add_segment(&mut self, raw: RawAllocation, dedicated: bool) {
        let (begin, len) = (raw.address.get(), raw.layout.size());
        self.segments.insert(
            begin,
            Segment {
                raw,
                used: 0,
                dedicated,
                was_idle: false,
            },
        );
        self.bytes += len;
        self.unused_bytes += len;
        self.unused.insert(begin);
        self.was_scarce = false;
        self.insert_free(begin, len, begin);
    }

    /// The bytes of the first segment: of a pool over a buffer all there are.
    pub(crate) fn first_segment(&self) -> Option<Range<usize>> {
        let (&begin, segment) = self.segments.first_key_value()?;
        Some(begin..begin + segment.raw.layout.size())
    }

    /// The first byte and the length of the segment that an address lies in.
    pub(crate) fn segment_around(&self, address: Address) -> Option<(Address, usize)> {
        let raw = &self.segment_of(address.get())?.raw;
        let is_inside = address.get() - raw.address.get() < raw.layout.size();
        is_inside.then_some((raw.address, raw.layout.size()))
    }

    /// Counts bytes of the segment around an address that are in use from now on, or no longer.
    pub(super) fn count_use(&mut self, begin: usize, change: isize) {
        let Some((&first, segment)) = self.segments.range_mut(..=begin).next_back() else {
            return;
        };
        let len = segment.raw.layout.size();
        let was_unused = segment.used == 0;
        segment.used = segment.used.wrapping_add_signed(change);
        segment.was_idle &= change < 0;
        match (was_unused, segment.used == 0) {
            (true, false) => {
                self.unused.remove(&first);
                self.unused_bytes -= len;
            }
            (false, true) => {
                self.unused.insert(first);
                self.unused_bytes += len;
            }
            _ => {}
        }
    }

    /// Bytes of segments of which nothing is in use, though a part of them may be pending.
    pub(crate) fn unused_bytes(&self) -> usize {
        self.unused_bytes
    }

    /// These segments, each with what of it is pending.
    pub(crate) fn unused_segments(
        &self,
    ) -> impl Iterator<Item = (usize, impl Iterator<Item = &Conditions> + Clone)> {
        self.unused.iter().map(|&begin| {
            let len = self.segments[&begin].raw.layout.size();
            let pending = self.pending.range(begin..begin + len);
            (len, pending.map(|(_, extent)| &extent.conditions))
        })
    }

    /// Takes out segments of which nothing is used, at most `most` of them, until at most `keep`
    /// bytes are here.
    pub(crate) fn idle_segments(&mut self, keep: usize, most: usize) -> Vec<RawAllocation> {
        let mut taken = Vec::new();
        if self.bytes <= keep || self.unused.is_empty() {
            return taken;
        }
        for begin in self.idle(|_| true) {
            if taken.len() >= most || self.bytes <= keep {
                break;
            }
            taken.extend(self.remove_segment(begin));
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
        let is_idle = |begin: &usize| {
            let segment = &self.segments[begin];
            let free = self.free.get(begin).map(|free| free.len);
            free == Some(segment.raw.layout.size()) && select(segment)
        };
        self.unused.iter().copied().filter(is_idle).collect()
    }

    fn remove_segment(&mut self, begin: usize) -> Option<RawAllocation> {
        let segment = self.segments.remove(&begin)?.raw;
        self.remove_free(begin);
        self.unused.remove(&begin);
        self.unused_bytes -= segment.layout.size();
        self.bytes -= segment.layout.size();
        Some(segment)
    }
}
