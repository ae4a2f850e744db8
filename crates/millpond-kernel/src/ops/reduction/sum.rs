//! Sums, products and means.
//!
//! Integers wrap. Floats are added in short runs, the runs in twice the precision of `float64`:
//! with runs of n additions (at most 128) the error of a sum is below n units of rounding of the
//! sum of magnitudes, however many elements there are.

use std::marker::PhantomData;

use num_complex::Complex;

use super::{LANES, Reducer, SHORT_RUN, Words, run_in_lanes};
use crate::host::value::Value;

/// A sum of floats, and what rounding has left out of it.
#[derive(Clone, Copy)]
pub(super) struct Long {
    sum: f64,
    rest: f64,
}

impl Long {
    pub(super) const ZERO: Self = Self {
        sum: 0.0,
        rest: 0.0,
    };

    /// Adds a number without loss: the rounding error of the sum is computed and kept.
    #[inline(always)]
    pub(super) fn add(self, value: f64) -> Self {
        let sum = self.sum + value;
        let part = sum - self.sum;
        let error = (self.sum - (sum - part)) + (value - part);
        // Beyond infinity there is no error to speak of.
        let error = if error.is_finite() { error } else { 0.0 };
        Self {
            sum,
            rest: self.rest + error,
        }
    }

    #[inline(always)]
    pub(super) fn merge(self, other: Self) -> Self {
        let joined = self.add(other.sum);
        Self {
            rest: joined.rest + other.rest,
            ..joined
        }
    }

    #[inline(always)]
    pub(super) fn value(self) -> f64 {
        self.sum + self.rest
    }

    pub(super) fn words(self) -> [u64; 2] {
        [self.sum.to_bits(), self.rest.to_bits()]
    }

    pub(super) fn of(sum: u64, rest: u64) -> Self {
        Self {
            sum: f64::from_bits(sum),
            rest: f64::from_bits(rest),
        }
    }
}

/// What sums are, and what can be multiplied.
pub(super) trait Term: Value + Send + Sync {
    /// What a sum of any length is kept in.
    type Total: Copy;

    /// The neutral element of multiplication.
    const ONE: Self;
    /// The sum of nothing.
    const EMPTY: Self::Total;

    fn times(self, other: Self) -> Self;
    fn words(self) -> [u64; 2];
    fn of(words: [u64; 2]) -> Self;
    fn add_to(self, total: Self::Total) -> Self::Total;
    fn merge(a: Self::Total, b: Self::Total) -> Self::Total;
    fn round(total: Self::Total) -> Self;
    fn mean(total: Self::Total, elements: u64) -> Self;
    /// As much as the mean of a total that is this one number, of elements whose number it can hold.
    fn mean_of_few(self, elements: u64) -> Self;
    fn pack(total: Self::Total) -> Words;
    fn unpack(words: Words) -> Self::Total;
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Term for $t {
            type Total = Self;

            const ONE: Self = 1;
            const EMPTY: Self = 0;

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn words(self) -> [u64; 2] {
                [self as u64, 0]
            }

            fn of(words: [u64; 2]) -> Self {
                words[0] as Self
            }

            #[inline(always)]
            fn add_to(self, total: Self) -> Self {
                total.wrapping_add(self)
            }

            fn merge(a: Self, b: Self) -> Self {
                a.wrapping_add(b)
            }

            #[inline(always)]
            fn round(total: Self) -> Self {
                total
            }

            fn mean(total: Self, elements: u64) -> Self {
                total / elements.max(1) as Self
            }

            #[inline(always)]
            fn mean_of_few(self, elements: u64) -> Self {
                Self::mean(self, elements)
            }

            fn pack(total: Self) -> Words {
                [total as u64, 0, 0, 0]
            }

            fn unpack(words: Words) -> Self {
                words[0] as Self
            }
        }
    )* };
}

integers!(i64, u64);

