//! Exponentials, logarithms and powers.

use std::f64::consts::{LOG2_E, LOG10_E};

use num_complex::Complex;

use super::{
    Real, abs, angle, equals, is_finite, larger_part, scaled, select, square, taming_factor,
};

/// `e^x · (cos y + i sin y)` and more, where `e^x` alone would overflow.
#[inline(always)]
fn exp_by_halves<R: Real>(x: R, sine: R, cosine: R) -> Complex<R> {
    let root = (x * R::lit(0.5)).exp();
    Complex::new(root * cosine * root, root * sine * root)
}

/// What exponentials have at infinities: `at_left` for a real part of -∞ beside an angle without meaning, an infinity of
/// unknown angle on the right, and a zero that stays zero.
#[inline(always)]
fn exp_limits<R: Real>(z: Complex<R>, at_left: R, general: Complex<R>) -> Complex<R> {
    let zero = R::lit(0.0);
    let general = Complex::new(general.re, R::select(z.im.equals(zero), z.im, general.im));
    let lost = z.re.is_inf() & !z.im.is_finite();
    let right = Complex::new(z.re, R::lit(f64::NAN));
    let limit = select(z.re.less(zero), Complex::new(at_left, zero), right);
    select(lost, limit, general)
}

/// `e^z`.
#[inline(always)]
pub fn exp<R: Real>(z: Complex<R>) -> Complex<R> {
    let (sine, cosine) = z.im.sin_cos();
    let magnitude = z.re.exp();
    let plain = Complex::new(magnitude * cosine, magnitude * sine);
    let general = select(
        magnitude.is_inf() & z.re.is_finite(),
        exp_by_halves(z.re, sine, cosine),
        plain,
    );
    exp_limits(z, R::lit(0.0), general)
}

/// `e^z - 1`, accurate near zero. Zero is left without the sign of its real part, as the standard asks.
#[inline(always)]
pub fn exp_m1<R: Real>(z: Complex<R>) -> Complex<R> {
    let zero = R::lit(0.0);
    let (sine, cosine) = z.im.sin_cos();
    let half_sine = (z.im * R::lit(0.5)).sin();
    let magnitude = z.re.exp();
    // e^x cos y - 1 = (e^x - 1) cos y - (1 - cos y)
    let re =
        z.re.exp_m1()
            .mul_add(cosine, R::lit(-2.0) * half_sine * half_sine);
    let plain = Complex::new(re, magnitude * sine);
    let general = select(
        magnitude.is_inf() & z.re.is_finite(),
        exp_by_halves(z.re, sine, cosine),
        plain,
    );
    let nothing = z.re.equals(zero) & z.im.equals(zero);
    let general = select(nothing, Complex::new(zero, z.im), general);
    exp_limits(z, R::lit(-1.0), general)
}

/// Sum, and what rounding took from it.
#[inline(always)]
fn exact_sum<R: Real>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    let back = sum - a;
    (sum, (a - (sum - back)) + (b - back))
}

/// `ln |1 + a + ib|` for small `a` and `b`, right to the end where the square of the magnitude is nearly one.
#[inline(always)]
fn ln_magnitude_near_one<R: Real>(a: R, b: R) -> R {
    let (a2, b2) = (a * a, b * b);
    let squares_low = a.mul_add(a, -a2) + b.mul_add(b, -b2);
    let (partial, lost) = exact_sum(a + a, b2);
    let (sum, lost_again) = exact_sum(partial, a2);
    (sum + (lost + lost_again + squares_low)).ln_1p() * R::lit(0.5)
}

/// `ln |z|`.
#[inline(always)]
pub(super) fn ln_magnitude<R: Real>(z: Complex<R>) -> R {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (larger, smaller) = (x.max(y), x.min(y));
    let near = R::lit(0.5).less(larger) & larger.less(R::lit(1.5)) & smaller.less(R::lit(1.5));
    let factor = taming_factor(z);
    let far = abs(scaled(z, factor)).ln() - factor.ln();
    R::select(
        near,
        ln_magnitude_near_one(larger - R::lit(1.0), smaller),
        far,
    )
}

/// Natural logarithm.
#[inline(always)]
pub fn ln<R: Real>(z: Complex<R>) -> Complex<R> {
    Complex::new(ln_magnitude(z), angle(z))
}

/// `ln(1 + z)`, accurate near zero.
#[inline(always)]
pub fn ln_1p<R: Real>(z: Complex<R>) -> Complex<R> {
    let (zero, one) = (R::lit(0.0), R::lit(1.0));
    let shifted = Complex::new(one + z.re, z.im);
    let near = z.re.abs().less(R::lit(0.5)) & z.im.abs().less(one);
    let re = R::select(
        near,
        ln_magnitude_near_one(z.re, z.im),
        ln_magnitude(shifted),
    );
    let nothing = z.re.equals(zero) & z.im.equals(zero);
    Complex::new(R::select(nothing, z.re, re), angle(shifted))
}

/// Logarithm to base two.
#[inline(always)]
pub fn log2<R: Real>(z: Complex<R>) -> Complex<R> {
    scaled(ln(z), R::lit(LOG2_E))
}

/// Logarithm to base ten.
#[inline(always)]
pub fn log10<R: Real>(z: Complex<R>) -> Complex<R> {
    scaled(ln(z), R::lit(LOG10_E))
}

/// `z` to the power `w`. Exponents 0, 1 and 2 are exact to the arithmetic; otherwise the angle's error grows with it.
#[inline(always)]
pub fn pow<R: Real>(z: Complex<R>, w: Complex<R>) -> Complex<R> {
    let (zero, one) = (R::lit(0.0), R::lit(1.0));
    let turn = angle(z);
    let real = w.im.equals(zero);
    let growth = R::select(real, zero, w.im * ln_magnitude(z));
    let damping = R::select(real, one, (-w.im * turn).exp());
    let magnitude = abs(z).pow(w.re) * damping;
    let (sine, cosine) = w.re.mul_add(turn, growth).sin_cos();
    let general = Complex::new(magnitude * cosine, magnitude * sine);
    let of_zero = equals(z, Complex::new(zero, zero)) & zero.less(w.re) & is_finite(w);
    let general = select(of_zero, Complex::new(zero, zero), general);
    let general = select(real & w.re.equals(R::lit(2.0)), square(z), general);
    let general = select(real & w.re.equals(one), z, general);
    select(real & w.re.equals(zero), Complex::new(one, zero), general)
}

/// Whether a number is so large that one beside its square doesn't count; infinite ones are, even beside a NaN.
#[inline(always)]
pub(super) fn is_huge<R: Real>(z: Complex<R>) -> R::Mask {
    (R::lit(1.0) / R::epsilon()).less(larger_part(z)) | super::is_inf(z)
}
