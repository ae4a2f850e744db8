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

use millpond_hal::code::DeviceCode;
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Shape};

use crate::error::{PlanError, UnsupportedDType};
use crate::host::cast::cast;
use crate::host::contiguous::is_aligned;
use crate::host::fold::{COLUMNS, Fold};
use crate::host::gather::scatter_space;
use crate::host::tile::{TILE_BYTES, Tile};
use crate::ops::reduction::{ReduceSignature, Reduction, SHORT_RUN, Words};
use crate::simd;
use crate::template::space::Space;
use crate::template::split::Split;

mod code;
mod run;

use run::Run;

/// Elements of a piece, where an output has many.
const BLOCK: usize = 1 << 16;

/// Outputs beyond which they are work enough to be shared among threads.
const MANY_OUTPUTS: usize = 4096;

/// Runs of at least this many elements are folded along.
const LONG_RUN: usize = 64;

/// Rows that are folded side by side before their states are kept: keeping them costs as much as
/// some dozens of rows.
const HIGH_PIECE: usize = 1024;

/// Outputs that are folded side by side are shared among threads in groups of this many.
const GROUP: usize = 64;

/// Rows of fewer outputs than this aren't worth folding side by side.
const SHORT_ROW: usize = 32;

/// How the elements of an input are cut into pieces, where they follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    /// How many outputs there are.
    pub(super) outputs: usize,
    /// Elements of each.
    pub(super) length: usize,
    /// Elements of a piece of an output, but for the last.
    block: usize,
    /// Pieces of an output.
    blocks: usize,
}

impl Pieces {
    /// How many there are.
    pub(super) const fn count(&self) -> usize {
        self.outputs * self.blocks
    }

    /// Elements of the longest.
    pub(super) const fn longest(&self) -> usize {
        self.block
    }

    /// A piece's number in its output, the output, and the piece's elements among the output's.
    pub(super) fn at(&self, piece: usize) -> (usize, usize, Range<usize>) {
        let (output, block) = (piece / self.blocks, piece % self.blocks);
        let begin = block * self.block;
        (block, output, begin..self.length.min(begin + self.block))
    }
}

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
            (BLOCK / kept.size().max(1)).max(HIGH_PIECE)
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
        Ok(Self {
            reduction,
            fold,
            output: (output.0, output.1.byte_span(output.0.size())),
            input: (input.0, input.1.byte_span(item)),
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

    /// The pieces, if the elements of all outputs follow one another in the input and each
    /// output's are folded along.
    pub(super) fn pieces(&self) -> Option<Pieces> {
        let (item, length) = (self.input.0.size(), self.reduced.size());
        let follows = |space: &Space, operand, step| {
            space.axes().is_empty()
                || (space.axes().len() == 1 && space.inner_stride(operand) == step as isize)
        };
        let flat = follows(&self.reduced, 0, item) && follows(&self.kept, 1, length * item);
        (self.along && flat).then_some(Pieces {
            outputs: self.kept.size(),
            length,
            block: self.block,
            blocks: self.blocks,
        })
    }

    /// What elements are folded by.
    pub(super) fn fold(&self) -> &'static dyn Fold {
        self.fold
    }

    /// Elements that are folded at once, always from a multiple of as many on.
    pub(super) fn tile(&self) -> usize {
        TILE_BYTES / self.input.0.size().max(self.fold.compute().size())
    }

    /// What it is called.
    pub(super) const fn name(&self) -> &'static str {
        self.reduction.name()
    }

    /// Ends a piece.
    ///
    /// # Safety
    /// As for [`HostKernel::run`], with the output's base: nobody else touches the output.
    pub(super) unsafe fn end(&self, block: usize, output: usize, state: Words, base: *mut u8) {
        if self.blocks == 1 {
            // SAFETY: the caller vouches for the output.
            unsafe { self.emit(base, output, &[state]) };
        } else {
            self.keep(block, output, &[state]);
        }
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
        let elements = self.reduced.size() as u64;
        let mut results = Tile::new();
        // A tile has room for the results of a group, whatever they are.
        for (number, states) in states.chunks(COLUMNS).enumerate() {
            let from = results.as_mut_ptr();
            let begin = first + number * COLUMNS;
            // SAFETY: a tile has room for the results.
            unsafe { self.fold.finish(states, elements, self.correction, from) };
            // SAFETY: the caller vouches for the outputs.
            unsafe { self.place(base, begin..begin + states.len(), from) };
        }
    }

    /// Writes the results of outputs, at most [`COLUMNS`], of the partials of all their elements.
    ///
    /// # Safety
    /// As for [`HostKernel::run`]: the outputs may be written. `partials` holds one for each.
    unsafe fn emit_partials(&self, base: *mut u8, outputs: Range<usize>, partials: *const u8) {
        let (elements, count) = (self.reduced.size() as u64, outputs.len());
        let (level, correction) = (simd::current(), self.correction);
        let (computed, dtype) = (self.fold.output(), self.output.0);
        let first = base.wrapping_offset(self.kept.locate(outputs.start)[0]);
        let direct =
            computed == dtype && self.kept.is_linear(0, dtype.size()) && is_aligned(first, dtype);
        let mut results = Tile::new();
        let to = if direct { first } else { results.as_mut_ptr() };
        // SAFETY: a tile has room for the results, and so have outputs that lie in a row, which the
        // caller vouches for.
        unsafe {
            self.fold
                .finish_partials(level, (partials, count), elements, correction, to);
        };
        if !direct {
            // SAFETY: the caller vouches for the outputs.
            unsafe { self.place(base, outputs, to) };
        }
    }

    /// Puts results of the fold's dtype, at most [`COLUMNS`], where they belong.
    ///
    /// # Safety
    /// As for [`HostKernel::run`]: the outputs may be written. `from` holds an aligned result for
    /// each.
    unsafe fn place(&self, base: *mut u8, outputs: Range<usize>, mut from: *const u8) {
        const { assert!(COLUMNS * 16 <= TILE_BYTES) };
        let (level, computed, dtype) = (simd::current(), self.fold.output(), self.output.0);
        let count = outputs.len();
        let mut converted = Tile::new();
        if computed != dtype {
            let to = converted.as_mut_ptr();
            // SAFETY: aligned, and a tile with room for as many elements.
            unsafe { cast(level, (computed, from), (dtype, to), count) };
            from = to;
        }
        let to = (dtype.size(), base);
        // SAFETY: the outputs, which the caller vouches for.
        unsafe { scatter_space((&self.kept, 0), from, to, (outputs.start, count)) };
    }

    /// Whether outputs are folded side by side, each of so few elements that one partial holds them.
    fn is_low(&self) -> bool {
        !self.along && self.blocks == 1 && (1..=SHORT_RUN).contains(&self.reduced.size())
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
        if operand == 0 {
            let (dtype, bytes) = &self.output;
            return Footprint::filled(bytes.clone(), self.kept.size() * dtype.size());
        }
        Footprint {
            bytes: self.input.1.clone(),
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.kept.size() * self.blocks
    }

    fn grain(&self) -> usize {
        let outputs = (BLOCK / 4 / self.block.max(1)).max(1);
        if self.along {
            outputs
        } else {
            outputs.next_multiple_of(GROUP)
        }
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let outputs = self.kept.size();
        let mut at = range.start;
        let mut run = Run::new(self, bases[1].as_ptr());
        if self.is_low() {
            // SAFETY: the caller vouches for the operands; no other call computes these outputs.
            unsafe { run.across_few(range, bases[0].as_ptr()) };
            return Ok(());
        }
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

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        Some(self)
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