macro_rules! floats {
    ($($t:ty),*) => { $(
        impl Term for $t {
            type Total = Long;

            const ONE: Self = 1.0;
            const EMPTY: Long = Long::ZERO;

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }

            fn words(self) -> [u64; 2] {
                [f64::from(self).to_bits(), 0]
            }

            fn of(words: [u64; 2]) -> Self {
                f64::from_bits(words[0]) as Self
            }

            #[inline(always)]
            fn add_to(self, total: Long) -> Long {
                total.add(f64::from(self))
            }

            fn merge(a: Long, b: Long) -> Long {
                a.merge(b)
            }

            #[inline(always)]
            fn round(total: Long) -> Self {
                total.value() as Self
            }

            #[inline(always)]
            fn mean(total: Long, elements: u64) -> Self {
                (total.value() / elements as f64) as Self
            }

            #[inline(always)]
            fn mean_of_few(self, elements: u64) -> Self {
                self / elements as Self
            }

            fn pack(total: Long) -> Words {
                let [sum, rest] = total.words();
                [sum, rest, 0, 0]
            }

            fn unpack([sum, rest, ..]: Words) -> Long {
                Long::of(sum, rest)
            }
        }

        impl Term for Complex<$t> {
            type Total = Complex<Long>;

            const ONE: Self = Complex::new(1.0, 0.0);
            const EMPTY: Complex<Long> = Complex::new(Long::ZERO, Long::ZERO);

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }

            fn words(self) -> [u64; 2] {
                [f64::from(self.re).to_bits(), f64::from(self.im).to_bits()]
            }

            fn of([re, im]: [u64; 2]) -> Self {
                Complex::new(f64::from_bits(re) as $t, f64::from_bits(im) as $t)
            }

            #[inline(always)]
            fn add_to(self, total: Complex<Long>) -> Complex<Long> {
                Complex::new(self.re.add_to(total.re), self.im.add_to(total.im))
            }

            fn merge(a: Complex<Long>, b: Complex<Long>) -> Complex<Long> {
                Complex::new(a.re.merge(b.re), a.im.merge(b.im))
            }

            fn round(total: Complex<Long>) -> Self {
                Complex::new(Term::round(total.re), Term::round(total.im))
            }

            fn mean(total: Complex<Long>, elements: u64) -> Self {
                let part = |part| <$t as Term>::mean(part, elements);
                Complex::new(part(total.re), part(total.im))
            }

            #[inline(always)]
            fn mean_of_few(self, elements: u64) -> Self {
                let part = |part: $t| part.mean_of_few(elements);
                Complex::new(part(self.re), part(self.im))
            }

            fn pack(total: Complex<Long>) -> Words {
                let ([a, b], [c, d]) = (total.re.words(), total.im.words());
                [a, b, c, d]
            }

            fn unpack([a, b, c, d]: Words) -> Complex<Long> {
                Complex::new(Long::of(a, b), Long::of(c, d))
            }
        }
    )* };
}

floats!(f32, f64);

/// Addition, which wraps where it can overflow.
trait Addition: Copy {
    const NOTHING: Self;

    fn plus(a: Self, b: Self) -> Self;
}

macro_rules! addition {
    ($($t:ty = $nothing:expr, $plus:expr;)*) => { $(
        impl Addition for $t {
            const NOTHING: Self = $nothing;

            #[inline(always)]
            fn plus(a: Self, b: Self) -> Self {
                let plus: fn(Self, Self) -> Self = $plus;
                plus(a, b)
            }
        }
    )* };
}

addition! {
    u16 = 0, u16::wrapping_add;
    i32 = 0, i32::wrapping_add;
    u32 = 0, u32::wrapping_add;
    i64 = 0, i64::wrapping_add;
    u64 = 0, u64::wrapping_add;
    f32 = 0.0, |a, b| a + b;
    f64 = 0.0, |a, b| a + b;
    Complex<f32> = Complex::new(0.0, 0.0), |a, b| a + b;
    Complex<f64> = Complex::new(0.0, 0.0), |a, b| a + b;
}

/// A number that can be summed: small ones are widened while they are added.
pub(super) trait Addend: Value + Send + Sync {
    /// What as many short runs as there are lanes are added up in.
    type Lane: Copy + 'static;
    /// What sums are.
    type Sum: Term;

    const NOTHING: Self::Lane;

