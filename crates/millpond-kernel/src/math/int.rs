//! The vocabulary of integers: arithmetic that never traps.
//!
//! Results wrap. Where mathematics has no answer the convention of array programs holds: division by zero gives zero, and
//! a shift by as many bits as there are, or more, shifts everything out.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::real::{Mask, host_choices};

/// Hands the rows of the vocabulary of integers to the macro `$each`.
///
/// A row is documentation, signature, and the name in C dialects, whose preludes define it.
macro_rules! int_vocabulary {
    ($each:ident) => {
        $each! {
            /// Sum, wrapped.
            add(x, y) = "add";
            /// Difference, wrapped.
            subtract(x, y) = "subtract";
            /// Product, wrapped.
            multiply(x, y) = "multiply";
            /// Negative, wrapped: of an unsigned number its complement to 2ⁿ.
            negate(x) = "negate";
            /// Magnitude, wrapped: that of the smallest signed number is itself.
            magnitude(x) = "magnitude";
            /// -1, 0 or 1.
            sign(x) = "sign";
            /// The smaller of both.
            min(x, y) = "min";
            /// The larger of both.
            max(x, y) = "max";
            /// Quotient rounded down, as Python's `//`; zero for a zero divisor; the smallest number by -1 wraps.
            floor_divide(x, divisor) = "floor_divide";
            /// Rest of the division rounded down, as Python's `%`: it has the sign of the divisor; zero for a zero divisor.
            remainder(x, divisor) = "remainder";
            /// Power, wrapped. A negative exponent gives the reciprocal rounded towards zero: 0 but for ±1 (and 0 for base 0).
            power(x, exponent) = "power";
            /// `x · 2^count`, wrapped; zero from as many bits as there are. A negative count is as a large one.
            shift_left(x, count) = "shift_left";
            /// `x / 2^count` rounded down; nothing but the sign is left from as many bits as there are.
            /// A negative count is as a large one.
            shift_right(x, count) = "shift_right";
        }
    };
}
pub(crate) use int_vocabulary;

