//! Two operations as one loop, where the second takes what the first makes and nobody else does: what
//! is between them stays in the processor's registers.
//!
//! Sums, differences and products take less time than it takes to load and store a tile, so a chain
//! of them waits for the first-level cache. Each is rounded as it is alone, and operands keep their
//! order, which says whose NaN a result is: so the bits are the same.

use std::fmt;

use millpond_types::DType;

use crate::device::{Template, trace};
use crate::host::body::{Body, Ternary};
use crate::math::Real;
use crate::ops::{Operation, rows};

/// Which operand of the second operation the first one's result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    First,
    Second,
}

/// A loop for two operations, over the operands of the first and the other one of the second.
struct Pair {
    first: &'static Operation,
    second: &'static Operation,
    at: At,
    float32: &'static dyn Body,
    float64: &'static dyn Body,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = (self.first.name(), self.second.name());
        write!(f, "{second} of {first} as {:?}", self.at)
    }
}

macro_rules! pairs {
    ($($first:ident $second:ident $at:ident: |$a:ident, $b:ident, $c:ident| $body:expr;)*) => {
        &[$({
            #[inline(always)]
            fn body<R: Real>($a: R, $b: R, $c: R) -> R {
                $body
            }
            const TEMPLATE: Template = Template {
                name: concat!(
                    module_path!(), "::", stringify!($first), "::", stringify!($second), "::", stringify!($at)
                ),
                trace: || trace::ternary(body::<trace::Number>),
            };
            Pair {
                first: &rows::$first,
                second: &rows::$second,
                at: At::$at,
                float32: &Ternary::new(body::<f32>, TEMPLATE),
                float64: &Ternary::new(body::<f64>, TEMPLATE),
            }
        }),*]
    };
}

// Where the result is the second operand of a sum or a product there is none: a compiler may turn
// these around, as it likes to load the operand that is in memory last.
static PAIRS: &[Pair] = pairs! {
    add add First: |a, b, c| (a + b) + c;
    add subtract First: |a, b, c| (a + b) - c;
    add subtract Second: |a, b, c| c - (a + b);
    add multiply First: |a, b, c| (a + b) * c;
    subtract add First: |a, b, c| (a - b) + c;
    subtract subtract First: |a, b, c| (a - b) - c;
    subtract subtract Second: |a, b, c| c - (a - b);
    subtract multiply First: |a, b, c| (a - b) * c;
    multiply add First: |a, b, c| (a * b) + c;
    multiply subtract First: |a, b, c| (a * b) - c;
    multiply subtract Second: |a, b, c| c - (a * b);
    multiply multiply First: |a, b, c| (a * b) * c;
};

impl Pair {
    fn body(&self, dtype: DType) -> Option<&'static dyn Body> {
        match dtype {
            DType::Float32 => Some(self.float32),
            DType::Float64 => Some(self.float64),
            _ => None,
        }
    }

    fn is_of(&self, first: &dyn Body, second: &dyn Body, at: At, dtype: DType) -> bool {
        let is = |operation: &Operation, body: &dyn Body| {
            let own = operation.loop_for(dtype);
            own.is_some_and(|own| std::ptr::addr_eq(own, body))
        };
        self.at == at && is(self.first, first) && is(self.second, second)
    }
}

/// The loop for two bodies, if there is one. `is_number` says that the second operation's other
/// operand is no NaN, so that it makes no difference on which side of a sum or product it is.
pub(super) fn of(
    first: &dyn Body,
    second: &dyn Body,
    at: At,
    is_number: bool,
) -> Option<&'static dyn Body> {
    let dtype = second.output();
    let find = |at| {
        let mut pairs = PAIRS.iter();
        pairs.find(|pair| pair.is_of(first, second, at, dtype))
    };
    let is_difference = |pair: &&Pair| *pair.second == rows::subtract;
    let turned = || {
        let turned = find(At::First).filter(|_| is_number && at == At::Second);
        turned.filter(|pair| !is_difference(pair))
    };
    find(at).or_else(turned)?.body(dtype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::body::{Inputs, MAX_INPUTS};
    use crate::simd::{self, Level};

    /// Numbers of all sorts, and NaNs that can be told apart.
    fn values(seed: u64, count: usize) -> Vec<u64> {
        let special = [
            f64::NAN.to_bits() | 5,
            f64::NAN.to_bits() | 1 << 63 | 9,
            f64::INFINITY.to_bits(),
            f64::NEG_INFINITY.to_bits(),
            0,
            1 << 63,
            f64::MAX.to_bits(),
            1,
        ];
        let mut state = seed;
        let next = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let dice = (state >> 33) as usize;
            match dice % 3 {
                0 => special[dice / 3 % special.len()],
                _ => (dice as f64 / 7.0e8 - 1.0).to_bits(),
            }
        };
        (0..count).map(next).collect()
    }

    /// What a body makes of these operands.
    fn run<T: Copy + Default>(body: &dyn Body, level: Level, operands: &[&[T]]) -> Vec<T> {
        let mut made = vec![T::default(); operands[0].len()];
        let mut inputs: Inputs = [made.as_ptr().cast(); MAX_INPUTS];
        for (input, operand) in inputs.iter_mut().zip(operands) {
            *input = operand.as_ptr().cast();
        }
        // SAFETY: all have so many elements of the body's dtype, and the level is the processor's.
        unsafe { body.run(level, made.as_mut_ptr().cast(), inputs, made.len()) };
        made
    }

    fn compare<T: Copy + Default>(dtype: DType, value: impl Fn(u64) -> T, bits: impl Fn(T) -> u64) {
        let of = |seed| -> Vec<T> { values(seed, 1031).into_iter().map(&value).collect() };
        let [a, b, c] = [of(1), of(2), of(3)];
        for pair in PAIRS {
            let [first, second] = [pair.first, pair.second].map(|row| row.loop_for(dtype).unwrap());
            let body = of_pair(pair, first, second);
            for &level in Level::ALL
                .iter()
                .filter(|&&level| level <= simd::supported())
            {
                let between = run(first, level, &[&a, &b]);
                let apart = match pair.at {
                    At::First => run(second, level, &[&between, &c]),
                    At::Second => run(second, level, &[&c, &between]),
                };
                let together = run(body, level, &[&a, &b, &c]);
                for index in 0..a.len() {
                    let [apart, together] = [apart[index], together[index]].map(&bits);
                    assert_eq!(apart, together, "{pair:?} of {dtype} at {level}, {index}");
                }
            }
        }
    }

    fn of_pair(pair: &Pair, first: &dyn Body, second: &dyn Body) -> &'static dyn Body {
        of(first, second, pair.at, false).unwrap()
    }

    #[test]
    fn pairs_have_the_bits_of_both_operations_whatever_the_nans() {
        compare(
            DType::Float32,
            |bits| f32::from_bits((bits >> 32) as u32 | (bits & 15) as u32),
            |value| u64::from(value.to_bits()),
        );
        compare(DType::Float64, f64::from_bits, f64::to_bits);
    }

    #[test]
    fn only_a_number_may_change_sides_and_not_in_a_difference() {
        let body = |row: &Operation| row.loop_for(DType::Float32).unwrap();
        let (add, subtract) = (body(&rows::add), body(&rows::subtract));
        assert!(of(add, add, At::Second, false).is_none());
        assert!(of(add, add, At::Second, true).is_some());
        let apart = of(add, subtract, At::Second, false).unwrap();
        let number = of(add, subtract, At::Second, true).unwrap();
        assert!(std::ptr::addr_eq(apart, number));
        assert!(of(add, body(&rows::divide), At::First, true).is_none());
    }
}
