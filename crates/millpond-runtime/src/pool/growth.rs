//! Growing: segments from the driver.
//!
//! Bytes are reserved in the budget (`budget.rs`) before the driver is asked for them.

use std::alloc::Layout;
use std::fmt;

use millpond_hal::DeviceError;

use crate::pool::budget::Growth;
use crate::pool::core::PoolCore;
use crate::pool::store::Cut;
use crate::sync::{atomic::Ordering::Relaxed, lock};

/// Segments are multiples of this many bytes, the size of a huge page.
const PAGE: usize = 2 << 20;

/// What a segment is rounded up to where a whole page is too much for the pool's maximum.
const UNIT: usize = 64 << 10;

/// How many segments are given back for one that is had.
const REPLACED: usize = 4;

/// Why a pool couldn't grow.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The pool's own maximum.
    Maximum,
    /// The driver gave more than was asked for, which the maximum doesn't allow.
    Excess,
    /// The memory is a user's buffer.
    Lent,
    /// The driver's answer.
    Driver(DeviceError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Maximum => f.write_str("the pool's maximum size is reached"),
            Self::Excess => {
                f.write_str("the pool's maximum size is less than what the driver gives at least")
            }
            Self::Lent => f.write_str("the pool is a user's buffer, which can't grow"),
            Self::Driver(error) => error.fmt(f),
        }
    }
}

impl PoolCore {
    /// Adds a segment and cuts the request from it. A `dedicated` segment is for this request
    /// only. `spare` asks for as much as the pool usually does, else for what is needed alone.
    pub(crate) fn grow(
        &self,
        size: usize,
        align: usize,
        dedicated: bool,
        spare: bool,
    ) -> Result<Cut, Refusal> {
        if self.is_lent() {
            return Err(Refusal::Lent);
        }
        // What the maximum doesn't allow is on no way.
        if self.shortage(size) > 0 {
            return Err(Refusal::Maximum);
        }
        let mut way = self.site.underway.begin();
        let mut growth = self
            .reserve(size, spare && !dedicated)
            .ok_or(Refusal::Maximum)?;
        way.has_reserved();
        let bytes = growth.bytes();
        let segment = Layout::from_size_align(bytes, PAGE.max(align))
            .map_err(|_| DeviceError::Invalid {
                call: "allocate",
                reason: format!("{bytes} bytes are more than the address space"),
            })
            .and_then(|layout| self.supply.allocate(self.kind, layout))
            .map_err(|error| {
                self.site.note_refusal(&error);
                Refusal::Driver(error)
            })?;
        self.driver_allocations.fetch_add(1, Relaxed);
        if !growth.extend_to(segment.layout.size()) {
            // SAFETY: it came from this supply a moment ago, and nobody has seen it.
            unsafe { self.supply.release(segment) };
            return Err(Refusal::Excess);
        }
        growth.keep();
        way.gains();
        let begin = segment.address;
        let mut store = lock(&self.store);
        store.add_segment(segment, dedicated);
        if dedicated {
            return Ok(store.take_dedicated(begin, size));
        }
        // The lock wasn't given up since the segment was added, so it is there.
        store.take(size, align).ok_or(Refusal::Maximum)
    }

    /// Gives segments back that nobody uses and that are too small for a request, with few driver
    /// calls, where the pool would otherwise have more reserved than it ever had: programs whose
    /// large blocks differ in size would leave one segment after the other behind.
    pub(crate) fn replace_unused(&self, size: usize) {
        let reserved = self.reserved().saturating_add(size);
        let (excess, short) = (
            reserved.saturating_sub(self.budget.high()),
            self.shortage(size),
        );
        if excess == 0 || self.is_lent() || lock(&self.store).unused_bytes() < short.max(1) {
            return;
        }
        self.release(|store| {
            if store.unused_bytes() < short {
                return Vec::new();
            }
            let keep = store.bytes().saturating_sub(excess);
            store.idle_segments(keep, REPLACED)
        });
    }

    /// Reserves what the pool usually asks for, or all that the maximum leaves, or of what is needed
    /// the most that it leaves of a rounded size.
    fn reserve(&self, size: usize, spare: bool) -> Option<Growth<'_>> {
        if !spare {
            return self.budget.reserve(size);
        }
        let usual = size.max(self.options.min_driver_alloc);
        let left = self.budget.maximum.bytes().saturating_sub(self.reserved());
        let wishes = [
            usual.checked_next_multiple_of(PAGE)?,
            // In one piece it serves more than in several.
            (left / UNIT * UNIT).clamp(size, usual),
            size.checked_next_multiple_of(PAGE)?,
            size.checked_next_multiple_of(UNIT)?,
            size,
        ];
        wishes
            .into_iter()
            .find_map(|bytes| self.budget.reserve(bytes))
    }

    /// Bytes that would have to go back to the driver before the maximum allows growth by this
    /// much.
    pub(crate) fn shortage(&self, size: usize) -> usize {
        if self.is_lent() {
            return 0;
        }
        self.budget.shortage(size)
    }

    /// Whether the budget has room for growth by this much.
    pub(crate) fn has_room(&self, size: usize) -> bool {
        !self.is_lent() && self.shortage(size) == 0
    }
}
