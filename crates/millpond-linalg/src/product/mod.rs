//! Products of the matrices of two stacks.
//!
//! `cut` says which pieces products are made in.
//!
//! Floats are multiplied by the library `gemm`; integers here, as no library has them, and small
//! matrices of any dtype.

mod block;
mod cut;
mod half;
mod integer;
mod parts;
mod small;

use std::fmt;
use std::ops::Range;

use millpond_hal::library::{LibraryWork, Matrix, Task};
use millpond_hal::{Address, Footprint, HostKernel, KernelError};
use millpond_kernel::template::space::Space;
use millpond_types::shape::Tuple;
use millpond_types::{DType, Kind, Layout, Shape};
use num_complex::Complex;

use crate::error::LinalgError;
use crate::number::{Number, check_dtype, with_number};
use crate::stack::{Extents, check_shape, outer, stacked, steps, work_of};
use block::Block;
use cut::{Cut, Piece};
use parts::Parts;
use small::Sequence;

const OPERATION: &str = "matmul";

/// Multiplications worth a thread of their own, where there are many products.
const GRAIN: usize = 1 << 17;

/// The product of two stacks of matrices.
///
/// Operands are the result and then the two that are multiplied, each addressed by the base that
/// its layout's offset counts from. All are of one dtype; the result doesn't overlap the others.
pub struct ProductKernel {
    dtype: DType,
    /// One element for each product.
    products: Space,
    /// Rows, columns and the axis that is summed.
    size: Size,
    /// Steps along rows and columns, of the result and of both operands, in elements.
    steps: [[isize; 2]; 3],
    cut: Cut,
    /// Parts of sums, where there are several of each.
    parts: Parts,
    extents: Extents,
    shapes: [Shape; 2],
}

/// The sizes of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    rows: usize,
    columns: usize,
    inner: usize,
}

impl ProductKernel {
    /// The kernel that multiplies stacks of one dtype and with the same outer axes, on a device
    /// with this many threads.
    ///
    /// # Errors
    /// [`LinalgError::Shape`] if the shapes don't fit, [`LinalgError::DType`] for truth values, which
    /// callers convert. Half floats are multiplied and added as `float32`, each block by itself: callers for
    /// the host had better convert them once.
    pub fn new(
        dtype: DType,
        output: &Layout,
        lhs: &Layout,
        rhs: &Layout,
        threads: usize,
    ) -> Result<Self, LinalgError> {
        if !is_half(dtype) {
            check_dtype(OPERATION, dtype)?;
        }
        let &[ref stack @ .., rows, columns] = output.shape() else {
            return Err(LinalgError::Shape {
                operation: OPERATION,
                given: output.shape().into(),
                needed: Shape::from_elem(1, 2),
            });
        };
        let inner = lhs.shape().last().copied().unwrap_or(1);
        check_shape(OPERATION, lhs, &stacked(stack, &[rows, inner]))?;
        check_shape(OPERATION, rhs, &stacked(stack, &[inner, columns]))?;
        let shapes = [lhs.shape().into(), rhs.shape().into()];
        let item = dtype.size();
        let extents = Extents::new([output, lhs, rhs], item);
        let mut rows = rows;
        let mut outers = [outer(output, 2)?, outer(lhs, 2)?, outer(rhs, 2)?];
        let steps = [steps(output), steps(lhs), steps(rhs)];
        while let Some(joined) = join_rows(&outers, &steps, rows) {
            rows *= outers[0].shape().last().copied().unwrap_or(1);
            outers = joined;
        }
        let size = Size {
            rows,
            columns,
            inner,
        };
        let [o, l, r] = &outers;
        let operands = [Some((o, item)), Some((l, item)), Some((r, item))];
        let products = Space::new(o.shape(), &operands);
        let cut = if is_half(dtype) {
            // Parts of their sums would be rounded each.
            Cut::of(size, products.size(), threads).with_whole_sums()
        } else if small::is_small(size) {
            Cut::whole(size)
        } else {
            Cut::of(size, products.size(), threads)
        };
        Ok(Self {
            dtype,
            size,
            steps,
            cut,
            parts: parts_of(&cut, &products),
            products,
            extents,
            shapes,
        })
    }

