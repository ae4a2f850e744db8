//! Sums, products and means.
//!
//! Integers wrap. Floats are added in short runs, the runs in twice the precision of `float64`:
//! with runs of n additions (at most 128) the error of a sum is below n units of rounding of the
//! sum of magnitudes, however many elements there are.

use std::marker::PhantomData;

use num_complex::Complex;

use super::{Reducer, Words};
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

/// A number that can be added and multiplied.
pub(super) trait Term: Value + Send + Sync {
    /// What a sum of any length is kept in.
    type Total: Copy;

    /// The neutral element of addition.
    const ZERO: Self;
    /// The neutral element of multiplication.
    const ONE: Self;
    /// The sum of nothing.
    const EMPTY: Self::Total;

    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn words(self) -> [u64; 2];
    fn of(words: [u64; 2]) -> Self;
    fn add_to(self, total: Self::Total) -> Self::Total;
    fn merge(a: Self::Total, b: Self::Total) -> Self::Total;
    fn round(total: Self::Total) -> Self;
    fn mean(total: Self::Total, elements: u64) -> Self;
    fn pack(total: Self::Total) -> Words;
    fn unpack(words: Words) -> Self::Total;
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Term for $t {
            type Total = Self;

            const ZERO: Self = 0;
            const ONE: Self = 1;
            const EMPTY: Self = 0;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

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

            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EMPTY: Long = Long::ZERO;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

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

            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            const EMPTY: Complex<Long> = Complex::new(Long::ZERO, Long::ZERO);

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

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

macro_rules! sums {
    ($($(#[$doc:meta])* $name:ident: |$total:ident, $elements:ident| $finish:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name<T>(PhantomData<T>);

        impl<T> $name<T> {
            pub(super) const NEW: Self = Self(PhantomData);
        }

        impl<T: Term> Reducer for $name<T> {
            type Value = T;
            type Partial = T;
            type State = T::Total;
            type Output = T;

            #[inline(always)]
            fn nothing(self) -> T {
                T::ZERO
            }

            #[inline(always)]
            fn push(self, partial: T, value: T, _: u64) -> T {
                partial.plus(value)
            }

            #[inline(always)]
            fn join(self, a: T, b: T) -> T {
                a.plus(b)
            }

            #[inline(always)]
            fn start(self) -> T::Total {
                T::EMPTY
            }

            #[inline(always)]
            fn absorb(self, total: T::Total, partial: T) -> T::Total {
                partial.add_to(total)
            }

            fn merge(self, a: T::Total, b: T::Total) -> T::Total {
                T::merge(a, b)
            }

            #[inline(always)]
            fn finish(self, $total: T::Total, $elements: u64, _: f64) -> T {
                $finish
            }

            fn pack(self, total: T::Total) -> Words {
                T::pack(total)
            }

            fn unpack(self, words: Words) -> T::Total {
                T::unpack(words)
            }
        }
    )* };
}

sums! {
    /// The sum.
    Sum: |total, _elements| T::round(total);
    /// The sum, divided by the number of elements.
    Mean: |total, elements| T::mean(total, elements);
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
