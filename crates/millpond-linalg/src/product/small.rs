//! Products of small matrices, many of them: what a library spends on finding its way would cost
//! more than the product.
//!
//! The columns of a result are computed side by side, in an array whose size the compiler knows, so
//! that they are a vector or two. Each sum is added from its first term to its last.

use millpond_kernel::host::level::{Work, at_level};
use millpond_kernel::simd;

use super::Size;
use crate::number::Number;

/// The most columns of a small product.
const COLUMNS: usize = 8;

/// The most products of a sum in a small product.
const INNER: usize = 32;

/// The most rows.
const ROWS: usize = 16;

/// Whether products of this size are small.
pub(super) const fn is_small(size: Size) -> bool {
    size.columns <= COLUMNS && size.inner <= INNER && size.rows <= ROWS
}

/// Products that follow one another: the addresses of the first, the bytes from each to the next,
/// and steps along rows and columns in elements.
pub(super) struct Sequence {
    pub(super) size: Size,
    pub(super) addresses: [*mut u8; 3],
    pub(super) strides: [isize; 3],
    pub(super) steps: [[isize; 2]; 3],
    pub(super) count: usize,
}

impl Sequence {
    /// Multiplies.
    ///
    /// # Safety
    /// The addresses are those of elements of `T`, aligned, with as many more in these strides and
    /// steps as count and size say; those of the results may be written, and nobody else touches
    /// them. The size is small.
    pub(super) unsafe fn multiply<T: Number>(&self) {
        let level = simd::current();
        match self.size.columns {
            0..=4 => at_level(level, Multiply::<T, 4>::new(self)),
            _ => at_level(level, Multiply::<T, COLUMNS>::new(self)),
        }
    }

    /// The address of an element of the product of a number.
    #[inline(always)]
    fn at<T>(&self, operand: usize, product: usize, row: usize, column: usize) -> *mut T {
        let first =
            self.addresses[operand].wrapping_offset(self.strides[operand] * product as isize);
        let [rows, columns] = self.steps[operand];
        let step = rows * row as isize + columns * column as isize;
        first.cast::<T>().wrapping_offset(step)
    }
}

/// The loop for results of at most `WIDTH` columns.
///
/// Made by [`Sequence::multiply`] only, whose caller vouches for what is read and written.
struct Multiply<'a, T, const WIDTH: usize> {
    products: &'a Sequence,
    panel: [[T; WIDTH]; INNER],
}

impl<'a, T: Number, const WIDTH: usize> Multiply<'a, T, WIDTH> {
    #[inline(always)]
    fn new(products: &'a Sequence) -> Self {
        Self {
            products,
            panel: [[T::default(); WIDTH]; INNER],
        }
    }
}

impl<T: Number, const WIDTH: usize> Work for Multiply<'_, T, WIDTH> {
    type Home = T;

    #[inline(always)]
    fn work(self) {
        let Self {
            products,
            mut panel,
        } = self;
        let Size {
            rows,
            columns,
            inner,
        } = products.size;
        // What is computed goes to memory first, for else the compiler leaves it in pieces.
        let mut results = [[T::default(); WIDTH]; ROWS];
        let mut factors = [T::default(); INNER];
        let (panel, factors) = (&mut panel[..inner], &mut factors[..inner]);
        let results = &mut results[..rows];
        let is_whole = |operand: usize| columns == WIDTH && products.steps[operand][1] == 1;
        let (whole, whole_results) = (is_whole(2), is_whole(0));
        for product in 0..products.count {
            for (row, line) in panel.iter_mut().enumerate() {
                let from = products.at::<T>(2, product, row, 0);
                if whole {
                    // SAFETY: a row of the second operand, of `WIDTH` elements side by side.
                    *line = unsafe { from.cast::<[T; WIDTH]>().read() };
                    continue;
                }
                for (column, element) in line[..columns].iter_mut().enumerate() {
                    let from = products.at::<T>(2, product, row, column);
                    // SAFETY: an element of the second operand.
                    *element = unsafe { from.read() };
                }
            }
            for (row, sums) in results.iter_mut().enumerate() {
                for (depth, factor) in factors.iter_mut().enumerate() {
                    // SAFETY: an element of the first operand.
                    *factor = unsafe { products.at::<T>(1, product, row, depth).read() };
                }
                *sums = combined(factors, panel);
            }
            for (row, sums) in results.iter().enumerate() {
                let to = products.at::<T>(0, product, row, 0);
                if whole_results {
                    // SAFETY: a row of the result, of `WIDTH` elements side by side.
                    unsafe { to.cast::<[T; WIDTH]>().write(*sums) };
                    continue;
                }
                for (column, &sum) in sums[..columns].iter().enumerate() {
                    // SAFETY: an element of the result.
                    unsafe { products.at::<T>(0, product, row, column).write(sum) };
                }
            }
        }
    }
}

/// The sum of the lines, each multiplied by its factor.
#[inline(always)]
fn combined<T: Number, const WIDTH: usize>(factors: &[T], lines: &[[T; WIDTH]]) -> [T; WIDTH] {
    let mut sums = [T::default(); WIDTH];
    for (&factor, line) in factors.iter().zip(lines) {
        for (sum, &element) in sums.iter_mut().zip(line) {
            *sum = sum.plus(factor, element);
        }
    }
    sums
}
