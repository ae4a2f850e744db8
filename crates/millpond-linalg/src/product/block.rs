//! A block of a product, computed at once.

use gemm::Parallelism;
use millpond_types::DType;
use num_complex::Complex;

use super::{Size, integer};
use crate::number::{Number, with_number};

/// A part of a product: addresses of its first elements, and steps in elements.
pub(super) struct Block {
    pub(super) size: Size,
    pub(super) addresses: [*mut u8; 3],
    pub(super) steps: [[isize; 2]; 3],
}

impl Block {
    /// Computes it.
    ///
    /// # Safety
    /// The addresses are those of elements of `dtype`, aligned, with as many more in these steps
    /// as the size says; those of the result may be written, and nobody else touches them.
    pub(super) unsafe fn compute(&self, dtype: DType) {
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

    /// The address of an element of the result.
    fn at<T>(&self, row: usize, column: usize) -> *mut T {
        let [rows, columns] = self.steps[0];
        let step = rows * row as isize + columns * column as isize;
        self.addresses[0].cast::<T>().wrapping_offset(step)
    }

    /// Writes the result, given row by row.
    ///
    /// # Safety
    /// As for [`Block::compute`], with elements of `T`.
    pub(super) unsafe fn fill<T: Number>(&self, elements: &[T]) {
        for (row, line) in elements.chunks_exact(self.size.columns).enumerate() {
            for (column, &element) in line.iter().enumerate() {
                // SAFETY: an element of the result.
                unsafe { self.at::<T>(row, column).write(element) };
            }
        }
    }

    /// Copies the result to its mirror image, which begins at `image` and has rows for columns.
    ///
    /// # Safety
    /// As for [`Block::compute`], with elements of `T`; the image lies in the same result.
    pub(super) unsafe fn mirror<T: Number>(&self, image: *mut u8) {
        let image = Self {
            addresses: [image; 3],
            ..*self
        };
        for column in 0..self.size.columns {
            for row in 0..self.size.rows {
                // SAFETY: an element of the result, which was written.
                let element = unsafe { self.at::<T>(row, column).read() };
                // SAFETY: one of its image.
                unsafe { image.at::<T>(column, row).write(element) };
            }
        }
    }

    /// The product of floats, real or complex.
    ///
    /// # Safety
    /// As for [`Block::compute`], with elements of `T`.
    pub(super) unsafe fn multiply<T: Number>(&self) {
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
