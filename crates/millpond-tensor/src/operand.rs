//! What operations take: arrays, and scalars without a dtype of their own.

use millpond_types::Scalar;
use millpond_types::dtype::storage;

use crate::tensor::Tensor;

/// An operand of an operation.
///
/// Scalars are weak: they take the dtype of the arrays beside them, raised to their own kind
/// (Array API standard, "Mixing arrays with Python scalars").
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// An array.
    Tensor(&'a Tensor),
    /// A number.
    Scalar(Scalar),
}

impl<'a> Operand<'a> {
    /// The array, if it is one.
    #[inline]
    pub const fn tensor(&self) -> Option<&'a Tensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Scalar(_) => None,
        }
    }

    /// Its shape; a scalar has no axes.
    pub fn shape(&self) -> &'a [usize] {
        self.tensor().map_or(&[], Tensor::shape)
    }
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    #[inline]
    fn from(tensor: &'a Tensor) -> Self {
        Self::Tensor(tensor)
    }
}

macro_rules! from_numbers {
    ($($number:ty),*) => { $(
        impl From<$number> for Operand<'_> {
            #[inline]
            fn from(value: $number) -> Self {
                Self::Scalar(value.into())
            }
        }
    )* };
}

from_numbers! {
    Scalar, storage::Bool,
    storage::Int8, storage::Int16, storage::Int32, storage::Int64,
    storage::Uint8, storage::Uint16, storage::Uint32, storage::Uint64,
    storage::Float16, storage::Bfloat16, storage::Float32, storage::Float64,
    storage::Complex64, storage::Complex128
}
