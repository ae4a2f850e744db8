//! Sine, cosine and tangent.

use super::coefficients::{FRAC_PI_2_H, FRAC_PI_2_L, FRAC_PI_2_M};
use super::format::{Format, polynomial, rounded_product};
use std::f64::consts::FRAC_2_PI;

/// Arguments from here on are left to the reference: the three parts of π/2 would no longer do.
const LIMIT: f64 = 1.0e9;

/// Sine and cosine of the rest of `x` after `quadrant` multiples of π/2.
struct Reduced {
    sine: f64,
    cosine: f64,
    quadrant: u64,
}

/// Takes multiples of π/2 off `x` and evaluates both functions there; NaN beyond [`LIMIT`].
#[inline(always)]
fn reduced<F: Format>(x: f64) -> Reduced {
    let x = if x.abs() < LIMIT { x } else { f64::NAN };
    let n = rounded_product(x, FRAC_2_PI);
    let quadrant = (n + f64::ROUND).to_bits();
    // Exact: both terms are multiples of the same small power of two.
    let first = (-n).mul_add(FRAC_PI_2_H, x);
    let (r, rest) = if F::NARROW {
        ((-n).mul_add(FRAC_PI_2_M, first), 0.0)
    } else {
        let product = n * FRAC_PI_2_M;
        let product_low = n.mul_add(FRAC_PI_2_M, -product);
        let r = first - product;
        let back = r - first;
        let lost = (first - (r - back)) + (-product - back);
        (r, lost - product_low - n * FRAC_PI_2_L)
    };
    let z = r * r;
    let half = 0.5 * z;
    let sine = r + (r * z).mul_add(polynomial(z, F::WIDE_SIN), (-half).mul_add(rest, rest));
    let rounded = 1.0 - half;
    let lost = (1.0 - rounded) - half;
    let cosine = rounded + (lost + (z * z).mul_add(polynomial(z, F::WIDE_COS), -r * rest));
    Reduced {
        sine,
        cosine,
        quadrant,
    }
}

impl Reduced {
    /// Sine of the whole after `more` further quadrants.
    #[inline(always)]
    fn sine_after(&self, more: u64) -> f64 {
        let quadrant = self.quadrant.wrapping_add(more);
        let magnitude = if quadrant & 1 == 0 {
            self.sine
        } else {
            self.cosine
        };
        f64::from_bits(magnitude.to_bits() ^ ((quadrant & 2) << 62))
    }
}

/// Sine.
#[inline(always)]
pub(super) fn sin<F: Format>(x: F) -> F {
    let result = F::narrow(reduced::<F>(x.widen()).sine_after(0));
    // The sum would make a positive zero of a negative one.
    F::select(x.equals(F::lit(0.0)), x, result)
}

/// Cosine.
#[inline(always)]
pub(super) fn cos<F: Format>(x: F) -> F {
    F::narrow(reduced::<F>(x.widen()).sine_after(1))
}

/// Sine and cosine.
#[inline(always)]
pub(super) fn sin_cos<F: Format>(x: F) -> (F, F) {
    let reduced = reduced::<F>(x.widen());
    let sine = F::narrow(reduced.sine_after(0));
    (
        F::select(x.equals(F::lit(0.0)), x, sine),
        F::narrow(reduced.sine_after(1)),
    )
}

/// Tangent.
#[inline(always)]
pub(super) fn tan<F: Format>(x: F) -> F {
    let Reduced {
        sine,
        cosine,
        quadrant,
    } = reduced::<F>(x.widen());
    let even = quadrant & 1 == 0;
    let above = if even { sine } else { -cosine };
    let below = if even { cosine } else { sine };
    F::select(x.equals(F::lit(0.0)), x, F::narrow(above / below))
}
