//! Sums of products along one axis of two stacks: scalar products.
//!
//! A sum is cut into pieces by its length alone and the sums of the pieces are added in order, so
//! the result depends neither on threads nor on the rest of the stack.

mod sum;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use millpond_hal::library::{LibraryWork, Matrix, Task};
use millpond_hal::{Address, Footprint, HostKernel, KernelError};
use millpond_kernel::template::space::{Offsets, Space};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Shape};
use num_complex::Complex;

use crate::error::LinalgError;
use crate::number::{Number, check_dtype, with_number};
use crate::product::check_aligned;
use crate::stack::{Extents, check_shape, outer, stacked, steps, work_of};
use sum::{Line, width};

/// Elements of a piece.
const PIECE: usize = 1 << 15;

/// Elements worth a thread of their own.
const GRAIN: usize = 1 << 14;

/// Words that keep the sum of a piece.
const WORDS: usize = 2;

/// The sums of products of two stacks of vectors.
///
/// Operands are the result and then the two stacks, each addressed by the base that its layout's
/// offset counts from. All are of one dtype; the result doesn't overlap the others.
pub struct DotKernel {
    operation: &'static str,
    dtype: DType,
    conjugate: bool,
    /// One element for each sum.
    sums: Space,
    /// Products of a sum.
    length: usize,
    /// Bytes from one element of a vector to the next.
    steps: [isize; 2],
    /// Pieces of a sum.
    pieces: usize,
    /// Sums of pieces, where a sum has more than one: by sum, then by piece.
    partials: Box<[AtomicU64]>,
    extents: Extents,
    shapes: [Shape; 2],
}

impl DotKernel {
    /// The kernel that sums the products of elements along the last axis, those of the first stack
    /// conjugated if asked for. The result has the shape of the other axes.
    ///
    /// # Errors
    /// [`LinalgError::Shape`] if the shapes don't fit, [`LinalgError::DType`] for truth values and
    /// half floats, which callers convert.
    pub fn new(
        operation: &'static str,
        dtype: DType,
        output: &Layout,
        [lhs, rhs]: [&Layout; 2],
        conjugate: bool,
    ) -> Result<Self, LinalgError> {
        check_dtype(operation, dtype)?;
        let length = lhs.shape().last().copied().unwrap_or(1);
        let needed = stacked(output.shape(), &[length]);
        check_shape(operation, lhs, &needed)?;
        check_shape(operation, rhs, &needed)?;
        let item = dtype.size();
        let (l, r) = (outer(lhs, 1)?, outer(rhs, 1)?);
        let operands = [Some((output, item)), Some((&l, item)), Some((&r, item))];
        let sums = Space::new(output.shape(), &operands);
        let pieces = length.div_ceil(PIECE).max(1);
        let words = if pieces == 1 {
            0
        } else {
            sums.size() * pieces * WORDS
        };
        let ([l], [r]) = (steps(lhs), steps(rhs));
        Ok(Self {
            operation,
            dtype,
            conjugate: conjugate && dtype.is_complex(),
            sums,
            length,
            steps: [l, r].map(|step: isize| step * item as isize),
            pieces,
            partials: std::iter::repeat_with(AtomicU64::default)
                .take(words)
                .collect(),
            extents: Extents::new([output, lhs, rhs], item),
            shapes: [lhs.shape().into(), rhs.shape().into()],
        })
    }

    /// The address of an operand of a sum, `index` sums after the one at these offsets.
    fn address(
        &self,
        bases: &[Address],
        offsets: &Offsets,
        operand: usize,
        index: usize,
    ) -> *mut u8 {
        let stride = self
            .sums
            .axes()
            .last()
            .map_or(0, |axis| axis.strides[operand]);
        let offset = offsets[operand] + stride * index as isize;
        bases[operand].as_ptr::<u8>().wrapping_offset(offset)
    }

    /// A piece of two vectors that begin at these addresses.
    fn line(&self, [lhs, rhs]: [*mut u8; 2], piece: usize) -> Line {
        let skip = piece * PIECE;
        let at = |first: *mut u8, step: isize| first.wrapping_offset(step * skip as isize);
        Line {
            lhs: at(lhs, self.steps[0]),
            rhs: at(rhs, self.steps[1]),
            steps: self.steps,
            length: PIECE.min(self.length - skip),
        }
    }

