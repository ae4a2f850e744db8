//! The axes of an indexing: those that indices or a mask stand for, and the others.

use millpond_types::{Layout, Shape};
use smallvec::SmallVec;

use super::mask::Select;
use super::pick::Pick;
use crate::error::PlanError;

/// The layouts of the axes that no index names, on both sides, and of the positions.
pub(super) struct Indexed {
    pub(super) array_kept: Layout,
    pub(super) packed_kept: Layout,
    /// Where the array runs along the positions; zero steps where only indices say where it is.
    pub(super) array_positions: Layout,
    pub(super) packed_positions: Layout,
}

impl Indexed {
    pub(super) fn new(pick: &Pick<'_>) -> Result<Self, PlanError> {
        let (array, packed) = (pick.array, pick.packed);
        let is_indexed = |axis: usize| pick.indices.iter().any(|index| index.axis == axis);
        let (begin, count) = pick.positions;
        let positions = begin..begin + count;
        let fits = positions.end <= packed.ndim();
        let wrong = |operand, input: &Layout| PlanError::Shape {
            operation: pick.name,
            operand,
            output: packed.shape().into(),
            input: input.shape().into(),
        };
        if !fits {
            return Err(wrong(0, array));
        }
        let packed_positions = part(packed, |axis| positions.contains(&axis), 0)?;
        for (number, index) in pick.indices.iter().enumerate() {
            let fits = index.layout.shape() == packed_positions.shape();
            if !fits || index.axis >= array.ndim() {
                return Err(wrong(number + 1, index.layout));
            }
        }
        let packed_kept = part(packed, |axis| !positions.contains(&axis), packed.offset())?;
        let (array_kept, array_positions) = if pick.along {
            let kept = part(array, |_| false, array.offset())?;
            let steps: SmallVec<[isize; 4]> = (0..array.ndim())
                .map(|axis| {
                    if is_indexed(axis) {
                        0
                    } else {
                        array.strides()[axis]
                    }
                })
                .collect();
            let differs = |axis: usize| array.shape()[axis] != packed.shape()[axis];
            if array.ndim() != packed.ndim()
                || (0..array.ndim()).any(|axis| !is_indexed(axis) && differs(axis))
            {
                return Err(wrong(0, array));
            }
            (kept, Layout::new(packed.shape(), &steps, 0)?)
        } else {
            let kept = part(array, |axis| !is_indexed(axis), array.offset())?;
            let steps: SmallVec<[isize; 4]> = SmallVec::from_elem(0, count);
            (kept, Layout::new(packed_positions.shape(), &steps, 0)?)
        };
        if array_kept.shape() != packed_kept.shape() {
            return Err(wrong(0, array));
        }
        Ok(Self {
            array_kept,
            packed_kept,
            array_positions,
            packed_positions,
        })
    }
}

/// The layouts of the axes outside of a mask, on both sides, and of the array under the mask.
pub(super) struct Masked {
    pub(super) array_kept: Layout,
    pub(super) packed_kept: Layout,
    pub(super) array_mask: Layout,
    /// Elements from one that is selected to the next, on the packed side.
    pub(super) packed_stride: isize,
}

impl Masked {
    pub(super) fn new(select: &Select<'_>) -> Result<Self, PlanError> {
        let (array, packed, mask) = (select.array, select.packed, select.mask);
        let under = select.axis..select.axis + mask.ndim();
        let is_under = |axis: usize| under.contains(&axis);
        let wrong = |operand, input: &Layout| PlanError::Shape {
            operation: select.name,
            operand,
            output: packed.shape().into(),
            input: input.shape().into(),
        };
        let Some(&packed_stride) = packed.strides().get(select.position) else {
            return Err(wrong(0, array));
        };
        let array_mask = part(array, is_under, 0)?;
        if array_mask.shape() != mask.shape() {
            return Err(wrong(1, mask));
        }
        let array_kept = part(array, |axis| !is_under(axis), array.offset())?;
        let packed_kept = part(packed, |axis| axis != select.position, packed.offset())?;
        if array_kept.shape() != packed_kept.shape() {
            return Err(wrong(0, array));
        }
        Ok(Self {
            array_kept,
            packed_kept,
            array_mask,
            packed_stride,
        })
    }
}

/// The layout of some axes of another.
fn part(
    layout: &Layout,
    wanted: impl Fn(usize) -> bool,
    offset: usize,
) -> Result<Layout, PlanError> {
    let axes = (0..layout.ndim()).filter(|&axis| wanted(axis));
    let (shape, strides): (Shape, SmallVec<[isize; 4]>) = axes
        .map(|axis| (layout.shape()[axis], layout.strides()[axis]))
        .unzip();
    Ok(Layout::new(&shape, &strides, offset)?)
}
