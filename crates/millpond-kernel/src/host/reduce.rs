//! A reduction over any axes of an array of any layout and dtype.
//!
//! The work is cut into pieces by the shape alone: one piece for each output, or several for each
//! where there are few outputs of many elements. A piece is folded by itself, pieces of an output
//! are merged in order at the end, so the result doesn't depend on threads.
//!
//! Elements of one output are folded along a run where they lie close together; else whole rows
//! of outputs are folded side by side.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::shape::{ShapeError, Tuple};
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use crate::error::{PlanError, UnsupportedDType};
use crate::host::cast::cast;
use crate::host::contiguous::is_aligned;
use crate::host::fold::{COLUMNS, Fold, PARTIAL_BYTES};
use crate::host::gather::{gather, scatter};
use crate::host::tile::{TILE_BYTES, Tile};
use crate::ops::reduction::{ReduceSignature, Reduction, SHORT_RUN, Words};
use crate::simd::{self, Level};
use crate::template::space::Space;

/// Elements of a piece, where an output has many.
const BLOCK: usize = 1 << 16;

/// Outputs beyond which they are work enough to be shared among threads.
const MANY_OUTPUTS: usize = 4096;

/// Runs of at least this many elements are folded along.
const LONG_RUN: usize = 64;

/// Rows of fewer outputs than this aren't worth folding side by side.
const SHORT_ROW: usize = 32;

/// A reduction over arrays.
///
/// Operands are the output and the input, each addressed by the base that its layout's offset
/// counts from; they don't overlap.
pub struct ReduceKernel {
    reduction: &'static Reduction,
    fold: &'static dyn Fold,
    output: (DType, Range<usize>),
    input: (DType, Range<usize>),
    shape: Shape,
    axes: Shape,
    /// One element for each output: the output's place, and that of its first input.
    kept: Space,
    /// The elements of one output, as operand 0.
    reduced: Space,
    /// Whether an output's elements are folded along a run.
    along: bool,
    /// Elements of a piece.
    block: usize,
    /// Pieces of an output.
    blocks: usize,
    /// States of pieces, where an output has more than one: by piece, then by output.
    states: Box<[AtomicU64]>,
    correction: f64,
}

impl ReduceKernel {
    /// The kernel of a reduction whose dtypes were resolved. `axes` are those to reduce, each once;
    /// the output's shape is the input's without them, or with size 1 in their place. `correction`
    /// is what a variance subtracts from the number of elements; others ignore it.
    ///
    /// # Errors
    /// [`PlanError::Axes`] for axes that the input doesn't have or that are named twice,
    /// [`PlanError::ReducedShape`] if the output's shape doesn't follow, [`PlanError::Empty`] for
    /// a reduction of nothing that has no identity, [`PlanError::DType`] if the signature isn't
    /// one of the reduction's.
    pub fn new(
        reduction: &'static Reduction,
        signature: ReduceSignature,
        output: (DType, &Layout),
        input: (DType, &Layout),
        axes: &[usize],
        correction: f64,
    ) -> Result<Self, PlanError> {
        let Some(fold) = reduction.fold(signature.compute) else {
            return Err(PlanError::DType(UnsupportedDType {
                operation: reduction.name(),
                dtypes: [input.0].into_iter().collect(),
            }));
        };
        let split = Split::new(reduction.name(), output.1, input.1, axes)?;
        let item = input.0.size();
        let kept = Space::new(
            split.kept.shape(),
            &[
                Some((&split.output, output.0.size())),
                Some((&split.kept, item)),
            ],
        );
        let operands = [Some((&split.reduced, item))];
        let reduced = if reduction.is_ordered() {
            Space::ordered(split.reduced.shape(), &operands)
        } else {
            Space::new(split.reduced.shape(), &operands)
        };
        if reduced.size() == 0 && kept.size() > 0 && !reduction.has_identity() {
            return Err(PlanError::Empty {
                operation: reduction.name(),
                shape: input.1.shape().into(),
                axes: axes.into(),
            });
        }
        let close = reduced.inner_stride(0).unsigned_abs() <= kept.inner_stride(1).unsigned_abs()
            && reduced.inner_size() >= LONG_RUN;
        let along = kept.size() == 1
            || close
            || (kept.inner_size() < SHORT_ROW && reduced.size() >= LONG_RUN);
        let block = if along {
            BLOCK
        } else {
            (BLOCK / kept.size().max(1)).max(SHORT_RUN)
        };
        let blocks = if kept.size() < MANY_OUTPUTS {
            reduced.size().div_ceil(block).max(1)
        } else {
            1
        };
        let block = if blocks == 1 { reduced.size() } else { block };
        let words = if blocks == 1 {
            0
        } else {
            kept.size() * blocks * 4
        };
        let bytes = |(dtype, layout): (DType, &Layout)| {
            let span = layout.span();
            (dtype, span.start * dtype.size()..span.end * dtype.size())
        };
        Ok(Self {
            reduction,
            fold,
            output: bytes(output),
            input: bytes(input),
            shape: input.1.shape().into(),
            axes: axes.into(),
            kept,
            reduced,
            along,
            block,
            blocks,
            states: std::iter::repeat_with(AtomicU64::default)
                .take(words)
                .collect(),
            correction,
        })
    }

