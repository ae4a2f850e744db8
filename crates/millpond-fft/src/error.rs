//! What can be wrong with a request for a transform.

use millpond_types::shape::{ShapeError, Tuple};
use millpond_types::{DType, Shape};

/// A kernel that can't be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FftError {
    /// A dtype that isn't the real one of a transform: `float32` or `float64`.
    #[error("{operation} is not defined for {dtype}")]
    DType {
        /// The operation's name.
        operation: &'static str,
        /// The dtype.
        dtype: DType,
    },
    /// A transform of no elements.
    #[error("{operation}: the number of points is {length}, it must be 1 or more")]
    Length {
        /// The operation's name.
        operation: &'static str,
        /// The length.
        length: isize,
    },
    /// A result whose shape isn't that of the input with the length of the result along the axis.
    #[error("{operation}: a result of shape {} where shape {} is needed", Tuple(.given), Tuple(.needed))]
    Shape {
        /// The operation's name.
        operation: &'static str,
        /// The shape of the result.
        given: Shape,
        /// The shape that follows from the input.
        needed: Shape,
    },
    /// An axis that the input doesn't have.
    #[error(transparent)]
    Layout(#[from] ShapeError),
}
