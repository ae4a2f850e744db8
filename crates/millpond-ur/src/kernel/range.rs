//! Work items, and the groups that they are in.

use crate::argument::{Answer, In};
use crate::mutants::{Rule, broken};
use crate::numbers::Code;

/// A group, as functions are told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Group {
    /// Its number in each dimension.
    id: [usize; 3],
    /// Its items.
    size: [usize; 3],
    /// The number of its first item.
    first: [usize; 3],
    /// All items.
    global: [usize; 3],
}

/// Items, and the groups that they are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    dimensions: u32,
    offset: [usize; 3],
    global: [usize; 3],
    pub(super) local: [usize; 3],
}

/// Three numbers of a list of fewer, the others the same.
fn three(list: In<usize>, dimensions: u32, other: usize) -> Answer<[usize; 3]> {
    let mut three = [other; 3];
    let given = list.list(dimensions as usize)?;
    three[..given.len()].copy_from_slice(given);
    Ok(three)
}

impl Range {
    /// The range of a launch, whose kernel suggests groups where none are given.
    ///
    /// # Errors
    /// Other numbers of dimensions, no items, groups that don't divide them.
    pub(super) fn read(
        dimensions: u32,
        (offset, global, local): (In<usize>, In<usize>, In<usize>),
        suggested: impl FnOnce([usize; 3]) -> Answer<[usize; 3]>,
    ) -> Answer<Self> {
        if !(1..=3).contains(&dimensions) {
            return Err(Code::INVALID_WORK_DIMENSION);
        }
        let global = three(global, dimensions, 1)?;
        let offset = if offset.is_null() {
            [0; 3]
        } else {
            three(offset, dimensions, 0)?
        };
        let local = if local.is_null() {
            None
        } else {
            Some(three(local, dimensions, 1)?)
        };
        Self::of(dimensions, (offset, global, local), suggested)
    }

    /// The same with some of the numbers changed; groups are chosen anew for other items, unless they are
    /// said.
    pub(crate) fn changed(
        &self,
        dimensions: u32,
        (offset, global, local): (In<usize>, In<usize>, In<usize>),
        suggested: impl FnOnce([usize; 3]) -> Answer<[usize; 3]>,
    ) -> Answer<Self> {
        let dimensions = match dimensions {
            0 => self.dimensions,
            1..=3 => dimensions,
            _ => return Err(Code::INVALID_WORK_DIMENSION),
        };
        let or = |list: In<usize>, other: usize, before: [usize; 3]| {
            if list.is_null() {
                Ok(before)
            } else {
                three(list, dimensions, other)
            }
        };
        let kept = global.is_null().then_some(self.local);
        let local = if local.is_null() {
            kept
        } else {
            Some(three(local, dimensions, 1)?)
        };
        let (offset, global) = (or(offset, 0, self.offset)?, or(global, 1, self.global)?);
        Self::of(dimensions, (offset, global, local), suggested)
    }

    fn of(
        dimensions: u32,
        (offset, global, local): ([usize; 3], [usize; 3], Option<[usize; 3]>),
        suggested: impl FnOnce([usize; 3]) -> Answer<[usize; 3]>,
    ) -> Answer<Self> {
        let all = global
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        if all.is_none_or(|all| all == 0) {
            return Err(Code::INVALID_WORK_DIMENSION);
        }
        let local = match local {
            Some(local) => local,
            None => suggested(global)?,
        };
        let fits = |axis: usize| local[axis] != 0 && global[axis].is_multiple_of(local[axis]);
        if !(0..3).all(fits) {
            return Err(Code::INVALID_WORK_GROUP_SIZE);
        }
        if (0..3).any(|axis| offset[axis].checked_add(global[axis]).is_none()) {
            return Err(Code::INVALID_VALUE);
        }
        Ok(Self {
            dimensions,
            offset,
            global,
            local,
        })
    }

    /// Whether the first item's number is zero.
    pub(super) fn begins_at_zero(&self) -> bool {
        self.offset == [0; 3]
    }

    /// How many groups there are in each dimension.
    pub(super) fn groups(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.global[axis] / self.local[axis])
    }

    /// The group of a number.
    pub(super) fn group(&self, number: usize) -> Group {
        let groups = self.groups();
        let id = [
            number % groups[0],
            number / groups[0] % groups[1],
            number / groups[0] / groups[1],
        ];
        let offset = if broken(Rule::LaunchOffset) {
            [0; 3]
        } else {
            self.offset
        };
        Group {
            id,
            size: self.local,
            first: [0, 1, 2].map(|axis| offset[axis] + id[axis] * self.local[axis]),
            global: self.global,
        }
    }
}

/// Groups of whole rows, some for each core where there are as many.
pub(super) fn suggested(global: [usize; 3], cores: usize) -> [usize; 3] {
    let pieces = cores * 4;
    let axis = if global[2] > 1 {
        2
    } else {
        usize::from(global[1] > 1)
    };
    let mut local = global;
    let wanted = global[axis].div_ceil(pieces);
    let divides = |size: &usize| global[axis].is_multiple_of(*size);
    // A number that nothing near divides has the smallest groups.
    local[axis] = (wanted..=wanted.saturating_mul(2))
        .find(divides)
        .unwrap_or(1);
    local
}

#[cfg(test)]
mod tests {
    use super::{Range, suggested};

    #[test]
    fn groups_are_numbered_along_the_first_dimension_first() {
        let range = Range {
            dimensions: 2,
            offset: [10, 0, 0],
            global: [8, 6, 1],
            local: [4, 3, 1],
        };
        assert_eq!(range.groups(), [2, 2, 1]);
        let last = range.group(3);
        assert_eq!((last.id, last.first), ([1, 1, 0], [14, 3, 0]));
    }

    #[test]
    fn suggested_groups_divide_what_there_is() {
        for global in [[1, 1, 1], [7, 1, 1], [1000, 1, 1], [64, 48, 1], [3, 5, 97]] {
            let local = suggested(global, 4);
            assert!(
                (0..3).all(|axis| global[axis].is_multiple_of(local[axis])),
                "{global:?}"
            );
        }
        assert_eq!(suggested([1024, 1, 1], 4), [64, 1, 1]);
    }
}
