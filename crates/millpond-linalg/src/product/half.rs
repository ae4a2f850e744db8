//! Products of numbers of 16 bits: multiplied and added as `float32`, and rounded once at the end.

use ::half::{bf16, f16};

use super::{Block, Size};

/// A number of 16 bits.
pub(super) trait Half: Copy {
    fn widen(self) -> f32;
    fn narrow(value: f32) -> Self;
}

macro_rules! halves {
    ($($t:ty),*) => { $(
        impl Half for $t {
            fn widen(self) -> f32 {
                self.to_f32()
            }

            fn narrow(value: f32) -> Self {
                Self::from_f32(value)
            }
        }
    )* };
}

halves!(f16, bf16);

impl Block {
    /// The product.
    ///
    /// # Safety
    /// As for [`Block::compute`], with elements of `T`.
    pub(super) unsafe fn multiply_halves<T: Half>(&self) {
        let Size {
            rows,
            columns,
            inner,
        } = self.size;
        let shapes = [[rows, columns], [rows, inner], [inner, columns]];
        let at = |operand: usize, index: usize| {
            let (row, column) = (index / shapes[operand][1], index % shapes[operand][1]);
            let [down, along] = self.steps[operand];
            let step = down * row as isize + along * column as isize;
            self.addresses[operand].cast::<T>().wrapping_offset(step)
        };
        let [mut result, mut lhs, mut rhs] = shapes.map(|[a, b]| vec![0.0_f32; a * b]);
        for (operand, numbers) in [(1, &mut lhs), (2, &mut rhs)] {
            for (index, number) in numbers.iter_mut().enumerate() {
                // SAFETY: an element, as the caller vouches.
                *number = unsafe { at(operand, index).read() }.widen();
            }
        }
        let wide = Self {
            size: self.size,
            addresses: [&mut result, &mut lhs, &mut rhs].map(|numbers| numbers.as_mut_ptr().cast()),
            steps: [columns, inner, columns].map(|step| [step as isize, 1]),
        };
        // SAFETY: the matrices of this function's own, which lie row by row.
        unsafe { wide.multiply::<f32>() };
        for (index, &number) in result.iter().enumerate() {
            // SAFETY: an element of the result, as the caller vouches.
            unsafe { at(0, index).write(T::narrow(number)) };
        }
    }
}
