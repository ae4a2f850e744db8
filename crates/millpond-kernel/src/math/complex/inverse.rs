//! Inverse trigonometric and inverse hyperbolic functions, after Kahan's “Branch cuts for complex elementary functions”.

use std::f64::consts::{FRAC_PI_2, LN_2};

use num_complex::Complex;

use super::exponential::{is_huge, ln_magnitude};
use super::{Real, is_inf, over_i, reciprocal, select, sqrt, times_i};

/// The roots of `1 - z` and `1 + z` for `z` in the upper half of the plane, which both inverse functions are made of.
#[inline(always)]
fn roots<R: Real>(x: R, y: R) -> (Complex<R>, Complex<R>) {
    let one = R::lit(1.0);
    (
        sqrt(Complex::new(one - x, -y)),
        sqrt(Complex::new(one + x, y)),
    )
}

/// Magnitude of the imaginary part of both inverse sine and cosine.
#[inline(always)]
fn imaginary<R: Real>(z: Complex<R>, minus: Complex<R>, plus: Complex<R>) -> R {
    let near = minus.re.mul_add(plus.im, -(minus.im * plus.re)).asinh();
    R::select(is_huge(z), ln_magnitude(z) + R::lit(LN_2), near)
}

/// Inverse sine.
#[inline(always)]
pub fn asin<R: Real>(z: Complex<R>) -> Complex<R> {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (minus, plus) = roots(x, y);
    let abscissa = minus.re.mul_add(plus.re, -(minus.im * plus.im));
    let re = x.atan2(R::select(is_huge(z), y, abscissa));
    // On the imaginary axis the real part is zero whatever the imaginary one is.
    let re = R::select(x.equals(R::lit(0.0)), x, re);
    Complex::new(re.copysign(z.re), imaginary(z, minus, plus).copysign(z.im))
}

/// Inverse cosine.
#[inline(always)]
pub fn acos<R: Real>(z: Complex<R>) -> Complex<R> {
    let y = z.im.abs();
    let (minus, plus) = roots(z.re, y);
    let half = minus.re.atan2(plus.re);
    let re = R::select(is_huge(z), y.atan2(z.re), half + half);
    let re = R::select(z.re.equals(R::lit(0.0)), R::lit(FRAC_PI_2), re);
    Complex::new(re, imaginary(z, minus, plus).copysign(-z.im))
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub fn asinh<R: Real>(z: Complex<R>) -> Complex<R> {
    times_i(asin(over_i(z)))
}

/// Inverse hyperbolic cosine.
#[inline(always)]
pub fn acosh<R: Real>(z: Complex<R>) -> Complex<R> {
    let arc = acos(z);
    Complex::new(arc.im.abs(), arc.re.copysign(z.im))
}

/// Inverse hyperbolic tangent.
#[inline(always)]
pub fn atanh<R: Real>(z: Complex<R>) -> Complex<R> {
    let (zero, one, two) = (R::lit(0.0), R::lit(1.0), R::lit(2.0));
    let (x, y) = (z.re.abs(), z.im.abs());
    let rest = one - x;
    let distance = rest.mul_add(rest, y * y);
    let near = (R::lit(4.0) * x / distance).ln_1p() * R::lit(0.25);
    // Beside the pole, straight above it, the square of the distance might vanish.
    let above = (two.hypot(y).ln() - y.ln()) * R::lit(0.5);
    let near = Complex::new(
        R::select(x.equals(one) & y.less(one), above, near),
        (y + y).atan2(rest.mul_add(one + x, -(y * y))) * R::lit(0.5),
    );
    let far = Complex::new(reciprocal(Complex::new(x, y)).re, R::lit(FRAC_PI_2));
    let result = select(is_huge(z), far, near);
    let endless = Complex::new(zero, R::select(y.is_nan(), y, R::lit(FRAC_PI_2)));
    let result = select(is_inf(z), endless, result);
    let re = R::select(x.equals(zero), x, result.re);
    Complex::new(re.copysign(z.re), result.im.copysign(z.im))
}

/// Inverse tangent.
#[inline(always)]
pub fn atan<R: Real>(z: Complex<R>) -> Complex<R> {
    over_i(atanh(times_i(z)))
}
