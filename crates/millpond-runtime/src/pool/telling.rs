//! What a pool tells of the life of its memory, where a layer over the driver listens.
//!
//! An allocation begins when it is handed out, and ends before its bytes may be anyone else's.

use std::ops::Range;

use millpond_hal as hal;
use millpond_hal::{Life, Point};
use smallvec::SmallVec;

use crate::memory::{Allocation, Block};
use crate::pool::core::PoolCore;
use crate::queue::QueueCore;
use crate::trace::current_origin;

impl PoolCore {
    /// Tells that an allocation begins. Users by address come behind the `event`, if there is one;
    /// else behind what its queue had before, where that means something, and in any case behind
    /// whatever still uses the bytes.
    pub(crate) fn tell_begin(
        &self,
        queue: &QueueCore,
        allocation: &Allocation,
        event: Option<Point>,
    ) {
        if !self.is_listened_to() {
            return;
        }
        let block = allocation.block();
        let native = queue.native();
        let (submitted, unfinished) = queue.with_line(|line| {
            let unfinished = block.tracking.unfinished(native);
            (native.point(line.submitted), unfinished)
        });
        let of_queue = event.or(native.in_order.then_some(submitted));
        let points = unfinished
            .iter()
            .map(|(queue, sequence)| queue.point(*sequence));
        let after: SmallVec<[Point; 4]> = points.chain(of_queue).collect();
        self.supply.device.note(&Life::Begin {
            bytes: range(block),
            at: event.unwrap_or(submitted),
            after: &after,
            origin: current_origin(),
        });
    }

    /// Tells that an allocation ends, behind the commands that name it.
    pub(crate) fn tell_end(&self, home: &QueueCore, block: &Block) {
        if !self.is_listened_to() {
            return;
        }
        let native = home.native();
        let (at, unfinished) = home.with_line(|line| {
            let unfinished = block.tracking.unfinished(native);
            (native.point(line.submitted), unfinished)
        });
        let points = unfinished
            .iter()
            .map(|(queue, sequence)| queue.point(*sequence));
        let after: SmallVec<[Point; 4]> = points.collect();
        self.supply.device.note(&Life::End {
            bytes: range(block),
            at,
            after: &after,
            origin: current_origin(),
        });
    }
}

/// Tells that a part of an allocation is a pool of its own, or no more.
pub(crate) fn tell_lent(hal: &dyn hal::Device, part: &Range<usize>, lent: bool) {
    if hal.listens() {
        let bytes = part.clone();
        hal.note(&if lent {
            Life::Lend { bytes }
        } else {
            Life::Return { bytes }
        });
    }
}

/// What was asked for of a block: a use beyond it is nobody's right.
fn range(block: &Block) -> Range<usize> {
    let begin = block.base.get();
    begin..begin + block.bytes
}