    /// The same kernel for operands that are addressed by one base, on a device with this many
    /// threads. If the second is the first one turned, such as in `x.T @ x`, the result equals its
    /// own transpose, and what lies below its diagonal is copied from above.
    #[must_use]
    pub fn with_one_base(mut self, threads: usize) -> Self {
        let is_cut = !small::is_small(self.size) && !is_half(self.dtype);
        if is_cut && self.multiplies_its_own_transpose() {
            self.cut = Cut::mirrored(self.size, self.products.size(), threads);
            self.parts = parts_of(&self.cut, &self.products);
        }
        self
    }

    fn multiplies_its_own_transpose(&self) -> bool {
        let [_, lhs, rhs] = self.steps;
        let [_, first, second, _] = self.products.locate(0);
        let mut axes = self.products.axes().iter();
        self.size.rows == self.size.columns
            && lhs == [rhs[1], rhs[0]]
            && first == second
            && axes.all(|axis| axis.strides[1] == axis.strides[2])
    }

    /// Computes small products, each of which is one piece.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn run_small(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let first = self.block(range.start, &self.cut.piece(0), bases);
        check_aligned(&first.addresses, self.dtype)?;
        let strides = self
            .products
            .axes()
            .last()
            .map_or([0; 4], |axis| axis.strides);
        let count = range.end - range.start;
        self.products.rows(range.start, count, |offsets, count| {
            let products = Sequence {
                size: self.size,
                addresses: std::array::from_fn(|operand| {
                    bases[operand]
                        .as_ptr::<u8>()
                        .wrapping_offset(offsets[operand])
                }),
                strides: [strides[0], strides[1], strides[2]],
                steps: self.steps,
                count,
            };
            macro_rules! multiply {
                ($t:ty) => {
                    // SAFETY: products that the caller vouches for, aligned as the first is, since
                    // strides and steps are whole elements; no other call computes them.
                    unsafe { products.multiply::<$t>() }
                };
            }
            with_number!(self.dtype, multiply, multiply);
        });
        Ok(())
    }

    /// A piece of a product.
    fn block(&self, product: usize, piece: &Piece, bases: &[Address]) -> Block {
        let offsets = self.products.locate(product);
        let [output, lhs, rhs] = self.steps;
        let [row, column, term] =
            [&piece.rows, &piece.columns, &piece.inner].map(|range| range.start as isize);
        let inside = [
            output[0] * row + output[1] * column,
            lhs[0] * row + lhs[1] * term,
            rhs[0] * term + rhs[1] * column,
        ];
        let item = self.dtype.size() as isize;
        Block {
            size: Size {
                rows: piece.rows.len(),
                columns: piece.columns.len(),
                inner: piece.inner.len(),
            },
            addresses: std::array::from_fn(|operand| {
                let base: *mut u8 = bases[operand].as_ptr();
                base.wrapping_offset(offsets[operand] + inside[operand] * item)
            }),
            steps: self.steps,
        }
    }

    /// Computes a piece.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn compute(&self, number: usize, bases: &[Address]) -> Result<(), KernelError> {
        let pieces = self.cut.pieces();
        let piece = self.cut.piece(number % pieces);
        let mut block = self.block(number / pieces, &piece, bases);
        check_aligned(&block.addresses, self.dtype)?;
        if self.cut.parts() > 1 {
            let Size { rows, columns, .. } = block.size;
            let mut sums = parts::room(rows * columns * self.dtype.size())?;
            block.addresses[0] = sums.as_mut_ptr().cast();
            block.steps[0] = [columns as isize, 1];
            // SAFETY: as the caller vouches, and results go to room for them.
            unsafe { block.compute(self.dtype) };
            self.parts.keep(number, sums);
            return Ok(());
        }
        // SAFETY: the caller vouches for the operands, of which these are elements, now known to be
        // aligned; no other piece has elements of this one's result, nor of its mirror image.
        unsafe { block.compute(self.dtype) };
        if self.cut.mirrors(&piece) {
            macro_rules! mirror {
                ($t:ty) => {
                    // SAFETY: as above; the block was written just now.
                    unsafe { block.mirror::<$t>(self.image(&block, &piece)) }
                };
            }
            with_number!(self.dtype, mirror, mirror);
        }
        Ok(())
    }

    /// The address of the element of the result that mirrors the first of a block.
    fn image(&self, block: &Block, piece: &Piece) -> *mut u8 {
        let [rows, columns] = self.steps[0];
        let distance = piece.columns.start as isize - piece.rows.start as isize;
        let item = self.dtype.size() as isize;
        block.addresses[0].wrapping_offset((rows - columns) * distance * item)
    }

    /// Adds the parts of all blocks.
    ///
    /// # Safety
    /// As for [`HostKernel::finish`], with elements of `T`, aligned.
    unsafe fn merge<T: Number>(&self, bases: &[Address]) {
        let (blocks, parts) = (self.cut.blocks(), self.cut.parts());
        for number in 0..self.products.size() * blocks {
            let sums = self.parts.sum::<T>(number * parts, parts);
            let piece = self.cut.piece(number % blocks * parts);
            let block = self.block(number / blocks, &piece, bases);
            // SAFETY: elements of the result; nobody else touches them.
            unsafe { block.fill(parts::elements::<T>(&sums)) };
            if self.cut.mirrors(&piece) {
                // SAFETY: as above.
                unsafe { block.mirror::<T>(self.image(&block, &piece)) };
            }
        }
    }
}

