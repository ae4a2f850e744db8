//! What a queue knows of others' progress: vector clocks.

use millpond_hal::{Point, QueueId};
use smallvec::SmallVec;

/// For some queues, a sequence number that everything recorded with this clock happens after.
///
/// A clock is copied into an event when the event is recorded and never changes there (rule O6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(SmallVec<[Point; 4]>);

impl Clock {
    /// The sequence number of a queue that this clock is after; 0 if it knows nothing of it.
    #[inline]
    #[must_use]
    pub fn of(&self, queue: QueueId) -> u64 {
        self.0
            .iter()
            .find(|point| point.queue == queue)
            .map_or(0, |point| point.sequence)
    }

    /// Whether whatever carries this clock happens after the point.
    #[must_use]
    pub fn is_after(&self, point: Point) -> bool {
        point.sequence <= self.of(point.queue)
    }

    /// Learns that the point happens before.
    pub fn learn(&mut self, point: Point) {
        match self.0.iter_mut().find(|known| known.queue == point.queue) {
            Some(known) => known.sequence = known.sequence.max(point.sequence),
            None => self.0.push(point),
        }
    }

    /// Learns all that another clock knows.
    pub fn merge(&mut self, other: &Self) {
        for &point in &other.0 {
            self.learn(point);
        }
    }

    /// The points that it knows, one for each queue.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        self.0.iter().copied()
    }

    /// How many queues it knows of.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it knows of none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets what `is_stale` says is of no use any more, for instance of queues long completed.
    pub fn forget(&mut self, mut is_stale: impl FnMut(Point) -> bool) {
        self.0.retain(|point| !is_stale(*point));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_merge_to_the_later_of_each() {
        let (a, b) = (QueueId::next(), QueueId::next());
        let mut one = Clock::default();
        one.learn(Point {
            queue: a,
            sequence: 5,
        });
        let mut two = Clock::default();
        two.learn(Point {
            queue: a,
            sequence: 3,
        });
        two.learn(Point {
            queue: b,
            sequence: 7,
        });
        one.merge(&two);
        assert_eq!((one.of(a), one.of(b)), (5, 7));
        assert!(one.is_after(Point {
            queue: b,
            sequence: 7
        }));
        assert!(!one.is_after(Point {
            queue: b,
            sequence: 8
        }));
        one.forget(|point| point.queue == a);
        assert_eq!(one.of(a), 0);
    }
}
