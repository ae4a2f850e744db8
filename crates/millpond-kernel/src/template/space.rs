//! The index space of a kernel: axes of all operands together, in the order of the loop.
//!
//! Axes are sorted so that the output's smallest step is innermost, turned so that the output
//! runs forwards, and joined where every operand allows it. What is left is the fewest nested
//! loops that visit every element.

use millpond_types::Layout;
use smallvec::SmallVec;

/// The most operands of a space: an output and three inputs.
pub const MAX_OPERANDS: usize = 4;

/// Bytes for each operand.
pub type Offsets = [isize; MAX_OPERANDS];

/// One axis of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Steps along it.
    pub size: usize,
    /// Bytes from one step to the next, for each operand.
    pub strides: Offsets,
}

/// The loop: axes from the outermost to the innermost, and where each operand begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    axes: SmallVec<[Axis; 3]>,
    begin: Offsets,
    size: usize,
}

impl Space {
    /// The space of operands that have the same shape, each with the bytes of its elements. The
    /// first decides the order; `None` stands for an operand without steps, such as a scalar.
    ///
    /// Layouts after the first have the first's shape, or its shape is the shape of the loop.
    #[must_use]
    pub fn new(shape: &[usize], operands: &[Option<(&Layout, usize)>]) -> Self {
        let mut space = Self::in_order(shape, operands);
        space.turn();
        space.sort();
        space.join();
        space
    }

    /// The same with the axes in the order of the shape, joined where they can be.
    #[must_use]
    pub fn ordered(shape: &[usize], operands: &[Option<(&Layout, usize)>]) -> Self {
        let mut space = Self::in_order(shape, operands);
        space.join();
        space
    }

    fn in_order(shape: &[usize], operands: &[Option<(&Layout, usize)>]) -> Self {
        let mut begin = [0; MAX_OPERANDS];
        let size = shape.iter().product();
        let mut axes: SmallVec<[Axis; 3]> = SmallVec::new();
        for (index, &size) in shape.iter().enumerate() {
            if size == 1 {
                continue;
            }
            let mut strides = [0; MAX_OPERANDS];
            for (stride, operand) in strides.iter_mut().zip(operands) {
                if let Some((layout, item)) = operand {
                    *stride = layout.strides()[index] * *item as isize;
                }
            }
            axes.push(Axis { size, strides });
        }
        for (begin, operand) in begin.iter_mut().zip(operands) {
            if let Some((layout, item)) = operand {
                *begin = (layout.offset() * item) as isize;
            }
        }
        if size == 0 {
            axes.clear();
        }
        Self { axes, begin, size }
    }

    /// Lets the first operand that moves along an axis move forwards.
    fn turn(&mut self) {
        for axis in &mut self.axes {
            let first = axis.strides.iter().find(|stride| **stride != 0);
            if first.is_some_and(|stride| *stride < 0) {
                for (begin, stride) in self.begin.iter_mut().zip(&mut axis.strides) {
                    *begin += *stride * (axis.size as isize - 1);
                    *stride = -*stride;
                }
            }
        }
    }

