//! The numbers that matrices are taken apart in.

use faer::traits::ComplexField;
use millpond_kernel::host::value::Storage;
use millpond_types::DType;
use num_complex::Complex;

/// A real or complex number of double precision.
pub(super) trait Field: ComplexField<Real = f64> + Storage + Default {
    /// The same in single precision.
    type Narrow: Storage;

    /// The dtype of [`Field::Narrow`].
    const NARROW: DType;

    fn widen(narrow: Self::Narrow) -> Self;
    fn narrow(self) -> Self::Narrow;
    fn of_real(real: f64) -> Self;
    fn real_part(self) -> f64;
    fn conjugate(self) -> Self;
    fn modulus(self) -> f64;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;

    fn minus(self, other: Self) -> Self {
        self.plus(other.times(Self::of_real(-1.0)))
    }

    fn is_number(self) -> bool {
        self.modulus().is_finite()
    }
}

impl Field for f64 {
    type Narrow = f32;

    const NARROW: DType = DType::Float32;

    fn widen(narrow: f32) -> Self {
        narrow.into()
    }

    fn narrow(self) -> f32 {
        self as f32
    }

    fn of_real(real: f64) -> Self {
        real
    }

    fn real_part(self) -> f64 {
        self
    }

    fn conjugate(self) -> Self {
        self
    }

    fn modulus(self) -> f64 {
        self.abs()
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    fn over(self, other: Self) -> Self {
        self / other
    }
}

impl Field for Complex<f64> {
    type Narrow = Complex<f32>;

    const NARROW: DType = DType::Complex64;

    fn widen(narrow: Complex<f32>) -> Self {
        Self::new(narrow.re.into(), narrow.im.into())
    }

    fn narrow(self) -> Complex<f32> {
        Complex::new(self.re as f32, self.im as f32)
    }

    fn of_real(real: f64) -> Self {
        Self::new(real, 0.0)
    }

    fn real_part(self) -> f64 {
        self.re
    }

    fn conjugate(self) -> Self {
        self.conj()
    }

    fn modulus(self) -> f64 {
        self.norm()
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn times(self, other: Self) -> Self {
        self * other
    }

    /// By Smith's way: squares of the parts may leave the range where the quotient doesn't.
    fn over(self, other: Self) -> Self {
        if other.re.abs() >= other.im.abs() {
            let ratio = other.im / other.re;
            let whole = other.re + other.im * ratio;
            return Self::new(
                (self.re + self.im * ratio) / whole,
                (self.im - self.re * ratio) / whole,
            );
        }
        let ratio = other.re / other.im;
        let whole = other.re * ratio + other.im;
        Self::new(
            (self.re * ratio + self.im) / whole,
            (self.im * ratio - self.re) / whole,
        )
    }
}
