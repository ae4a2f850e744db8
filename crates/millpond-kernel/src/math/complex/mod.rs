//! Complex functions, written once over any [`Real`].
//!
//! Guarantee: signed zeros, infinities and NaNs give what the Array API standard says and, where it is silent, annex G
//! of the C standard, from which it departs for `tanh` of infinite numbers and `expm1` of zeros. Elsewhere each part is
//! right to a few units in the last place unless its terms cancel. Branch cuts are continuous with the side that the sign
//! of the zero names. Over lanes the contract of [`lane`](super::lane) holds for both parts: a NaN in either means “ask
//! the reference”.
//!
//! They are free functions, not methods, because those of `num-complex` have other rules at the edges.

mod exponential;
mod hyperbolic;
mod inverse;
#[cfg(test)]
mod tests;

use num_complex::Complex;

use super::real::Real;

pub use exponential::{exp, exp_m1, ln, ln_1p, log2, log10, pow};
pub use hyperbolic::{cos, cosh, sin, sinh, tan, tanh};
pub use inverse::{acos, acosh, asin, asinh, atan, atanh};

/// `yes` where the mask holds, else `no`.
#[inline(always)]
pub fn select<R: Real>(mask: R::Mask, yes: Complex<R>, no: Complex<R>) -> Complex<R> {
    Complex::new(
        R::select(mask, yes.re, no.re),
        R::select(mask, yes.im, no.im),
    )
}

/// `z` times the imaginary unit.
#[inline(always)]
fn times_i<R: Real>(z: Complex<R>) -> Complex<R> {
    Complex::new(-z.im, z.re)
}

/// `z` divided by the imaginary unit.
#[inline(always)]
fn over_i<R: Real>(z: Complex<R>) -> Complex<R> {
    Complex::new(z.im, -z.re)
}

/// Whether either part is infinite.
#[inline(always)]
pub fn is_inf<R: Real>(z: Complex<R>) -> R::Mask {
    z.re.is_inf() | z.im.is_inf()
}

/// Whether either part is a NaN.
#[inline(always)]
pub fn is_nan<R: Real>(z: Complex<R>) -> R::Mask {
    z.re.is_nan() | z.im.is_nan()
}

/// Whether both parts are finite.
#[inline(always)]
pub fn is_finite<R: Real>(z: Complex<R>) -> R::Mask {
    z.re.is_finite() & z.im.is_finite()
}

/// Whether both parts are equal.
#[inline(always)]
pub fn equals<R: Real>(z: Complex<R>, w: Complex<R>) -> R::Mask {
    z.re.equals(w.re) & z.im.equals(w.im)
}

/// Sum.
#[inline(always)]
pub fn add<R: Real>(z: Complex<R>, w: Complex<R>) -> Complex<R> {
    Complex::new(z.re + w.re, z.im + w.im)
}

/// Difference.
#[inline(always)]
pub fn subtract<R: Real>(z: Complex<R>, w: Complex<R>) -> Complex<R> {
    Complex::new(z.re - w.re, z.im - w.im)
}

/// Product, by the plain formula: a product of infinities may be a NaN.
#[inline(always)]
pub fn multiply<R: Real>(z: Complex<R>, w: Complex<R>) -> Complex<R> {
    Complex::new(z.re * w.re - z.im * w.im, z.re * w.im + z.im * w.re)
}

/// Negative.
#[inline(always)]
pub fn negate<R: Real>(z: Complex<R>) -> Complex<R> {
    Complex::new(-z.re, -z.im)
}

/// Conjugate.
#[inline(always)]
pub fn conjugate<R: Real>(z: Complex<R>) -> Complex<R> {
    Complex::new(z.re, -z.im)
}

/// Square. Where the parts are alike the real part is a zero without a sign, as a difference of squares is.
#[inline(always)]
pub fn square<R: Real>(z: Complex<R>) -> Complex<R> {
    let product = z.re * z.im;
    let difference = (z.re - z.im) * (z.re + z.im);
    Complex::new(difference + R::lit(0.0), product + product)
}

/// Magnitude; infinite if either part is, even beside a NaN.
#[inline(always)]
pub fn abs<R: Real>(z: Complex<R>) -> R {
    z.re.hypot(z.im)
}

/// Angle, from -π to π.
#[inline(always)]
pub fn angle<R: Real>(z: Complex<R>) -> R {
    z.im.atan2(z.re)
}

/// Magnitude of the larger part; NaN if either is.
#[inline(always)]
fn larger_part<R: Real>(z: Complex<R>) -> R {
    z.re.abs().max(z.im.abs())
}

/// `z` times a real number.
#[inline(always)]
fn scaled<R: Real>(z: Complex<R>, factor: R) -> Complex<R> {
    Complex::new(z.re * factor, z.im * factor)
}

/// The power of two that takes `z` away from both ends of the exponents.
#[inline(always)]
fn taming_factor<R: Real>(z: Complex<R>) -> R {
    let one = R::lit(1.0);
    let larger = larger_part(z);
    let up = R::select(
        larger.less(R::smallest_normal() / R::epsilon()),
        one / (R::epsilon() * R::epsilon()),
        one,
    );
    R::select((R::largest() * R::lit(0.25)).less(larger), R::lit(0.25), up)
}

