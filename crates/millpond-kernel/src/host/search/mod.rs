//! Finding elements in a sorted array, and what is different in one.

mod find;
mod runs;

pub use find::{Find, FindKernel, Finder};
pub use runs::{CountRuns, Runs, Wanted, WriteRuns};
