//! Sums, products, quotients and what is made of them.

use crate::math::complex::{
    abs as abs_complex, add as add_complex, divide as divide_complex, multiply as multiply_complex,
    negate as negative_complex, reciprocal as reciprocal_complex, sign as sign_complex,
    square as square_complex, subtract as subtract_complex,
};
use crate::math::{Complex, Half, Int, Mask, Real};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! arithmetic_rows {
    ($each:ident) => {
        $each! {
            /// Magnitude of each element.
            unary abs(x) { bool same_bool, int abs_int, real abs, complex_part abs_complex } ulp 2
                { "[-2, 3]" => "[2, 3]" };
            /// Sum of both operands.
            binary add(x1, x2) { bool either, int add_int, real add, complex add_complex } ulp 0
                { "[1, 2]", "[10, 20]" => "[11, 22]" };
            /// Magnitude of the first operand with the sign of the second.
            binary copysign(x1, x2) { real copysign } ulp 0
                { "[1.0, 2.0]", "[-0.0, 5.0]" => "[-1.,  2.]" };
            /// Quotient of both operands.
            binary divide(x1, x2) { real divide, complex_lane divide_complex } ulp 0
                { "[1, 3]", "2" => "[0.5, 1.5]" };
            /// Quotient of both operands, rounded down.
            binary floor_divide(x1, x2) { int floor_divide_int, real floor_divide } ulp 0
                { "[7, -7]", "2" => "[ 3, -4]" };
            /// Length of the vector of both operands, without undue overflow.
            binary hypot(x1, x2) { lane hypot } ulp 2
                { "[3.0, 5.0]", "[4.0, 12.0]" => "[ 5., 13.]" };
            /// Product of both operands.
            binary multiply(x1, x2) { bool both, int multiply_int, real multiply, complex multiply_complex } ulp 0
                { "[2, 3]", "[5, 7]" => "[10, 21]" };
            /// Each element with the opposite sign.
            unary negative(x) { int negative_int, real negative, complex negative_complex } ulp 0 refuses Bool
                { "[1, -2]" => "[-1,  2]" };
            /// The neighbour of the first operand towards the second.
            binary nextafter(x1, x2) { half nextafter_half, real nextafter } ulp 0
                { "[1.0, 0.0]", "xp.inf" => "[1.e+000, 5.e-324]" };
            /// Each element as it is.
            unary positive(x) { int same, real same, complex same_complex } ulp 0 refuses Bool
                { "[1, -2]" => "[ 1, -2]" };
            /// One divided by each element.
            unary reciprocal(x) { real reciprocal, complex_lane reciprocal_complex } ulp 0
                { "[2.0, -4.0]" => "[ 0.5 , -0.25]" };
            /// Rest of the quotient rounded down; it has the sign of the second operand.
            binary remainder(x1, x2) { int remainder_int, lane remainder } ulp 0
                { "[7, -7]", "3" => "[1, 2]" };
            /// Sign of each element: -1, 0 or 1, or a complex number on the unit circle.
            unary sign(x) { int sign_int, real sign, complex_lane sign_complex } ulp 2 refuses Bool
                { "[-2.5, 0.0, 3.0]" => "[-1.,  0.,  1.]" };
            /// Whether the sign bit of each element is set, also of zeros and NaNs.
            unary signbit(x) { real signbit } ulp 0
                { "[-0.0, 0.0, -1.0]" => "[ True, False,  True]" };
            /// Each element times itself.
            unary square(x) { int square_int, real square, complex square_complex } ulp 0
                { "[3, -4]" => "[ 9, 16]" };
            /// Difference of both operands.
            binary subtract(x1, x2) { int subtract_int, real subtract, complex subtract_complex } ulp 0 refuses Bool
                { "[5, 7]", "[1, 10]" => "[ 4, -3]" };
        }
    };
}
arithmetic_rows!(registry);

#[inline(always)]
fn same<T>(x: T) -> T {
    x
}

#[inline(always)]
fn same_complex<R: Real>(z: Complex<R>) -> Complex<R> {
    z
}

#[inline(always)]
fn abs_int<I: Int>(x: I) -> I {
    x.magnitude()
}

#[inline(always)]
fn abs<R: Real>(x: R) -> R {
    x.abs()
}

#[inline(always)]
fn either<M: Mask>(a: M, b: M) -> M {
    a | b
}

#[inline(always)]
fn add_int<I: Int>(a: I, b: I) -> I {
    a.add(b)
}

#[inline(always)]
fn add<R: Real>(a: R, b: R) -> R {
    a + b
}

#[inline(always)]
fn copysign<R: Real>(a: R, b: R) -> R {
    a.copysign(b)
}

#[inline(always)]
fn divide<R: Real>(a: R, b: R) -> R {
    a / b
}

#[inline(always)]
fn floor_divide_int<I: Int>(a: I, b: I) -> I {
    a.floor_divide(b)
}

#[inline(always)]
fn floor_divide<R: Real>(a: R, b: R) -> R {
    a.floor_divide(b)
}

#[inline(always)]
fn hypot<R: Real>(a: R, b: R) -> R {
    a.hypot(b)
}

#[inline(always)]
fn both<M: Mask>(a: M, b: M) -> M {
    a & b
}

#[inline(always)]
fn multiply_int<I: Int>(a: I, b: I) -> I {
    a.multiply(b)
}

#[inline(always)]
fn multiply<R: Real>(a: R, b: R) -> R {
    a * b
}

#[inline(always)]
fn negative_int<I: Int>(x: I) -> I {
    x.negate()
}

#[inline(always)]
fn negative<R: Real>(x: R) -> R {
    -x
}

#[inline(always)]
fn nextafter_half<H: Half>(a: H, b: H) -> H {
    a.nextafter(b)
}

#[inline(always)]
fn nextafter<R: Real>(a: R, b: R) -> R {
    a.nextafter(b)
}

#[inline(always)]
fn reciprocal<R: Real>(x: R) -> R {
    R::lit(1.0) / x
}

#[inline(always)]
fn remainder_int<I: Int>(a: I, b: I) -> I {
    a.remainder(b)
}

#[inline(always)]
fn remainder<R: Real>(a: R, b: R) -> R {
    a.remainder(b)
}

#[inline(always)]
fn sign_int<I: Int>(x: I) -> I {
    x.sign()
}

#[inline(always)]
fn sign<R: Real>(x: R) -> R {
    let zero = R::lit(0.0);
    let unit = R::select(x.less(zero), R::lit(-1.0), R::lit(1.0));
    let known = R::select(x.equals(zero), zero, unit);
    R::select(x.is_nan(), x, known)
}

#[inline(always)]
fn signbit<R: Real>(x: R) -> R::Mask {
    x.sign_bit()
}

#[inline(always)]
fn square_int<I: Int>(x: I) -> I {
    x.multiply(x)
}

#[inline(always)]
fn square<R: Real>(x: R) -> R {
    x * x
}

#[inline(always)]
fn subtract_int<I: Int>(a: I, b: I) -> I {
    a.subtract(b)
}

#[inline(always)]
fn subtract<R: Real>(a: R, b: R) -> R {
    a - b
}

#[inline(always)]
fn same_bool<M: Mask>(x: M) -> M {
    x
}