/// Quotient, without undue overflow or underflow. Zeros have the signs that the textbook's formula gives them.
#[inline(always)]
pub fn divide<R: Real>(z: Complex<R>, w: Complex<R>) -> Complex<R> {
    let zero = R::lit(0.0);
    let (up, down) = (taming_factor(z), taming_factor(w));
    let (n, d) = (scaled(z, up), scaled(w, down));
    // Smith's method: divide by the larger part first.
    let swap = d.re.abs().less(d.im.abs());
    let (large, small) = (R::select(swap, d.im, d.re), R::select(swap, d.re, d.im));
    let ratio = small / large;
    let divisor = small.mul_add(ratio, large);
    let (first, second) = (R::select(swap, n.im, n.re), R::select(swap, n.re, n.im));
    let re = second.mul_add(ratio, first) / divisor;
    let direct = (-n.re).mul_add(ratio, n.im);
    let swapped = n.im.mul_add(ratio, -n.re);
    let im = R::select(swap, swapped, direct) / divisor;
    let (re, im) = (
        zero_signed_as(re, n.re * d.re + n.im * d.im),
        zero_signed_as(im, n.im * d.re - n.re * d.im),
    );
    let finite = Complex::new(re / up * down, im / up * down);

    // Annex G: a quotient by zero is infinite, an infinity by a finite number too, a finite number by an infinity zero.
    let by_zero = w.re.equals(zero) & w.im.equals(zero) & !(z.re.is_nan() & z.im.is_nan());
    let infinity = R::lit(f64::INFINITY).copysign(w.re);
    let quotient = select(by_zero, scaled(z, infinity), finite);
    let endless = is_inf(z) & is_finite(w) & !by_zero;
    let quotient = select(
        endless,
        scaled(multiply(boxed(z), conjugate(w)), R::lit(f64::INFINITY)),
        quotient,
    );
    let vanishing = is_finite(z) & is_inf(w);
    select(
        vanishing,
        scaled(multiply(z, conjugate(boxed(w))), zero),
        quotient,
    )
}

/// `x`, where it is zero with the sign of another number that isn't a NaN.
#[inline(always)]
fn zero_signed_as<R: Real>(x: R, sign: R) -> R {
    let zero = x.equals(R::lit(0.0)) & !sign.is_nan();
    R::select(zero, x.copysign(sign), x)
}

/// The direction of an infinite number: infinite parts become ±1, others ±0.
#[inline(always)]
fn boxed<R: Real>(z: Complex<R>) -> Complex<R> {
    let part = |x: R| R::select(x.is_inf(), R::lit(1.0), R::lit(0.0)).copysign(x);
    Complex::new(part(z.re), part(z.im))
}

/// One divided by `z`.
#[inline(always)]
pub fn reciprocal<R: Real>(z: Complex<R>) -> Complex<R> {
    divide(Complex::new(R::lit(1.0), R::lit(0.0)), z)
}

/// Square root, with a real part that isn't negative.
#[inline(always)]
pub fn sqrt<R: Real>(z: Complex<R>) -> Complex<R> {
    let (zero, half) = (R::lit(0.0), R::lit(0.5));
    // Even powers of two, whose roots are powers of two.
    let larger = larger_part(z);
    let high = (R::largest() * R::lit(0.25)).less(larger);
    let low = larger.less(R::smallest_normal() / R::epsilon());
    let one = R::lit(1.0);
    let factor = R::select(
        low,
        one / (R::epsilon() * R::epsilon()),
        R::select(high, R::lit(0.0625), one),
    );
    let back = R::select(low, R::epsilon(), R::select(high, R::lit(4.0), one));
    let (x, y) = (z.re.abs() * factor, z.im.abs() * factor);
    let root = ((x.hypot(y) + x) * half).sqrt();
    let other = R::select(root.equals(zero), zero, y / (root + root));
    let (root, other) = (root * back, other * back);
    let left = z.re.less(zero);
    let finite = Complex::new(
        R::select(left, other, root),
        R::select(left, root, other).copysign(z.im),
    );
    select(
        z.im.is_inf(),
        Complex::new(R::lit(f64::INFINITY), z.im),
        finite,
    )
}

/// `z / |z|`; zero stays.
#[inline(always)]
pub fn sign<R: Real>(z: Complex<R>) -> Complex<R> {
    let tame = scaled(z, taming_factor(z));
    let magnitude = abs(tame);
    let zero = R::lit(0.0);
    select(
        magnitude.equals(zero),
        Complex::new(zero, zero),
        Complex::new(tame.re / magnitude, tame.im / magnitude),
    )
}

/// Projection onto the Riemann sphere: all infinities become one.
#[inline(always)]
pub fn proj<R: Real>(z: Complex<R>) -> Complex<R> {
    select(
        is_inf(z),
        Complex::new(R::lit(f64::INFINITY), R::lit(0.0).copysign(z.im)),
        z,
    )
}
