//! The largest and the smallest element, and where it is.
//!
//! A NaN wins over every number, the first one where positions are asked for.

use std::marker::PhantomData;

use num_complex::Complex;

use super::{LANES, Reducer, SHORT_RUN, Words, run_in_lanes};
use crate::host::value::Value;

/// A number with an order.
pub(super) trait Ordered: Value + Send + Sync {
    /// Larger than any, or the largest.
    const TOP: Self;
    /// Smaller than any, or the smallest.
    const BOTTOM: Self;

    /// Not if either is a NaN.
    fn below(self, other: Self) -> bool;
    fn is_nan(self) -> bool;
    fn words(self) -> [u64; 2];
    fn of(words: [u64; 2]) -> Self;
}

macro_rules! ordered {
    ($($t:ty: $bottom:expr, $top:expr, $below:expr, $nan:expr, $words:expr, $of:expr;)*) => { $(
        impl Ordered for $t {
            const TOP: Self = $top;
            const BOTTOM: Self = $bottom;

            #[inline(always)]
            fn below(self, other: Self) -> bool {
                let below: fn($t, $t) -> bool = $below;
                below(self, other)
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                let nan: fn($t) -> bool = $nan;
                nan(self)
            }

            fn words(self) -> [u64; 2] {
                let words: fn($t) -> [u64; 2] = $words;
                words(self)
            }

            fn of(words: [u64; 2]) -> Self {
                let of: fn([u64; 2]) -> $t = $of;
                of(words)
            }
        }
    )* };
}

macro_rules! ordered_integers {
    ($($t:ty),*) => { ordered! { $(
        $t: <$t>::MIN, <$t>::MAX, |a, b| a < b, |_| false, |x| [i128::from(x) as u64, 0], |w| w[0] as $t;
    )* } };
}

macro_rules! ordered_floats {
    ($($t:ty),*) => { ordered! { $(
        $t: <$t>::NEG_INFINITY, <$t>::INFINITY, |a, b| a < b, |x| x.is_nan(),
            |x| [u64::from(x.to_bits()), 0], |w| <$t>::from_bits(w[0] as _);
        Complex<$t>: Complex::new(<$t>::NEG_INFINITY, <$t>::NEG_INFINITY),
            Complex::new(<$t>::INFINITY, <$t>::INFINITY),
            |a, b| ((a.re < b.re) & !a.im.is_nan() & !b.im.is_nan())
                | ((a.re == b.re) & (a.im < b.im)),
            |z| z.re.is_nan() | z.im.is_nan(),
            |z| [u64::from(z.re.to_bits()), u64::from(z.im.to_bits())],
            |w| Complex::new(<$t>::from_bits(w[0] as _), <$t>::from_bits(w[1] as _));
    )* } };
}

ordered_integers!(i8, i16, i32, i64, u8, u16, u32, u64);
ordered_floats!(f32, f64);
ordered! {
    bool: false, true, |a, b| !a & b, |_| false, |x| [u64::from(x), 0], |w| w[0] != 0;
}

/// Which end of the order is meant.
pub(super) trait End: Copy + Send + Sync + 'static {
    /// What every element goes before.
    fn worst<T: Ordered>() -> T;

    /// Whether `a` goes strictly before `b`; not if either is a NaN.
    fn before<T: Ordered>(a: T, b: T) -> bool;
}

/// The large end.
#[derive(Clone, Copy)]
pub(super) struct Largest;

/// The small end.
#[derive(Clone, Copy)]
pub(super) struct Smallest;

impl End for Largest {
    #[inline(always)]
    fn worst<T: Ordered>() -> T {
        T::BOTTOM
    }

    #[inline(always)]
    fn before<T: Ordered>(a: T, b: T) -> bool {
        b.below(a)
    }
}

impl End for Smallest {
    #[inline(always)]
    fn worst<T: Ordered>() -> T {
        T::TOP
    }

    #[inline(always)]
    fn before<T: Ordered>(a: T, b: T) -> bool {
        a.below(b)
    }
}

/// The element at one end of the order.
#[derive(Clone, Copy)]
pub(super) struct Extreme<E, T>(PhantomData<(E, T)>);

impl<E, T> Extreme<E, T> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<E: End, T: Ordered> Extreme<E, T> {
    #[inline(always)]
    fn choose(a: T, b: T) -> T {
        if E::before(b, a) | b.is_nan() { b } else { a }
    }
}

impl<E: End, T: Ordered> Reducer for Extreme<E, T> {
    type Value = T;
    type Partial = T;
    type State = T;
    type Output = T;

    #[inline(always)]
    fn nothing(self) -> T {
        E::worst()
    }

    #[inline(always)]
    fn push(self, partial: T, value: T, _: u64) -> T {
        Self::choose(partial, value)
    }

    #[inline(always)]
    fn join(self, a: T, b: T) -> T {
        Self::choose(a, b)
    }

    #[inline(always)]
    fn start(self) -> T {
        E::worst()
    }

    #[inline(always)]
    fn absorb(self, state: T, partial: T) -> T {
        Self::choose(state, partial)
    }

    fn merge(self, a: T, b: T) -> T {
        Self::choose(a, b)
    }

    #[inline(always)]
    fn finish(self, state: T, _: u64, _: f64) -> T {
        state
    }

    /// A choice takes several times as long as an addition, so more of them are under way.
    #[inline(always)]
    fn run(self, state: T, values: &[T::Storage], index: u64, _: bool) -> T {
        run_in_lanes::<_, { 2 * LANES }>(self, state, values, index)
    }

