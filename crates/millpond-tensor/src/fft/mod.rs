//! Fourier transforms, along one axis or several, of any length.
//!
//! `float32` stays `float32` or becomes `complex64`; integers and truth values count as the
//! device's default float, half floats as `float32`. Axes are padded with zeros, or cut, to the
//! length asked for.
//!
//! # Accuracy
//! With *u* the unit roundoff of the dtype, the error of a transform of `n` points is within
//! `c * u * log2(n)` of the norm of the result, with *c* about 1 for lengths with small factors
//! and some more for lengths that are large primes.

mod frequencies;
mod transform;

pub use frequencies::{fftfreq, fftshift, ifftshift, rfftfreq};
pub use transform::{Along, Norm, fft, fftn, hfft, ifft, ifftn, ihfft, irfft, irfftn, rfft, rfftn};
