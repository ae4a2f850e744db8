//! Products of integers, exact up to wrapping.
//!
//! The second operand is packed into panels that stay in the caches; each row of the result takes
//! multiples of a panel's rows, which the compiler makes vector instructions of.

use millpond_kernel::host::gather::gather;
use millpond_kernel::host::level::{Work, at_level};
use millpond_kernel::simd;

use super::Size;
use super::block::Block;
use crate::number::Number;

/// Rows of a panel.
const DEPTH: usize = 128;

/// Columns of a panel.
const WIDTH: usize = 256;

/// Multiplies.
///
/// # Safety
/// As for [`Block::compute`], with elements of `T`.
pub(super) unsafe fn multiply<T: Number>(block: &Block) {
    let Size {
        rows,
        columns,
        inner,
    } = block.size;
    let item = size_of::<T>() as isize;
    let [output, lhs, rhs] = block.addresses;
    let [output_steps, lhs_steps, rhs_steps] = block.steps.map(|steps| steps.map(|s| s * item));
    let at = |address: *mut u8, steps: [isize; 2], row: usize, column: usize| {
        address.wrapping_offset(steps[0] * row as isize + steps[1] * column as isize)
    };
    let mut panel = vec![T::default(); DEPTH.min(inner) * WIDTH.min(columns)];
    let mut sums = [T::default(); WIDTH];
    let mut factors = [T::default(); DEPTH];
    for column in (0..columns).step_by(WIDTH) {
        let width = WIDTH.min(columns - column);
        // At least once, so that a product of nothing is zero.
        for depth in (0..inner.max(1)).step_by(DEPTH) {
            let height = DEPTH.min(inner - depth);
            let panel = &mut panel[..height * width];
            for (row, line) in panel.chunks_exact_mut(width).enumerate() {
                let from = at(rhs, rhs_steps, depth + row, column);
                let to = line.as_mut_ptr().cast();
                // SAFETY: a piece of a row of the second operand; the line has room for it.
                unsafe { gather(size_of::<T>(), from, rhs_steps[1], to, width) };
            }
            for row in 0..rows {
                let from = at(lhs, lhs_steps, row, depth);
                let to = factors.as_mut_ptr().cast();
                // SAFETY: a piece of a row of the first operand, of `DEPTH` elements at most.
                unsafe { gather(size_of::<T>(), from, lhs_steps[1], to, height) };
                let sums = &mut sums[..width];
                let first = at(output, output_steps, row, column);
                if depth == 0 {
                    sums.fill(T::default());
                } else {
                    let to = sums.as_mut_ptr().cast();
                    // SAFETY: a piece of a row of the result, written by the pass before.
                    unsafe { gather(size_of::<T>(), first, output_steps[1], to, width) };
                }
                let factors = &factors[..height];
                at_level(
                    simd::current(),
                    AddMultiples {
                        sums,
                        factors,
                        panel,
                    },
                );
                for (number, &sum) in sums.iter().enumerate() {
                    let to = first.wrapping_offset(output_steps[1] * number as isize);
                    // SAFETY: an element of the result, aligned as the caller vouches.
                    unsafe { to.cast::<T>().write(sum) };
                }
            }
        }
    }
}

/// Adds multiples of a panel's rows to sums.
struct AddMultiples<'a, T> {
    sums: &'a mut [T],
    factors: &'a [T],
    panel: &'a [T],
}

impl<T: Number> Work for AddMultiples<'_, T> {
    type Home = T;

    #[inline(always)]
    fn work(self) {
        let width = self.sums.len();
        let mut pairs = self.factors.chunks_exact(2);
        let mut lines = self.panel.chunks_exact(2 * width);
        for (factors, lines) in (&mut pairs).zip(&mut lines) {
            let (first, second) = lines.split_at(width);
            for ((sum, &a), &b) in self.sums.iter_mut().zip(first).zip(second) {
                *sum = sum.plus(factors[0], a).plus(factors[1], b);
            }
        }
        for (&factor, line) in pairs
            .remainder()
            .iter()
            .zip(lines.remainder().chunks_exact(width))
        {
            for (sum, &a) in self.sums.iter_mut().zip(line) {
                *sum = sum.plus(factor, a);
            }
        }
    }
}
