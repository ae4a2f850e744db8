//! The numbers that operation bodies are written over.
//!
//! A body is a function generic over [`Real`] (or over [`Int`], or over [`Complex`] of a real). At `f32` and `f64` it is
//! the reference; at [`Lane`] it is the code that vectorises. Half-precision types have no instance of their own: they are
//! computed in `f32` and rounded once. What would be something else there is a function of a [`Half`].
//!
//! What is here is arithmetic only: no loops over arrays, no dtypes, no unsafe code.

#![allow(
    clippy::inline_always,
    reason = "a function that isn't inlined isn't compiled for the processor that its loop is compiled for"
)]

pub mod complex;
pub(crate) mod derived;
pub mod half;
pub mod int;
pub mod lane;
pub mod real;
#[cfg(test)]
mod tests;

pub use half::Half;
pub use int::Int;
pub use lane::Lane;
pub use num_complex::Complex;
pub use real::{Mask, Real, VOCABULARY, Word};
