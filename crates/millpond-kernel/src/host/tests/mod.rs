//! Kernels against the bodies themselves, element by element, over every layout.

mod array;
mod generate;
mod map;
mod reduce;
