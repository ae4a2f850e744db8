//! What a pool tells of the life of its memory, where a layer over the driver listens.
//!
//! An allocation begins when it is handed out, and ends before its bytes may be anyone else's.

use std::ops::Range;

use millpond_hal as hal;
use millpond_hal::{Life, Point};
use smallvec::SmallVec;

use crate::memory::{Allocation, Block};
use crate::pool::core::PoolCore;
use crate::queue::{QueueCore, interrupt_holds};
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
        interrupt_holds();
        let block = allocation.block();
        let (submitted, mut after) = standing(queue, block);
        after.extend(event.or(queue.native().in_order.then_some(submitted)));
        self.supply.device.note(&Life::Begin {
            bytes: range(block),
            at: event.unwrap_or(submitted),
            after: &after,
            origin: current_origin(),
        });
    }

    /// Tells that an allocation ends, behind the commands that name it.
    #[inline]
    pub(crate) fn tell_end(&self, home: &QueueCore, block: &Block) {
        if self.is_listened_to() {
            self.tell_of_end(home, block);
        }
    }

    #[cold]
    fn tell_of_end(&self, home: &QueueCore, block: &Block) {
        interrupt_holds();
        let (at, after) = standing(home, block);
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

/// The last command of a queue, and what still uses a block.
fn standing(queue: &QueueCore, block: &Block) -> (Point, SmallVec<[Point; 4]>) {
    let native = queue.native();
    // Who listens is no reason for a window to close.
    queue.look(|line| {
        let unfinished = block.tracking.unfinished(native);
        let points = unfinished.iter().map(|(queue, at)| queue.point(*at));
        (native.point(line.submitted), points.collect())
    })
}

/// What was asked for of a block: a use beyond it is nobody's right.
fn range(block: &Block) -> Range<usize> {
    let begin = block.base.get();
    begin..begin + block.bytes
}
