//! # What this is
//! Fourier transforms along one axis, as kernels of the host. The arithmetic is that of the
//! libraries `rustfft` and `realfft`; what is here cuts work for the executor's threads, moves
//! lines that don't lie in one piece through buffers, pads, truncates and scales.
//!
//! # Model
//! A [`TransformKernel`] transforms every *line* along an axis: complex to complex in either
//! direction, real to the half of the spectrum that says all, and back. Transforms of several
//! axes are several kernels.
//!
//! # Guarantees
//! * Any length: primes too take time in proportion to `n * log(n)`.
//! * Threads are the executor's only. Each line is transformed by one thread, so a kernel gives the
//!   same bits however its range is split.
//! * Plans are kept for the next transform of a length, in bounded memory.
//!
//! # Example
//! ```
//! use millpond_fft::{Sort, TransformKernel};
//! use millpond_types::{DType, Layout};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let input = Layout::contiguous(&[3, 8], 8)?;
//! let output = Layout::contiguous(&[3, 5], 16)?;
//! let sort = Sort::RealForward;
//! let kernel = TransformKernel::new("rfft", sort, DType::Float64, &output, &input, 1, 8, 1.0)?;
//! assert_eq!(format!("{kernel:?}"), "rfft(float64 (3, 8), axis 1, n 8)");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//! [`transform`] for how lines are moved, `kept` for which plans are kept.

mod error;
mod kept;
mod line;
mod plan;
#[allow(
    unsafe_code,
    reason = "runs over addresses that the driver interface hands in"
)]
pub mod transform;

pub use error::FftError;
pub use transform::{Sort, TransformKernel};
