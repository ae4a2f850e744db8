//! Sine, cosine and tangent.

use super::format::{Format, polynomial, rounded_product};
use std::f64::consts::FRAC_2_PI;

/// Sine and cosine of the rest of an angle after `quadrant` multiples of π/2, with what rounding took from them.
struct Reduced<F> {
    sine: F,
    sine_low: F,
    cosine: F,
    cosine_low: F,
    quadrant: F,
}

/// Takes multiples of π/2 off `x` and evaluates both functions there; NaN beyond [`Format::ANGLE_LIMIT`].
#[inline(always)]
fn reduced<F: Format>(x: F) -> Reduced<F> {
    let (half, one) = (F::lit(0.5), F::lit(1.0));
    let x = F::select(x.abs().less(F::lit(F::ANGLE_LIMIT)), x, F::lit(f64::NAN));
    let quadrant = rounded_product(x, F::lit(FRAC_2_PI));
    // Exact: both terms are multiples of the same small power of two.
    let first = (-quadrant).mul_add(F::FRAC_PI_2[0], x);
    // The rest in two parts, so that angles near a multiple of π/2 keep all their digits.
    let product = quadrant * F::FRAC_PI_2[1];
    let product_low = quadrant.mul_add(F::FRAC_PI_2[1], -product);
    let r = first - product;
    let back = r - first;
    let lost = (first - (r - back)) - (product + back);
    let rest = lost - quadrant.mul_add(F::FRAC_PI_2[2], product_low);
    let z = r * r;
    let half_square = half * z;
    let cubic = (r * z).mul_add(polynomial(z, F::SIN), (-half_square).mul_add(rest, rest));
    let sine = r + cubic;
    let rounded = one - half_square;
    let lost = (one - rounded) - half_square;
    let quartic = lost + (z * z).mul_add(polynomial(z, F::COS), -r * rest);
    let cosine = rounded + quartic;
    Reduced {
        sine,
        sine_low: (r - sine) + cubic,
        cosine,
        cosine_low: (rounded - cosine) + quartic,
        quadrant,
    }
}

impl<F: Format> Reduced<F> {
    /// Sine of the whole angle after `more` further quadrants.
    #[inline(always)]
    fn sine_after(&self, more: f64) -> F {
        let [odd, negative] = F::low_bits(self.quadrant + F::lit(more));
        let magnitude = F::select(odd, self.cosine, self.sine);
        F::select(negative, -magnitude, magnitude)
    }
}

/// `result`, but zero for a zero: sums make a positive zero of a negative one.
#[inline(always)]
fn keep_zero<F: Format>(x: F, result: F) -> F {
    F::select(x.equals(F::lit(0.0)), x, result)
}

/// Sine.
#[inline(always)]
pub(super) fn sin<F: Format>(x: F) -> F {
    keep_zero(x, reduced(x).sine_after(0.0))
}

/// Cosine.
#[inline(always)]
pub(super) fn cos<F: Format>(x: F) -> F {
    reduced(x).sine_after(1.0)
}

/// Sine and cosine.
#[inline(always)]
pub(super) fn sin_cos<F: Format>(x: F) -> (F, F) {
    let reduced = reduced(x);
    (
        keep_zero(x, reduced.sine_after(0.0)),
        reduced.sine_after(1.0),
    )
}

/// Tangent.
#[inline(always)]
pub(super) fn tan<F: Format>(x: F) -> F {
    let Reduced {
        sine,
        sine_low,
        cosine,
        cosine_low,
        quadrant,
    } = reduced(x);
    let [odd, _] = F::low_bits(quadrant);
    let (above, above_low) = (
        F::select(odd, -cosine, sine),
        F::select(odd, -cosine_low, sine_low),
    );
    let (below, below_low) = (
        F::select(odd, sine, cosine),
        F::select(odd, sine_low, cosine_low),
    );
    let inverse = F::lit(1.0) / below;
    let quotient = above * inverse;
    let miss = (-quotient).mul_add(below, above) + (-quotient).mul_add(below_low, above_low);
    keep_zero(x, miss.mul_add(inverse, quotient))
}
