//! Comparisons and tests, whose results are truth values.
//!
//! Complex numbers are ordered by their real parts, equal ones by their imaginary parts, as
//! `dpctl.tensor` and NumPy order them.

use crate::math::complex::{
    equals as equal_complex, is_finite as isfinite_complex, is_inf as isinf_complex,
    is_nan as isnan_complex,
};
use crate::math::{Complex, Int, Mask, Real};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! comparison_rows {
    ($each:ident) => {
        $each! {
            /// Whether the first operand equals the second.
            binary equal(x1, x2) { bool equal_bool, int equal_int, real equal, complex equal_complex } ulp 0
                { "[1, 2]", "[1, 3]" => "[ True, False]" };
            /// Whether the first operand is above the second.
            binary greater(x1, x2) { bool greater_bool, int greater_int, real greater, complex greater_complex } ulp 0
                { "[1, 2]", "1" => "[False,  True]" };
            /// Whether the first operand is above or equals the second.
            binary greater_equal(x1, x2) { bool greater_equal_bool, int greater_equal_int, real greater_equal, complex greater_equal_complex } ulp 0
                { "[1, 2]", "2" => "[False,  True]" };
            /// Whether each element is neither infinite nor a NaN.
            unary isfinite(x) { bool always_bool, int always, real isfinite, complex isfinite_complex } ulp 0
                { "[1.0, xp.inf, xp.nan]" => "[ True, False, False]" };
            /// Whether each element is infinite.
            unary isinf(x) { bool never_bool, int never, real isinf, complex isinf_complex } ulp 0
                { "[1.0, xp.inf, xp.nan]" => "[False,  True, False]" };
            /// Whether each element is a NaN.
            unary isnan(x) { bool never_bool, int never, real isnan, complex isnan_complex } ulp 0
                { "[1.0, xp.inf, xp.nan]" => "[False, False,  True]" };
            /// Whether the first operand is below the second.
            binary less(x1, x2) { bool less_bool, int less_int, real less, complex less_complex } ulp 0
                { "[1, 2]", "2" => "[ True, False]" };
            /// Whether the first operand is below or equals the second.
            binary less_equal(x1, x2) { bool less_equal_bool, int less_equal_int, real less_equal, complex less_equal_complex } ulp 0
                { "[1, 2]", "1" => "[ True, False]" };
            /// Whether the first operand differs from the second.
            binary not_equal(x1, x2) { bool not_equal_bool, int not_equal_int, real not_equal, complex not_equal_complex } ulp 0
                { "[1, 2]", "[1, 3]" => "[False,  True]" };
        }
    };
}
comparison_rows!(registry);

#[inline(always)]
fn equal_bool<M: Mask>(a: M, b: M) -> M {
    !(a ^ b)
}

#[inline(always)]
fn equal_int<I: Int>(a: I, b: I) -> I::Mask {
    a.equals(b)
}

#[inline(always)]
fn equal<R: Real>(a: R, b: R) -> R::Mask {
    a.equals(b)
}

#[inline(always)]
fn not_equal_bool<M: Mask>(a: M, b: M) -> M {
    a ^ b
}

#[inline(always)]
fn not_equal_int<I: Int>(a: I, b: I) -> I::Mask {
    !a.equals(b)
}

#[inline(always)]
fn not_equal<R: Real>(a: R, b: R) -> R::Mask {
    !a.equals(b)
}

#[inline(always)]
fn not_equal_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    !equal_complex(a, b)
}

#[inline(always)]
fn less_bool<M: Mask>(a: M, b: M) -> M {
    !a & b
}

#[inline(always)]
fn less_int<I: Int>(a: I, b: I) -> I::Mask {
    a.less(b)
}

#[inline(always)]
fn less<R: Real>(a: R, b: R) -> R::Mask {
    a.less(b)
}

/// By the real part first; a NaN in any part is no order.
#[inline(always)]
fn less_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    let ordered = a.im.equals(a.im) & b.im.equals(b.im);
    ordered & (a.re.less(b.re) | (a.re.equals(b.re) & a.im.less(b.im)))
}

#[inline(always)]
fn less_equal_bool<M: Mask>(a: M, b: M) -> M {
    !a | b
}

#[inline(always)]
fn less_equal_int<I: Int>(a: I, b: I) -> I::Mask {
    a.less_equal(b)
}

#[inline(always)]
fn less_equal<R: Real>(a: R, b: R) -> R::Mask {
    a.less_equal(b)
}

#[inline(always)]
fn less_equal_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    less_complex(a, b) | equal_complex(a, b)
}

#[inline(always)]
fn greater_bool<M: Mask>(a: M, b: M) -> M {
    less_bool(b, a)
}

#[inline(always)]
fn greater_int<I: Int>(a: I, b: I) -> I::Mask {
    b.less(a)
}

#[inline(always)]
fn greater<R: Real>(a: R, b: R) -> R::Mask {
    b.less(a)
}

#[inline(always)]
fn greater_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    less_complex(b, a)
}

#[inline(always)]
fn greater_equal_bool<M: Mask>(a: M, b: M) -> M {
    less_equal_bool(b, a)
}

#[inline(always)]
fn greater_equal_int<I: Int>(a: I, b: I) -> I::Mask {
    b.less_equal(a)
}

#[inline(always)]
fn greater_equal<R: Real>(a: R, b: R) -> R::Mask {
    b.less_equal(a)
}

#[inline(always)]
fn greater_equal_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    less_equal_complex(b, a)
}

#[inline(always)]
fn always<I: Int>(_: I) -> I::Mask {
    I::Mask::lit(true)
}

#[inline(always)]
fn never<I: Int>(_: I) -> I::Mask {
    I::Mask::lit(false)
}

#[inline(always)]
fn isfinite<R: Real>(x: R) -> R::Mask {
    x.is_finite()
}

#[inline(always)]
fn isinf<R: Real>(x: R) -> R::Mask {
    x.is_inf()
}

#[inline(always)]
fn isnan<R: Real>(x: R) -> R::Mask {
    x.is_nan()
}

#[inline(always)]
fn always_bool<M: Mask>(_: M) -> M {
    M::lit(true)
}

#[inline(always)]
fn never_bool<M: Mask>(_: M) -> M {
    M::lit(false)
}