/// Places for the parts of all products, if sums have several.
fn parts_of(cut: &Cut, products: &Space) -> Parts {
    Parts::new(if cut.parts() > 1 {
        products.size() * cut.pieces()
    } else {
        0
    })
}

const fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::Bfloat16)
}

/// The outer axes without the last, where the products along it are one product of more rows: the
/// second operand is the same for all of them, and rows of the others run on.
fn join_rows(outers: &[Layout; 3], steps: &[[isize; 2]; 3], rows: usize) -> Option<[Layout; 3]> {
    let last = outers[0].ndim().checked_sub(1)?;
    let runs_on = |operand: usize| {
        outers[operand].strides()[last] == steps[operand][0].saturating_mul(rows as isize)
    };
    let several = outers[0].shape()[last] > 1;
    if several && (outers[2].strides()[last] != 0 || !runs_on(0) || !runs_on(1)) {
        return None;
    }
    let [a, b, c] = outers;
    Some([outer(a, 1).ok()?, outer(b, 1).ok()?, outer(c, 1).ok()?])
}

impl fmt::Debug for ProductKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: blocks are disjoint parts of the results, and every access goes to an element of the
// layouts, which lie within the footprints.
unsafe impl HostKernel for ProductKernel {
    fn operands(&self) -> usize {
        3
    }

    fn footprint(&self, operand: usize) -> Footprint {
        self.extents.footprint(operand)
    }

    fn extent(&self) -> usize {
        if self.extents.filled == 0 {
            return 0;
        }
        self.products.size() * self.cut.pieces()
    }

    fn grain(&self) -> usize {
        (GRAIN / self.cut.work().max(1)).clamp(1, 1 << 12)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        if range.is_empty() {
            return Ok(());
        }
        if small::is_small(self.size) && !is_half(self.dtype) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_small(bases, range) };
        }
        for number in range {
            // SAFETY: the caller's promise.
            unsafe { self.compute(number, bases) }?;
        }
        Ok(())
    }

    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        if self.cut.parts() == 1 || self.extents.filled == 0 {
            return Ok(());
        }
        macro_rules! merge {
            ($t:ty) => {
                // SAFETY: the caller's promise; `run` found the addresses aligned.
                unsafe { self.merge::<$t>(bases) }
            };
        }
        with_number!(self.dtype, merge, merge);
        Ok(())
    }

    fn library_work(&self) -> Option<LibraryWork> {
        if self.extents.filled == 0 {
            return None;
        }
        let Size {
            rows,
            columns,
            inner,
        } = self.size;
        let item = self.dtype.size() as isize;
        let sizes = [[rows, columns], [rows, inner], [inner, columns]];
        let matrices = sizes.into_iter().zip(self.steps);
        let matrices = matrices.map(|([rows, columns], steps)| Matrix {
            dtype: self.dtype,
            begin: 0,
            rows,
            columns,
            steps: steps.map(|step| step * item),
        });
        let task = Task::Product { conjugates: false };
        work_of(task, &self.products, matrices)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lhs, rhs] = &self.shapes;
        write!(
            f,
            "{OPERATION}({} {} @ {})",
            self.dtype,
            Tuple(lhs),
            Tuple(rhs)
        )
    }
}

/// Fails unless all addresses are multiples of what the dtype's elements are aligned to.
pub(crate) fn check_aligned(addresses: &[*mut u8], dtype: DType) -> Result<(), KernelError> {
    let parts = if dtype.kind() == Kind::Complex { 2 } else { 1 };
    let alignment = dtype.size() / parts;
    if addresses
        .iter()
        .all(|address| address.addr() % alignment == 0)
    {
        return Ok(());
    }
    Err(KernelError::from(format!(
        "an operand of {dtype} is not aligned to {alignment} bytes"
    )))
}
