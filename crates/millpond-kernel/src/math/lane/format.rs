//! What the lane functions need to know of a floating-point format: its bits and its tables.

use super::coefficients as table;
use crate::math::real::Real;

/// A floating-point format that lane functions are written over: `f32` or `f64`.
///
/// `WIDE_*` tables serve results of this format that are summed in `f64`.
pub trait Format: Real<Mask = bool> {
    /// Whether `f64` holds this format's results with so many bits to spare that no correction terms are needed.
    const NARROW: bool;
    /// Added and subtracted again, it rounds small numbers to integers.
    const ROUND: f64;
    /// Number of explicit mantissa bits.
    const MANTISSA_BITS: u32;
    /// Bias of the exponent.
    const BIAS: f64;
    /// Powers of `e` above this overflow.
    const EXP_MAX: f64;
    /// Powers of `e` below this vanish.
    const EXP_MIN: f64;

    /// `(e^r - 1 - r) / r²`.
    const EXP: &'static [Self];
    /// `(2 atanh(s) / s - 2) / s²`.
    const LOG: &'static [Self];
    /// `(sinh(x) / x - 1) / x²`.
    const SINH: &'static [Self];
    /// `(sin(r) / r - 1) / r²`.
    const SIN: &'static [Self];
    /// `(cos(r) - 1 + r²/2) / r⁴`.
    const COS: &'static [Self];
    /// π/2 in three parts.
    const FRAC_PI_2: [Self; 3];
    /// Angles from here on would need more parts of π/2.
    const ANGLE_LIMIT: f64;
    /// As [`Format::EXP`], for sums in `f64`.
    const WIDE_EXP: &'static [f64];
    /// As [`Format::LOG`], for sums in `f64`.
    const WIDE_LOG: &'static [f64];
    /// `(atan(t) / t - 1) / t²`.
    const WIDE_ATAN: &'static [f64];
    /// `(asin(x) / x - 1) / x²`.
    const WIDE_ASIN: &'static [f64];
    /// ln 2 in two parts, the first short enough for exact multiples.
    const LN_2: [Self; 2];
    /// ln 2 in two parts, the first rounded to nearest.
    const LN_2_FULL: [Self; 2];
    /// log2(e) in two parts.
    const LOG2_E: [Self; 2];
    /// log10(e) in two parts.
    const LOG10_E: [Self; 2];
    /// log10(2) in two parts, the first short enough for exact multiples.
    const LOG10_2: [Self; 2];

    /// Two to the power `k`, an integer within the exponents of normal numbers.
    fn power_of_two(k: Self) -> Self;
    /// `(k, m)` with `x = m · 2^k` and `m` from √½ to √2; for positive normal `x`.
    fn split(x: Self) -> (Self, Self);
    /// The lowest two bits of `n`, an integer below 2^(mantissa bits - 2).
    fn low_bits(n: Self) -> [bool; 2];
    /// This number in `f64`.
    fn widen(self) -> f64;
    /// `wide` rounded to this format.
    fn narrow(wide: f64) -> Self;
}

impl Format for f64 {
    const NARROW: bool = false;
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const MANTISSA_BITS: u32 = 52;
    const BIAS: f64 = 1023.0;
    const EXP_MAX: f64 = 710.0;
    const EXP_MIN: f64 = -746.0;

    const EXP: &'static [f64] = table::EXP_F64;
    const LOG: &'static [f64] = table::LOG_F64;
    const SINH: &'static [f64] = table::SINH_F64;
    const WIDE_EXP: &'static [f64] = table::EXP_F64;
    const WIDE_LOG: &'static [f64] = table::LOG_F64;
    const SIN: &'static [f64] = table::SIN_F64;
    const COS: &'static [f64] = table::COS_F64;
    const FRAC_PI_2: [f64; 3] = [table::FRAC_PI_2_H, table::FRAC_PI_2_M, table::FRAC_PI_2_L];
    const ANGLE_LIMIT: f64 = 1.0e9;
    const WIDE_ATAN: &'static [f64] = table::ATAN_F64;
    const WIDE_ASIN: &'static [f64] = table::ASIN_F64;
    const LN_2: [f64; 2] = [table::LN_2_H, table::LN_2_L];
    const LN_2_FULL: [f64; 2] = [table::LN_2_FULL_H, table::LN_2_FULL_L];
    const LOG2_E: [f64; 2] = [table::LOG2_E_H, table::LOG2_E_L];
    const LOG10_E: [f64; 2] = [table::LOG10_E_H, table::LOG10_E_L];
    const LOG10_2: [f64; 2] = [table::LOG10_2_H, table::LOG10_2_L];

