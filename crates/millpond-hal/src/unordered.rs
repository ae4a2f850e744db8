//! Which commands of a queue without order may start: those whose points are reached, as far as
//! barriers let them (rule B2).
//!
//! Each step takes constant time however many commands wait; a barrier's release is charged to the
//! commands that it held back.
//!
//! ```
//! use millpond_hal::unordered::Unordered;
//!
//! let mut order = Unordered::default();
//! order.add(1, false);
//! order.add(2, true);
//! order.add(3, false);
//! for sequence in 1..=3 {
//!     order.unblocked(sequence, 0);
//! }
//! assert_eq!(order.start(), Some(1));
//! assert_eq!(order.next(), None, "the barrier waits for the first");
//! order.advanced(1, 1, 3, |_| true);
//! assert_eq!(order.start(), Some(2));
//! assert_eq!(order.next(), None, "the third for the barrier");
//! order.advanced(2, 2, 3, |_| true);
//! assert_eq!(order.start(), Some(3));
//! ```

use std::collections::VecDeque;

/// The commands that may start, and the barriers that aren't finished.
#[derive(Debug, Default)]
pub struct Unordered {
    ready: VecDeque<u64>,
    barriers: VecDeque<u64>,
}

impl Unordered {
    /// Appends a command.
    pub fn add(&mut self, sequence: u64, is_barrier: bool) {
        if is_barrier {
            self.barriers.push_back(sequence);
        }
    }

    /// The points that a command follows are reached: it may start, unless a barrier holds it back,
    /// or it is one and isn't the first of what is left behind `completed`.
    pub fn unblocked(&mut self, sequence: u64, completed: u64) {
        let free = match self.barriers.front() {
            Some(&barrier) if barrier == sequence => completed + 1 == sequence,
            Some(&barrier) => sequence < barrier,
            None => true,
        };
        if free {
            self.ready.push_back(sequence);
        }
    }

    /// The command that may start next.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        self.ready.front().copied()
    }

    /// Takes it.
    pub fn start(&mut self) -> Option<u64> {
        self.ready.pop_front()
    }

    /// A command that was taken didn't start after all: it may again, after those that may by now.
    pub fn take_back(&mut self, sequence: u64) {
        self.ready.push_back(sequence);
    }

    /// A command has finished, and with it every one up to `completed`, which is further than before.
    /// `last` was submitted last, and `is_unblocked` says of what isn't finished whether its points
    /// are reached.
    pub fn advanced(
        &mut self,
        finished: u64,
        completed: u64,
        last: u64,
        is_unblocked: impl Fn(u64) -> bool,
    ) {
        if self.barriers.front() == Some(&finished) {
            self.barriers.pop_front();
            let end = self.barriers.front().map_or(last + 1, |&barrier| barrier);
            self.ready
                .extend((finished + 1..end).filter(|&sequence| is_unblocked(sequence)));
        }
        if let Some(&barrier) = self.barriers.front()
            && barrier == completed + 1
            && is_unblocked(barrier)
        {
            self.ready.push_back(barrier);
        }
    }

    /// Gives back what an idle queue needs no more.
    pub fn shrink(&mut self) {
        self.ready.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands that end in the order in which they may start.
    fn run(order: &mut Unordered, last: u64) -> Vec<u64> {
        let mut ran = Vec::new();
        while let Some(sequence) = order.start() {
            ran.push(sequence);
            let completed = ran.len() as u64;
            order.advanced(sequence, completed, last, |_| true);
        }
        ran
    }

    #[test]
    fn b2_barriers_that_follow_each_other_start_one_by_one() {
        let mut order = Unordered::default();
        for (sequence, is_barrier) in [(1, true), (2, true), (3, false), (4, true)] {
            order.add(sequence, is_barrier);
            order.unblocked(sequence, 0);
        }
        assert_eq!(order.next(), Some(1));
        assert_eq!(run(&mut order, 4), [1, 2, 3, 4]);
    }

    #[test]
    fn b2_what_a_barrier_releases_must_be_unblocked_itself() {
        let mut order = Unordered::default();
        for (sequence, is_barrier) in [(1, true), (2, false), (3, false)] {
            order.add(sequence, is_barrier);
        }
        order.unblocked(1, 0);
        assert_eq!(order.start(), Some(1));
        order.advanced(1, 1, 3, |sequence| sequence == 3);
        assert_eq!(order.start(), Some(3));
        assert_eq!(order.next(), None);
        order.unblocked(2, 1);
        assert_eq!(order.next(), Some(2));
    }
    #[test]
    fn b2_a_barrier_that_is_first_waits_for_its_own_points() {
        let mut order = Unordered::default();
        order.add(1, false);
        order.add(2, true);
        order.unblocked(1, 0);
        assert_eq!(order.start(), Some(1));
        order.advanced(1, 1, 2, |_| false);
        assert_eq!(order.next(), None);
        order.unblocked(2, 1);
        assert_eq!(order.start(), Some(2));
    }

    #[test]
    fn what_is_taken_back_starts_again() {
        let mut order = Unordered::default();
        for sequence in 1..=2 {
            order.add(sequence, false);
            order.unblocked(sequence, 0);
        }
        assert_eq!(order.start(), Some(1));
        order.take_back(1);
        assert_eq!(run(&mut order, 2), [2, 1]);
    }
}
