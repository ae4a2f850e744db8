//! Inverse trigonometric and inverse hyperbolic functions.

use super::coefficients::{FRAC_PI_2_H, FRAC_PI_2_M};
use super::format::{Format, polynomial};
use super::logarithm::ln_1p_by;
use crate::math::derived;
use std::f64::consts::{FRAC_PI_4, PI};

/// tan(π/8) and its inverse: where the reductions of the inverse tangent meet.
const MEETING: [f64; 2] = [0.414_213_562_373_095_03, 2.414_213_562_373_095];

/// `t + t³ · polynomial(t²)`.
#[inline(always)]
fn odd(t: f64, coefficients: &[f64]) -> f64 {
    let square = t * t;
    (t * square).mul_add(polynomial(square, coefficients), t)
}

/// Angle from 0 to π/2 of the point `(x, y)`; both non-negative, not both zero or infinite.
#[inline(always)]
fn first_quadrant<F: Format>(y: f64, x: f64) -> f64 {
    let low = y < MEETING[0] * x;
    let high = y > MEETING[1] * x;
    let above = if low {
        y
    } else if high {
        -x
    } else {
        y - x
    };
    let below = if low {
        x
    } else if high {
        y
    } else {
        y + x
    };
    let base = if low {
        0.0
    } else if high {
        FRAC_PI_2_H
    } else {
        FRAC_PI_4
    };
    let base_low = if low {
        0.0
    } else if high {
        FRAC_PI_2_M
    } else {
        FRAC_PI_2_M * 0.5
    };
    base + (odd(above / below, F::WIDE_ATAN) + base_low)
}

/// Inverse tangent.
#[inline(always)]
pub(super) fn atan<F: Format>(x: F) -> F {
    let wide = x.widen();
    F::narrow(first_quadrant::<F>(wide.abs(), 1.0).copysign(wide))
}

/// Angle of the point `(x, y)`.
#[inline(always)]
pub(super) fn atan2<F: Format>(y: F, x: F) -> F {
    let (wide_y, wide_x) = (y.widen(), x.widen());
    let (mut up, mut along) = (wide_y.abs(), wide_x.abs());
    if !F::NARROW {
        // The sum of both must not overflow.
        let shrink = if up > 1.0e300 || along > 1.0e300 {
            0.25
        } else {
            1.0
        };
        up *= shrink;
        along *= shrink;
    }
    let angle = if up == 0.0 && !along.is_nan() {
        0.0
    } else {
        first_quadrant::<F>(up, along)
    };
    let folded = if wide_x.is_sign_negative() {
        PI - (angle - 2.0 * FRAC_PI_2_M)
    } else {
        angle
    };
    F::narrow(folded.copysign(wide_y))
}

/// The halved arc: `(s, p)` with `asin(x) = π/2 - 2 (s + p)` for `x` from ½ to 1, or `asin(x) = s + p` below.
#[inline(always)]
fn arc<F: Format>(magnitude: f64) -> (f64, f64) {
    let near = magnitude < 0.5;
    let square = if near {
        magnitude * magnitude
    } else {
        0.5 - 0.5 * magnitude
    };
    let s = if near { magnitude } else { square.sqrt() };
    (s, s * square * polynomial(square, F::WIDE_ASIN))
}

/// Inverse sine.
#[inline(always)]
pub(super) fn asin<F: Format>(x: F) -> F {
    let wide = x.widen();
    let magnitude = wide.abs();
    let (s, p) = arc::<F>(magnitude);
    let far = (FRAC_PI_2_H - 2.0 * s) + (FRAC_PI_2_M - 2.0 * p);
    F::narrow((if magnitude < 0.5 { s + p } else { far }).copysign(wide))
}

/// Inverse cosine.
#[inline(always)]
pub(super) fn acos<F: Format>(x: F) -> F {
    let wide = x.widen();
    let magnitude = wide.abs();
    let (s, p) = arc::<F>(magnitude);
    let near = FRAC_PI_2_H - (s.copysign(wide) - (FRAC_PI_2_M - p.copysign(wide)));
    let doubled = 2.0 * (s + p);
    let far = if wide < 0.0 {
        PI - 2.0 * (s + (p - FRAC_PI_2_M))
    } else {
        doubled
    };
    F::narrow(if magnitude < 0.5 { near } else { far })
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub(super) fn asinh<F: Format>(x: F) -> F {
    F::narrow(derived::asinh_by(x.widen(), |wide| {
        ln_1p_by(wide, F::WIDE_LOG)
    }))
}

/// Inverse hyperbolic cosine.
#[inline(always)]
pub(super) fn acosh<F: Format>(x: F) -> F {
    F::narrow(derived::acosh_by(x.widen(), |wide| {
        ln_1p_by(wide, F::WIDE_LOG)
    }))
}

/// Inverse hyperbolic tangent.
#[inline(always)]
pub(super) fn atanh<F: Format>(x: F) -> F {
    F::narrow(derived::atanh_by(x.widen(), |wide| {
        ln_1p_by(wide, F::WIDE_LOG)
    }))
}