    #[inline(always)]
    fn power_of_two(k: f64) -> f64 {
        f64::from_bits((k + (Self::ROUND + Self::BIAS)).to_bits() << 52)
    }
    #[inline(always)]
    fn split(x: f64) -> (f64, f64) {
        const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
        let bits = x.to_bits();
        let above = bits.wrapping_sub(SQRT_HALF);
        let m = f64::from_bits(bits.wrapping_sub(above & 0xfff0_0000_0000_0000));
        // The exponent, made positive, becomes the low bits of 2⁵²: a conversion that every processor has.
        let shifted =
            f64::from_bits((above.wrapping_add(1024 << 52) >> 52) | 0x4330_0000_0000_0000);
        (shifted - (4_503_599_627_370_496.0 + 1024.0), m)
    }
    #[inline(always)]
    fn low_bits(n: f64) -> [bool; 2] {
        let bits = (n + Self::ROUND).to_bits();
        [bits & 1 != 0, bits & 2 != 0]
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrow(wide: f64) -> f64 {
        wide
    }
}

impl Format for f32 {
    const NARROW: bool = true;
    const ROUND: f64 = 12_582_912.0;
    const MANTISSA_BITS: u32 = 23;
    const BIAS: f64 = 127.0;
    const EXP_MAX: f64 = 89.0;
    const EXP_MIN: f64 = -104.5;

    const EXP: &'static [f32] = table::EXP_F32;
    const LOG: &'static [f32] = table::LOG_F32;
    const SINH: &'static [f32] = table::SINH_F32;
    const WIDE_EXP: &'static [f64] = table::EXP_WIDE;
    const WIDE_LOG: &'static [f64] = table::LOG_WIDE;
    const SIN: &'static [f32] = table::SIN_F32;
    const COS: &'static [f32] = table::COS_F32;
    const FRAC_PI_2: [f32; 3] = [
        table::FRAC_PI_2_F32_H,
        table::FRAC_PI_2_F32_M,
        table::FRAC_PI_2_F32_L,
    ];
    const ANGLE_LIMIT: f64 = 1.0e5;
    const WIDE_ATAN: &'static [f64] = table::ATAN_WIDE;
    const WIDE_ASIN: &'static [f64] = table::ASIN_WIDE;
    const LN_2: [f32; 2] = [table::LN_2_F32_H, table::LN_2_F32_L];
    const LN_2_FULL: [f32; 2] = [table::LN_2_FULL_F32_H, table::LN_2_FULL_F32_L];
    const LOG2_E: [f32; 2] = [table::LOG2_E_F32_H, table::LOG2_E_F32_L];
    const LOG10_E: [f32; 2] = [table::LOG10_E_F32_H, table::LOG10_E_F32_L];
    const LOG10_2: [f32; 2] = [table::LOG10_2_F32_H, table::LOG10_2_F32_L];

    #[inline(always)]
    fn power_of_two(k: f32) -> f32 {
        f32::from_bits((k + (Self::ROUND + Self::BIAS) as f32).to_bits() << 23)
    }
    #[inline(always)]
    fn split(x: f32) -> (f32, f32) {
        const SQRT_HALF: u32 = 0x3f35_04f3;
        let bits = x.to_bits();
        let above = bits.wrapping_sub(SQRT_HALF);
        let m = f32::from_bits(bits.wrapping_sub(above & 0xff80_0000));
        let shifted = f32::from_bits((above.wrapping_add(128 << 23) >> 23) | 0x4b00_0000);
        (shifted - (8_388_608.0 + 128.0), m)
    }
    #[inline(always)]
    fn low_bits(n: f32) -> [bool; 2] {
        let bits = (n + Self::ROUND as f32).to_bits();
        [bits & 1 != 0, bits & 2 != 0]
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn narrow(wide: f64) -> f32 {
        wide as f32
    }
}

/// The polynomial with the given coefficients, highest power first.
#[inline(always)]
pub(super) fn polynomial<F: Real>(x: F, coefficients: &[F]) -> F {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

/// The nearest integer to `x · factor`, for products well below 2^(mantissa bits - 2).
#[inline(always)]
pub(super) fn rounded_product<F: Format>(x: F, factor: F) -> F {
    let round = F::lit(F::ROUND);
    x.mul_add(factor, round) - round
}
