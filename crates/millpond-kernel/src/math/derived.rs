//! Functions made of the vocabulary, for every instance at once.

use std::f64::consts::LN_2;

use super::real::Real;

/// Beyond this the square of a number hides one in `f64`.
const HUGE: f64 = (1_u64 << 60) as f64;

/// Inverse hyperbolic sine: `ln(x + sqrt(x² + 1))` without cancellation or overflow, by way of the `ln_1p` given.
#[inline(always)]
pub(super) fn asinh_by<R: Real>(x: R, ln_1p: impl Fn(R) -> R) -> R {
    let one = R::lit(1.0);
    let magnitude = x.abs();
    let huge = R::lit(HUGE).less(magnitude);
    let square = magnitude * magnitude;
    let grown = magnitude + square / (one + (one + square).sqrt());
    let result =
        ln_1p(R::select(huge, magnitude, grown)) + R::select(huge, R::lit(LN_2), R::lit(0.0));
    result.copysign(x)
}

/// Inverse hyperbolic cosine: `ln(x + sqrt(x² - 1))` without cancellation or overflow, by way of the `ln_1p` given.
#[inline(always)]
pub(super) fn acosh_by<R: Real>(x: R, ln_1p: impl Fn(R) -> R) -> R {
    let above = x - R::lit(1.0);
    let huge = R::lit(HUGE).less(x);
    let grown = above + (above * (above + R::lit(2.0))).sqrt();
    let result = ln_1p(R::select(huge, x, grown)) + R::select(huge, R::lit(LN_2), R::lit(0.0));
    // The square root exists again below -1, where the function doesn't.
    R::select(x.less(R::lit(1.0)), R::lit(f64::NAN), result)
}

/// Inverse hyperbolic tangent: half of `ln((1 + x) / (1 - x))` without cancellation, by way of the `ln_1p` given.
#[inline(always)]
pub(super) fn atanh_by<R: Real>(x: R, ln_1p: impl Fn(R) -> R) -> R {
    let magnitude = x.abs();
    let doubled = magnitude + magnitude;
    let rest = R::lit(1.0) - magnitude;
    let near = doubled + doubled * magnitude / rest;
    let argument = R::select(magnitude.less(R::lit(0.5)), near, doubled / rest);
    (ln_1p(argument) * R::lit(0.5)).copysign(x)
}

/// Remainder with the sign of the divisor; a zero remainder has it too.
#[inline(always)]
pub(super) fn remainder<R: Real>(x: R, y: R) -> R {
    let zero = R::lit(0.0);
    let rest = x.fmod(y);
    let is_zero = rest.equals(zero);
    let opposite = (rest.less(zero) & zero.less(y)) | (zero.less(rest) & y.less(zero));
    R::select(
        is_zero,
        zero.copysign(y),
        R::select(opposite, rest + y, rest),
    )
}

/// Quotient rounded down.
///
/// It goes by way of the exact remainder, so it is right also where the rounded quotient reaches the next integer.
#[inline(always)]
pub(super) fn floor_divide<R: Real>(x: R, y: R) -> R {
    let quotient = x / y;
    let exact = (x - remainder(x, y)) / y;
    let whole = exact.round_even();
    let signed = R::select(
        whole.equals(R::lit(0.0)),
        R::lit(0.0).copysign(quotient),
        whole,
    );
    // A zero or infinite operand: the plain quotient says what the standard means, also that a
    // finite number over an infinity is a zero with the quotient's sign.
    let plain = y.equals(R::lit(0.0)) | x.is_inf() | y.is_inf();
    R::select(plain, quotient.floor(), signed)
}

/// `ln(exp(x) + exp(y))` without overflow.
#[inline(always)]
pub(super) fn log_add_exp<R: Real>(x: R, y: R) -> R {
    let tail = x.max(y) + (-(x - y).abs()).exp().ln_1p();
    // Equal operands, infinities among them, whose difference would be a NaN.
    R::select(x.equals(y), x + R::lit(LN_2), tail)
}

/// The neighbour of a float towards another, for either width.
macro_rules! nextafter {
    ($x:ident, $y:ident) => {
        if $x == $y || $x.is_nan() || $y.is_nan() {
            // Equal operands give the second, so that the sign of a zero follows it.
            if $x == $y { $y } else { $x + $y }
        } else if $x < $y {
            $x.next_up()
        } else {
            $x.next_down()
        }
    };
}
pub(super) use nextafter;
