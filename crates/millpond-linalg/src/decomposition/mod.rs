//! Decompositions of the matrices of a stack, and what follows from them directly.
//!
//! Each matrix is copied, taken apart by the library `faer`, and its factors are copied out, so any
//! layout will do. Matrices are shared among threads, a single one is one thread's: the library
//! isn't asked to start threads of its own. `float32` and `complex64` are taken apart as `float64`
//! and `complex128` and rounded at the end, so their factors are as good as their dtype can hold.
//!
//! What the library leaves open is decided here: matrices without elements; numbers so large or
//! small that their squares would leave the range (they are scaled by powers of two); pivots of
//! zero or near it; infinities and NaNs, which make iterations fail before they begin.

mod field;
mod lu;
#[allow(
    unsafe_code,
    reason = "runs over addresses that the driver interface hands in"
)]
mod matrices;
mod routine;

pub use matrices::DecompositionKernel;
pub use routine::Routine;
