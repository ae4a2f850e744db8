//! Plans of transforms: made by the libraries, and kept for the next time.

use std::sync::Arc;

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use crate::kept::Kept;

/// A real number whose transforms are planned.
pub(crate) trait Precision: FftNum + Default {
    /// Where plans of complex transforms are kept.
    fn complex() -> &'static Kept<dyn Fft<Self>>;
    /// Where plans of real transforms are kept.
    fn forward() -> &'static Kept<dyn RealToComplex<Self>>;
    /// Where plans of their inverses are kept.
    fn inverse() -> &'static Kept<dyn ComplexToReal<Self>>;
    /// The nearest number.
    fn of(number: f64) -> Self;
}

macro_rules! precisions {
    ($($t:ty),*) => { $(
        impl Precision for $t {
            fn complex() -> &'static Kept<dyn Fft<Self>> {
                static KEPT: Kept<dyn Fft<$t>> = Kept::new();
                &KEPT
            }

            fn forward() -> &'static Kept<dyn RealToComplex<Self>> {
                static KEPT: Kept<dyn RealToComplex<$t>> = Kept::new();
                &KEPT
            }

            fn inverse() -> &'static Kept<dyn ComplexToReal<Self>> {
                static KEPT: Kept<dyn ComplexToReal<$t>> = Kept::new();
                &KEPT
            }

            fn of(number: f64) -> Self {
                number as Self
            }
        }
    )* };
}

precisions!(f32, f64);

/// The plan of a complex transform.
pub(crate) fn complex<T: Precision>(length: usize, direction: FftDirection) -> Arc<dyn Fft<T>> {
    T::complex().plan((length, direction), || {
        FftPlanner::new().plan_fft(length, direction)
    })
}

/// The plan of a real transform.
pub(crate) fn forward<T: Precision>(length: usize) -> Arc<dyn RealToComplex<T>> {
    T::forward().plan((length, FftDirection::Forward), || {
        RealFftPlanner::new().plan_fft_forward(length)
    })
}

/// The plan of the inverse of a real transform.
pub(crate) fn inverse<T: Precision>(length: usize) -> Arc<dyn ComplexToReal<T>> {
    T::inverse().plan((length, FftDirection::Inverse), || {
        RealFftPlanner::new().plan_fft_inverse(length)
    })
}
