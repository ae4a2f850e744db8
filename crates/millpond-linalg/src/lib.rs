//! # What this is
//! Linear algebra as kernels of the host: products of matrices, sums of products, and the
//! decompositions. The arithmetic is that of the libraries `gemm` and `faer`; what is here decides
//! how work is cut for the executor's threads and guards the edges that the libraries leave open.
//!
//! # Model
//! A kernel works on *stacks*: arrays whose last one or two axes are vectors or matrices, and
//! whose other axes, the same for all operands, count them. Callers promote and broadcast first.
//! [`ProductKernel`] multiplies matrices, [`DotKernel`] sums products along an axis,
//! [`DecompositionKernel`] takes each matrix of a stack apart.
//!
//! # Guarantees
//! * Threads are the executor's only; the libraries run on the thread that calls them.
//! * A kernel gives the same bits however its range is split, and touches nothing outside the
//!   footprints that it declares.
//! * Integers wrap and are otherwise exact.
//! * Numbers for which a result is undefined, such as a singular matrix, make the kernel fail with
//!   [`FailureKind::Numeric`](millpond_hal::FailureKind::Numeric). None makes it hang or panic.
//!
//! # Example
//! ```
//! use millpond_linalg::ProductKernel;
//! use millpond_types::{DType, Layout};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (a, b) = (Layout::contiguous(&[2, 3], 8)?, Layout::contiguous(&[3, 4], 8)?);
//! let c = Layout::contiguous(&[2, 4], 8)?;
//! let kernel = ProductKernel::new(DType::Float64, &c, &a, &b, 1)?;
//! assert_eq!(format!("{kernel:?}"), "matmul(float64 (2, 3) @ (3, 4))");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//! [`product`] for what is multiplied how and in which pieces, [`decomposition`] for the rest.
#![allow(
    clippy::inline_always,
    reason = "a loop is compiled for the instructions of the function that it is inlined into"
)]

pub mod decomposition;
#[allow(
    unsafe_code,
    reason = "runs over addresses that the driver interface hands in"
)]
pub mod dot;
mod error;
mod number;
#[allow(
    unsafe_code,
    reason = "runs over addresses that the driver interface hands in"
)]
pub mod product;
mod stack;

pub use decomposition::{DecompositionKernel, Routine};
pub use dot::DotKernel;
pub use error::LinalgError;
pub use product::ProductKernel;
