//! Kernels as source for devices that compile.
//!
//! # Model
//! * `trace` records a body, the same that host loops run, as an expression.
//! * `text` prints expressions and types; the files beside it are the prelude, which defines what
//!   expressions are made of.
//! * `elements` says what an element-wise kernel does, whatever it is on the host; `element` prints
//!   what is done for each, and `map` and `tile` how threads go over all of them, for a layout
//!   `class`.
//! * `tape` has chains carried out by a kernel that is there already, until their own is.
//! * `put` prints how elements are set by indices, of which the last one counts.
//! * `reduce` prints reductions, of arrays or of what an element-wise kernel makes; `plan` says who
//!   folds what.
//! * `scan` prints scans, and `mask` what masks count and select.
//! * `sort` says how rows are put in order, `search` how elements are found in what is.
//!
//! # Guarantees
//! Where a row's tolerance is zero the results are the host's to the bit, elsewhere within the
//! tolerance of the exact value; a NaN is a NaN, of any bits. Arithmetic isn't contracted, whatever
//! the compiler's options are.

mod class;
mod coordinates;
mod element;
pub(crate) mod elements;
pub(crate) mod map;
pub(crate) mod mask;
mod plan;
pub(crate) mod put;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod sort;
pub(crate) mod tape;
#[cfg(test)]
#[allow(unsafe_code, reason = "runs what was compiled")]
mod tests;
mod text;
mod tile;
pub(crate) mod trace;

pub use trace::{Function, Template};
