//! One step of a recording: plain data, with numbers for queues and addresses for memory.

use std::sync::Arc;

use millpond_hal::Point;

use crate::event::Event;

/// A place in a queue's history, as a recording has it: after a command of that queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordedPoint {
    /// The number of the queue.
    pub queue: u64,
    /// The number of the command on it, from 1; 0 is before the first.
    pub sequence: u64,
}

/// A use of memory by a command, as a recording has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordedUse {
    /// The command.
    pub at: RecordedPoint,
    /// Whether it wrote, or only read. None if that isn't known: texts before version 3 don't say.
    pub writes: Option<bool>,
}

/// One thing that happened to a pool, or to a queue of its device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// There is a queue, since before the recording or from now on.
    Queue {
        /// The queue, and its last command so far.
        at: RecordedPoint,
        /// Whether its commands take effect in the order of their submission.
        in_order: bool,
    },
    /// Memory was had.
    Allocate {
        /// What it is called until it is freed: its address.
        id: usize,
        /// The queue it was allocated on, and its last command before.
        at: RecordedPoint,
        /// Bytes asked for.
        bytes: usize,
        /// The alignment asked for, in bytes; 1 for none.
        alignment: usize,
        /// The events after which the bytes may be used, and what these were ordered behind.
        after: Vec<RecordedPoint>,
        /// The name of the tag that counts it.
        tag: Option<Arc<str>>,
    },
    /// Memory was asked for and not had: the pool had none, or not in time. What the budget of a tag
    /// forbids isn't asked of the pool.
    Refuse {
        /// The queue it was to be allocated on, and its last command before.
        at: RecordedPoint,
        /// Bytes asked for.
        bytes: usize,
        /// The alignment asked for, in bytes; 1 for none.
        alignment: usize,
        /// The events after which the bytes were to be used, and what these were ordered behind.
        after: Vec<RecordedPoint>,
        /// Whether the request might wait for memory, for however long.
        may_wait: bool,
        /// The name of the tag that would have counted it.
        tag: Option<Arc<str>>,
    },
    /// Memory was freed.
    Free {
        /// What it was called.
        id: usize,
        /// The point of a free in queue order; none if the last handle was dropped.
        on: Option<RecordedPoint>,
        /// The events behind which a free in queue order comes, and what these were behind.
        after: Vec<RecordedPoint>,
        /// The last uses of it that are remembered, one or two for each queue. Those that a later
        /// write came behind are forgotten with it, and small commands that ran at once leave none.
        uses: Vec<RecordedUse>,
    },
    /// A queue was told to come behind an event of another.
    Follow {
        /// The queue, and its last command before.
        at: RecordedPoint,
        /// The event, and what its queue was ordered behind.
        after: Vec<RecordedPoint>,
    },
    /// The host waited for a queue.
    Wait {
        /// The queue, and the command up to which it was waited for.
        at: RecordedPoint,
    },
}

impl From<Point> for RecordedPoint {
    fn from(point: Point) -> Self {
        Self {
            queue: point.queue.get(),
            sequence: point.sequence,
        }
    }
}

impl RecordedPoint {
    /// The points of events, and those that their clocks know of: an event may stand for no command
    /// of its own queue, and for those of others all the same.
    pub(crate) fn of_events(events: &[&Event]) -> Vec<Self> {
        let mut points: Vec<Self> = Vec::with_capacity(events.len());
        for event in events {
            let all = std::iter::once(event.point()).chain(event.clock().points());
            for point in all.map(Self::from).filter(|point| point.sequence > 0) {
                if !points.contains(&point) {
                    points.push(point);
                }
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::Step;

    /// A step without events, uses and a tag has nothing on the heap.
    #[test]
    fn a_step_takes_less_than_a_hundred_bytes() {
        assert!(size_of::<Step>() <= 96, "{}", size_of::<Step>());
    }
}
