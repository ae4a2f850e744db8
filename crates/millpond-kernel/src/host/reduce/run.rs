//! Folding the elements of some outputs into their states.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::host::cast::cast;
use crate::host::contiguous::is_aligned;
use crate::host::fold::{COLUMNS, PARTIAL_BYTES, Rows};
use crate::host::gather::{gather, gather_space};
use crate::host::reduce::{LONG_RUN, ReduceKernel, SHORT_ROW};
use crate::host::tile::Tile;
use crate::ops::reduction::{SHORT_RUN, Words};
use crate::simd::{self, Level};

/// One call of `ReduceKernel::run`: the input's address and scratch memory.
pub(super) struct Run<'a> {
    kernel: &'a ReduceKernel,
    level: Level,
    input: *const u8,
    /// Whether elements can be read where they lie, if they lie in a row.
    aligned: bool,
    raw: Tile,
    ready: Tile,
    /// Elements of a tile.
    tile: usize,
    partials: Partials,
}

#[repr(C, align(64))]
struct Partials(MaybeUninit<[u8; PARTIAL_BYTES]>);

impl<'a> Run<'a> {
    pub(super) fn new(kernel: &'a ReduceKernel, input: *const u8) -> Self {
        let dtype = kernel.input.0;
        Self {
            kernel,
            level: simd::current(),
            input,
            aligned: is_aligned(input, dtype),
            raw: Tile::new(),
            ready: Tile::new(),
            tile: kernel.tile(),
            partials: Partials(MaybeUninit::uninit()),
        }
    }

    /// Folds some elements of one output into its state.
    ///
    /// # Safety
    /// The elements may be read.
    pub(super) unsafe fn along(
        &mut self,
        output: usize,
        elements: Range<usize>,
        state: &mut Words,
    ) {
        let kernel = self.kernel;
        let size = kernel.input.0.size();
        let base = self.input.wrapping_offset(kernel.kept.locate(output)[1]);
        let stride = kernel.reduced.inner_stride(0);
        let inner = kernel.reduced.inner_size();
        let in_row = kernel.reduced.axes().len() <= 1 || inner >= LONG_RUN;
        let mut position = elements.start;
        while position < elements.end {
            let mut count = self.tile.min(elements.end - position);
            if in_row {
                count = count.min(inner - position % inner);
            }
            let src = base.wrapping_offset(kernel.reduced.locate(position)[0]);
            let raw = if in_row && stride == size as isize && self.aligned {
                src
            } else {
                let tile = self.raw.as_mut_ptr();
                if in_row {
                    // SAFETY: `count` elements of a row, and room for them.
                    unsafe { gather(size, src, stride, tile, count) };
                } else {
                    let operand = (&kernel.reduced, 0);
                    // SAFETY: `count` elements, and room for them.
                    unsafe { gather_space(operand, (size, base), (position, count), tile) };
                }
                tile.cast_const()
            };
            // SAFETY: `count` aligned elements, which fit a tile.
            let values = unsafe { self.convert(raw, 0, count) };
            let index = position as u64;
            // SAFETY: `count` aligned elements of the compute dtype.
            unsafe { kernel.fold.run(self.level, state, values, index, count) };
            position += count;
        }
    }

    /// Folds some elements of neighbouring outputs into their states.
    ///
    /// # Safety
    /// The elements may be read.
    pub(super) unsafe fn across(
        &mut self,
        first: usize,
        elements: Range<usize>,
        states: &mut [Words],
    ) {
        let kernel = self.kernel;
        let mut rest = states;
        let mut output = first;
        while !rest.is_empty() {
            let count = self.columns(output, rest.len());
            let (states, others) = rest.split_at_mut(count);
            let flush = |partials: *const u8| {
                // SAFETY: a partial was written for each state.
                unsafe { kernel.fold.flush(states, partials) };
            };
            // SAFETY: as the caller vouches.
            unsafe { self.group(output, count, elements.clone(), flush) };
            rest = others;
            output += count;
        }
    }

    /// Computes neighbouring outputs of so few elements that no state is needed.
    ///
    /// # Safety
    /// The elements may be read, and the outputs at `base` written.
    pub(super) unsafe fn across_few(&mut self, outputs: Range<usize>, base: *mut u8) {
        let kernel = self.kernel;
        let mut output = outputs.start;
        while output < outputs.end {
            let count = self.columns(output, outputs.end - output);
            let finish = |partials: *const u8| {
                // SAFETY: a partial was written for each output, which the caller may write.
                unsafe { kernel.emit_partials(base, output..output + count, partials) };
            };
            // SAFETY: as the caller vouches.
            unsafe { self.group(output, count, 0..kernel.reduced.size(), finish) };
            output += count;
        }
    }

    /// How many of `left` outputs are folded side by side.
    fn columns(&self, output: usize, left: usize) -> usize {
        let count = COLUMNS.min(self.tile).min(left);
        if self.in_row() {
            let inner = self.kernel.kept.inner_size();
            count.min(inner - output % inner)
        } else {
            count
        }
    }

