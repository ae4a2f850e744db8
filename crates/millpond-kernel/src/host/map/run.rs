//! Element-wise work tile by tile, along the rows of a space.

use std::ops::Range;

use millpond_hal::Address;

use crate::host::body::{Inputs, MAX_INPUTS};
use crate::host::cast::cast;
use crate::host::contiguous::is_aligned;
use crate::host::gather::{gather, gather_space, scatter, scatter_space};
use crate::host::map::{MapKernel, Operand, Place};
use crate::host::stream::{self, PAST_CACHES};
use crate::host::tile::Tile;
use crate::simd::{self, Level};
use crate::template::space::Offsets;

/// One call of `MapKernel::run`: addresses and scratch memory.
pub(super) struct Run<'a> {
    pub(super) kernel: &'a MapKernel,
    pub(super) level: Level,
    pub(super) out: *mut u8,
    pub(super) inputs: [*const u8; MAX_INPUTS],
    /// Elements as memory holds them, for each input and the output.
    pub(super) raw: [Tile; MAX_INPUTS + 1],
    /// Elements as the body computes with them.
    pub(super) ready: [Tile; MAX_INPUTS + 1],
    /// Whether the output is written past the caches.
    past: bool,
}

/// The tile of the output.
pub(super) const OUT: usize = MAX_INPUTS;

impl<'a> Run<'a> {
    pub(super) fn new(kernel: &'a MapKernel, bases: &[Address]) -> Self {
        let out: *mut u8 = bases[0].as_ptr();
        let mut inputs = [out.cast_const(); MAX_INPUTS];
        for (input, operand) in inputs.iter_mut().zip(&kernel.inputs) {
            *input = match &operand.scalar {
                Some(value) => value.as_ptr(),
                None => bases[operand.base].as_ptr(),
            };
        }
        Self {
            kernel,
            level: simd::current(),
            out,
            inputs,
            raw: [const { Tile::new() }; MAX_INPUTS + 1],
            ready: [const { Tile::new() }; MAX_INPUTS + 1],
            past: false,
        }
    }

    /// Whether an input can be read where it lies.
    fn is_direct(&self, index: usize) -> bool {
        let operand = &self.kernel.inputs[index];
        let base = self.inputs[index];
        matches!(operand.place, Place::Linear | Place::Row)
            && operand.dtype == operand.compute
            && is_aligned(base, operand.dtype)
            && self.is_apart(operand, base)
    }

    /// Whether an operand shares no byte with the output, so that a loop may assume it.
    fn is_apart(&self, operand: &Operand, base: *const u8) -> bool {
        let (read, written) = (&operand.footprint, &self.kernel.output.footprint);
        let (base, out) = (base.addr(), self.out.addr());
        base + read.end <= out + written.start || out + written.end <= base + read.start
    }

    /// Whether the output can be written where it lies.
    fn is_out_direct(&self) -> bool {
        let output = &self.kernel.output;
        matches!(output.place, Place::Linear | Place::Row)
            && output.dtype == output.compute
            && is_aligned(self.out, output.dtype)
    }

    /// Computes a range of elements.
    ///
    /// # Safety
    /// As for `HostKernel::run`.
    pub(super) unsafe fn elements(mut self, range: Range<usize>) {
        let kernel = self.kernel;
        let mut direct = [false; MAX_INPUTS];
        let mut all_direct = self.is_out_direct();
        let out_direct = all_direct;
        for (index, operand) in kernel.inputs.iter().enumerate() {
            direct[index] = self.is_direct(index);
            all_direct &= direct[index];
            if operand.place == Place::Constant {
                // SAFETY: a constant operand has at least its one element.
                unsafe { self.spread(index, kernel.tile.min(range.len())) };
            }
        }
        let mut arrays = kernel.inputs.iter().zip(self.inputs);
        self.past = out_direct
            && kernel.output.footprint.len() >= PAST_CACHES
            && arrays.all(|(operand, base)| self.is_apart(operand, base));
        let converts = out_direct && self.converts_in_place();
        // Without scratch memory a row needs no tiles.
        let limit = if converts || (all_direct && !self.past) {
            usize::MAX
        } else {
            kernel.tile
        };
        let mut position = range.start;
        while position < range.end {
            let mut count = limit.min(range.end - position);
            if kernel.by_row {
                let inner = kernel.space.inner_size();
                count = count.min(inner - position % inner);
            }
            let offsets = kernel.space.locate(position);
            if converts {
                let (from, to) = (kernel.inputs[0].dtype, kernel.output.dtype);
                let src = self.inputs[0].wrapping_offset(offsets[1]);
                let dst = self.out.wrapping_offset(offsets[0]);
                // SAFETY: `count` elements of a row on either side, aligned and apart.
                unsafe { cast(self.level, (from, src), (to, dst), count) };
                position += count;
                continue;
            }
            let mut from: Inputs = [self.out; MAX_INPUTS];
            for index in 0..kernel.inputs.len() {
                from[index] = if direct[index] {
                    self.inputs[index].wrapping_offset(offsets[index + 1])
                } else if kernel.inputs[index].place == Place::Constant {
                    self.ready[index].as_mut_ptr()
                } else {
                    // SAFETY: the elements lie within the range of the caller's.
                    unsafe { self.fetch(index, position, count, &offsets) }
                };
            }
            // SAFETY: `from` holds addresses of `count` elements each.
            unsafe { self.compute(out_direct, from, position, count, &offsets) };
            position += count;
        }
        if self.past {
            stream::fence();
        }
    }

