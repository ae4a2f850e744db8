//! Rounding to integers.

use crate::math::{Complex, Mask, Real};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! rounding_rows {
    ($each:ident) => {
        $each! {
            /// Smallest integer that isn't below each element.
            unary ceil(x) { bool same_bool, int same, real ceil } ulp 0
                { "[1.2, -1.2]" => "[ 2., -1.]" };
            /// Largest integer that isn't above each element.
            unary floor(x) { bool same_bool, int same, real floor } ulp 0
                { "[1.2, -1.2]" => "[ 1., -2.]" };
            /// Nearest integer of each element, ties to even.
            unary round(x) { bool same_bool, int same, real round, complex round_complex } ulp 0
                { "[0.5, 1.5, 1.7]" => "[0., 2., 2.]" };
            /// Each element without its fraction.
            unary trunc(x) { bool same_bool, int same, real trunc } ulp 0
                { "[1.7, -1.7]" => "[ 1., -1.]" };
        }
    };
}
rounding_rows!(registry);

#[inline(always)]
fn same<T>(x: T) -> T {
    x
}

#[inline(always)]
fn ceil<R: Real>(x: R) -> R {
    x.ceil()
}

#[inline(always)]
fn floor<R: Real>(x: R) -> R {
    x.floor()
}

#[inline(always)]
fn round<R: Real>(x: R) -> R {
    x.round_even()
}

#[inline(always)]
fn round_complex<R: Real>(z: Complex<R>) -> Complex<R> {
    Complex::new(z.re.round_even(), z.im.round_even())
}

#[inline(always)]
fn trunc<R: Real>(x: R) -> R {
    x.trunc()
}

#[inline(always)]
fn same_bool<M: Mask>(x: M) -> M {
    x
}
