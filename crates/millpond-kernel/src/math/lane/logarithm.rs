//! Logarithms.

use super::format::{Format, polynomial};

/// `(k, m)` as [`Format::split`], for positive subnormal numbers as well.
#[inline(always)]
pub(super) fn split<F: Format>(x: F) -> (F, F) {
    let shift = f64::from(F::MANTISSA_BITS + 2);
    let subnormal = x.less(F::smallest_normal());
    let (k, m) = F::split(F::select(subnormal, x * F::power_of_two(F::lit(shift)), x));
    (F::select(subnormal, k - F::lit(shift), k), m)
}

/// `result` where `x` is positive and finite, and otherwise what every logarithm has there.
#[inline(always)]
fn with_limits<F: Format>(x: F, result: F) -> F {
    let zero = F::lit(0.0);
    let result = F::select(x.less_equal(F::largest()), result, x);
    let limit = F::select(x.equals(zero), F::lit(f64::NEG_INFINITY), F::lit(f64::NAN));
    F::select(x.less_equal(zero), limit, result)
}

/// `ln(1 + f) - f + f²/2` for `f` from √½-1 to √2-1.
#[inline(always)]
fn tail<F: Format>(f: F, half_square: F, coefficients: &[F]) -> F {
    let s = f / (F::lit(2.0) + f);
    let z = s * s;
    s * z.mul_add(polynomial(z, coefficients), half_square)
}

/// `k ln 2 + ln(1 + f) + small`.
#[inline(always)]
fn assemble<F: Format>(k: F, f: F, small: F, coefficients: &[F]) -> F {
    let half_square = F::lit(0.5) * f * f;
    let low = tail(f, half_square, coefficients) + k.mul_add(F::LN_2[1], small);
    k.mul_add(F::LN_2[0], f - (half_square - low))
}

/// Natural logarithm.
#[inline(always)]
pub(super) fn ln<F: Format>(x: F) -> F {
    let (k, m) = split(x);
    with_limits(x, assemble(k, m - F::lit(1.0), F::lit(0.0), F::LOG))
}

/// `ln(1 + x)`, with the coefficients given.
#[inline(always)]
pub(super) fn ln_1p_by<F: Format>(x: F, coefficients: &[F]) -> F {
    let (zero, one) = (F::lit(0.0), F::lit(1.0));
    let u = one + x;
    let (k, m) = F::split(u);
    // What the sum lost, as a share of it; where the power of two is zero, `x` itself is exact.
    let back = u - one;
    let lost = (one - (u - back)) + (x - back);
    let whole = k.equals(zero);
    let f = F::select(whole, x, m - one);
    let small = F::select(whole, zero, lost / u);
    let result = with_limits(u, assemble(k, f, small, coefficients));
    F::select(x.abs().less(F::epsilon() * F::lit(0.5)), x, result)
}

/// `ln(1 + x)` for `x` from 0 to 1, with the coefficients given.
#[inline(always)]
pub(super) fn ln_1p_of_share<F: Format>(x: F, coefficients: &[F]) -> F {
    let (zero, one, half) = (F::lit(0.0), F::lit(1.0), F::lit(0.5));
    // Beyond the range of the coefficients, twice as much as one that is within.
    let large = F::lit(std::f64::consts::SQRT_2 - 1.0).less(x);
    let k = F::select(large, one, zero);
    let f = F::select(large, (x - one) * half, x);
    assemble(k, f, zero, coefficients)
}

/// `ln(1 + x)`.
#[inline(always)]
pub(super) fn ln_1p<F: Format>(x: F) -> F {
    ln_1p_by(x, F::LOG)
}

/// `k · unit + ln(m) · factor`, with factors in two parts.
#[inline(always)]
fn with_base<F: Format>(x: F, unit: [F; 2], factor: [F; 2]) -> F {
    let (k, m) = split(x);
    let f = m - F::lit(1.0);
    let half_square = F::lit(0.5) * f * f;
    // The error of the square, then the logarithm of `m` as an unevaluated sum.
    let square_error = (F::lit(0.5) * f).mul_add(f, -half_square);
    let high = f - half_square;
    let low = ((f - high) - half_square) - square_error + tail(f, half_square, F::LOG);
    let product = high * factor[0];
    let product_low = high.mul_add(factor[0], -product) + low.mul_add(factor[0], high * factor[1]);
    let power = k * unit[0];
    let sum = power + product;
    let sum_error = (power - sum) + product;
    with_limits(x, sum + (sum_error + k.mul_add(unit[1], product_low)))
}

/// Logarithm to base two; exact for powers of two.
#[inline(always)]
pub(super) fn log2<F: Format>(x: F) -> F {
    with_base(x, [F::lit(1.0), F::lit(0.0)], F::LOG2_E)
}

/// Logarithm to base ten.
#[inline(always)]
pub(super) fn log10<F: Format>(x: F) -> F {
    with_base(x, F::LOG10_2, F::LOG10_E)
}
