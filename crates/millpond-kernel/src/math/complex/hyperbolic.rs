//! Hyperbolic functions, and the trigonometric ones as the same functions turned by a quarter.

use num_complex::Complex;

use super::{Real, over_i, select, times_i};

/// `sinh x` and `cosh x`, each times `cos y` and `sin y`.
struct Products<R> {
    sinh_cos: R,
    sinh_sin: R,
    cosh_cos: R,
    cosh_sin: R,
}

/// The products for `z = x + iy`, right also where the hyperbolic factor alone would overflow.
#[inline(always)]
fn products<R: Real>(z: Complex<R>) -> Products<R> {
    let one = R::lit(1.0);
    let (sine, cosine) = z.im.sin_cos();
    let (sinh, cosh) = (z.re.sinh(), z.re.cosh());
    let root = (z.re.abs() * R::lit(0.5)).exp();
    // Where even the root overflows, so does the product with any factor but zero.
    let beyond = cosh.is_inf() & root.is_finite();
    let product = |function: R, factor: R, sign: R| {
        let by_halves = (root * factor) * (root * R::lit(0.5));
        R::select(beyond, by_halves * sign, function * factor)
    };
    let sign = one.copysign(z.re);
    Products {
        sinh_cos: product(sinh, cosine, sign),
        sinh_sin: product(sinh, sine, sign),
        cosh_cos: product(cosh, cosine, one),
        cosh_sin: product(cosh, sine, one),
    }
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh<R: Real>(z: Complex<R>) -> Complex<R> {
    let zero = R::lit(0.0);
    let Products {
        sinh_cos, cosh_sin, ..
    } = products(z);
    // A zero times an unknown stays zero; an infinity of unknown direction stays infinite.
    let unknown = !z.im.is_finite();
    let stays = unknown & (z.re.equals(zero) | z.re.is_inf());
    Complex::new(
        R::select(stays, z.re, sinh_cos),
        R::select(z.im.equals(zero), z.im, cosh_sin),
    )
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh<R: Real>(z: Complex<R>) -> Complex<R> {
    let zero = R::lit(0.0);
    let Products {
        cosh_cos, sinh_sin, ..
    } = products(z);
    let unknown = !z.im.is_finite();
    let re = R::select(unknown & z.re.is_inf(), z.re.abs(), cosh_cos);
    let of_zero = R::select(unknown & z.re.equals(zero), zero, sinh_sin);
    let flat = z.im * R::lit(1.0).copysign(z.re);
    Complex::new(re, R::select(z.im.equals(zero), flat, of_zero))
}

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh<R: Real>(z: Complex<R>) -> Complex<R> {
    let (zero, one) = (R::lit(0.0), R::lit(1.0));
    let (sine, cosine) = z.im.sin_cos();
    let (sinh, cosh) = (z.re.sinh(), z.re.cosh());
    let divisor = sinh.mul_add(sinh, cosine * cosine);
    let near = Complex::new(sinh * cosh / divisor, sine * cosine / divisor);
    // From here on the real part is ±1 and the divisor is e^2x / 4, which may overflow.
    let far_im = R::lit(4.0) * (sine * cosine) * (R::lit(-2.0) * z.re.abs()).exp();
    // A finite real part with an unknown imaginary one is unknown, however large.
    let known = z.re.is_inf() | z.im.is_finite();
    let far_re = R::select(known, one.copysign(z.re), R::lit(f64::NAN));
    // At the ends the standard keeps the sign of the imaginary part, where C has that of the sine of its double.
    let end_im = R::select(z.im.is_finite(), zero.copysign(z.im), zero);
    let far = Complex::new(far_re, R::select(z.re.is_inf(), end_im, far_im));
    let result = select(R::lit(20.0).less(z.re.abs()), far, near);
    let re = R::select(z.re.equals(zero) & !z.im.is_finite(), z.re, result.re);
    Complex::new(re, R::select(z.im.equals(zero), z.im, result.im))
}

/// Sine.
#[inline(always)]
pub fn sin<R: Real>(z: Complex<R>) -> Complex<R> {
    over_i(sinh(times_i(z)))
}

/// Cosine.
#[inline(always)]
pub fn cos<R: Real>(z: Complex<R>) -> Complex<R> {
    cosh(times_i(z))
}

/// Tangent.
#[inline(always)]
pub fn tan<R: Real>(z: Complex<R>) -> Complex<R> {
    over_i(tanh(times_i(z)))
}
