//! What is accumulated: a state for each operation and type of numbers.

use millpond_types::DType;
use num_complex::Complex;

use super::loops::ScanLoop;
use crate::host::value::Value;
use crate::math::Real;

/// A state as words, whatever it means.
pub(super) type Words = [u64; 2];

/// How elements are accumulated.
pub(super) trait Scanner: Copy + Send + Sync + 'static {
    type Value: Value;
    /// What the elements so far have come to.
    type State: Copy;

    /// Whether a step is so short that several runs go side by side, lest each wait for the last.
    const IS_SHORT: bool = true;

    /// The state of no element.
    fn nothing() -> Self::State;
    fn push(state: Self::State, value: Self::Value) -> Self::State;
    /// The state of the elements of `a` and then those of `b`.
    fn both(a: Self::State, b: Self::State) -> Self::State;
    fn emit(state: Self::State) -> Self::Value;
    fn pack(state: Self::State) -> Words;
    fn unpack(words: Words) -> Self::State;
}

macro_rules! simple {
    ($($name:ident: $value:ty, $start:expr, $join:expr, $pack:expr, $unpack:expr;)*) => { $(
        #[derive(Clone, Copy)]
        pub(super) struct $name;

        impl Scanner for $name {
            type Value = $value;
            type State = $value;

            #[inline(always)]
            fn nothing() -> $value {
                $start
            }

            #[inline(always)]
            fn push(state: $value, value: $value) -> $value {
                Self::both(state, value)
            }

            #[inline(always)]
            fn both(a: $value, b: $value) -> $value {
                let join: fn($value, $value) -> $value = $join;
                join(a, b)
            }

            #[inline(always)]
            fn emit(state: $value) -> $value {
                state
            }

            #[inline(always)]
            fn pack(state: $value) -> Words {
                let pack: fn($value) -> Words = $pack;
                pack(state)
            }

            #[inline(always)]
            fn unpack(words: Words) -> $value {
                let unpack: fn(Words) -> $value = $unpack;
                unpack(words)
            }
        }
    )* };
}

// A sum begins with the zero that leaves every number what it is, its sign included.
simple! {
    SumBytes: u8, 0, u8::wrapping_add, |x| [x.into(), 0], |x| x[0] as u8;
    SumShorts: u16, 0, u16::wrapping_add, |x| [x.into(), 0], |x| x[0] as u16;
    SumInts: u32, 0, u32::wrapping_add, |x| [x.into(), 0], |x| x[0] as u32;
    SumLongs: u64, 0, u64::wrapping_add, |x| [x, 0], |x| x[0];
    SumSingles: f32, -0.0, |a, b| a + b, |x| [x.to_bits().into(), 0], |x| f32::from_bits(x[0] as u32);
    SumDoubles: f64, -0.0, |a, b| a + b, |x| [x.to_bits(), 0], |x| f64::from_bits(x[0]);
    SumSinglePairs: Complex<f32>, Complex::new(-0.0, -0.0), |a, b| a + b,
        |z| [z.re.to_bits().into(), z.im.to_bits().into()],
        |x| Complex::new(f32::from_bits(x[0] as u32), f32::from_bits(x[1] as u32));
    SumDoublePairs: Complex<f64>, Complex::new(-0.0, -0.0), |a, b| a + b,
        |z| [z.re.to_bits(), z.im.to_bits()],
        |x| Complex::new(f64::from_bits(x[0]), f64::from_bits(x[1]));
    ProductBytes: u8, 1, u8::wrapping_mul, |x| [x.into(), 0], |x| x[0] as u8;
    ProductShorts: u16, 1, u16::wrapping_mul, |x| [x.into(), 0], |x| x[0] as u16;
    ProductInts: u32, 1, u32::wrapping_mul, |x| [x.into(), 0], |x| x[0] as u32;
    ProductLongs: u64, 1, u64::wrapping_mul, |x| [x, 0], |x| x[0];
    ProductSingles: f32, 1.0, |a, b| a * b, |x| [x.to_bits().into(), 0], |x| f32::from_bits(x[0] as u32);
    ProductDoubles: f64, 1.0, |a, b| a * b, |x| [x.to_bits(), 0], |x| f64::from_bits(x[0]);
    ProductSinglePairs: Complex<f32>, Complex::ONE, |a, b| a * b,
        |z| [z.re.to_bits().into(), z.im.to_bits().into()],
        |x| Complex::new(f32::from_bits(x[0] as u32), f32::from_bits(x[1] as u32));
    ProductDoublePairs: Complex<f64>, Complex::ONE, |a, b| a * b,
        |z| [z.re.to_bits(), z.im.to_bits()],
        |x| Complex::new(f64::from_bits(x[0]), f64::from_bits(x[1]));
    Any: bool, false, |a, b| a | b, |x| [x.into(), 0], |x| x[0] != 0;
    All: bool, true, |a, b| a & b, |x| [x.into(), 0], |x| x[0] != 0;
}

