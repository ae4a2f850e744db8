//! Keys: unsigned integers in the order of the elements that they stand for.
//!
//! NaNs are the largest and equal one another, zeros of either sign are equal; complex numbers are
//! ordered by their real and then their imaginary parts, those with a NaN behind all others: first
//! those whose imaginary part is one, then the real part, then both (NumPy's order).

use millpond_types::{DType, Kind};

/// How an element's bits become a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Any byte but 0 is true.
    Truth,
    /// The bits are the key.
    Unsigned,
    /// Two's complement.
    Signed,
    /// A float, or two of them, with these bits of infinity.
    Float(u64),
}

impl Rule {
    /// The rule of a dtype.
    pub(crate) const fn of(dtype: DType) -> Self {
        match dtype {
            DType::Float16 => Self::Float(0x7c00),
            DType::Bfloat16 => Self::Float(0x7f80),
            DType::Float32 | DType::Complex64 => Self::Float(0x7f80_0000),
            DType::Float64 | DType::Complex128 => Self::Float(0x7ff0_0000_0000_0000),
            _ => match dtype.kind() {
                Kind::Bool => Self::Truth,
                Kind::Int => Self::Signed,
                _ => Self::Unsigned,
            },
        }
    }
}

/// An unsigned integer that elements are compared by.
pub(crate) trait Key: Copy + Ord + Send + Sync + 'static {
    fn widen(self) -> u128;
    /// The key of these lowest bits.
    fn narrow(wide: u128) -> Self;
    /// All bits turned: the order backwards.
    fn turned(self, backwards: bool) -> Self;
}

/// An element as its bits lie in memory.
pub(crate) trait Raw: Copy + Default + Send + Sync + 'static {
    type Key: Key;

    fn key(self, rule: Rule) -> Self::Key;

    /// The element of a key; some element, where several have it.
    fn of_key(key: Self::Key, rule: Rule) -> Self;

    /// Whether other elements than this one have its key, or may have.
    fn is_ambiguous(self, rule: Rule) -> bool;

    /// Whether it is a NaN, or a part of it is.
    fn is_nan(self, rule: Rule) -> bool;
}

macro_rules! keys {
    ($($key:ty),*) => { $(
        impl Key for $key {
            #[inline(always)]
            fn widen(self) -> u128 {
                u128::from(self)
            }

            #[inline(always)]
            fn narrow(wide: u128) -> Self {
                wide as Self
            }

            #[inline(always)]
            fn turned(self, backwards: bool) -> Self {
                self ^ Self::from(backwards).wrapping_neg()
            }
        }
    )* };
}

keys!(u8, u16, u32, u64, u128);

macro_rules! real {
    ($($raw:ident),*) => { $(
        impl Raw for $raw {
            type Key = $raw;

            #[inline(always)]
            fn key(self, rule: Rule) -> $raw {
                const SIGN: $raw = 1 << ($raw::BITS - 1);
                match rule {
                    Rule::Truth => $raw::from(self != 0),
                    Rule::Unsigned => self,
                    Rule::Signed => self ^ SIGN,
                    Rule::Float(infinity) => {
                        let magnitude = self & !SIGN;
                        let negative = self & SIGN != 0 && magnitude != 0;
                        let place = if negative { !self } else { magnitude | SIGN };
                        if magnitude > infinity as $raw { $raw::MAX } else { place }
                    }
                }
            }

            #[inline(always)]
            fn of_key(key: $raw, rule: Rule) -> $raw {
                const SIGN: $raw = 1 << ($raw::BITS - 1);
                match rule {
                    Rule::Truth | Rule::Unsigned => key,
                    Rule::Signed => key ^ SIGN,
                    Rule::Float(_) => if key & SIGN == 0 { !key } else { key ^ SIGN },
                }
            }

            #[inline(always)]
            fn is_ambiguous(self, rule: Rule) -> bool {
                self.is_nan(rule) || (matches!(rule, Rule::Float(_)) && self << 1 == 0)
            }

            #[inline(always)]
            fn is_nan(self, rule: Rule) -> bool {
                match rule {
                    Rule::Float(infinity) => self << 1 > (infinity as $raw) << 1,
                    _ => false,
                }
            }
        }
    )* };
}