    fn pack(self, state: T) -> Words {
        let [first, second] = state.words();
        [first, second, 0, 0]
    }

    fn unpack(self, [first, second, ..]: Words) -> T {
        T::of([first, second])
    }
}

/// An element and its number; no element has the largest number.
#[derive(Clone, Copy)]
pub(super) struct Place<T> {
    value: T,
    index: u64,
}

/// Where the first element at one end of the order is.
#[derive(Clone, Copy)]
pub(super) struct Position<E, T>(PhantomData<(E, T)>);

impl<E, T> Position<E, T> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<E: End, T: Ordered> Position<E, T> {
    #[inline(always)]
    fn choose(a: Place<T>, b: Place<T>) -> Place<T> {
        let (nan_a, nan_b) = (a.value.is_nan(), b.value.is_nan());
        let first = b.index < a.index;
        let tie = (nan_a & nan_b)
            | (!nan_a & !nan_b & !E::before(a.value, b.value) & !E::before(b.value, a.value));
        let better = (nan_b & !nan_a) | (!nan_a & !nan_b & E::before(b.value, a.value));
        if better | (tie & first) { b } else { a }
    }
}

impl<E: End, T: Ordered> Reducer for Position<E, T> {
    const ROWS: usize = SHORT_RUN;

    type Value = T;
    type Partial = Place<T>;
    type State = Place<T>;
    type Output = i64;

    #[inline(always)]
    fn nothing(self) -> Place<T> {
        Place {
            value: E::worst(),
            index: u64::MAX,
        }
    }

    #[inline(always)]
    fn push(self, partial: Place<T>, value: T, index: u64) -> Place<T> {
        Self::choose(partial, Place { value, index })
    }

    #[inline(always)]
    fn join(self, a: Place<T>, b: Place<T>) -> Place<T> {
        Self::choose(a, b)
    }

    #[inline(always)]
    fn start(self) -> Place<T> {
        self.nothing()
    }

    #[inline(always)]
    fn absorb(self, state: Place<T>, partial: Place<T>) -> Place<T> {
        Self::choose(state, partial)
    }

    fn merge(self, a: Place<T>, b: Place<T>) -> Place<T> {
        Self::choose(a, b)
    }

    #[inline(always)]
    fn finish(self, state: Place<T>, _: u64, _: f64) -> i64 {
        state.index.cast_signed()
    }

    fn pack(self, state: Place<T>) -> Words {
        let [first, second] = state.value.words();
        [first, second, state.index, 0]
    }

    fn unpack(self, [first, second, index, _]: Words) -> Place<T> {
        Place {
            value: T::of([first, second]),
            index,
        }
    }

    /// Keeps values and rows apart, which vectorises.
    #[inline(always)]
    fn columns<'a, const N: usize>(
        self,
        mut partials: [Place<T>; N],
        mut rows: impl Iterator<Item = &'a [T::Storage; N]>,
        index: u64,
    ) -> [Place<T>; N] {
        let Some(first) = rows.next() else {
            return partials;
        };
        let mut best = first.map(T::load);
        let mut places = [0_u32; N];
        for (at, row) in (1..).zip(rows) {
            for lane in 0..N {
                let value = T::load(row[lane]);
                let better = E::before(value, best[lane]) | (value.is_nan() & !best[lane].is_nan());
                best[lane] = if better { value } else { best[lane] };
                places[lane] = if better { at } else { places[lane] };
            }
        }
        for lane in 0..N {
            let found = Place {
                value: best[lane],
                index: index + u64::from(places[lane]),
            };
            partials[lane] = Self::choose(partials[lane], found);
        }
        partials
    }

    /// Finds the value first, which vectorises, and then where it is, unless an earlier element
    /// is as good.
    #[inline(always)]
    fn run(self, state: Place<T>, values: &[T::Storage], index: u64, fused: bool) -> Place<T> {
        let extreme = Extreme::<E, T>::NEW;
        let best = extreme.run(E::worst(), values, index, fused);
        let found = Place { value: best, index };
        // The state's elements are earlier: its place stands unless the new value is better.
        if state.index != u64::MAX && Self::choose(state, found).index == state.index {
            return state;
        }
        let nan = best.is_nan();
        let is_it = |value: T::Storage| {
            let value = T::load(value);
            let same = !nan & !E::before(best, value) & !E::before(value, best);
            (same & !value.is_nan()) | (nan & value.is_nan())
        };
        // Whole chunks without a branch for each element, up to the one that holds it.
        let (chunks, _) = values.as_chunks::<LANES>();
        let holds = |chunk: &[T::Storage; LANES]| {
            let values = chunk.iter();
            values.fold(false, |any, &value| any | is_it(value))
        };
        let before = chunks.iter().take_while(|chunk| !holds(chunk)).count() * LANES;
        let at = values[before..].iter().position(|&value| is_it(value));
        at.map_or(state, |at| Place {
            value: T::load(values[before + at]),
            index: index + (before + at) as u64,
        })
    }
}

/// The largest element.
pub(super) type Max<T> = Extreme<Largest, T>;
/// The smallest element.
pub(super) type Min<T> = Extreme<Smallest, T>;
/// Where the largest element is.
pub(super) type ArgMax<T> = Position<Largest, T>;
/// Where the smallest element is.
pub(super) type ArgMin<T> = Position<Smallest, T>;
