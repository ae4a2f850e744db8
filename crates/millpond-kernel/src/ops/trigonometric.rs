//! Trigonometric functions and their inverses.

use crate::math::Real;
use crate::math::complex::{
    acos as acos_complex, asin as asin_complex, atan as atan_complex, cos as cos_complex,
    sin as sin_complex, tan as tan_complex,
};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! trigonometric_rows {
    ($each:ident) => {
        $each! {
            /// Inverse cosine of each element.
            unary acos(x) { lane acos, complex_lane acos_complex } ulp 2
                { "[1.0, 0.0]" => "[0.        , 1.57079633]" };
            /// Inverse sine of each element.
            unary asin(x) { lane asin, complex_lane asin_complex } ulp 2
                { "[0.0, 1.0]" => "[0.        , 1.57079633]" };
            /// Inverse tangent of each element.
            unary atan(x) { lane atan, complex_lane atan_complex } ulp 2
                { "[0.0, 1.0]" => "[0.        , 0.78539816]" };
            /// Angle of the point with ordinate `x1` and abscissa `x2`, in all quadrants.
            binary atan2(x1, x2) { lane atan2 } ulp 2
                { "[1.0, -1.0]", "[0.0, -1.0]" => "[ 1.57079633, -2.35619449]" };
            /// Cosine of each element.
            unary cos(x) { lane cos, complex_lane cos_complex } ulp 2
                { "[0.0, 1.0]" => "[1.        , 0.54030231]" };
            /// Sine of each element.
            unary sin(x) { lane sin, complex_lane sin_complex } ulp 2
                { "[0.0, 1.0]" => "[0.        , 0.84147098]" };
            /// Tangent of each element.
            unary tan(x) { lane tan, complex_lane tan_complex } ulp 2
                { "[0.0, 1.0]" => "[0.        , 1.55740772]" };
        }
    };
}
trigonometric_rows!(registry);

#[inline(always)]
fn acos<R: Real>(x: R) -> R {
    x.acos()
}

#[inline(always)]
fn asin<R: Real>(x: R) -> R {
    x.asin()
}

#[inline(always)]
fn atan<R: Real>(x: R) -> R {
    x.atan()
}

#[inline(always)]
fn atan2<R: Real>(a: R, b: R) -> R {
    a.atan2(b)
}

#[inline(always)]
fn cos<R: Real>(x: R) -> R {
    x.cos()
}

#[inline(always)]
fn sin<R: Real>(x: R) -> R {
    x.sin()
}

#[inline(always)]
fn tan<R: Real>(x: R) -> R {
    x.tan()
}
