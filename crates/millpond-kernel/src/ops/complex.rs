//! The parts of complex numbers.

use crate::math::complex::{angle as angle_complex, conjugate as conj, proj as proj_complex};
use crate::math::{Complex, Int, Mask, Real};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! complex_rows {
    ($each:ident) => {
        $each! {
            /// Angle of each element with the positive real axis.
            unary angle(x) { lane angle, complex_part angle_complex } ulp 2
                { "[1j, -1.0]" => "[1.57079633, 3.14159265]" };
            /// Each element with the sign of its imaginary part turned.
            unary conj(x) { int same, real same, complex conj } ulp 0
                { "[1 + 2j, 3.0]" => "[1.-2.j, 3.-0.j]" };
            /// Imaginary part of each element.
            unary imag(x) { bool zero_bool, int zero_int, real zero, complex imag } ulp 0
                { "[1 + 2j, 3.0]" => "[2., 0.]" };
            /// Each element, with all infinities made one.
            unary proj(x) { real proj, complex proj_complex } ulp 0
                { "[1 + 2j, complex(-xp.inf, 1)]" => "[ 1.+2.j, inf+0.j]" };
            /// Real part of each element.
            unary real(x) { bool same_bool, int same, real same, complex real } ulp 0
                { "[1 + 2j, 3.0]" => "[1., 3.]" };
        }
    };
}
complex_rows!(registry);

#[inline(always)]
fn same<T>(x: T) -> T {
    x
}

/// Zero, or pi left of the origin; a NaN stays one.
#[inline(always)]
fn angle<R: Real>(x: R) -> R {
    R::lit(0.0).atan2(x)
}

#[inline(always)]
fn zero_bool<M: Mask>(_: M) -> M {
    M::lit(false)
}

#[inline(always)]
fn zero_int<I: Int>(_: I) -> I {
    I::lit(0)
}

#[inline(always)]
fn zero<R: Real>(_: R) -> R {
    R::lit(0.0)
}

#[inline(always)]
fn imag<R: Real>(z: Complex<R>) -> R {
    z.im
}

#[inline(always)]
fn real<R: Real>(z: Complex<R>) -> R {
    z.re
}

#[inline(always)]
fn proj<R: Real>(x: R) -> R {
    R::select(x.is_inf(), x.abs(), x)
}

#[inline(always)]
fn same_bool<M: Mask>(x: M) -> M {
    x
}