    /// Computes sums of one piece each.
    ///
    /// # Safety
    /// As for [`HostKernel::run`], with elements of `T`, aligned.
    unsafe fn compute_whole<T: Number, const WIDTH: usize>(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) {
        self.sums
            .rows(range.start, range.end - range.start, |offsets, count| {
                let first = |operand| self.address(bases, &offsets, operand, 0);
                let line = self.line([first(1), first(2)], 0);
                if line.is_whole::<T>() {
                    let axes = self.sums.axes();
                    let [to, lhs, rhs, _] = axes.last().map_or([0; 4], |axis| axis.strides);
                    let found = |index: usize, sum: T| {
                        let to = first(0).wrapping_offset(to * index as isize);
                        // SAFETY: an element of the result, which no other call computes.
                        unsafe { to.cast::<T>().write(sum) };
                    };
                    // SAFETY: vectors that the caller vouches for.
                    unsafe {
                        line.sums::<T, WIDTH>(self.conjugate, [lhs, rhs], count, found);
                    };
                    return;
                }
                for index in 0..count {
                    let at = |operand| self.address(bases, &offsets, operand, index);
                    let line = self.line([at(1), at(2)], 0);
                    // SAFETY: vectors that the caller vouches for.
                    let sum = unsafe { line.sum::<T, WIDTH>(self.conjugate) };
                    // SAFETY: an element of the result, which no other call computes.
                    unsafe { at(0).cast::<T>().write(sum) };
                }
            });
    }

    /// Computes some of the pieces of long sums.
    ///
    /// # Safety
    /// As for [`HostKernel::run`], with elements of `T`, aligned.
    unsafe fn compute_pieces<T: Number, const WIDTH: usize>(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) {
        for number in range {
            let offsets = self.sums.locate(number / self.pieces);
            let vectors = [1, 2].map(|operand| self.address(bases, &offsets, operand, 0));
            let line = self.line(vectors, number % self.pieces);
            // SAFETY: a piece of two vectors that the caller vouches for.
            let sum = unsafe { line.sum::<T, WIDTH>(self.conjugate) };
            self.keep(number, sum.to_words());
        }
    }

    /// Adds the sums of pieces.
    ///
    /// # Safety
    /// As for [`HostKernel::finish`], with elements of `T`, aligned.
    unsafe fn merge<T: Number>(&self, base: *mut u8) {
        for number in 0..self.sums.size() {
            let first = number * self.pieces;
            let kept = (first..first + self.pieces).map(|piece| T::of_words(self.kept(piece)));
            let sum = kept.fold(T::default(), T::add);
            let to = base.wrapping_offset(self.sums.locate(number)[0]);
            // SAFETY: an element of the result; nobody else touches it.
            unsafe { to.cast::<T>().write(sum) };
        }
    }

    fn keep(&self, piece: usize, words: [u64; WORDS]) {
        for (slot, word) in self.partials[piece * WORDS..].iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    fn kept(&self, piece: usize) -> [u64; WORDS] {
        std::array::from_fn(|word| self.partials[piece * WORDS + word].load(Ordering::Relaxed))
    }
}

impl fmt::Debug for DotKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: every access goes to an element of the layouts, which lie within the footprints; each
// element of the result belongs to one sum.
unsafe impl HostKernel for DotKernel {
    fn operands(&self) -> usize {
        3
    }

    fn footprint(&self, operand: usize) -> Footprint {
        self.extents.footprint(operand)
    }

    fn extent(&self) -> usize {
        self.sums.size() * self.pieces
    }

    fn grain(&self) -> usize {
        (GRAIN / self.length.max(1)).clamp(1, 1 << 12)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        if range.is_empty() {
            return Ok(());
        }
        let offsets = self.sums.locate(0);
        for (base, offset) in bases.iter().zip(offsets) {
            check_aligned(&[base.as_ptr::<u8>().wrapping_offset(offset)], self.dtype)?;
        }
        macro_rules! compute {
            ($t:ty) => {
                if self.pieces == 1 {
                    // SAFETY: the caller's promise; steps are whole elements, so all are aligned
                    // as the first ones are.
                    unsafe { self.compute_whole::<$t, { width::<$t>() }>(bases, range) };
                } else {
                    // SAFETY: as above.
                    unsafe { self.compute_pieces::<$t, { width::<$t>() }>(bases, range) };
                }
            };
        }
        with_number!(self.dtype, compute, compute);
        Ok(())
    }

    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        if self.pieces == 1 {
            return Ok(());
        }
        macro_rules! merge {
            ($t:ty) => {
                // SAFETY: the caller's promise; `run` found the addresses aligned.
                unsafe { self.merge::<$t>(bases[0].as_ptr()) }
            };
        }
        with_number!(self.dtype, merge, merge);
        Ok(())
    }

    fn library_work(&self) -> Option<LibraryWork> {
        let [lhs, rhs] = self.steps;
        let matrix = |rows, columns, steps| Matrix {
            dtype: self.dtype,
            begin: 0,
            rows,
            columns,
            steps,
        };
        let matrices = [
            matrix(1, 1, [0, 0]),
            matrix(1, self.length, [0, lhs]),
            matrix(self.length, 1, [rhs, 0]),
        ];
        let conjugates = self.conjugate;
        work_of(Task::Product { conjugates }, &self.sums, matrices)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lhs, rhs] = &self.shapes;
        write!(
            f,
            "{}({} {} . {})",
            self.operation,
            self.dtype,
            Tuple(lhs),
            Tuple(rhs)
        )
    }
}