    /// The elements of a piece of an output.
    fn piece(&self, block: usize) -> Range<usize> {
        let begin = block * self.block;
        begin..self.reduced.size().min(begin + self.block)
    }

    fn keep(&self, block: usize, output: usize, states: &[Words]) {
        let begin = (block * self.kept.size() + output) * 4;
        let words = states.as_flattened();
        for (slot, &word) in self.states[begin..begin + words.len()].iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    fn kept_state(&self, block: usize, output: usize) -> Words {
        let begin = (block * self.kept.size() + output) * 4;
        std::array::from_fn(|word| self.states[begin + word].load(Ordering::Relaxed))
    }

    /// Writes the results of outputs from number `first` on.
    ///
    /// # Safety
    /// As for [`HostKernel::run`]: the outputs may be written.
    unsafe fn emit(&self, base: *mut u8, first: usize, states: &[Words]) {
        let (level, computed, dtype) = (simd::current(), self.fold.output(), self.output.0);
        let (elements, stride) = (self.reduced.size() as u64, self.kept.inner_stride(0));
        let (mut results, mut converted) = (Tile::new(), Tile::new());
        let tile = TILE_BYTES / computed.size().max(dtype.size());
        for begin in (0..states.len()).step_by(tile) {
            let states = &states[begin..states.len().min(begin + tile)];
            let mut from = results.as_mut_ptr();
            // SAFETY: a tile has room for the results.
            unsafe { self.fold.finish(states, elements, self.correction, from) };
            if computed != dtype {
                let to = converted.as_mut_ptr();
                // SAFETY: aligned tiles with room for as many elements.
                unsafe { cast(level, (computed, from), (dtype, to), states.len()) };
                from = to;
            }
            self.kept
                .rows(first + begin, states.len(), |offsets, length| {
                    let dst = base.wrapping_offset(offsets[0]);
                    // SAFETY: `length` outputs of a row, which the caller vouches for.
                    unsafe { scatter(dtype.size(), from, dst, stride, length) };
                    from = from.wrapping_add(length * dtype.size());
                });
        }
    }
}

/// The layouts of an output, of the first inputs of each, and of the inputs of one.
struct Split {
    output: Layout,
    kept: Layout,
    reduced: Layout,
}

impl Split {
    fn new(
        operation: &'static str,
        output: &Layout,
        input: &Layout,
        axes: &[usize],
    ) -> Result<Self, PlanError> {
        let ndim = input.ndim();
        let mut is_reduced: SmallVec<[bool; 8]> = SmallVec::from_elem(false, ndim);
        for &axis in axes {
            match is_reduced.get_mut(axis) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(ShapeError::RepeatedAxis { axis }.into()),
                None => {
                    let axis = axis as isize;
                    return Err(ShapeError::Axis { axis, ndim }.into());
                }
            }
        }
        let part = |wanted: bool| {
            let axes = (0..ndim).filter(|&axis| is_reduced[axis] == wanted);
            let (shape, strides): (Shape, SmallVec<[isize; 4]>) = axes
                .map(|axis| (input.shape()[axis], input.strides()[axis]))
                .unzip();
            let offset = if wanted { 0 } else { input.offset() };
            Layout::new(&shape, &strides, offset)
        };
        let (kept, reduced) = (part(false)?, part(true)?);
        let squeezed = if output.ndim() == ndim {
            let axes = (0..ndim).filter(|&axis| !is_reduced[axis] || output.shape()[axis] != 1);
            let (shape, strides): (Shape, SmallVec<[isize; 4]>) = axes
                .map(|axis| (output.shape()[axis], output.strides()[axis]))
                .unzip();
            Layout::new(&shape, &strides, output.offset())?
        } else {
            output.clone()
        };
        if squeezed.shape() != kept.shape() {
            return Err(PlanError::ReducedShape {
                operation,
                input: input.shape().into(),
                axes: axes.into(),
                output: output.shape().into(),
            });
        }
        Ok(Self {
            output: squeezed,
            kept,
            reduced,
        })
    }
}

