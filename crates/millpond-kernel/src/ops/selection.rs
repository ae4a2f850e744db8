//! Choosing between elements.
//!
//! A NaN wins over every number, so that it isn't lost.

use crate::math::{Complex, Int, Mask, Real};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! selection_rows {
    ($each:ident) => {
        $each! {
            /// Each element, but no less than the lower and no more than the upper bound.
            ternary clip(x, min, max) { bool clip_bool, int clip_int, real clip, complex clip_complex } ulp 0;
            /// The larger of both operands.
            binary maximum(x1, x2) { bool maximum_bool, int maximum_int, real maximum, complex maximum_complex } ulp 0
                { "[1, 5]", "[4, 2]" => "[4, 5]" };
            /// The smaller of both operands.
            binary minimum(x1, x2) { bool minimum_bool, int minimum_int, real minimum, complex minimum_complex } ulp 0
                { "[1, 5]", "[4, 2]" => "[1, 2]" };
            /// The second operand where the condition holds, else the third.
            ternary where_(condition, x1, x2) { bool choose_bool, int choose_int, real choose, complex choose_complex } ulp 0;
        }
    };
}
selection_rows!(registry);

#[inline(always)]
fn maximum_bool<M: Mask>(a: M, b: M) -> M {
    a | b
}

#[inline(always)]
fn maximum_int<I: Int>(a: I, b: I) -> I {
    a.max(b)
}

#[inline(always)]
fn maximum<R: Real>(a: R, b: R) -> R {
    a.max(b)
}

#[inline(always)]
fn minimum_bool<M: Mask>(a: M, b: M) -> M {
    a & b
}

#[inline(always)]
fn minimum_int<I: Int>(a: I, b: I) -> I {
    a.min(b)
}

#[inline(always)]
fn minimum<R: Real>(a: R, b: R) -> R {
    a.min(b)
}

#[inline(always)]
fn maximum_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> Complex<R> {
    pick(nan(a) | (!nan(b) & above(a, b)), a, b)
}

#[inline(always)]
fn minimum_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> Complex<R> {
    pick(nan(a) | (!nan(b) & above(b, a)), a, b)
}

#[inline(always)]
fn above<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    b.re.less(a.re) | (a.re.equals(b.re) & b.im.less(a.im))
}

#[inline(always)]
fn nan<R: Real>(z: Complex<R>) -> R::Mask {
    z.re.is_nan() | z.im.is_nan()
}

#[inline(always)]
fn pick<R: Real>(mask: R::Mask, yes: Complex<R>, no: Complex<R>) -> Complex<R> {
    Complex::new(
        R::select(mask, yes.re, no.re),
        R::select(mask, yes.im, no.im),
    )
}

#[inline(always)]
fn clip_bool<M: Mask>(x: M, low: M, high: M) -> M {
    (x | low) & high
}

#[inline(always)]
fn clip_int<I: Int>(x: I, low: I, high: I) -> I {
    x.max(low).min(high)
}

#[inline(always)]
fn clip<R: Real>(x: R, low: R, high: R) -> R {
    x.max(low).min(high)
}

#[inline(always)]
fn clip_complex<R: Real>(x: Complex<R>, low: Complex<R>, high: Complex<R>) -> Complex<R> {
    minimum_complex(maximum_complex(x, low), high)
}

#[inline(always)]
fn choose_bool<M: Mask>(condition: M, yes: M, no: M) -> M {
    (condition & yes) | (!condition & no)
}

#[inline(always)]
fn choose_int<I: Int>(condition: I::Mask, yes: I, no: I) -> I {
    I::select(condition, yes, no)
}

#[inline(always)]
fn choose<R: Real>(condition: R::Mask, yes: R, no: R) -> R {
    R::select(condition, yes, no)
}

#[inline(always)]
fn choose_complex<R: Real>(condition: R::Mask, yes: Complex<R>, no: Complex<R>) -> Complex<R> {
    pick(condition, yes, no)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_in_either_part_of_either_operand_is_passed_on() {
        let one = Complex::new(1.0_f64, 0.0);
        for unknown in [Complex::new(f64::NAN, 0.0), Complex::new(0.0, f64::NAN)] {
            for pick in [minimum_complex::<f64>, maximum_complex::<f64>] {
                for (a, b) in [
                    (one, unknown),
                    (unknown, one),
                    (-one, unknown),
                    (unknown, -one),
                ] {
                    let found = pick(a, b);
                    assert!(found.re.is_nan() || found.im.is_nan(), "{a} {b}");
                }
            }
        }
    }
}
