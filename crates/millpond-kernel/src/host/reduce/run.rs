//! Folding the elements of some outputs into their states.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::host::cast::cast;
use crate::host::contiguous::is_aligned;
use crate::host::fold::{COLUMNS, PARTIAL_BYTES};
use crate::host::gather::gather;
use crate::host::reduce::{LONG_RUN, ReduceKernel, SHORT_ROW};
use crate::host::tile::{TILE_BYTES, Tile};
use crate::ops::reduction::{SHORT_RUN, Words};
use crate::simd::{self, Level};

/// One call of [`ReduceKernel::run`]: the input's address and scratch memory.
pub(super) struct Run<'a> {
    kernel: &'a ReduceKernel,
    level: Level,
    input: *const u8,
    /// Whether elements can be read where they lie, if they lie in a row.
    direct: bool,
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
        let (dtype, compute) = (kernel.input.0, kernel.fold.compute());
        Self {
            kernel,
            level: simd::current(),
            input,
            direct: dtype == compute && is_aligned(input, dtype),
            raw: Tile::new(),
            ready: Tile::new(),
            tile: TILE_BYTES / dtype.size().max(compute.size()),
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
            let values = if in_row && stride == size as isize && self.direct {
                src
            } else {
                let tile = self.raw.as_mut_ptr();
                if in_row {
                    // SAFETY: `count` elements of a row, and room for them.
                    unsafe { gather(size, src, stride, tile, count) };
                } else {
                    let mut to = tile;
                    kernel.reduced.rows(position, count, |offsets, length| {
                        let src = base.wrapping_offset(offsets[0]);
                        // SAFETY: `length` elements of a row; all rows have `count`.
                        unsafe { gather(size, src, stride, to, length) };
                        to = to.wrapping_add(length * size);
                    });
                }
                // SAFETY: the tile holds `count` elements now.
                unsafe { self.convert(tile, count) }
            };
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
        let size = kernel.input.0.size();
        let stride = kernel.kept.inner_stride(1);
        let inner = kernel.kept.inner_size();
        let columns = COLUMNS.min(self.tile);
        let partials: *mut u8 = self.partials.0.as_mut_ptr().cast();
        let mut done = 0;
        while done < states.len() {
            let output = first + done;
            let mut count = columns.min(states.len() - done);
            let in_row = kernel.kept.axes().len() <= 1 || inner >= SHORT_ROW;
            if in_row {
                count = count.min(inner - output % inner);
            }
            let column = self.input.wrapping_offset(kernel.kept.locate(output)[1]);
            let states = &mut states[done..done + count];
            let mut pending = 0;
            let mut index = elements.start;
            let step = kernel.reduced.inner_stride(0);
            kernel
                .reduced
                .rows(elements.start, elements.len(), |offsets, length| {
                    for row in 0..length {
                        let offset = offsets[0] + step * row as isize;
                        let src = column.wrapping_offset(offset);
                        let values = if in_row && stride == size as isize && self.direct {
                            src
                        } else {
                            let tile = self.raw.as_mut_ptr();
                            if in_row {
                                // SAFETY: one element of each of `count` outputs.
                                unsafe { gather(size, src, stride, tile, count) };
                            } else {
                                let mut to = tile;
                                kernel.kept.rows(output, count, |offsets, length| {
                                    let src = self.input.wrapping_offset(offsets[1] + offset);
                                    // SAFETY: one element of each of `length` outputs.
                                    unsafe { gather(size, src, stride, to, length) };
                                    to = to.wrapping_add(length * size);
                                });
                            }
                            // SAFETY: the tile holds `count` elements now.
                            unsafe { self.convert(tile, count) }
                        };
                        let (at, fresh) = (index as u64, pending == 0);
                        // SAFETY: `count` aligned elements; partials were written unless fresh.
                        unsafe {
                            kernel
                                .fold
                                .row(self.level, partials, values, at, count, fresh);
                        };
                        index += 1;
                        pending += 1;
                        if pending == SHORT_RUN {
                            // SAFETY: a partial was written for each state.
                            unsafe { kernel.fold.flush(states, partials) };
                            pending = 0;
                        }
                    }
                });
            if pending > 0 {
                // SAFETY: a partial was written for each state.
                unsafe { kernel.fold.flush(states, partials) };
            }
            done += count;
        }
    }

    /// Converts a tile of raw elements to the dtype that the fold computes with.
    ///
    /// # Safety
    /// `tile` holds `count` elements of the input's dtype, at most a tile.
    unsafe fn convert(&mut self, tile: *const u8, count: usize) -> *const u8 {
        let (dtype, compute) = (self.kernel.input.0, self.kernel.fold.compute());
        if dtype == compute {
            return tile;
        }
        let ready = self.ready.as_mut_ptr();
        // SAFETY: aligned tiles of `count` elements each.
        unsafe { cast(self.level, (dtype, tile), (compute, ready), count) };
        ready
    }
}