    /// Whether outputs that are folded side by side are of one row.
    fn in_row(&self) -> bool {
        self.kernel.kept.axes().len() <= 1 || self.kernel.kept.inner_size() >= SHORT_ROW
    }

    /// Folds some elements of `count` outputs, and hands the partials over whenever they are full,
    /// and at the end.
    ///
    /// # Safety
    /// The elements may be read.
    unsafe fn group(
        &mut self,
        output: usize,
        count: usize,
        elements: Range<usize>,
        mut flush: impl FnMut(*const u8),
    ) {
        let kernel = self.kernel;
        let size = kernel.input.0.size();
        let stride = kernel.kept.inner_stride(1);
        let in_row = self.in_row();
        let partials: *mut u8 = self.partials.0.as_mut_ptr().cast();
        let column = self.input.wrapping_offset(kernel.kept.locate(output)[1]);
        let mut pending = 0;
        let mut index = elements.start;
        let step = kernel.reduced.inner_stride(0);
        let adjacent = in_row && stride == size as isize && self.aligned;
        let in_place = adjacent && kernel.input.0 == kernel.fold.compute();
        let at_once = if in_place {
            SHORT_RUN
        } else {
            self.tile / count
        };
        kernel
            .reduced
            .rows(elements.start, elements.len(), |offsets, length| {
                let mut row = 0;
                while row < length {
                    let height = at_once.min(length - row).min(SHORT_RUN - pending);
                    let offset = offsets[0] + step * row as isize;
                    let (values, stride) = if in_place {
                        (column.wrapping_offset(offset), step)
                    } else {
                        let from = (adjacent, column, output, count);
                        // SAFETY: `height` rows of the caller's elements, which fit a tile.
                        unsafe { self.collect(from, (offset, step), height) }
                    };
                    let rows = Rows {
                        values,
                        stride,
                        height,
                        width: count,
                        index: index as u64,
                    };
                    // SAFETY: `height` rows of `count` aligned elements; partials were written
                    // unless fresh.
                    unsafe { kernel.fold.rows(self.level, partials, rows, pending == 0) };
                    row += height;
                    index += height;
                    pending += height;
                    if pending == SHORT_RUN {
                        flush(partials);
                        pending = 0;
                    }
                }
            });
        if pending > 0 {
            flush(partials);
        }
    }

    /// Brings rows of elements together, as the fold computes with them: their address, and the
    /// bytes from one to the next.
    ///
    /// The rows begin at `offset` and are `step` bytes apart, in each of `count` columns from number
    /// `output` on, the first of which is at `column`.
    ///
    /// # Safety
    /// The elements may be read, and fit a tile together.
    unsafe fn collect(
        &mut self,
        (adjacent, column, output, count): (bool, *const u8, usize, usize),
        (offset, step): (isize, isize),
        height: usize,
    ) -> (*const u8, isize) {
        let kernel = self.kernel;
        let (size, stride) = (kernel.input.0.size(), kernel.kept.inner_stride(1));
        let in_row = self.in_row();
        let mut first = std::ptr::null();
        for row in 0..height {
            let offset = offset + step * row as isize;
            let src = column.wrapping_offset(offset);
            let tile = self.raw.as_mut_ptr().wrapping_add(row * count * size);
            let raw = if adjacent && kernel.input.0 != kernel.fold.compute() {
                src
            } else {
                if in_row {
                    // SAFETY: one element of each of `count` outputs.
                    unsafe { gather(size, src, stride, tile, count) };
                } else {
                    let base = self.input.wrapping_offset(offset);
                    // SAFETY: one element of each of `count` outputs.
                    unsafe { gather_space((&kernel.kept, 1), (size, base), (output, count), tile) };
                }
                tile.cast_const()
            };
            // SAFETY: `count` aligned elements, and room for them behind those of earlier rows.
            let values = unsafe { self.convert(raw, row * count, count) };
            if row == 0 {
                first = values;
            }
        }
        (first, (count * kernel.fold.compute().size()) as isize)
    }

    /// Converts raw elements to the dtype that the fold computes with, into the tile of ready ones
    /// from number `at` on; answers where they are.
    ///
    /// # Safety
    /// `raw` holds `count` aligned elements of the input's dtype; a tile has room for `at + count`.
    unsafe fn convert(&mut self, raw: *const u8, at: usize, count: usize) -> *const u8 {
        let (dtype, compute) = (self.kernel.input.0, self.kernel.fold.compute());
        if dtype == compute {
            return raw;
        }
        let ready = self.ready.as_mut_ptr().wrapping_add(at * compute.size());
        // SAFETY: `count` elements each, aligned as multiples of an element from a tile's start.
        unsafe { cast(self.level, (dtype, raw), (compute, ready), count) };
        ready
    }
}
