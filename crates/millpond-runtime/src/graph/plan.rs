//! Where graph memory lies: lives that overlap in time don't overlap in bytes.
//!
//! All lives are known before any memory is, so the largest are placed first, each at the lowest
//! place that is free for the whole of its life.

use std::ops::Range;

use crate::pool::granule_multiple;

/// When memory of a graph is alive, counted in recorded steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) bytes: usize,
    /// The step that begins it.
    pub(super) begin: usize,
    /// The first step after it; none if it outlives the launch.
    pub(super) end: Option<usize>,
}

/// What a graph takes from a pool when it is instantiated, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequiredMemory {
    /// For what is allocated and freed inside; several graphs may share it.
    pub workspace: usize,
    /// For what outlives a launch, each in an allocation of its own.
    pub outputs: usize,
}

/// Places in one workspace for memory that is freed inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// By number; 0 for what outlives the launch, which lies elsewhere.
    pub(super) offsets: Vec<usize>,
    pub(super) required: RequiredMemory,
}

impl Placement {
    pub(super) fn of(lives: &[Life]) -> Self {
        let mut offsets = vec![0; lives.len()];
        let mut required = RequiredMemory::default();
        let outputs = lives.iter().filter(|life| life.end.is_none());
        for life in outputs {
            required.outputs = required
                .outputs
                .saturating_add(granule_multiple(life.bytes));
        }
        let mut inner: Vec<(usize, Range<usize>)> = lives
            .iter()
            .enumerate()
            .filter(|(_, life)| life.bytes > 0)
            .filter_map(|(index, life)| Some((index, life.begin..life.end?)))
            .collect();
        inner.sort_by_key(|(index, _)| std::cmp::Reverse(lives[*index].bytes));
        // By where they begin.
        let mut placed: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for (index, time) in inner {
            let bytes = granule_multiple(lives[index].bytes);
            let mut place = 0_usize;
            for (taken, _) in placed.iter().filter(|(_, other)| overlap(&time, other)) {
                if taken.start >= place && taken.start - place >= bytes {
                    break;
                }
                place = place.max(taken.end);
            }
            offsets[index] = place;
            let range = place..place.saturating_add(bytes);
            required.workspace = required.workspace.max(range.end);
            let position = placed.partition_point(|(taken, _)| taken.start <= place);
            placed.insert(position, (range, time));
        }
        Self { offsets, required }
    }

    /// For each life, those that had a part of its bytes last before it.
    pub(super) fn predecessors(&self, lives: &[Life]) -> Vec<Vec<usize>> {
        let mut found = vec![Vec::new(); lives.len()];
        let mut last: Vec<(Range<usize>, usize)> = Vec::new();
        for (index, life) in lives.iter().enumerate() {
            if life.end.is_none() || life.bytes == 0 {
                continue;
            }
            let begin = self.offsets[index];
            let range = begin..begin + granule_multiple(life.bytes);
            let mut next = Vec::with_capacity(last.len() + 2);
            for (bytes, owner) in last {
                if !overlap(&bytes, &range) {
                    next.push((bytes, owner));
                    continue;
                }
                if !found[index].contains(&owner) {
                    found[index].push(owner);
                }
                let sides = [bytes.start..range.start, range.end..bytes.end];
                let left = sides.into_iter().filter(|side| side.start < side.end);
                next.extend(left.map(|side| (side, owner)));
            }
            next.push((range, index));
            last = next;
        }
        found
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KIB: usize = 1 << 10;

    fn life(bytes: usize, begin: usize, end: usize) -> Life {
        Life {
            bytes,
            begin,
            end: Some(end),
        }
    }

    #[test]
    fn dead_bytes_are_used_again() {
        let lives = [life(KIB, 0, 3), life(2 * KIB, 1, 5), life(KIB, 3, 6)];
        let placement = Placement::of(&lives);
        assert_eq!(placement.required.workspace, 3 * KIB);
        assert_eq!(placement.offsets[0], placement.offsets[2]);
        let before = placement.predecessors(&lives);
        assert_eq!(before, [vec![], vec![], vec![0]]);
    }

    #[test]
    fn only_the_last_owners_of_bytes_come_before() {
        let lives: Vec<Life> = (0..100).map(|step| life(KIB, step, step + 1)).collect();
        let placement = Placement::of(&lives);
        assert_eq!(placement.required.workspace, KIB);
        for (index, before) in placement.predecessors(&lives).into_iter().enumerate() {
            assert_eq!(before, Vec::from_iter(index.checked_sub(1)));
        }
    }

    #[test]
    fn a_piece_may_follow_several() {
        let lives = [life(KIB, 0, 2), life(KIB, 1, 3), life(2 * KIB, 3, 4)];
        let placement = Placement::of(&lives);
        assert_eq!(placement.required.workspace, 2 * KIB);
        assert_eq!(placement.predecessors(&lives)[2], [0, 1]);
    }

    #[test]
    fn what_outlives_a_launch_lies_elsewhere() {
        let output = Life {
            end: None,
            ..life(100, 0, 1)
        };
        let required = Placement::of(&[output, life(KIB, 0, 1)]).required;
        assert_eq!((required.workspace, required.outputs), (KIB, 256));
    }

    proptest! {
        #[test]
        fn lives_that_overlap_share_no_bytes(
            lives in prop::collection::vec((0_usize..9000, 0_usize..40, 1_usize..20), 0..40)
        ) {
            let mut lives: Vec<Life> =
                lives.into_iter().map(|(bytes, begin, steps)| life(bytes, begin, begin + steps)).collect();
            lives.sort_by_key(|life| life.begin);
            let placement = Placement::of(&lives);
            let ranges: Vec<_> = lives
                .iter()
                .zip(&placement.offsets)
                .map(|(life, &offset)| offset..offset + life.bytes)
                .collect();
            for (first, one) in lives.iter().enumerate() {
                prop_assert_eq!(placement.offsets[first] % 256, 0);
                prop_assert!(ranges[first].end <= placement.required.workspace);
                for (second, other) in lives.iter().enumerate().skip(first + 1) {
                    let at_once = other.begin < one.end.unwrap();
                    prop_assert!(!at_once || !overlap(&ranges[first], &ranges[second]));
                }
            }
            let peak = (0..60).map(|step| {
                let alive = lives.iter().filter(|life| life.begin <= step && step < life.end.unwrap());
                alive.map(|life| granule_multiple(life.bytes)).sum::<usize>()
            });
            prop_assert!(placement.required.workspace >= peak.max().unwrap());
        }
    }
}