impl fmt::Debug for ReduceKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: every access goes to an element of the layouts, which lie within the footprints; states
// are the kernel's own and atomic.
unsafe impl HostKernel for ReduceKernel {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let (bytes, access) = match operand {
            0 => (self.output.1.clone(), Access::Write),
            _ => (self.input.1.clone(), Access::Read),
        };
        Footprint { bytes, access }
    }

    fn extent(&self) -> usize {
        self.kept.size() * self.blocks
    }

    fn grain(&self) -> usize {
        (BLOCK / 4 / self.block.max(1)).max(1)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let outputs = self.kept.size();
        let mut at = range.start;
        let mut run = Run::new(self, bases[1].as_ptr());
        while at < range.end {
            let (block, output) = (at / outputs, at % outputs);
            let count = (range.end - at).min(outputs - output).min(COLUMNS);
            let mut few = [self.fold.start(); 4];
            let mut many;
            let states = if count <= few.len() {
                &mut few[..count]
            } else {
                many = [self.fold.start(); COLUMNS];
                &mut many[..count]
            };
            if self.along {
                for (index, state) in states.iter_mut().enumerate() {
                    // SAFETY: the caller vouches for the elements of the output.
                    unsafe { run.along(output + index, self.piece(block), state) };
                }
            } else {
                // SAFETY: as above.
                unsafe { run.across(output, self.piece(block), states) };
            }
            if self.blocks == 1 {
                // SAFETY: no other call computes these outputs.
                unsafe { self.emit(bases[0].as_ptr(), output, states) };
            } else {
                self.keep(block, output, states);
            }
            at += count;
        }
        Ok(())
    }

    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        if self.blocks > 1 {
            for output in 0..self.kept.size() {
                let mut state = self.kept_state(0, output);
                for block in 1..self.blocks {
                    state = self.fold.merge(state, self.kept_state(block, output));
                }
                // SAFETY: every piece was run, and nobody else touches the outputs.
                unsafe { self.emit(bases[0].as_ptr(), output, &[state]) };
            }
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}({} {}, axes {}) -> {}",
            self.reduction.name(),
            self.input.0,
            Tuple(&self.shape),
            Tuple(&self.axes),
            self.output.0
        )
    }
}

/// One call of [`ReduceKernel::run`]: the input's address and scratch memory.
struct Run<'a> {
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
struct Partials(std::mem::MaybeUninit<[u8; PARTIAL_BYTES]>);

impl<'a> Run<'a> {
    fn new(kernel: &'a ReduceKernel, input: *const u8) -> Self {
        let (dtype, compute) = (kernel.input.0, kernel.fold.compute());
        Self {
            kernel,
            level: simd::current(),
            input,
            direct: dtype == compute && is_aligned(input, dtype),
            raw: Tile::new(),
            ready: Tile::new(),
            tile: TILE_BYTES / dtype.size().max(compute.size()),
            partials: Partials(std::mem::MaybeUninit::uninit()),
        }
    }

    /// Folds some elements of one output into its state.
    ///
    /// # Safety
    /// The elements may be read.
    unsafe fn along(&mut self, output: usize, elements: Range<usize>, state: &mut Words) {
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
    unsafe fn across(&mut self, first: usize, elements: Range<usize>, states: &mut [Words]) {
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
