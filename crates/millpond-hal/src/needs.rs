//! What a submission has to wait for, for backends that tell commands of each other's progress.
//!
//! Most points that the runtime names are reached when a command is submitted, or come before it by
//! its place on its queue. [`Needs`] is the rest.

use std::ops::Deref;

use smallvec::SmallVec;

use crate::error::DeviceError;
use crate::point::{Point, Progress, QueueId};

/// A queue of a backend, as far as others follow it.
pub trait Followed {
    /// Its identity.
    fn id(&self) -> QueueId;

    /// Whether its commands take effect in the order of their submission.
    fn is_in_order(&self) -> bool;

    /// How many commands were submitted to it.
    fn submitted(&self) -> u64;

    /// How far it has come.
    fn progress(&self) -> &Progress;
}

/// A point that a command must wait for, or whose failure it must look up.
#[derive(Debug)]
pub struct Need<Q> {
    /// A handle of the queue.
    pub queue: Q,
    /// The number of the command on it.
    pub sequence: u64,
    /// Whether its failure is the command's (rule B3).
    pub shares_failure: bool,
}

/// The points of a submission that aren't known to have been reached well.
#[derive(Debug)]
pub struct Needs<Q>(SmallVec<[Need<Q>; 4]>);

impl<Q: Clone + Deref<Target: Followed>> Needs<Q> {
    /// Of a command of `own` that follows these points. `find` knows the queues that are alive: one
    /// that has ended has finished all its commands.
    ///
    /// # Errors
    /// A point that was not submitted yet.
    pub fn of(
        own: &Q,
        after: &[Point],
        behind: &[Point],
        find: impl Fn(QueueId) -> Option<Q>,
    ) -> Result<Self, DeviceError> {
        let mut needs = SmallVec::new();
        let after = after.iter().map(|point| (point, true));
        let behind = behind.iter().map(|point| (point, false));
        for (point, shares_failure) in after.chain(behind) {
            let is_own = point.queue == own.id();
            let queue = if is_own {
                own.clone()
            } else {
                match find(point.queue) {
                    Some(queue) => queue,
                    None => continue,
                }
            };
            let submitted = queue.submitted();
            if point.sequence > submitted {
                return Err(DeviceError::Invalid {
                    call: "submit",
                    reason: format!("{point} was not submitted yet, the last is {submitted}"),
                });
            }
            let progress = queue.progress();
            let reached = progress.completed() >= point.sequence;
            let settled = if shares_failure {
                reached && progress.failed() == 0
            } else {
                reached || (is_own && own.is_in_order())
            };
            if !settled {
                needs.push(Need {
                    queue,
                    sequence: point.sequence,
                    shares_failure,
                });
            }
        }
        Ok(Self(needs))
    }

    /// How many times the command is to be unblocked: once for each need, and once when all were
    /// gone through, so that it doesn't start meanwhile.
    #[must_use]
    pub fn blockers(&self) -> u32 {
        match self.0.len() {
            0 => 0,
            needs => needs as u32 + 1,
        }
    }
}

impl<Q> Needs<Q> {
    /// Keeps those of which this answers so.
    pub fn retain(&mut self, mut keep: impl FnMut(&Need<Q>) -> bool) {
        self.0.retain(|need| keep(need));
    }
}

impl<Q> IntoIterator for Needs<Q> {
    type Item = Need<Q>;
    type IntoIter = smallvec::IntoIter<[Need<Q>; 4]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A queue that was submitted four commands, the first two of which are finished.
    struct Line {
        id: QueueId,
        in_order: bool,
        progress: Progress,
    }

    impl Line {
        fn new(in_order: bool) -> Arc<Self> {
            let progress = Progress::default();
            progress.advance(2);
            Arc::new(Self {
                id: QueueId::next(),
                in_order,
                progress,
            })
        }

        fn at(&self, sequence: u64) -> Point {
            let queue = self.id();
            Point { queue, sequence }
        }
    }

    impl Followed for Line {
        fn id(&self) -> QueueId {
            self.id
        }

        fn is_in_order(&self) -> bool {
            self.in_order
        }

        fn submitted(&self) -> u64 {
            4
        }

        fn progress(&self) -> &Progress {
            &self.progress
        }
    }

    fn needs(
        own: &Arc<Line>,
        other: &Arc<Line>,
        after: &[Point],
        behind: &[Point],
    ) -> Vec<(u64, bool)> {
        let find = |id| (id == other.id()).then(|| Arc::clone(other));
        let needs = Needs::of(own, after, behind, find).unwrap();
        let needs = needs.into_iter();
        needs.map(|it| (it.sequence, it.shares_failure)).collect()
    }

    #[test]
    fn what_is_reached_or_stands_before_anyway_is_no_need() {
        let (ordered, free, other) = (Line::new(true), Line::new(false), Line::new(true));
        let gone = Line::new(true);
        let behind = [other.at(2), other.at(3), gone.at(4)];
        assert_eq!(needs(&free, &other, &[], &behind), [(3, false)]);
        assert_eq!(needs(&ordered, &other, &[], &[ordered.at(3)]), []);
        assert_eq!(needs(&free, &other, &[], &[free.at(3)]), [(3, false)]);
        // Its failure would be the command's.
        assert_eq!(needs(&ordered, &other, &[ordered.at(3)], &[]), [(3, true)]);
    }

    #[test]
    fn b3_failures_of_a_queue_that_failed_once_are_looked_up() {
        let (own, other) = (Line::new(true), Line::new(true));
        assert_eq!(needs(&own, &other, &[other.at(1)], &[]), []);
        other.progress().count_failure();
        assert_eq!(needs(&own, &other, &[other.at(1)], &[]), [(1, true)]);
        assert_eq!(needs(&own, &other, &[], &[other.at(1)]), []);
    }

    #[test]
    fn a_point_that_was_not_submitted_is_refused() {
        let (own, other) = (Line::new(true), Line::new(true));
        let answer = Needs::of(&own, &[], &[other.at(5)], |_| Some(Arc::clone(&other)));
        let text = answer.err().unwrap().to_string();
        assert!(
            text.contains("was not submitted yet, the last is 4"),
            "{text}"
        );
    }

    #[test]
    fn a_command_is_held_back_until_all_needs_were_gone_through() {
        let (own, other) = (Line::new(true), Line::new(true));
        let blockers = |behind: &[Point]| {
            let needs = Needs::of(&own, &[], behind, |_| Some(Arc::clone(&other)));
            needs.unwrap().blockers()
        };
        assert_eq!(blockers(&[other.at(1)]), 0);
        assert_eq!(blockers(&[other.at(3), other.at(4)]), 3);
    }
}
