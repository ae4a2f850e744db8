//! Conversions from `float64` to the half types that round once.
//!
//! The processor's way leads through `float32` and rounds twice, which is wrong where the first
//! rounding lands in the middle between two halves. Here the first step rounds *to odd*: whatever
//! was lost is kept in the last bit, and `float32` has bits enough beyond a half's that the second
//! step then rounds as if it were the only one (Boldo and Melquiond, 2008).

use half::{bf16, f16};

/// The nearest `float16`, ties to even.
#[must_use]
pub fn f16_from_f64(value: f64) -> f16 {
    f16::from_f32(to_odd(value))
}

/// The nearest `bfloat16`, ties to even.
#[must_use]
pub fn bf16_from_f64(value: f64) -> bf16 {
    bf16::from_f32(to_odd(value))
}

/// The value itself, or else the one of its neighbours whose last bit is set.
#[inline]
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) == value {
        return near;
    }
    let away = f64::from(near).abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(away)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beside_the_middle_go_to_their_side() {
        let half_step = f64::from(f16::EPSILON) / 2.0;
        for tiny in [1.0e-15, 1.0e-12, 1.0e-9, 1.0e-6] {
            assert_eq!(
                f16_from_f64(1.0 + half_step + tiny).to_bits(),
                0x3C01,
                "{tiny}"
            );
            assert_eq!(
                f16_from_f64(1.0 + half_step - tiny).to_bits(),
                0x3C00,
                "{tiny}"
            );
            assert_eq!(
                f16_from_f64(-1.0 - half_step - tiny).to_bits(),
                0xBC01,
                "{tiny}"
            );
        }
        assert_eq!(
            f16_from_f64(1.0 + half_step).to_bits(),
            0x3C00,
            "ties to even"
        );
        assert_eq!(
            f16_from_f64(1.0 + 3.0 * half_step).to_bits(),
            0x3C02,
            "ties to even"
        );
        let half_step = f64::from(bf16::EPSILON) / 2.0;
        assert_eq!(bf16_from_f64(1.0 + half_step + 1.0e-12).to_bits(), 0x3F81);
    }

    #[test]
    fn every_half_and_the_edges_stay_what_they_are() {
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let same = f16_from_f64(half.to_f64());
            assert!(
                same == half || (same.is_nan() && half.is_nan()),
                "{bits:#x}"
            );
        }
        assert_eq!(f16_from_f64(1.0e300), f16::INFINITY);
        assert_eq!(f16_from_f64(-1.0e300), f16::NEG_INFINITY);
        assert_eq!(f16_from_f64(65_519.99), f16::MAX);
        assert_eq!(f16_from_f64(65_520.0), f16::INFINITY);
        assert_eq!(f16_from_f64(1.0e-300).to_bits(), 0);
        assert_eq!(f16_from_f64(-1.0e-300).to_bits(), 0x8000);
    }
}