    /// Whether this is a copy that only converts, from elements that can be read where they lie.
    fn converts_in_place(&self) -> bool {
        let operand = &self.kernel.inputs[0];
        let base = self.inputs[0];
        self.kernel.body.is_none()
            && matches!(operand.place, Place::Linear | Place::Row)
            && operand.dtype != operand.compute
            && is_aligned(base, operand.dtype)
            && self.is_apart(operand, base)
    }

    /// Fills an input's tile with its one element.
    ///
    /// # Safety
    /// The element may be read, and `count` elements fit a tile.
    pub(super) unsafe fn spread(&mut self, index: usize, count: usize) {
        let operand = &self.kernel.inputs[index];
        let mut value = [0_u64; 2];
        let value: *mut u8 = value.as_mut_ptr().cast();
        if operand.scalar.is_some() {
            // SAFETY: the kernel keeps 16 bytes of a scalar.
            unsafe { std::ptr::copy_nonoverlapping(self.inputs[index], value, 16) };
        } else {
            let begin = self.kernel.space.locate(0)[index + 1];
            let src = self.inputs[index].wrapping_offset(begin);
            let mut raw = [0_u64; 2];
            let raw: *mut u8 = raw.as_mut_ptr().cast();
            // SAFETY: the operand's element, into a buffer of the largest element.
            unsafe { std::ptr::copy_nonoverlapping(src, raw, operand.dtype.size()) };
            let (from, to) = ((operand.dtype, raw.cast_const()), (operand.compute, value));
            // SAFETY: both buffers are aligned and hold any element.
            unsafe { cast(self.level, from, to, 1) };
        }
        let tile = self.ready[index].as_mut_ptr();
        // SAFETY: the value is an element of the compute dtype, the tile has room.
        unsafe { gather(operand.compute.size(), value, 0, tile, count) };
    }

    /// Brings `count` elements of an input into its tile, as the body wants them.
    ///
    /// # Safety
    /// The elements may be read and fit a tile.
    unsafe fn fetch(
        &mut self,
        index: usize,
        position: usize,
        count: usize,
        offsets: &Offsets,
    ) -> *const u8 {
        let kernel = self.kernel;
        let operand = &kernel.inputs[index];
        let size = operand.dtype.size();
        let ready = self.ready[index].as_mut_ptr();
        let same = operand.dtype == operand.compute;
        let base = self.inputs[index];
        let here = base.wrapping_offset(offsets[index + 1]);
        let linear = matches!(operand.place, Place::Linear | Place::Row);
        let src = if linear && !same && is_aligned(base, operand.dtype) {
            here
        } else {
            let tile = if same {
                ready
            } else {
                self.raw[index].as_mut_ptr()
            };
            if linear || kernel.by_row {
                let stride = if linear {
                    size as isize
                } else {
                    kernel.space.inner_stride(index + 1)
                };
                // SAFETY: `count` elements of the row, and room for them.
                unsafe { gather(size, here, stride, tile, count) };
            } else {
                let operand = (&kernel.space, index + 1);
                // SAFETY: `count` elements of the operand, and room for them.
                unsafe { gather_space(operand, (size, base), (position, count), tile) };
            }
            tile.cast_const()
        };
        if !same {
            let (from, to) = ((operand.dtype, src), (operand.compute, ready));
            // SAFETY: `count` aligned elements, and room for as many.
            unsafe { cast(self.level, from, to, count) };
        }
        ready
    }

    /// Computes `count` elements and puts them where they belong.
    ///
    /// # Safety
    /// `from` holds addresses of `count` elements of each input; the output's elements from
    /// `position` on may be written.
    unsafe fn compute(
        &mut self,
        out_direct: bool,
        from: Inputs,
        position: usize,
        count: usize,
        offsets: &Offsets,
    ) {
        let kernel = self.kernel;
        let output = &kernel.output;
        let here = self.out.wrapping_offset(offsets[0]);
        let in_place = out_direct && !self.past;
        let target = if in_place {
            here
        } else {
            self.ready[OUT].as_mut_ptr()
        };
        let mut computed = target.cast_const();
        match kernel.body {
            // SAFETY: aligned, apart from one another, and `count` elements each.
            Some(body) => unsafe { body.run(self.level, target, from, count) },
            None if in_place => {
                // SAFETY: a copy's input has the output's dtype by now. It may be the output
                // itself only by way of a tile.
                unsafe {
                    std::ptr::copy_nonoverlapping(from[0], here, count * output.dtype.size());
                };
            }
            None => computed = from[0],
        }
        if in_place {
            return;
        }
        let size = output.dtype.size();
        if self.past {
            // SAFETY: `count` elements of the output's row, and as many computed ones.
            return unsafe { stream::store(computed, here, count * size) };
        }
        let linear = matches!(output.place, Place::Linear | Place::Row);
        if output.dtype != output.compute {
            let aligned = linear && is_aligned(self.out, output.dtype);
            let to = if aligned {
                here
            } else {
                self.raw[OUT].as_mut_ptr()
            };
            // SAFETY: `count` computed elements, and room for as many.
            unsafe {
                cast(
                    self.level,
                    (output.compute, computed),
                    (output.dtype, to),
                    count,
                );
            };
            if aligned {
                return;
            }
            computed = to;
        }
        if linear || kernel.by_row {
            let stride = if linear {
                size as isize
            } else {
                kernel.space.inner_stride(0)
            };
            // SAFETY: `count` elements of the output's row.
            unsafe { scatter(size, computed, here, stride, count) };
        } else {
            let to = (size, self.out);
            // SAFETY: `count` elements of the output.
            unsafe { scatter_space((&kernel.space, 0), computed, to, (position, count)) };
        }
    }
}
