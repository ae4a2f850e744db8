//! Hyperbolic functions and their inverses.

use crate::math::Real;
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! hyperbolic_rows {
    ($each:ident) => {
        $each! {
            /// Inverse hyperbolic cosine of each element.
            unary acosh(x) { lane acosh } ulp 2;
            /// Inverse hyperbolic sine of each element.
            unary asinh(x) { lane asinh } ulp 2;
            /// Inverse hyperbolic tangent of each element.
            unary atanh(x) { lane atanh } ulp 2;
            /// Hyperbolic cosine of each element.
            unary cosh(x) { lane cosh } ulp 2;
            /// Hyperbolic sine of each element.
            unary sinh(x) { lane sinh } ulp 2;
            /// Hyperbolic tangent of each element.
            unary tanh(x) { lane tanh } ulp 2;
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