    /// Orders axes by the steps of the first operand, then of the next, largest outermost. Steps
    /// of zero say nothing about the order.
    fn sort(&mut self) {
        let outer = |a: &Axis, b: &Axis| {
            a.strides
                .iter()
                .zip(&b.strides)
                .filter(|(a, b)| **a != 0 && **b != 0)
                .map(|(a, b)| b.unsigned_abs().cmp(&a.unsigned_abs()))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        };
        // Insertion, as the relation isn't transitive where steps of zero are about, and stable.
        for end in 1..self.axes.len() {
            let mut at = end;
            while at > 0 && outer(&self.axes[at - 1], &self.axes[at]).is_gt() {
                self.axes.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    /// Joins each axis with the next where one runs on in the other, for every operand.
    fn join(&mut self) {
        let mut joined: SmallVec<[Axis; 3]> = SmallVec::new();
        for &inner in &self.axes {
            match joined.last_mut() {
                Some(outer)
                    if outer
                        .strides
                        .iter()
                        .zip(&inner.strides)
                        .all(|(outer, stride)| *outer == stride * inner.size as isize) =>
                {
                    outer.size *= inner.size;
                    outer.strides = inner.strides;
                }
                _ => joined.push(inner),
            }
        }
        self.axes = joined;
    }

    /// The space without its innermost axis.
    pub(crate) fn without_inner(&self) -> Self {
        let mut outer = self.clone();
        if let Some(inner) = outer.axes.pop() {
            outer.size /= inner.size;
        }
        outer
    }

    /// Axes from the outermost to the innermost, none of size one.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The number of elements.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The size of the innermost axis.
    #[must_use]
    pub fn inner_size(&self) -> usize {
        self.axes.last().map_or(1, |axis| axis.size)
    }

    /// The step of an operand along the innermost axis.
    #[must_use]
    pub fn inner_stride(&self, operand: usize) -> isize {
        self.axes.last().map_or(0, |axis| axis.strides[operand])
    }

    /// Whether an operand's elements follow one another through the whole space.
    #[must_use]
    pub fn is_linear(&self, operand: usize, item: usize) -> bool {
        let mut expected = item as isize;
        for axis in self.axes.iter().rev() {
            if axis.strides[operand] != expected {
                return false;
            }
            expected *= axis.size as isize;
        }
        true
    }

    /// Whether an operand stays at one element.
    #[must_use]
    pub fn is_constant(&self, operand: usize) -> bool {
        self.axes.iter().all(|axis| axis.strides[operand] == 0)
    }

    /// Bytes of a step of an operand along each axis of the shape that an ordered space was made of.
    pub(crate) fn strides(&self, operand: usize, shape: &[usize]) -> SmallVec<[isize; 3]> {
        let mut strides: SmallVec<[isize; 3]> = SmallVec::from_elem(0, shape.len());
        let mut axes = self.axes.iter().rev();
        let mut axis = axes.next();
        let mut done = 1;
        for (stride, &size) in strides.iter_mut().zip(shape).rev() {
            let Some(current) = axis.filter(|_| size > 1) else {
                continue;
            };
            *stride = current.strides[operand] * done as isize;
            done *= size;
            if done == current.size {
                axis = axes.next();
                done = 1;
            }
        }
        strides
    }

    /// Where each operand begins.
    pub(crate) const fn begin(&self) -> Offsets {
        self.begin
    }

    /// Where the operands are at the element number `position`.
    #[must_use]
    pub fn locate(&self, position: usize) -> Offsets {
        let mut offsets = self.begin;
        let mut rest = position;
        for (depth, axis) in self.axes.iter().enumerate().rev() {
            // The outermost index needs no remainder.
            let index = if depth == 0 { rest } else { rest % axis.size };
            rest /= axis.size;
            for (offset, stride) in offsets.iter_mut().zip(&axis.strides) {
                *offset += stride * index as isize;
            }
        }
        offsets
    }

    /// Calls `row` for each piece of an innermost axis that the elements `position..position +
    /// count` make up, with the offsets of its first element and its length.
    pub fn rows(&self, position: usize, count: usize, mut row: impl FnMut(Offsets, usize)) {
        let Some((inner, outer)) = self.axes.split_last() else {
            return row(self.begin, count);
        };
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, outer.len());
        let mut rest = position / inner.size;
        let mut skip = position % inner.size;
        let mut offsets = self.begin;
        for (index, axis) in index.iter_mut().zip(outer).rev() {
            *index = rest % axis.size;
            rest /= axis.size;
            for (offset, stride) in offsets.iter_mut().zip(&axis.strides) {
                *offset += stride * *index as isize;
            }
        }
        let mut left = count;
        loop {
            let length = left.min(inner.size - skip);
            let mut begin = offsets;
            for (begin, stride) in begin.iter_mut().zip(&inner.strides) {
                *begin += stride * skip as isize;
            }
            row(begin, length);
            left -= length;
            if left == 0 {
                return;
            }
            skip = 0;
            for (index, axis) in index.iter_mut().zip(outer).rev() {
                *index += 1;
                for (offset, stride) in offsets.iter_mut().zip(&axis.strides) {
                    *offset += stride;
                }
                if *index < axis.size {
                    break;
                }
                *index = 0;
                for (offset, stride) in offsets.iter_mut().zip(&axis.strides) {
                    *offset -= stride * axis.size as isize;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
        Layout::new(shape, strides, offset).unwrap()
    }

    #[test]
    fn contiguous_arrays_are_one_axis() {
        let a = layout(&[2, 3, 4], &[12, 4, 1], 5);
        let space = Space::new(&[2, 3, 4], &[Some((&a, 4)), Some((&a, 8)), None]);
        assert_eq!(space.axes().len(), 1);
        assert_eq!(space.inner_size(), 24);
        assert!(space.is_linear(0, 4) && space.is_linear(1, 8) && space.is_constant(2));
        assert_eq!(space.locate(3), [32, 64, 0, 0]);
    }

    #[test]
    fn reversed_arrays_run_forwards() {
        let a = layout(&[3, 2], &[-2, -1], 5);
        let b = layout(&[3, 2], &[2, 1], 0);
        let space = Space::new(&[3, 2], &[Some((&a, 1)), Some((&b, 1))]);
        assert_eq!(space.axes().len(), 1);
        assert_eq!(space.locate(0), [0, 5, 0, 0]);
        assert_eq!(space.locate(5), [5, 0, 0, 0]);
    }

    #[test]
    fn joined_axes_have_the_steps_of_their_shape() {
        let a = layout(&[3, 1, 2, 4, 5], &[40, 9, 20, 5, 1], 0);
        let b = layout(&[3, 1, 2, 4, 5], &[7, 3, 100, 25, 5], 0);
        let space = Space::ordered(&[3, 1, 2, 4, 5], &[Some((&a, 2)), Some((&b, 1))]);
        assert_eq!(space.axes().len(), 2);
        assert_eq!(space.strides(0, &[3, 1, 2, 4, 5])[..], [80, 0, 40, 10, 2]);
        assert_eq!(space.strides(1, &[3, 1, 2, 4, 5])[..], [7, 0, 100, 25, 5]);
    }

    #[test]
    fn rows_and_locate_agree_wherever_a_range_begins() {
        let a = layout(&[3, 4, 5], &[1, 15, 3], 0);
        let b = layout(&[3, 4, 5], &[0, 7, 0], 2);
        let space = Space::new(&[3, 4, 5], &[Some((&a, 2)), Some((&b, 4))]);
        for begin in 0..60 {
            for end in begin + 1..=60 {
                let mut position = begin;
                space.rows(begin, end - begin, |offsets, length| {
                    assert_eq!(offsets, space.locate(position));
                    position += length;
                });
                assert_eq!(position, end);
            }
        }
    }
}
