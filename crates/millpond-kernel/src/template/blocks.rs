//! A space cut into blocks of two axes, for operands that disagree about which axis is innermost.
//!
//! Walked row by row, a transposed operand touches a cache line for each element. Within a block
//! every operand's lines are used whole, whichever of both axes it runs along.

use smallvec::SmallVec;

use crate::template::space::{Axis, Offsets, Space};

/// Axes shorter than this aren't worth blocks.
const SHORT: usize = 16;

/// Elements along the innermost axis of a block.
const WIDTH: usize = 32;

/// The blocks of a space, and the order they are numbered in.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    outer: SmallVec<[Axis; 2]>,
    /// The axis that some operand runs along.
    pub(crate) down: Axis,
    /// The innermost axis.
    pub(crate) across: Axis,
    begin: Offsets,
    height: usize,
    rows: usize,
    columns: usize,
}

/// One block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where each operand's first element is.
    pub(crate) offsets: Offsets,
    /// Elements along the axis `down`.
    pub(crate) height: usize,
    /// Elements along the axis `across`.
    pub(crate) width: usize,
}

impl Blocks {
    /// The blocks of at most `tile` elements, if some operand runs along another axis than the
    /// innermost. `items` are the bytes of each operand's elements.
    pub(crate) fn new(space: &Space, items: &[usize], tile: usize) -> Option<Self> {
        let (across, rest) = space.axes().split_last()?;
        if across.size < SHORT {
            return None;
        }
        let runs_along = |axis: &Axis| {
            let pairs = axis.strides.iter().zip(&across.strides).zip(items);
            axis.size >= SHORT
                && pairs.into_iter().any(|((stride, inner), item)| {
                    stride.unsigned_abs() == *item && inner.unsigned_abs() > *item
                })
        };
        let at = rest.iter().position(runs_along)?;
        let mut outer: SmallVec<[Axis; 2]> = rest.into();
        let down = outer.remove(at);
        let height = (tile / WIDTH).max(1);
        Some(Self {
            outer,
            down,
            across: *across,
            begin: space.begin(),
            height,
            rows: down.size.div_ceil(height),
            columns: across.size.div_ceil(WIDTH),
        })
    }

    /// The number of blocks.
    pub(crate) fn count(&self) -> usize {
        let outer: usize = self.outer.iter().map(|axis| axis.size).product();
        outer * self.rows * self.columns
    }

    /// Block number `index`.
    pub(crate) fn block(&self, index: usize) -> Block {
        let column = index % self.columns * WIDTH;
        let row = index / self.columns % self.rows * self.height;
        let mut rest = index / self.columns / self.rows;
        let mut offsets = self.begin;
        let mut step = |axis: &Axis, steps: usize| {
            for (offset, stride) in offsets.iter_mut().zip(&axis.strides) {
                *offset += stride * steps as isize;
            }
        };
        step(&self.across, column);
        step(&self.down, row);
        for axis in self.outer.iter().rev() {
            step(axis, rest % axis.size);
            rest /= axis.size;
        }
        Block {
            offsets,
            height: self.height.min(self.down.size - row),
            width: WIDTH.min(self.across.size - column),
        }
    }
}

#[cfg(test)]
mod tests {
    use millpond_types::Layout;

    use super::*;

    #[test]
    fn blocks_cover_each_element_once() {
        let c = Layout::contiguous(&[3, 40, 70], 1).unwrap();
        let f = Layout::new(&[3, 40, 70], &[2800, 1, 40], 0).unwrap();
        let space = Space::new(&[3, 40, 70], &[Some((&c, 1)), Some((&f, 1))]);
        let blocks = Blocks::new(&space, &[1, 1], 1024).unwrap();
        let mut seen = vec![0; 3 * 40 * 70];
        for index in 0..blocks.count() {
            let block = blocks.block(index);
            for row in 0..block.height {
                for column in 0..block.width {
                    let at = |operand: usize| {
                        block.offsets[operand]
                            + blocks.down.strides[operand] * row as isize
                            + blocks.across.strides[operand] * column as isize
                    };
                    seen[at(0) as usize] += 1;
                    let (plane, row, column) = (at(0) / 2800, at(0) / 70 % 40, at(0) % 70);
                    assert_eq!(at(1), plane * 2800 + column * 40 + row);
                }
            }
        }
        assert!(seen.iter().all(|&times| times == 1));
    }

    #[test]
    fn operands_of_one_order_need_no_blocks() {
        let c = Layout::contiguous(&[40, 70], 1).unwrap();
        let sliced = Layout::new(&[40, 70], &[300, 2], 0).unwrap();
        let space = Space::new(&[40, 70], &[Some((&c, 1)), Some((&sliced, 1))]);
        assert!(Blocks::new(&space, &[1, 1], 1024).is_none());
    }
}
