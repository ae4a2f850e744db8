//! What can be wrong with a request for a kernel of linear algebra.

use millpond_types::shape::{ShapeError, Tuple};
use millpond_types::{DType, Shape};

/// A kernel that can't be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinalgError {
    /// The operation isn't defined for the dtype.
    #[error("{operation} is not defined for {dtype}")]
    DType {
        /// The operation's name.
        operation: &'static str,
        /// The dtype.
        dtype: DType,
    },
    /// Operands whose shapes don't fit one another; callers broadcast first.
    #[error("{operation}: an operand of shape {} where shape {} is needed", Tuple(.given), Tuple(.needed))]
    Shape {
        /// The operation's name.
        operation: &'static str,
        /// The shape of the operand.
        given: Shape,
        /// The shape that follows from the others.
        needed: Shape,
    },
    /// A layout that can't be.
    #[error(transparent)]
    Layout(#[from] ShapeError),
}