real!(u8, u16, u32, u64);

macro_rules! complex {
    ($($part:ident $key:ident),*) => { $(
        impl Raw for [$part; 2] {
            type Key = $key;

            #[inline(always)]
            fn key(self, rule: Rule) -> $key {
                let [re, im] = self.map(|part| part.key(rule));
                // No number has one of the three keys above infinity's.
                let Rule::Float(infinity) = rule else { return 0 };
                let behind = (infinity as $part).key(rule);
                let (first, second) = match self.map(|part| part.is_nan(rule)) {
                    [false, false] => (re, im),
                    [false, true] => (behind + 1, re),
                    [true, false] => (behind + 2, im),
                    [true, true] => (behind + 3, 0),
                };
                $key::from(first) << $part::BITS | $key::from(second)
            }

            #[inline(always)]
            fn of_key(key: $key, rule: Rule) -> Self {
                [(key >> $part::BITS) as $part, key as $part]
                    .map(|part| $part::of_key(part, rule))
            }

            /// Zeros of either part and parts that are NaNs are frequent enough.
            #[inline(always)]
            fn is_ambiguous(self, _: Rule) -> bool {
                true
            }

            #[inline(always)]
            fn is_nan(self, rule: Rule) -> bool {
                self[0].is_nan(rule) | self[1].is_nan(rule)
            }
        }
    )* };
}

complex!(u32 u64, u64 u128);

/// Calls `$run!(Raw)` with the type of the bits of a dtype's elements.
macro_rules! with_raw {
    ($dtype:expr, $run:ident) => {
        match $dtype {
            DType::Complex64 => $run!([u32; 2]),
            DType::Complex128 => $run!([u64; 2]),
            dtype => match dtype.size() {
                1 => $run!(u8),
                2 => $run!(u16),
                4 => $run!(u32),
                _ => $run!(u64),
            },
        }
    };
}

/// Calls `$run(rule)` with the rule as a constant, so that loops are compiled for each.
macro_rules! with_rule {
    ($rule:expr, $run:expr) => {
        match $rule {
            Rule::Truth => $run(Rule::Truth),
            Rule::Unsigned => $run(Rule::Unsigned),
            Rule::Signed => $run(Rule::Signed),
            Rule::Float(infinity) => $run(Rule::Float(infinity)),
        }
    };
}

pub(crate) use {with_raw, with_rule};

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;

    #[test]
    fn keys_are_in_the_order_of_the_elements() {
        let reals = [
            f32::NEG_INFINITY,
            -2.0,
            -1e-40,
            0.0,
            1e-40,
            2.0,
            f32::INFINITY,
            f32::NAN,
        ];
        let key = |x: f32| x.to_bits().key(Rule::of(DType::Float32));
        assert!(reals.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key(-0.0), key(0.0));
        assert_eq!(key(-f32::NAN), key(f32::NAN));
        let rule = Rule::of(DType::Float32);
        assert!(
            reals[..7]
                .iter()
                .all(|x| f32::from_bits(u32::of_key(key(*x), rule)) == *x)
        );
        let key = |x: i16| x.cast_unsigned().key(Rule::of(DType::Int16));
        assert!(key(i16::MIN) < key(-1) && key(-1) < key(0) && key(0) < key(i16::MAX));
        assert!(2_u8.key(Rule::Truth) == 1 && 0_u8.key(Rule::Truth) == 0);
    }

    #[test]
    fn complex_numbers_with_a_nan_are_behind_all_others() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let ordered = [
            (-1.0, inf),
            (0.0, -1.0),
            (0.0, 2.0),
            (inf, inf),
            (1.0, nan),
            (inf, nan),
        ];
        let ordered = ordered
            .into_iter()
            .chain([(nan, 0.0), (nan, inf), (nan, nan)]);
        let rule = Rule::of(DType::Complex128);
        let keys: Vec<u128> = ordered
            .map(|(re, im)| Complex::new(re, im))
            .map(|z: Complex<f64>| [z.re.to_bits(), z.im.to_bits()].key(rule))
            .collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        assert_eq!([1_u64 << 63, 0].key(rule), [0_u64, 1 << 63].key(rule));
    }
}