macro_rules! declare {
    ($( $(#[$documentation:meta])* $name:ident($first:ident $(, $more:ident)*) = $c_name:literal; )*) => {
        /// An integer as operation bodies see it.
        pub trait Int:
            Copy
            + BitAnd<Output = Self>
            + BitOr<Output = Self>
            + BitXor<Output = Self>
            + Not<Output = Self>
            + Send
            + Sync
            + 'static
        {
            /// What comparisons yield.
            type Mask: Mask;

            /// A small number, wrapped.
            fn lit(value: i8) -> Self;
            /// `self < other`.
            fn less(self, other: Self) -> Self::Mask;
            /// `self == other`.
            fn equals(self, other: Self) -> Self::Mask;
            /// `yes` where the mask holds, else `no`.
            #[must_use]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

            $( $(#[$documentation])* #[must_use] fn $name(self $(, $more: Self)*) -> Self; )*

            /// `self <= other`.
            #[inline(always)]
            fn less_equal(self, other: Self) -> Self::Mask {
                !other.less(self)
            }
        }
    };
}
int_vocabulary!(declare);

/// What differs between signed and unsigned numbers.
macro_rules! kind {
    (signed) => {
        #[inline(always)]
        fn magnitude(self) -> Self {
            self.wrapping_abs()
        }
        #[inline(always)]
        fn sign(self) -> Self {
            self.signum()
        }
        #[inline(always)]
        fn floor_divide(self, divisor: Self) -> Self {
            if divisor == 0 {
                return 0;
            }
            let quotient = self.wrapping_div(divisor);
            let rest = self.wrapping_rem(divisor);
            if rest != 0 && (rest ^ divisor) < 0 {
                quotient - 1
            } else {
                quotient
            }
        }
        #[inline(always)]
        fn remainder(self, divisor: Self) -> Self {
            if divisor == 0 {
                return 0;
            }
            let rest = self.wrapping_rem(divisor);
            if rest != 0 && (rest ^ divisor) < 0 {
                rest + divisor
            } else {
                rest
            }
        }
    };
    (unsigned) => {
        #[inline(always)]
        fn magnitude(self) -> Self {
            self
        }
        #[inline(always)]
        fn sign(self) -> Self {
            Self::from(self != 0)
        }
        #[inline(always)]
        fn floor_divide(self, divisor: Self) -> Self {
            self.checked_div(divisor).unwrap_or(0)
        }
        #[inline(always)]
        fn remainder(self, divisor: Self) -> Self {
            self.checked_rem(divisor).unwrap_or(0)
        }
    };
}

macro_rules! integers {
    ($($kind:ident $($int:ident)*;)*) => { $($(
        impl Int for $int {
            type Mask = bool;

            #[inline(always)]
            #[allow(clippy::cast_lossless, reason = "one spelling for all widths")]
            fn lit(value: i8) -> Self {
                value as $int
            }
            host_choices!();

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Ord::max(self, other)
            }

            kind!($kind);

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn negate(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn power(self, exponent: Self) -> Self {
                power(self, exponent)
            }
            #[inline(always)]
            fn shift_left(self, count: Self) -> Self {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                self.checked_shl(count).unwrap_or(0)
            }
            #[inline(always)]
            fn shift_right(self, count: Self) -> Self {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                let sign = if self.less(0) { !0 } else { 0 };
                self.checked_shr(count).unwrap_or(sign)
            }
        }
    )*)* };
}
integers! {
    signed i8 i16 i32 i64;
    unsigned u8 u16 u32 u64;
}

/// Power by repeated squaring: one round per bit of the exponent.
#[inline(always)]
fn power<I: Int<Mask = bool>>(base: I, exponent: I) -> I {
    let (zero, one) = (I::lit(0), I::lit(1));
    let odd = (exponent & one).equals(one);
    if exponent.less(zero) {
        let unit = base.magnitude().equals(one);
        return match (unit, odd) {
            (true, true) => base,
            (true, false) => one,
            _ => zero,
        };
    }
    let (mut result, mut square, mut rest) = (one, base, exponent);
    while zero.less(rest) {
        if (rest & one).equals(one) {
            result = result.multiply(square);
        }
        square = square.multiply(square);
        rest = rest.shift_right(one);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::Int;

    #[test]
    fn division_rounds_down_and_the_rest_follows_the_divisor() {
        let rows = [
            (7, 2, 3, 1),
            (-7, 2, -4, 1),
            (7, -2, -4, -1),
            (-7, -2, 3, -1),
            (6, -3, -2, 0),
            (0, -5, 0, 0),
        ];
        for (x, y, quotient, rest) in rows {
            assert_eq!(
                (Int::floor_divide(x, y), Int::remainder(x, y)),
                (quotient, rest),
                "{x} by {y}"
            );
        }
    }

    #[test]
    fn division_never_traps() {
        assert_eq!(
            (Int::floor_divide(5_i8, 0), Int::remainder(5_i8, 0)),
            (0, 0)
        );
        assert_eq!(
            (Int::floor_divide(5_u64, 0), Int::remainder(5_u64, 0)),
            (0, 0)
        );
        assert_eq!(
            (
                Int::floor_divide(i64::MIN, -1),
                Int::remainder(i64::MIN, -1)
            ),
            (i64::MIN, 0)
        );
        assert_eq!(
            (Int::floor_divide(i8::MIN, -1), Int::remainder(i8::MIN, -1)),
            (i8::MIN, 0)
        );
    }

    #[test]
    fn division_holds_the_identity_for_every_pair_of_bytes() {
        for x in i8::MIN..=i8::MAX {
            for y in (i8::MIN..=i8::MAX).filter(|&y| y != 0) {
                let (quotient, rest) = (Int::floor_divide(x, y), Int::remainder(x, y));
                assert_eq!(quotient.multiply(y).add(rest), x, "{x} by {y}");
                assert!(
                    rest == 0 || (rest < 0) == (y < 0),
                    "{x} by {y} leaves {rest}"
                );
                assert!(i16::from(rest).abs() < i16::from(y).abs());
            }
        }
    }

    #[test]
    fn powers_wrap_and_negative_exponents_give_the_truncated_reciprocal() {
        assert_eq!(3_i32.power(4), 81);
        assert_eq!(3_u8.power(6), 729_u32 as u8);
        assert_eq!((-2_i8).power(7), -128);
        assert_eq!(
            (2_i64.power(63), 2_i64.power(64), 0_i16.power(0)),
            (i64::MIN, 0, 1)
        );
        assert_eq!(
            (1_i32.power(-5), (-1_i32).power(-5), (-1_i32).power(-4)),
            (1, -1, 1)
        );
        assert_eq!((7_i32.power(-1), 0_i32.power(-1)), (0, 0));
    }

    #[test]
    fn shifts_by_all_bits_leave_zero_or_the_sign() {
        assert_eq!(
            (1_u8.shift_left(7), 1_u8.shift_left(8), 1_u8.shift_left(255)),
            (128, 0, 0)
        );
        assert_eq!(
            (
                u64::MAX.shift_right(63),
                u64::MAX.shift_right(64),
                u64::MAX.shift_right(u64::MAX)
            ),
            (1, 0, 0)
        );
        assert_eq!((-5_i32).shift_right(1), -3);
        assert_eq!(
            (
                (-5_i32).shift_right(32),
                5_i32.shift_right(32),
                (-1_i8).shift_right(127)
            ),
            (-1, 0, -1)
        );
        assert_eq!((1_i16.shift_left(-1), (-4_i16).shift_right(-1)), (0, -1));
    }

    #[test]
    fn signs_and_magnitudes() {
        assert_eq!(
            (i8::MIN.magnitude(), (-3_i8).magnitude(), 3_u8.magnitude()),
            (i8::MIN, 3, 3)
        );
        assert_eq!(
            (Int::sign(-9_i64), Int::sign(0_i64), Int::sign(9_u16)),
            (-1, 0, 1)
        );
        assert_eq!((i32::MIN.negate(), 1_u8.negate()), (i32::MIN, 255));
    }
}
