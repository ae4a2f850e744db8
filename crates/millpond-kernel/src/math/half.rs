//! Functions of half-precision numbers that would give something else if they were computed in `f32`.

use half::{bf16, f16};

/// A number of 16 bits as operation bodies see it.
pub trait Half: Copy {
    /// Neighbour of this in the direction of `towards`, as [`Real::nextafter`](super::Real::nextafter).
    #[must_use]
    fn nextafter(self, towards: Self) -> Self;
}

/// A number of 16 bits that is laid out as IEEE 754 says.
trait Bits: Copy {
    /// The bits of positive infinity; those of larger magnitudes are NaNs.
    const INFINITY: u16;
    /// The bits of a quiet NaN.
    const NAN: u16;

    /// The number of these bits.
    fn of(bits: u16) -> Self;
    /// The number's bits.
    fn bits(self) -> u16;
}

impl<B: Bits> Half for B {
    #[inline(always)]
    fn nextafter(self, towards: Self) -> Self {
        let (from, to) = (self.bits(), towards.bits());
        let (place, goal) = (place(from), place(to));
        let next = place + i16::from(goal > place) - i16::from(goal < place);
        // A number that steps to zero keeps its sign.
        let negative = next < 0 || (next == 0 && from & SIGN != 0);
        let stepped = next.unsigned_abs() | if negative { SIGN } else { 0 };
        let known = if place == goal { to } else { stepped };
        let is_nan = (from & !SIGN).max(to & !SIGN) > Self::INFINITY;
        Self::of(if is_nan { Self::NAN } else { known })
    }
}

/// The bit of the sign.
const SIGN: u16 = 0x8000;

/// Where a number is among all of its format, counted from zero.
#[inline(always)]
fn place(bits: u16) -> i16 {
    let magnitude = (bits & !SIGN) as i16;
    if bits & SIGN == 0 {
        magnitude
    } else {
        -magnitude
    }
}

macro_rules! halves {
    ($($half:ident)*) => { $(
        impl Bits for $half {
            const INFINITY: u16 = $half::INFINITY.to_bits();
            const NAN: u16 = $half::NAN.to_bits();

            #[inline(always)]
            fn of(bits: u16) -> Self {
                Self::from_bits(bits)
            }
            #[inline(always)]
            fn bits(self) -> u16 {
                self.to_bits()
            }
        }
    )* };
}
halves!(f16 bf16);

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of numbers that matter: all of them beside the ends and zero, and goals on every side.
    fn check<H: Bits>(wide: fn(H) -> f64) {
        let is_nan = |bits: u16| bits & !SIGN > H::INFINITY;
        let same = |got: u16, wanted: u16| got == wanted || (is_nan(got) && is_nan(wanted));
        let one = wide(H::of(1));
        assert!(one > 0.0);
        let goals = [0, 1, H::INFINITY - 1, H::INFINITY, H::NAN, H::INFINITY / 2]
            .map(|bits| [bits, bits | SIGN]);
        for from in 0..=u16::MAX {
            let beside = [
                from,
                from ^ SIGN,
                from.wrapping_add(1),
                from.wrapping_sub(1),
            ];
            for to in goals.into_iter().flatten().chain(beside) {
                let (x, y) = (wide(H::of(from)), wide(H::of(to)));
                let away = |bits: u16| {
                    if (y > x) == (x > 0.0) {
                        bits + 1
                    } else {
                        bits - 1
                    }
                };
                let wanted = if x.is_nan() || y.is_nan() {
                    H::NAN
                } else if x == y {
                    to
                } else if x == 0.0 {
                    1 | (to & SIGN)
                } else {
                    away(from)
                };
                let got = H::of(from).nextafter(H::of(to)).bits();
                assert!(
                    same(got, wanted),
                    "nextafter({from:#x}, {to:#x}) gave {got:#x} for {wanted:#x}"
                );
            }
        }
    }

    #[test]
    fn neighbours_of_halves_are_one_step_away() {
        check::<f16>(f16::to_f64);
        check::<bf16>(bf16::to_f64);
    }
}
