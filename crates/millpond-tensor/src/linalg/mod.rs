//! Linear algebra: products of vectors and matrices, decompositions, norms.
//!
//! Functions work on *stacks*: the last one or two axes are vectors or matrices, the others count
//! them and broadcast. Numbers for which a result is undefined, such as a singular matrix, are met
//! when the work is done: the failure is of kind
//! [`FailureKind::Numeric`](millpond_runtime::FailureKind::Numeric) and surfaces at the call, if
//! the work was small enough to be done there, or at the next wait for the result.
//!
//! # Accuracy
//! With *u* the unit roundoff of the dtype, *n* the length of a sum, and *c* a small constant:
//!
//! * products and scalar products are within `n * u * (|a| . |b|)` of the exact ones, usually
//!   within the square root of that; integers wrap and are otherwise exact; half floats are
//!   multiplied and added as `float32`, and rounded once;
//! * decompositions are backward stable: put together again, the factors are within
//!   `c * n * u * norm(a)` of the matrix, and factors that should be unitary are so within
//!   `c * n * u`.

mod decomposition;
mod norm;
pub(crate) mod operand;
mod product;

pub use decomposition::{
    cholesky, det, eig, eigh, eigvals, eigvalsh, inv, matrix_power, pinv, qr, slogdet, solve, svd,
    svdvals,
};
pub use norm::{MatrixNorm, matrix_norm, matrix_rank, tolerance, trace, vector_norm};
pub use product::{cross, matmul, outer, tensordot};
