//! Hyperbolic functions and their inverses.

use crate::math::Real;
use crate::math::complex::{
    acosh as acosh_complex, asinh as asinh_complex, atanh as atanh_complex, cosh as cosh_complex,
    sinh as sinh_complex, tanh as tanh_complex,
};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! hyperbolic_rows {
    ($each:ident) => {
        $each! {
            /// Inverse hyperbolic cosine of each element.
            unary acosh(x) { lane acosh, complex_lane acosh_complex } ulp 2
                { "[1.0, 2.0]" => "[0.       , 1.3169579]" };
            /// Inverse hyperbolic sine of each element.
            unary asinh(x) { lane asinh, complex_lane asinh_complex } ulp 2
                { "[0.0, 1.0]" => "[0.        , 0.88137359]" };
            /// Inverse hyperbolic tangent of each element.
            unary atanh(x) { lane atanh, complex_lane atanh_complex } ulp 2
                { "[0.0, 0.5]" => "[0.        , 0.54930614]" };
            /// Hyperbolic cosine of each element.
            unary cosh(x) { lane cosh, complex_lane cosh_complex } ulp 2
                { "[0.0, 1.0]" => "[1.        , 1.54308063]" };
            /// Hyperbolic sine of each element.
            unary sinh(x) { lane sinh, complex_lane sinh_complex } ulp 2
                { "[0.0, 1.0]" => "[0.        , 1.17520119]" };
            /// Hyperbolic tangent of each element.
            unary tanh(x) { lane tanh, complex_lane tanh_complex } ulp 2
                { "[0.0, 1.0]" => "[0.        , 0.76159416]" };
        }
    };
}
hyperbolic_rows!(registry);

#[inline(always)]
fn acosh<R: Real>(x: R) -> R {
    x.acosh()
}

#[inline(always)]
fn asinh<R: Real>(x: R) -> R {
    x.asinh()
}

#[inline(always)]
fn atanh<R: Real>(x: R) -> R {
    x.atanh()
}

#[inline(always)]
fn cosh<R: Real>(x: R) -> R {
    x.cosh()
}

#[inline(always)]
fn sinh<R: Real>(x: R) -> R {
    x.sinh()
}

#[inline(always)]
fn tanh<R: Real>(x: R) -> R {
    x.tanh()
}
