//! Products of the matrices of two stacks.
//!
//! The result is cut into blocks, enough for all threads to have some and large enough that
//! packing the operands anew for each costs little; a stack of many small products is cut between
//! them only. Blocks depend on shapes and on the number of threads, so the same device gives the
//! same bits each time.
//!
//! Floats are multiplied by the library `gemm`; integers here, as no library has them, and small
//! matrices of any dtype.

mod half;
mod integer;
mod small;

use std::fmt;
use std::ops::Range;

use gemm::Parallelism;
use millpond_hal::library::{LibraryWork, Matrix, Task};
use millpond_hal::{Address, Footprint, HostKernel, KernelError};
use millpond_kernel::template::space::Space;
use millpond_types::shape::Tuple;
use millpond_types::{DType, Kind, Layout, Shape};
use num_complex::Complex;

use crate::error::LinalgError;
use crate::number::{Number, check_dtype, with_number};
use crate::stack::{Extents, check_shape, outer, stacked, steps, work_of};
use small::Sequence;

const OPERATION: &str = "matmul";

/// Multiplications that a block should have at least: about a tenth of a millisecond.
const LEAST_BLOCK: usize = 1 << 21;

/// The same for products with a vector.
const LEAST_THIN: usize = 1 << 17;

/// Blocks for each thread: enough that one which joins late doesn't hold the others up.
const BLOCKS_PER_THREAD: usize = 4;

/// Sizes of blocks are multiples of this: whole vectors and whole lines of the caches.
const ALIGNED: usize = 64;

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
    /// Rows and columns of a block.
    block: [usize; 2],
    /// Blocks of a product along its rows and its columns.
    blocks: [usize; 2],
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

impl Size {
    /// Multiplications.
    fn work(self) -> usize {
        self.rows
            .saturating_mul(self.columns)
            .saturating_mul(self.inner)
    }
}

/// A part of a product: addresses of its first elements, and steps in elements.
struct Block {
    size: Size,
    addresses: [*mut u8; 3],
    steps: [[isize; 2]; 3],
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
        let block = if small::is_small(size) && !is_half(dtype) {
            [rows, columns]
        } else {
            block_of(size, products.size(), threads)
        };
        let blocks = [
            rows.div_ceil(block[0].max(1)),
            columns.div_ceil(block[1].max(1)),
        ];
        Ok(Self {
            dtype,
            products,
            size,
            steps,
            block,
            blocks,
            extents,
            shapes,
        })
    }

    /// Computes small products, each of which is one piece.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn run_small(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let first = self.piece(range.start, bases);
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

    /// The piece of this number.
    fn piece(&self, number: usize, bases: &[Address]) -> Block {
        let [along_rows, along_columns] = self.blocks;
        let (product, rest) = (
            number / (along_rows * along_columns),
            number % (along_rows * along_columns),
        );
        let (row, column) = (rest / along_columns, rest % along_columns);
        let (row, column) = (row * self.block[0], column * self.block[1]);
        let offsets = self.products.locate(product);
        let [output, lhs, rhs] = self.steps;
        let inside = [
            output[0] * row as isize + output[1] * column as isize,
            lhs[0] * row as isize,
            rhs[1] * column as isize,
        ];
        let item = self.dtype.size() as isize;
        Block {
            size: Size {
                rows: self.block[0].min(self.size.rows - row),
                columns: self.block[1].min(self.size.columns - column),
                inner: self.size.inner,
            },
            addresses: std::array::from_fn(|operand| {
                let base: *mut u8 = bases[operand].as_ptr();
                base.wrapping_offset(offsets[operand] + inside[operand] * item)
            }),
            steps: self.steps,
        }
    }
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

/// Rows and columns of the blocks that products are cut into.
fn block_of(size: Size, products: usize, threads: usize) -> [usize; 2] {
    let mut block = [size.rows, size.columns];
    let wanted = threads.saturating_mul(BLOCKS_PER_THREAD);
    let mut pieces = products;
    if threads < 2 {
        return block;
    }
    while pieces < wanted {
        let axis = usize::from(block[1] >= block[0]);
        let half = (block[axis] / 2).next_multiple_of(ALIGNED);
        let part = block[0].saturating_mul(block[1]) / 2;
        // Where one side is a vector, memory is what takes time.
        let is_thin = size.rows.min(size.columns) == 1;
        let least = if is_thin { LEAST_THIN } else { LEAST_BLOCK };
        if half >= block[axis] || part.saturating_mul(size.inner) < least {
            break;
        }
        block[axis] = half;
        pieces *= 2;
    }
    block
}

impl Block {
    /// Computes it.
    ///
    /// # Safety
    /// The addresses are those of elements of `dtype`, aligned, with as many more in these steps
    /// as the size says; those of the result may be written, and nobody else touches them.
    unsafe fn compute(&self, dtype: DType) {
        macro_rules! float {
            ($t:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.multiply::<$t>() }
            };
        }
        macro_rules! integer {
            ($t:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { integer::multiply::<$t>(self) }
            };
        }
        match dtype {
            // SAFETY: as the caller vouches.
            DType::Float16 => unsafe { self.multiply_halves::<::half::f16>() },
            // SAFETY: as above.
            DType::Bfloat16 => unsafe { self.multiply_halves::<::half::bf16>() },
            _ => with_number!(dtype, float, integer),
        }
    }

    /// The product of floats, real or complex.
    ///
    /// # Safety
    /// As for [`Block::compute`], with elements of `T`.
    unsafe fn multiply<T: Number>(&self) {
        let Size {
            rows,
            columns,
            inner,
        } = self.size;
        let [output, lhs, rhs] = self.addresses.map(<*mut u8>::cast::<T>);
        let [[output_rs, output_cs], [lhs_rs, lhs_cs], [rhs_rs, rhs_cs]] = self.steps;
        // SAFETY: the caller vouches for elements at these steps. The library reads the operands,
        // and writes the result without reading it, as `read_dst` is false.
        unsafe {
            gemm::gemm(
                rows,
                columns,
                inner,
                output,
                output_cs,
                output_rs,
                false,
                lhs.cast_const(),
                lhs_cs,
                lhs_rs,
                rhs.cast_const(),
                rhs_cs,
                rhs_rs,
                T::default(),
                T::ONE,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    }
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
        self.products.size() * self.blocks[0] * self.blocks[1]
    }

    fn grain(&self) -> usize {
        let [rows, columns] = self.block;
        let work = Size {
            rows,
            columns,
            inner: self.size.inner,
        };
        (GRAIN / work.work().max(1)).clamp(1, 1 << 12)
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
            let block = self.piece(number, bases);
            check_aligned(&block.addresses, self.dtype)?;
            // SAFETY: the caller vouches for the operands, of which these are elements, now known
            // to be aligned; no other piece has elements of this one's result.
            unsafe { block.compute(self.dtype) };
        }
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
