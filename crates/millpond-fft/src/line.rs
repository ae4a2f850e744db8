//! The transform of one line, whichever sort it is.

use std::sync::Arc;

use millpond_kernel::host::value::Storage;
use realfft::{ComplexToReal, RealToComplex};
use rustfft::Fft;
use rustfft::num_complex::Complex;

use crate::plan::Precision;

/// Transforms lines of one length.
pub(crate) trait Line {
    /// A real number of the precision.
    type Real: Precision;
    /// An element that goes in.
    type Input: Storage + Default;
    /// An element that comes out.
    type Output: Storage + Default;

    /// Elements that go in and that come out, and those of the scratch memory.
    fn lengths(&self) -> [usize; 3];

    /// Transforms a line. What was put in may be destroyed.
    fn transform(
        &self,
        input: &mut [Self::Input],
        output: &mut [Self::Output],
        scratch: &mut [Complex<Self::Real>],
    );

    /// Whether what was put in can stay as it is.
    fn keeps_input(&self) -> bool {
        false
    }

    /// Transforms a line that stays as it is, where [`Line::keeps_input`] says so.
    fn transform_kept(
        &self,
        input: &[Self::Input],
        output: &mut [Self::Output],
        scratch: &mut [Complex<Self::Real>],
    ) {
        let _ = (input, output, scratch);
    }

    /// Multiplies what came out by a number.
    fn scale(output: &mut [Self::Output], factor: Self::Real);
}

impl<T: Precision> Line for Arc<dyn Fft<T>>
where
    Complex<T>: Storage,
{
    type Real = T;
    type Input = Complex<T>;
    type Output = Complex<T>;

    fn lengths(&self) -> [usize; 3] {
        [self.len(), self.len(), self.get_immutable_scratch_len()]
    }

    fn transform(
        &self,
        input: &mut [Complex<T>],
        output: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        self.process_immutable_with_scratch(input, output, scratch);
    }

    fn keeps_input(&self) -> bool {
        true
    }

    fn transform_kept(
        &self,
        input: &[Complex<T>],
        output: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        self.process_immutable_with_scratch(input, output, scratch);
    }

    fn scale(output: &mut [Complex<T>], factor: T) {
        for value in output {
            *value = Complex::new(value.re * factor, value.im * factor);
        }
    }
}

/// What the library answers to buffers of the wrong length, or to a spectrum with imaginary parts
/// where a real signal has none.
const FITS: &str = "buffers have the lengths of the plan, and ends of the spectrum are real";

impl<T: Precision> Line for Arc<dyn RealToComplex<T>>
where
    T: Storage,
    Complex<T>: Storage,
{
    type Real = T;
    type Input = T;
    type Output = Complex<T>;

    fn lengths(&self) -> [usize; 3] {
        [self.len(), self.complex_len(), self.get_scratch_len()]
    }

    fn transform(&self, input: &mut [T], output: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        self.process_with_scratch(input, output, scratch)
            .expect(FITS);
    }

    fn scale(output: &mut [Complex<T>], factor: T) {
        <Arc<dyn Fft<T>> as Line>::scale(output, factor);
    }
}

impl<T: Precision> Line for Arc<dyn ComplexToReal<T>>
where
    T: Storage,
    Complex<T>: Storage,
{
    type Real = T;
    type Input = Complex<T>;
    type Output = T;

    fn lengths(&self) -> [usize; 3] {
        [self.complex_len(), self.len(), self.get_scratch_len()]
    }

    fn transform(&self, input: &mut [Complex<T>], output: &mut [T], scratch: &mut [Complex<T>]) {
        // A real signal's spectrum is real at its ends; what isn't is left out, as it is elsewhere.
        let middle = self.len() / 2;
        input[0].im = T::zero();
        if self.len() == 2 * middle {
            input[middle].im = T::zero();
        }
        self.process_with_scratch(input, output, scratch)
            .expect(FITS);
    }

    fn scale(output: &mut [T], factor: T) {
        for value in output {
            *value = *value * factor;
        }
    }
}