/// The logarithm of a sum of exponentials, kept as the largest element and a sum relative to it.
#[derive(Clone, Copy)]
pub(super) struct LogSumExp;

impl Scanner for LogSumExp {
    type Value = f64;
    type State = (f64, f64);

    const IS_SHORT: bool = false;

    #[inline(always)]
    fn nothing() -> (f64, f64) {
        (f64::NEG_INFINITY, 0.0)
    }

    #[inline(always)]
    fn push(state: (f64, f64), value: f64) -> (f64, f64) {
        let own = f64::from(value != f64::NEG_INFINITY);
        Self::both(state, (value, own))
    }

    #[inline(always)]
    fn both((a, sum_a): (f64, f64), (b, sum_b): (f64, f64)) -> (f64, f64) {
        // Equal scales, infinite ones among them, need no factor.
        let factor = if a == b { 1.0 } else { (-(a - b).abs()).exp() };
        let sum = if b <= a {
            sum_a + sum_b * factor
        } else {
            sum_a * factor + sum_b
        };
        (Real::max(a, b), sum)
    }

    #[inline(always)]
    fn emit((largest, sum): (f64, f64)) -> f64 {
        if largest.is_infinite() {
            return largest;
        }
        largest + sum.ln()
    }

    #[inline(always)]
    fn pack((largest, sum): (f64, f64)) -> Words {
        [largest.to_bits(), sum.to_bits()]
    }

    #[inline(always)]
    fn unpack([largest, sum]: Words) -> (f64, f64) {
        (f64::from_bits(largest), f64::from_bits(sum))
    }
}

/// The loop of sums in a dtype; halves have none.
pub(super) fn sum(dtype: DType) -> Option<&'static dyn ScanLoop> {
    Some(match dtype {
        DType::Bool => &Any,
        DType::Int8 | DType::Uint8 => &SumBytes,
        DType::Int16 | DType::Uint16 => &SumShorts,
        DType::Int32 | DType::Uint32 => &SumInts,
        DType::Int64 | DType::Uint64 => &SumLongs,
        DType::Float32 => &SumSingles,
        DType::Float64 => &SumDoubles,
        DType::Complex64 => &SumSinglePairs,
        DType::Complex128 => &SumDoublePairs,
        DType::Float16 | DType::Bfloat16 => return None,
    })
}

/// The loop of products in a dtype; halves have none.
pub(super) fn product(dtype: DType) -> Option<&'static dyn ScanLoop> {
    Some(match dtype {
        DType::Bool => &All,
        DType::Int8 | DType::Uint8 => &ProductBytes,
        DType::Int16 | DType::Uint16 => &ProductShorts,
        DType::Int32 | DType::Uint32 => &ProductInts,
        DType::Int64 | DType::Uint64 => &ProductLongs,
        DType::Float32 => &ProductSingles,
        DType::Float64 => &ProductDoubles,
        DType::Complex64 => &ProductSinglePairs,
        DType::Complex128 => &ProductDoublePairs,
        DType::Float16 | DType::Bfloat16 => return None,
    })
}
