//! The vocabulary of integers: arithmetic that never traps.
//!
//! Results wrap. Where mathematics has no answer the convention of array programs holds: division by zero gives zero, and
//! a shift by as many bits as there are, or more, shifts everything out.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// An integer as operation bodies see it.
pub trait Int:
    Copy
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Send
    + Sync
    + 'static
{
    /// Number of bits.
    const BITS: u32;
    /// Nothing.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Smallest number.
    const MIN: Self;
    /// Largest number.
    const MAX: Self;

    /// Sum, wrapped.
    #[must_use]
    fn add(self, other: Self) -> Self;
    /// Difference, wrapped.
    #[must_use]
    fn subtract(self, other: Self) -> Self;
    /// Product, wrapped.
    #[must_use]
    fn multiply(self, other: Self) -> Self;
    /// Negative, wrapped: of an unsigned number its complement to 2ⁿ.
    #[must_use]
    fn negate(self) -> Self;
    /// Magnitude, wrapped: that of the smallest signed number is itself.
    #[must_use]
    fn magnitude(self) -> Self;
    /// -1, 0 or 1.
    #[must_use]
    fn sign(self) -> Self;
    /// Quotient rounded down, as Python's `//`; zero for a zero divisor; the smallest number by -1 wraps.
    #[must_use]
    fn floor_divide(self, divisor: Self) -> Self;
    /// Rest of the division rounded down, as Python's `%`: it has the sign of the divisor; zero for a zero divisor.
    #[must_use]
    fn remainder(self, divisor: Self) -> Self;
    /// Power, wrapped. A negative exponent gives the reciprocal rounded towards zero: 0 but for ±1 (and 0 for base 0).
    #[must_use]
    fn power(self, exponent: Self) -> Self;
    /// `self · 2^count`, wrapped; zero from as many bits as there are. A negative count is as a large one.
    #[must_use]
    fn shift_left(self, count: Self) -> Self;
    /// `self / 2^count` rounded down; nothing but the sign is left from as many bits as there are.
    /// A negative count is as a large one.
    #[must_use]
    fn shift_right(self, count: Self) -> Self;
    /// Whether this is below zero.
    fn is_negative(self) -> bool;
    /// This number as a float, rounded to nearest.
    fn to_f64(self) -> f64;
}

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
        fn is_negative(self) -> bool {
            self < 0
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
        fn is_negative(self) -> bool {
            false
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
            const BITS: u32 = $int::BITS;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const MIN: Self = $int::MIN;
            const MAX: Self = $int::MAX;

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
                let sign = if Int::is_negative(self) { !0 } else { 0 };
                self.checked_shr(count).unwrap_or(sign)
            }
            #[inline(always)]
            #[allow(clippy::cast_lossless, reason = "one spelling for all widths")]
            fn to_f64(self) -> f64 {
                self as f64
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
fn power<I: Int>(base: I, exponent: I) -> I {
    let odd = exponent & I::ONE == I::ONE;
    if exponent.is_negative() {
        let unit = base.magnitude() == I::ONE;
        return match (unit, odd) {
            (true, true) => base,
            (true, false) => I::ONE,
            _ => I::ZERO,
        };
    }
    let (mut result, mut square, mut rest) = (I::ONE, base, exponent);
    while rest > I::ZERO {
        if rest & I::ONE == I::ONE {
            result = result.multiply(square);
        }
        square = square.multiply(square);
        rest = rest.shift_right(I::ONE);
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
