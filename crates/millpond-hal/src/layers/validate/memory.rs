//! The memory of a driver: what is allocated, and which commands use it.

use std::collections::BTreeMap;
use std::ops::Range;

use millpond_types::MemoryKind;

use crate::command::Address;
use crate::device::RawAllocation;
use crate::layers::wrap::Site;
use crate::point::{Point, QueueId};

/// A range that a command names.
#[derive(Debug)]
pub(super) struct Named {
    range: Range<usize>,
    /// Whether it is an end of a copy, and so may be any memory of the host.
    copied: bool,
}

impl Named {
    pub(super) fn new(start: Address, bytes: usize, copied: bool) -> Result<Self, String> {
        let start = start.get();
        match start.checked_add(bytes) {
            Some(end) => Ok(Self {
                range: start..end,
                copied,
            }),
            None => Err(format!(
                "{bytes} bytes at {start:#x} leave the address space"
            )),
        }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.range.start < other.range.end && other.range.start < self.range.end
    }
}

/// Allocations by their first address.
#[derive(Debug, Default)]
pub(super) struct Memory {
    live: BTreeMap<usize, Live>,
    /// Ends of memory that only a device can have had, and that is no longer allocated.
    released: BTreeMap<usize, usize>,
}

#[derive(Debug)]
struct Live {
    device: usize,
    kind: MemoryKind,
    end: usize,
    uses: Vec<Point>,
}

impl Memory {
    pub(super) fn insert(&mut self, site: &Site, allocation: &RawAllocation) {
        let bytes = allocation.layout.size();
        self.insert_range(site, allocation.kind, allocation.address, bytes);
    }

    /// The same for memory that is known by its range.
    pub(super) fn insert_range(
        &mut self,
        site: &Site,
        kind: MemoryKind,
        address: Address,
        bytes: usize,
    ) {
        let start = address.get();
        let end = start + bytes;
        self.released
            .retain(|&old, &mut old_end| old_end <= start || end <= old);
        self.live.insert(
            start,
            Live {
                device: site.number,
                kind,
                end,
                uses: Vec::new(),
            },
        );
    }

    /// The commands known to use an allocation that is about to be released; else why it can't.
    pub(super) fn uses(
        &self,
        site: &Site,
        allocation: &RawAllocation,
    ) -> Result<Vec<Point>, String> {
        let start = allocation.address.get();
        let live = self.live.get(&start).ok_or_else(|| {
            format!("memory at {start:#x} isn't allocated, or was released before")
        })?;
        if live.device != site.number {
            return Err(format!(
                "memory at {start:#x} belongs to device {}, not {}",
                live.device, site.number
            ));
        }
        let (had, given) = (live.end - start, allocation.layout.size());
        if had != given || live.kind != allocation.kind {
            return Err(format!(
                "{} memory at {start:#x} has {had} bytes, not {given} of {} memory",
                live.kind, allocation.kind
            ));
        }
        Ok(live.uses.clone())
    }

    pub(super) fn remove(&mut self, site: &Site, address: Address) {
        let start = address.get();
        if let Some(live) = self.live.remove(&start) {
            // Other addresses may come back as memory of the host that nobody reports here.
            if live.kind == MemoryKind::Device && !site.device.info().host_executed {
                self.released.insert(start, live.end);
            }
        }
    }

    /// Says why a command on a device may not name a range.
    pub(super) fn check(&self, site: &Site, named: &Named) -> Result<(), String> {
        let Range { start, end } = named.range;
        if start == end {
            return Ok(());
        }
        let bytes = end - start;
        if let Some((&first, live)) = self.live.range(..end).next_back()
            && start < live.end
        {
            if start < first || live.end < end {
                return Err(format!(
                    "{bytes} bytes at {start:#x}, of which only some lie in the {} bytes \
                     allocated at {first:#x} (A1)",
                    live.end - first
                ));
            }
            let shared = live.kind == MemoryKind::Host || named.copied;
            if live.device != site.number && !shared {
                return Err(format!(
                    "{} memory at {start:#x} of device {} on device {} (A2)",
                    live.kind, live.device, site.number
                ));
            }
            return Ok(());
        }
        if let Some((_, &released_end)) = self.released.range(..end).next_back()
            && start < released_end
        {
            return Err(format!(
                "{bytes} bytes at {start:#x}, which were released (A1)"
            ));
        }
        if named.copied || site.device.info().host_executed {
            Ok(())
        } else {
            Err(format!(
                "{bytes} bytes at {start:#x}, which nobody allocated (A1)"
            ))
        }
    }

    /// Notes that a submitted command names a range, and forgets uses that have completed.
    pub(super) fn record(&mut self, named: &Named, point: Point, completed: u64) {
        if named.range.is_empty() {
            return;
        }
        if let Some((_, live)) = self.live.range_mut(..named.range.end).next_back()
            && named.range.start < live.end
        {
            live.uses
                .retain(|old| old.queue != point.queue || old.sequence > completed);
            if point.sequence > completed {
                live.uses.push(point);
            }
        }
    }

    /// The uses by a queue, each with the allocation's address.
    pub(super) fn used_by(&self, queue: QueueId) -> Vec<(usize, Point)> {
        let uses = |(&address, live): (&usize, &Live)| {
            let uses = live.uses.clone();
            uses.into_iter().map(move |point| (address, point))
        };
        let mut used: Vec<_> = self.live.iter().flat_map(uses).collect();
        used.retain(|(_, point)| point.queue == queue);
        used
    }

    /// Whether a command is still known to use the allocation at an address.
    pub(super) fn is_used(&self, address: Address, point: Point) -> bool {
        let live = self.live.get(&address.get());
        live.is_some_and(|live| live.uses.contains(&point))
    }

    /// Notes that a command has finished.
    pub(super) fn finish(&mut self, address: usize, point: Point) {
        if let Some(live) = self.live.get_mut(&address) {
            live.uses.retain(|&used| used != point);
        }
    }
}
