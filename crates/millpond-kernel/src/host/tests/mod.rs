//! Kernels against the bodies themselves, element by element, over every layout.

pub(crate) mod array;
mod fused;
mod generate;
mod index;
mod map;
mod reduce;
mod scan;
mod sort;
