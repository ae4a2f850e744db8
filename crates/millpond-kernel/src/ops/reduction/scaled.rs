//! Sums of what would overflow by itself, kept relative to the largest element.

use super::{LANES, Reducer, Words};
use crate::math::{Lane, Real};

/// The largest element so far, and a sum relative to it.
#[derive(Clone, Copy)]
pub(super) struct Scaled {
    largest: f64,
    sum: f64,
}

/// How elements count relative to the largest one.
trait Scale: Copy + Send + Sync + 'static {
    /// The scale of no element.
    const NOTHING: f64;

    /// What is compared.
    fn magnitude(value: f64) -> f64;

    /// What an element adds. A NaN counts as one.
    fn term(value: f64, largest: f64, fused: bool) -> f64;

    /// What a sum relative to `from` is relative to `to`.
    fn factor(from: f64, to: f64) -> f64;

    fn finish(state: Scaled) -> f64;
}

impl Scaled {
    /// A NaN as the largest stays there.
    #[inline(always)]
    fn merge<S: Scale>(self, other: Self) -> Self {
        let largest = Real::max(self.largest, other.largest);
        let part = |side: Self| {
            // Equal scales need no factor; that of two infinities would be a NaN.
            let same = side.largest == largest;
            side.sum
                * if same {
                    1.0
                } else {
                    S::factor(side.largest, largest)
                }
        };
        Self {
            largest,
            sum: part(self) + part(other),
        }
    }

    #[inline(always)]
    fn of<S: Scale>(values: &[f64], fused: bool) -> Self {
        let mut tops = [S::NOTHING; LANES];
        let (chunks, rest) = values.as_chunks::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                tops[lane] = Real::max(tops[lane], S::magnitude(chunk[lane]));
            }
        }
        for (top, &value) in tops.iter_mut().zip(rest) {
            *top = Real::max(*top, S::magnitude(value));
        }
        let largest = tops.into_iter().fold(S::NOTHING, Real::max);
        if !largest.is_finite() || largest == S::NOTHING {
            // No scale to count by: the largest is the result.
            let sum = if largest == S::NOTHING { 0.0 } else { 1.0 };
            return Self { largest, sum };
        }
        let mut sums = [0.0; LANES];
        for chunk in chunks {
            for lane in 0..LANES {
                sums[lane] += S::term(chunk[lane], largest, fused);
            }
        }
        for (sum, &value) in sums.iter_mut().zip(rest) {
            *sum += S::term(value, largest, fused);
        }
        Self {
            largest,
            sum: sums.into_iter().sum(),
        }
    }
}

macro_rules! scaled {
    ($name:ident) => {
        impl Reducer for $name {
            const IS_HEAVY: bool = true;

            type Value = f64;
            type Partial = Scaled;
            type State = Scaled;
            type Output = f64;

            #[inline(always)]
            fn nothing(self) -> Scaled {
                Scaled {
                    largest: Self::NOTHING,
                    sum: 0.0,
                }
            }

            #[inline(always)]
            fn push(self, partial: Scaled, value: f64, _: u64) -> Scaled {
                let largest = Self::magnitude(value);
                let sum = if largest == Self::NOTHING { 0.0 } else { 1.0 };
                partial.merge::<Self>(Scaled { largest, sum })
            }

            #[inline(always)]
            fn join(self, a: Scaled, b: Scaled) -> Scaled {
                a.merge::<Self>(b)
            }

            #[inline(always)]
            fn start(self) -> Scaled {
                self.nothing()
            }

            #[inline(always)]
            fn absorb(self, state: Scaled, partial: Scaled) -> Scaled {
                state.merge::<Self>(partial)
            }

            fn merge(self, a: Scaled, b: Scaled) -> Scaled {
                a.merge::<Self>(b)
            }

            fn finish(self, state: Scaled, _: u64, _: f64) -> f64 {
                <Self as Scale>::finish(state)
            }

            fn pack(self, state: Scaled) -> Words {
                [state.largest.to_bits(), state.sum.to_bits(), 0, 0]
            }

            fn unpack(self, [largest, sum, ..]: Words) -> Scaled {
                Scaled {
                    largest: f64::from_bits(largest),
                    sum: f64::from_bits(sum),
                }
            }

            #[inline(always)]
            fn run(self, state: Scaled, values: &[f64], _: u64, fused: bool) -> Scaled {
                state.merge::<Self>(Scaled::of::<Self>(values, fused))
            }
        }
    };
}

/// Logarithm of the sum of exponentials.
#[derive(Clone, Copy)]
pub(super) struct LogSumExp;

impl Scale for LogSumExp {
    const NOTHING: f64 = f64::NEG_INFINITY;

    #[inline(always)]
    fn magnitude(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn term(value: f64, largest: f64, fused: bool) -> f64 {
        let difference = value - largest;
        if fused {
            Lane(difference).exp().0
        } else {
            difference.exp()
        }
    }

    #[inline(always)]
    fn factor(from: f64, to: f64) -> f64 {
        (from - to).exp()
    }

    fn finish(state: Scaled) -> f64 {
        if state.largest.is_finite() {
            state.largest + state.sum.ln()
        } else {
            state.largest
        }
    }
}

scaled!(LogSumExp);

/// Length of a vector.
#[derive(Clone, Copy)]
pub(super) struct Hypot;

impl Scale for Hypot {
    const NOTHING: f64 = 0.0;

    #[inline(always)]
    fn magnitude(value: f64) -> f64 {
        value.abs()
    }

    #[inline(always)]
    fn term(value: f64, largest: f64, _: bool) -> f64 {
        let ratio = value / largest;
        ratio * ratio
    }

    #[inline(always)]
    fn factor(from: f64, to: f64) -> f64 {
        let ratio = from / to;
        ratio * ratio
    }

    fn finish(state: Scaled) -> f64 {
        if state.largest.is_finite() {
            state.largest * state.sum.sqrt()
        } else {
            state.largest
        }
    }
}

scaled!(Hypot);
