//! Logic on truth values; numbers count as true unless they are zero.

use crate::math::{Complex, Int, Mask, Real};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! logical_rows {
    ($each:ident) => {
        $each! {
            /// Whether both operands differ from zero.
            binary logical_and(x1, x2) { bool and_bool, int and_int, real and, complex and_complex } ulp 0
                { "[True, True]", "[True, False]" => "[ True, False]" };
            /// Whether either operand differs from zero.
            binary logical_or(x1, x2) { bool or_bool, int or_int, real or, complex or_complex } ulp 0
                { "[True, False]", "[False, False]" => "[ True, False]" };
            /// Whether just one of the operands differs from zero.
            binary logical_xor(x1, x2) { bool xor_bool, int xor_int, real xor, complex xor_complex } ulp 0
                { "[True, True]", "[True, False]" => "[False,  True]" };
            /// Whether each element is zero.
            unary logical_not(x) { bool not_bool, int not_int, real not, complex not_complex } ulp 0
                { "[0, 3]" => "[ True, False]" };
        }
    };
}
logical_rows!(registry);

#[inline(always)]
fn and_bool<M: Mask>(a: M, b: M) -> M {
    a & b
}

#[inline(always)]
fn and_int<I: Int>(a: I, b: I) -> I::Mask {
    truth_int(a) & truth_int(b)
}

#[inline(always)]
fn and<R: Real>(a: R, b: R) -> R::Mask {
    truth(a) & truth(b)
}

#[inline(always)]
fn and_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    truth_complex(a) & truth_complex(b)
}

#[inline(always)]
fn or_bool<M: Mask>(a: M, b: M) -> M {
    a | b
}

#[inline(always)]
fn or_int<I: Int>(a: I, b: I) -> I::Mask {
    truth_int(a) | truth_int(b)
}

#[inline(always)]
fn or<R: Real>(a: R, b: R) -> R::Mask {
    truth(a) | truth(b)
}

#[inline(always)]
fn or_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    truth_complex(a) | truth_complex(b)
}

#[inline(always)]
fn xor_bool<M: Mask>(a: M, b: M) -> M {
    a ^ b
}

#[inline(always)]
fn xor_int<I: Int>(a: I, b: I) -> I::Mask {
    truth_int(a) ^ truth_int(b)
}

#[inline(always)]
fn xor<R: Real>(a: R, b: R) -> R::Mask {
    truth(a) ^ truth(b)
}

#[inline(always)]
fn xor_complex<R: Real>(a: Complex<R>, b: Complex<R>) -> R::Mask {
    truth_complex(a) ^ truth_complex(b)
}

#[inline(always)]
fn not_bool<M: Mask>(x: M) -> M {
    !x
}

#[inline(always)]
fn not_int<I: Int>(x: I) -> I::Mask {
    x.equals(I::lit(0))
}

#[inline(always)]
fn not<R: Real>(x: R) -> R::Mask {
    x.equals(R::lit(0.0))
}

#[inline(always)]
fn not_complex<R: Real>(z: Complex<R>) -> R::Mask {
    z.re.equals(R::lit(0.0)) & z.im.equals(R::lit(0.0))
}

#[inline(always)]
fn truth_int<I: Int>(x: I) -> I::Mask {
    !not_int(x)
}

#[inline(always)]
fn truth<R: Real>(x: R) -> R::Mask {
    !not(x)
}

#[inline(always)]
fn truth_complex<R: Real>(z: Complex<R>) -> R::Mask {
    !not_complex(z)
}
