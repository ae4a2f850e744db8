//! Powers, roots and lengths.

use super::coefficients as table;
use super::exponential::{clamp, grown, scale};
use super::format::{Format, polynomial, rounded_product};
use super::logarithm;
use crate::math::real::Real;
use std::f64::consts::{LN_2, LOG2_E};

/// `high + low`, a number with about twice the bits of one `f64`.
#[derive(Clone, Copy)]
struct Pair {
    high: f64,
    low: f64,
}

impl Pair {
    /// `high + low` for `|high| >= |low|`, renormalised.
    #[inline(always)]
    fn of(high: f64, low: f64) -> Pair {
        let sum = high + low;
        Pair {
            high: sum,
            low: (high - sum) + low,
        }
    }
}

/// `ln(x)` in two parts, for positive `x`.
#[inline(always)]
fn ln_pair(x: f64) -> Pair {
    let (k, m) = logarithm::split(x);
    let f = m - 1.0;
    // s = f / (2 + f) in two parts.
    let divisor = 1.0 + m;
    let divisor_low = m - (divisor - 1.0);
    let inverse = 1.0 / divisor;
    let s = f * inverse;
    let s_low = ((-s).mul_add(divisor, f) - s * divisor_low) * inverse;
    let z = s * s;
    let z_low = s.mul_add(s, -z) + 2.0 * s * s_low;
    // q = 2z/3 + z² · tail, then ln(m) = 2s + s q.
    let third = z * table::THIRD_2_H;
    let third_low =
        z.mul_add(table::THIRD_2_H, -third) + z.mul_add(table::THIRD_2_L, z_low * table::THIRD_2_H);
    let tail = z * z * polynomial(z, table::LOG_TAIL);
    let q = Pair::of(third, tail);
    let cubic = s * q.high;
    let cubic_low =
        s.mul_add(q.high, -cubic) + s.mul_add(q.low + third_low, s_low * q.high) + 2.0 * s_low;
    let ln_m = Pair::of(2.0 * s, cubic);
    let whole = Pair::of(k * table::LN_2_H, ln_m.high);
    Pair::of(
        whole.high,
        whole.low + k.mul_add(table::LN_2_L, ln_m.low + cubic_low),
    )
}

/// `e^(high + low)`.
#[inline(always)]
fn exp_pair(exponent: Pair) -> f64 {
    // Beyond this the result overflows or vanishes; the low part may be a NaN there.
    let inside = exponent.high.abs() < 800.0;
    let high = clamp(exponent.high, -800.0, 800.0);
    let low = if inside { exponent.low } else { 0.0 };
    let n = rounded_product(high, LOG2_E);
    let r = (-n).mul_add(table::LN_2_L, (-n).mul_add(table::LN_2_H, high)) + low;
    scale(1.0 + grown(r, f64::EXP), n)
}

/// Power of a positive base to 53 bits.
#[inline(always)]
fn long_power(base: f64, exponent: f64) -> f64 {
    let ln = ln_pair(base);
    let high = exponent * ln.high;
    let low = exponent.mul_add(ln.high, -high) + exponent * ln.low;
    exp_pair(Pair { high, low })
}

/// Power of a positive base to 33 bits, for a result of 24: by way of base two, which needs no correction terms.
#[inline(always)]
fn short_power(base: f64, exponent: f64) -> f64 {
    let (k, m) = f64::split(base);
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let ln = s * polynomial(z, table::LOG_POWER).mul_add(z, 2.0);
    let power = clamp(exponent * ln.mul_add(LOG2_E, k), -1000.0, 1000.0);
    let n = rounded_product(power, 1.0);
    let r = (power - n) * LN_2;
    (1.0 + grown(r, f32::WIDE_EXP)) * f64::power_of_two(n)
}

/// `x` to the power `y`. Zero, infinite and NaN bases are left to the reference.
#[inline(always)]
pub(super) fn pow<F: Format>(x: F, y: F) -> F {
    let (base, exponent) = (x.widen(), y.widen());
    let magnitude = base.abs();
    let power = if F::NARROW {
        short_power(magnitude, exponent)
    } else {
        long_power(magnitude, exponent)
    };
    let whole = exponent.trunc() == exponent;
    let half = exponent * 0.5;
    let odd = whole && half.trunc() != half;
    let signed = if odd { -power } else { power };
    let of_negative = if whole { signed } else { f64::NAN };
    let result = if base < 0.0 { of_negative } else { power };
    let known = magnitude > 0.0 && magnitude <= f64::MAX;
    F::narrow(if known { result } else { f64::NAN })
}

/// Cube root.
#[inline(always)]
pub(super) fn cbrt<F: Format>(x: F) -> F {
    let wide = x.widen();
    let magnitude = wide.abs();
    let (k, m) = logarithm::split(magnitude);
    // k = 3 third + rest, with a rest of 0, 1 or 2 left on the mantissa.
    let third = rounded_product(k - 1.0, 1.0 / 3.0);
    let rest = k - 3.0 * third;
    let w = m * if rest == 0.0 {
        1.0
    } else if rest == 1.0 {
        2.0
    } else {
        4.0
    };
    let part = if rest == 0.0 {
        1.0
    } else if rest == 1.0 {
        table::CBRT_HALF
    } else {
        table::CBRT_QUARTER
    };
    // An inverse root, improved by a step of third order, and the root itself by one of second where that isn't enough.
    let inverse = polynomial(m, table::INVERSE_CBRT) * part;
    let miss = (-(inverse * inverse * inverse)).mul_add(w, 1.0);
    let inverse = (inverse * miss).mul_add(miss.mul_add(2.0 / 9.0, 1.0 / 3.0), inverse);
    let square = inverse * inverse;
    let mut root = w * square;
    if !F::NARROW {
        let root_square = root * root;
        let miss = (-root_square).mul_add(root, w) - root.mul_add(root, -root_square) * root;
        root = (miss * square).mul_add(1.0 / 3.0, root);
    }
    let result = (root * f64::power_of_two(third)).copysign(wide);
    let known = magnitude > 0.0 && magnitude <= f64::MAX;
    F::narrow(if known { result } else { wide })
}

/// Length of the vector `(x, y)`. Infinite beside NaN is left to the reference.
#[inline(always)]
pub(super) fn hypot<F: Format>(x: F, y: F) -> F {
    let (x, y) = (x.widen().abs(), y.widen().abs());
    if F::NARROW {
        return F::narrow(x.mul_add(x, y * y).sqrt());
    }
    let (long, short) = (Real::max(x, y), Real::min(x, y));
    // Powers of two, so that neither square overflows or becomes subnormal.
    let scale = if long > 1.0e150 {
        1.0 / SCALE
    } else if long < 1.0e-140 {
        SCALE
    } else {
        1.0
    };
    let back = if long > 1.0e150 {
        SCALE
    } else if long < 1.0e-140 {
        1.0 / SCALE
    } else {
        1.0
    };
    let (long, short) = (long * scale, short * scale);
    F::narrow(long.mul_add(long, short * short).sqrt() * back)
}

/// 2⁶⁰⁰.
const SCALE: f64 = f64::from_bits((1023 + 600) << 52);
