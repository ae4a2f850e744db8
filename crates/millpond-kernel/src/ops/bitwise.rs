//! Operations on the bits of integers and on truth values.

use crate::math::{Int, Mask};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! bitwise_rows {
    ($each:ident) => {
        $each! {
            /// The bits that are set in both operands.
            binary bitwise_and(x1, x2) { bool and_bool, int and } ulp 0
                { "[12, 10]", "6" => "[4, 2]" };
            /// The bits that are set in either operand.
            binary bitwise_or(x1, x2) { bool or_bool, int or } ulp 0
                { "[12, 10]", "6" => "[14, 14]" };
            /// The bits that are set in just one of the operands.
            binary bitwise_xor(x1, x2) { bool xor_bool, int xor } ulp 0
                { "[12, 10]", "6" => "[10, 12]" };
            /// The bits that aren't set in each element.
            unary bitwise_invert(x) { bool invert_bool, int invert } ulp 0
                { "[0, 5]" => "[-1, -6]" };
            /// The bits of the first operand, moved up by the second; zeros follow.
            binary bitwise_left_shift(x1, x2) { int left_shift } ulp 0 refuses Bool
                { "[1, 3]", "2" => "[ 4, 12]" };
            /// The bits of the first operand, moved down by the second; the sign follows.
            binary bitwise_right_shift(x1, x2) { int right_shift } ulp 0 refuses Bool
                { "[8, -8]", "2" => "[ 2, -2]" };
        }
    };
}
bitwise_rows!(registry);

#[inline(always)]
fn and_bool<M: Mask>(a: M, b: M) -> M {
    a & b
}

#[inline(always)]
fn and<I: Int>(a: I, b: I) -> I {
    a & b
}

#[inline(always)]
fn or_bool<M: Mask>(a: M, b: M) -> M {
    a | b
}

#[inline(always)]
fn or<I: Int>(a: I, b: I) -> I {
    a | b
}

#[inline(always)]
fn xor_bool<M: Mask>(a: M, b: M) -> M {
    a ^ b
}

#[inline(always)]
fn xor<I: Int>(a: I, b: I) -> I {
    a ^ b
}

#[inline(always)]
fn invert_bool<M: Mask>(x: M) -> M {
    !x
}

#[inline(always)]
fn invert<I: Int>(x: I) -> I {
    !x
}

#[inline(always)]
fn left_shift<I: Int>(a: I, b: I) -> I {
    a.shift_left(b)
}

#[inline(always)]
fn right_shift<I: Int>(a: I, b: I) -> I {
    a.shift_right(b)
}
