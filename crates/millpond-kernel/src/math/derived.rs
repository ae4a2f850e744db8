//! Functions made of the vocabulary, for every instance at once.

use std::f64::consts::LN_2;

use super::real::Real;

/// Beyond this the square of a number hides one in `f64`.
const HUGE: f64 = (1_u64 << 60) as f64;

/// Inverse hyperbolic sine: `ln(x + sqrt(x² + 1))` without cancellation or overflow, by way of the `ln_1p` given.
#[inline(always)]
pub(crate) fn asinh_by<R: Real>(x: R, ln_1p: impl Fn(R) -> R) -> R {
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
pub(crate) fn acosh_by<R: Real>(x: R, ln_1p: impl Fn(R) -> R) -> R {
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

/// Quotient rounded down: the integer not above the exact quotient, rounded to the format if that lacks it.
///
/// The plain quotient is rounded, so its floor may be one too large; the sign of the rest, which a fused multiply-add
/// has exactly, tells. Beyond the consecutive integers of the format the quotient is an integer already, but may have
/// been rounded up where the exact one, rounded down, lies in the middle, which goes to the even side.
///
/// Zeros and infinities need no care: their rests are NaNs, which ask for no correction, and the plain quotient says what
/// the standard means.
#[inline(always)]
pub(super) fn floor_divide<R: Real>(x: R, y: R) -> R {
    let (zero, one, half) = (R::lit(0.0), R::lit(1.0), R::lit(0.5));
    let divisor = y.abs();
    let dividend = R::select(y.sign_bit(), -x, x);
    let whole = (dividend / divisor).floor();
    let rest = (-whole).mul_add(divisor, dividend);
    // Half the distance from the quotient to the next one away from zero, which is one or more where it is used.
    let halved = whole.abs() * half;
    let step = halved.mul_add(R::epsilon() * half * (one + R::epsilon()), halved) - halved;
    let gapped = (R::lit(2.0) / R::epsilon()).less_equal(whole.abs());
    let in_the_middle = step.mul_add(divisor, rest).less(divisor);
    let correction = R::select(
        gapped,
        R::select(in_the_middle, step, zero),
        R::select(rest.less(zero), one, zero),
    );
    whole - correction
}

/// `ln(exp(x) + exp(y))` without overflow, by way of the functions given.
///
/// Where both terms cancel nearly, so that the result is smaller than one, it is as exact as one would be in the type
/// that this is computed in. If the numbers `are_narrow`, with half its digits, a difference loses nothing that counts.
#[inline(always)]
pub(crate) fn log_add_exp_by<R: Real>(
    (x, y): (R, R),
    are_narrow: bool,
    exp: impl Fn(R) -> R,
    ln_1p: impl Fn(R) -> R,
) -> R {
    let difference = x - y;
    let mut smaller = exp(-difference.abs());
    if !are_narrow {
        // What rounding took from the difference, and its share of the exponential.
        let back = x - difference;
        let lost = (x - (difference + back)) + (back - y);
        let lost = R::select(difference.less(R::lit(0.0)), lost, -lost);
        smaller = R::select(lost.is_finite(), smaller.mul_add(lost, smaller), smaller);
    }
    // Equal operands, infinities among them, whose difference would be a NaN.
    R::select(x.equals(y), x + R::lit(LN_2), x.max(y) + ln_1p(smaller))
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
