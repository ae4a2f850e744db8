//! Element-wise work block by block, where operands run along different axes.

use std::ops::Range;

use crate::host::body::{Inputs, MAX_INPUTS};
use crate::host::cast::cast;
use crate::host::gather::sized;
use crate::host::map::Place;
use crate::host::map::run::{OUT, Run};
use crate::host::stream;
use crate::template::blocks::{Block, Blocks};

/// How the elements of a block lie in an array: bytes of a step along each axis.
#[derive(Clone, Copy)]
struct Steps {
    down: isize,
    across: isize,
}

impl Run<'_> {
    /// Computes a range of blocks.
    ///
    /// # Safety
    /// As for [`HostKernel::run`](millpond_hal::HostKernel::run).
    pub(super) unsafe fn blocks(mut self, blocks: &Blocks, range: Range<usize>) {
        let kernel = self.kernel;
        for (index, operand) in kernel.inputs.iter().enumerate() {
            if operand.place == Place::Constant {
                // SAFETY: a constant operand has at least its one element.
                unsafe { self.spread(index, kernel.tile) };
            }
        }
        for number in range.clone() {
            if number + 1 < range.end {
                self.prefetch(blocks, blocks.block(number + 1));
            }
            let block = blocks.block(number);
            // SAFETY: the block's elements are the caller's.
            unsafe { self.block(blocks, block) };
        }
    }

    /// Asks for the lines of a block; rows of a block are too short for the processor to know.
    fn prefetch(&self, blocks: &Blocks, block: Block) {
        let kernel = self.kernel;
        let items = kernel.inputs.iter().map(|input| input.dtype.size());
        let bases = self.inputs.iter().copied().zip(items);
        let out = (self.out.cast_const(), kernel.output.dtype.size());
        for (operand, (base, size)) in std::iter::once(out).chain(bases).enumerate() {
            let (down, across) = (blocks.down.strides[operand], blocks.across.strides[operand]);
            let begin = base.wrapping_offset(block.offsets[operand]);
            let (lines, step, bytes) = if across.unsigned_abs() == size {
                (block.height, down, block.width * size)
            } else if down.unsigned_abs() == size {
                (block.width, across, block.height * size)
            } else {
                continue;
            };
            for line in 0..lines as isize {
                stream::prefetch(begin.wrapping_offset(step * line), bytes);
            }
        }
    }

    /// Computes one block.
    ///
    /// # Safety
    /// As for [`Run::blocks`].
    unsafe fn block(&mut self, blocks: &Blocks, block: Block) {
        let kernel = self.kernel;
        let count = block.height * block.width;
        let steps = |operand: usize| Steps {
            down: blocks.down.strides[operand],
            across: blocks.across.strides[operand],
        };
        let mut from: Inputs = [self.out; MAX_INPUTS];
        for (index, operand) in kernel.inputs.iter().enumerate() {
            let ready = self.ready[index].as_mut_ptr();
            from[index] = ready;
            if operand.place == Place::Constant {
                continue;
            }
            let same = operand.dtype == operand.compute;
            let raw = if same {
                ready
            } else {
                self.raw[index].as_mut_ptr()
            };
            let src = self.inputs[index].wrapping_offset(block.offsets[index + 1]);
            // SAFETY: the block's elements of this operand, and a tile with room for them.
            unsafe { gather_block(operand.dtype.size(), src, steps(index + 1), raw, block) };
            if !same {
                let (src, dst) = ((operand.dtype, raw.cast_const()), (operand.compute, ready));
                // SAFETY: `count` elements that were gathered, and room for as many.
                unsafe { cast(self.level, src, dst, count) };
            }
        }
        let output = &kernel.output;
        let mut computed = from[0];
        if let Some(body) = kernel.body {
            let target = self.ready[OUT].as_mut_ptr();
            // SAFETY: aligned tiles of `count` elements, apart from one another.
            unsafe { body.run(self.level, target, from, count) };
            computed = target;
        }
        if output.dtype != output.compute {
            let raw = self.raw[OUT].as_mut_ptr();
            let (src, dst) = ((output.compute, computed), (output.dtype, raw));
            // SAFETY: `count` computed elements, and room for as many.
            unsafe { cast(self.level, src, dst, count) };
            computed = raw;
        }
        let dst = self.out.wrapping_offset(block.offsets[0]);
        // SAFETY: the block's elements of the output.
        unsafe { scatter_block(output.dtype.size(), computed, dst, steps(0), block) };
    }
}

/// Reads a block into contiguous memory, row after row.
///
/// # Safety
/// The block's elements are valid for reads, `dst` for writes of as many.
unsafe fn gather_block(size: usize, src: *const u8, steps: Steps, dst: *mut u8, block: Block) {
    if steps.across == size as isize {
        for row in 0..block.height {
            let src = src.wrapping_offset(steps.down * row as isize);
            let dst = dst.wrapping_add(row * block.width * size);
            // SAFETY: a row of the block.
            unsafe { std::ptr::copy_nonoverlapping(src, dst, block.width * size) };
        }
        return;
    }
    let tile = Steps {
        down: (block.width * size) as isize,
        across: size as isize,
    };
    macro_rules! run {
        ($t:ty) => {
            // SAFETY: as the caller vouches.
            unsafe { copy_columns::<$t>((src, steps), (dst, tile), block) }
        };
    }
    sized!(size, run);
}

/// Writes a block from contiguous memory, row after row.
///
/// # Safety
/// As for [`gather_block`], with the sides exchanged.
unsafe fn scatter_block(size: usize, src: *const u8, dst: *mut u8, steps: Steps, block: Block) {
    if steps.across == size as isize {
        for row in 0..block.height {
            let dst = dst.wrapping_offset(steps.down * row as isize);
            let src = src.wrapping_add(row * block.width * size);
            // SAFETY: a row of the block.
            unsafe { std::ptr::copy_nonoverlapping(src, dst, block.width * size) };
        }
        return;
    }
    let tile = Steps {
        down: (block.width * size) as isize,
        across: size as isize,
    };
    macro_rules! run {
        ($t:ty) => {
            // SAFETY: as the caller vouches.
            unsafe { copy_columns::<$t>((src, tile), (dst, steps), block) }
        };
    }
    sized!(size, run);
}

/// Copies a block column by column.
///
/// # Safety
/// The block's elements are valid for reads on one side and for writes on the other.
unsafe fn copy_columns<T: Copy>(
    (src, from): (*const u8, Steps),
    (dst, to): (*mut u8, Steps),
    block: Block,
) {
    for column in 0..block.width as isize {
        let src = src.wrapping_offset(from.across * column);
        let dst = dst.wrapping_offset(to.across * column);
        for row in 0..block.height as isize {
            let src = src.wrapping_offset(from.down * row).cast::<T>();
            // SAFETY: an element of the block.
            let value = unsafe { src.read_unaligned() };
            let dst = dst.wrapping_offset(to.down * row).cast::<T>();
            // SAFETY: the element's place on the other side.
            unsafe { dst.write_unaligned(value) };
        }
    }
}
