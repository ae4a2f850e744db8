//! Exponentials and the hyperbolic functions that are made of them.

use super::format::{Format, polynomial, rounded_product};
use super::logarithm::ln_1p_of_share;
use crate::math::derived;
use crate::math::real::Real;

/// `x` held within the range where exponentials are neither zero nor infinite; a NaN stays.
#[inline(always)]
pub(super) fn clamp<F: Format>(x: F, low: f64, high: f64) -> F {
    let (low, high) = (F::lit(low), F::lit(high));
    let x = F::select(high.less(x), high, x);
    F::select(x.less(low), low, x)
}

/// `(n, r)` with `x = n ln 2 + r` and `|r|` hardly above half of ln 2.
#[inline(always)]
fn reduce<F: Format>(x: F) -> (F, F) {
    let n = rounded_product(x, F::LOG2_E[0]);
    let r = (-n).mul_add(F::LN_2[1], (-n).mul_add(F::LN_2[0], x));
    (n, r)
}

/// `y · 2^n` in two steps, so that subnormal and nearly overflowing results come out right.
#[inline(always)]
pub(super) fn scale<F: Format>(y: F, n: F) -> F {
    let half = rounded_product(n, F::lit(0.5));
    y * F::power_of_two(half) * F::power_of_two(n - half)
}

/// `e^r - 1` for reduced `r`, with the coefficients given.
#[inline(always)]
pub(super) fn grown<F: Format>(r: F, coefficients: &[F]) -> F {
    (r * r).mul_add(polynomial(r, coefficients), r)
}

/// `e^x`, with the coefficients given.
#[inline(always)]
fn exp_by<F: Format>(x: F, coefficients: &[F]) -> F {
    let (n, r) = reduce(clamp(x, F::EXP_MIN, F::EXP_MAX));
    scale(F::lit(1.0) + grown(r, coefficients), n)
}

/// `e^x`.
#[inline(always)]
pub(super) fn exp<F: Format>(x: F) -> F {
    exp_by(x, F::EXP)
}

/// `e^x` of numbers that aren't positive, with the coefficients given. What is too small for the format counts as zero,
/// so that one step makes all powers of two of a narrow one.
#[inline(always)]
fn exp_below<F: Format>(x: f64) -> f64 {
    const LEAST: f64 = -700.0;
    if !F::NARROW {
        return exp_by(x, F::WIDE_EXP);
    }
    let (n, r) = reduce(f64::select(x.less(LEAST), LEAST, x));
    (1.0 + grown(r, F::WIDE_EXP)) * f64::power_of_two(n)
}

/// `ln(e^x + e^y)`.
#[inline(always)]
pub(super) fn log_add_exp<F: Format>(x: F, y: F) -> F {
    let ln_1p = |x| ln_1p_of_share(x, F::WIDE_LOG);
    F::narrow(derived::log_add_exp_by(
        (x.widen(), y.widen()),
        F::NARROW,
        exp_below::<F>,
        ln_1p,
    ))
}

/// `e^x / 2`, which is finite as long as `sinh` and `cosh` are.
#[inline(always)]
fn half_exp<F: Format>(x: F) -> F {
    let (n, r) = reduce(clamp(x, F::EXP_MIN, F::EXP_MAX + 1.0));
    scale(F::lit(1.0) + grown(r, F::EXP), n - F::lit(1.0))
}

/// `2^x`.
#[inline(always)]
pub(super) fn exp2<F: Format>(x: F) -> F {
    let one = F::lit(1.0);
    let limit = F::BIAS + 1.0;
    let x = clamp(x, -limit - f64::from(F::MANTISSA_BITS), limit);
    let n = rounded_product(x, one);
    let rest = x - n;
    let high = rest * F::LN_2_FULL[0];
    let low = rest.mul_add(F::LN_2_FULL[1], rest.mul_add(F::LN_2_FULL[0], -high));
    let grown = (high * high).mul_add(polynomial(high, F::EXP), low) + high;
    scale(one + grown, n)
}

/// `e^x - 1`.
#[inline(always)]
pub(super) fn exp_m1<F: Format>(x: F) -> F {
    let (half, one) = (F::lit(0.5), F::lit(1.0));
    // Below the limit the result is -1 to the last bit.
    let held = clamp(x, -2.0 * f64::from(F::MANTISSA_BITS), F::EXP_MAX);
    let n = rounded_product(held, F::LOG2_E[0]);
    let first = (-n).mul_add(F::LN_2[0], held);
    let r = (-n).mul_add(F::LN_2[1], first);
    let rest = (-n).mul_add(F::LN_2[1], first - r);
    // Half of the result, so that the power of two stays finite to the end of the range; the sum of its two large
    // terms keeps what rounding takes from it.
    let power = F::power_of_two(n - one);
    let (base, linear) = (power - half, power * r);
    let sum = base + linear;
    let lost = (base - sum) + linear;
    let result =
        (sum + power.mul_add((r * r).mul_add(polynomial(r, F::EXP), rest), lost)) * F::lit(2.0);
    // Halving would cost a tiny number its last bit, and the sum a zero its sign.
    F::select(x.abs().less(F::epsilon() * half), x, result)
}

/// Hyperbolic sine.
#[inline(always)]
pub(super) fn sinh<F: Format>(x: F) -> F {
    let magnitude = x.abs();
    let square = x * x;
    let near = (x * square).mul_add(polynomial(square, F::SINH), x);
    let half = half_exp(magnitude);
    let far = (half - F::lit(0.25) / half).copysign(x);
    F::select(magnitude.less(F::lit(1.0)), near, far)
}

/// Hyperbolic cosine.
#[inline(always)]
pub(super) fn cosh<F: Format>(x: F) -> F {
    let half = half_exp(x.abs());
    half + F::lit(0.25) / half
}

/// Hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh<F: Format>(x: F) -> F {
    // Twice the magnitude; beyond the limit the result is one to the last bit.
    let doubled = clamp(x.abs() * F::lit(2.0), 0.0, f64::from(F::MANTISSA_BITS));
    let grown = exp_m1(doubled);
    let (one, two) = (F::lit(1.0), F::lit(2.0));
    let divisor = grown + two;
    // Far from zero the distance from one is the smaller number, and its errors with it.
    let far = one.less(doubled);
    let quotient = F::select(far, -two, grown) / divisor;
    // Near zero the divisor's rounding counts; half of `1 - quotient` is the divisor's inverse.
    let lost = (two - divisor) + grown;
    let near = (quotient * lost).mul_add(F::lit(-0.5) * (one - quotient), quotient);
    F::select(far, one + quotient, near).copysign(x)
}