    fn lane(self) -> Self::Lane;
    fn plus(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    fn widen(lane: Self::Lane) -> Self::Sum;

    /// The sum of a run, where there is a better way than by lanes.
    #[inline(always)]
    fn of_run(_: &[Self::Storage]) -> Option<Self::Sum> {
        None
    }
}

/// How many hold: counted in bytes, which are the lanes that the compiler makes of an iterator's
/// sum. A loop over lanes of its own it would turn around, and shuffle.
#[inline(always)]
fn count(values: &[u8]) -> i64 {
    let short = |run: &[u8]| {
        let held = run.iter().map(|&value| u8::from(bool::load(value)));
        i64::from(held.fold(0_u8, u8::wrapping_add))
    };
    // A run of these fits a byte.
    const { assert!(SHORT_RUN <= u8::MAX as usize) };
    values.chunks(SHORT_RUN).map(short).sum()
}

/// The sum of integers, by the lanes that the compiler makes of an iterator's, as for [`count`].
#[inline(always)]
fn total<T: Copy, S: Addition + From<T>>(values: &[T]) -> S {
    let add = |sum, &value| S::plus(sum, S::from(value));
    values.iter().fold(S::NOTHING, add)
}

macro_rules! addends {
    ($($t:ty: $lane:ty => $sum:ty $(, $of_run:expr)?;)*) => { $(
        impl Addend for $t {
            type Lane = $lane;
            type Sum = $sum;

            const NOTHING: $lane = <$lane as Addition>::NOTHING;

            #[inline(always)]
            fn lane(self) -> $lane {
                <$lane>::from(self)
            }

            #[inline(always)]
            fn plus(a: $lane, b: $lane) -> $lane {
                Addition::plus(a, b)
            }

            #[inline(always)]
            fn widen(lane: $lane) -> $sum {
                <$sum>::from(lane)
            }
            $(
                #[inline(always)]
                fn of_run(values: &[Self::Storage]) -> Option<$sum> {
                    Some($of_run(values))
                }
            )?
        }
    )* };
}

addends! {
    bool: u16 => i64, count;
    i8: i32 => i64;
    i16: i32 => i64;
    i32: i64 => i64, total;
    i64: i64 => i64, total;
    u8: u32 => u64;
    u16: u32 => u64;
    u32: u64 => u64, total;
    u64: u64 => u64, total;
    f32: f32 => f32;
    f64: f64 => f64;
    Complex<f32>: Complex<f32> => Complex<f32>;
    Complex<f64>: Complex<f64> => Complex<f64>;
}

macro_rules! sums {
    ($(
        $(#[$doc:meta])*
        $name:ident: |$total:ident, $elements:ident| $finish:expr, |$few:ident| $finish_few:expr;
    )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T> $name<T> {
            pub(super) const NEW: Self = Self(PhantomData);
        }

        impl<T: Addend> Reducer for $name<T> {
            type Value = T;
            type Partial = T::Lane;
            type State = <T::Sum as Term>::Total;
            type Output = T::Sum;

            #[inline(always)]
            fn nothing(self) -> T::Lane {
                T::NOTHING
            }

            #[inline(always)]
            fn push(self, partial: T::Lane, value: T, _: u64) -> T::Lane {
                T::plus(partial, value.lane())
            }

            #[inline(always)]
            fn join(self, a: T::Lane, b: T::Lane) -> T::Lane {
                T::plus(a, b)
            }

            #[inline(always)]
            fn start(self) -> Self::State {
                T::Sum::EMPTY
            }

            #[inline(always)]
            fn absorb(self, total: Self::State, partial: T::Lane) -> Self::State {
                T::widen(partial).add_to(total)
            }

            #[inline(always)]
            fn run(
                self,
                state: Self::State,
                values: &[T::Storage],
                index: u64,
                _: bool,
            ) -> Self::State {
                match T::of_run(values) {
                    Some(sum) => sum.add_to(state),
                    None => run_in_lanes::<_, LANES>(self, state, values, index),
                }
            }

            fn merge(self, a: Self::State, b: Self::State) -> Self::State {
                T::Sum::merge(a, b)
            }

            #[inline(always)]
            fn finish(self, $total: Self::State, $elements: u64, _: f64) -> T::Sum {
                $finish
            }

            // Twice the precision has nothing to keep where nothing is added.
            #[inline(always)]
            fn finish_few(self, partial: T::Lane, $elements: u64, _: f64) -> T::Sum {
                let $few = T::widen(partial);
                $finish_few
            }

            fn pack(self, total: Self::State) -> Words {
                T::Sum::pack(total)
            }

            fn unpack(self, words: Words) -> Self::State {
                T::Sum::unpack(words)
            }
        }
    )* };
}

sums! {
    /// The sum.
    Sum: |total, _elements| T::Sum::round(total), |few| few;
    /// The sum, divided by the number of elements.
    Mean: |total, elements| T::Sum::mean(total, elements), |few| few.mean_of_few(elements);
}

/// The product.
#[derive(Clone, Copy)]
pub(super) struct Product<T>(PhantomData<T>);

impl<T> Product<T> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<T: Term> Reducer for Product<T> {
    type Value = T;
    type Partial = T;
    type State = T;
    type Output = T;

    #[inline(always)]
    fn nothing(self) -> T {
        T::ONE
    }

    #[inline(always)]
    fn push(self, partial: T, value: T, _: u64) -> T {
        partial.times(value)
    }

    #[inline(always)]
    fn join(self, a: T, b: T) -> T {
        a.times(b)
    }

    #[inline(always)]
    fn start(self) -> T {
        T::ONE
    }

    #[inline(always)]
    fn absorb(self, state: T, partial: T) -> T {
        state.times(partial)
    }

    fn merge(self, a: T, b: T) -> T {
        a.times(b)
    }

    #[inline(always)]
    fn finish(self, state: T, _: u64, _: f64) -> T {
        state
    }

    fn pack(self, state: T) -> Words {
        let [first, second] = state.words();
        [first, second, 0, 0]
    }

    fn unpack(self, [first, second, ..]: Words) -> T {
        T::of([first, second])
    }
}
