//! Reductions: a row for each, and how many elements become one.
//!
//! A [`Reducer`] folds short runs of elements into a *partial*, as fast as the processor can, and
//! partials into a *state* that holds what rounding would lose. States merge in the order of the
//! elements, so a result depends on the shape and layout of the input, and not on threads.

use std::fmt;

use millpond_types::{DType, Kind};

use crate::error::UnsupportedDType;
use crate::host::fold::{Fold, Folded};
use crate::host::map::compute_dtype;
use crate::host::value::Value;

mod extreme;
mod moments;
mod scaled;
mod sum;
mod truth;

/// The words of a state, whatever it means.
pub type Words = [u64; 4];

/// How elements of a type are reduced.
pub trait Reducer: Copy + Send + Sync + 'static {
    /// Whether an element costs so many instructions that few at a time fill the processor.
    const IS_HEAVY: bool = false;

    /// The most rows that [`Reducer::columns`] is handed at a time.
    const ROWS: usize = 8;

    /// What is reduced.
    type Value: Value;
    /// What short runs of elements are folded into, one for each of [`LANES`] at most.
    type Partial: Copy;
    /// What any number of elements is folded into.
    type State: Copy;
    /// The result.
    type Output: Value;

    /// The partial of no element.
    fn nothing(self) -> Self::Partial;

    /// Folds the element number `index` into a partial; later elements have larger numbers.
    fn push(self, partial: Self::Partial, value: Self::Value, index: u64) -> Self::Partial;

    /// The partial of both.
    fn join(self, a: Self::Partial, b: Self::Partial) -> Self::Partial;

    /// The state of no element.
    fn start(self) -> Self::State;

    /// Folds a partial of up to [`SHORT_RUN`] elements into a state.
    fn absorb(self, state: Self::State, partial: Self::Partial) -> Self::State;

    /// The state of both, `a` before `b`.
    fn merge(self, a: Self::State, b: Self::State) -> Self::State;

    /// The result for `elements` elements; `correction` is what a variance subtracts from their
    /// number.
    fn finish(self, state: Self::State, elements: u64, correction: f64) -> Self::Output;

    /// The result for the `elements` elements, at least one, that one partial holds.
    #[inline(always)]
    fn finish_few(self, partial: Self::Partial, elements: u64, correction: f64) -> Self::Output {
        self.finish(self.absorb(self.start(), partial), elements, correction)
    }

    /// The state as words.
    fn pack(self, state: Self::State) -> Words;

    /// The state of words that [`Reducer::pack`] made.
    fn unpack(self, words: Words) -> Self::State;

    /// Folds rows of neighbouring columns, the first of number `index`, into a partial of each
    /// column.
    #[inline(always)]
    fn columns<'a, const N: usize>(
        self,
        mut partials: [Self::Partial; N],
        rows: impl Iterator<Item = &'a [<Self::Value as Value>::Storage; N]>,
        index: u64,
    ) -> [Self::Partial; N] {
        for (at, row) in (index..).zip(rows) {
            for lane in 0..N {
                partials[lane] = self.push(partials[lane], Self::Value::load(row[lane]), at);
            }
        }
        partials
    }

    /// Folds contiguous elements from number `index` on, of which there are at most a tile.
    ///
    /// `fused` tells whether the processor multiplies and adds in one step, which bodies over
    /// [`Lane`](crate::math::Lane) ask for.
    ///
    /// The default uses [`LANES`] partials, so that additions needn't wait for one another.
    #[inline(always)]
    fn run(
        self,
        state: Self::State,
        values: &[<Self::Value as Value>::Storage],
        index: u64,
        fused: bool,
    ) -> Self::State {
        let _ = fused;
        run_in_lanes::<_, LANES>(self, state, values, index)
    }
}

/// Folds contiguous elements by `N` partials, so that additions needn't wait for one another.
#[inline(always)]
fn run_in_lanes<R: Reducer, const N: usize>(
    reducer: R,
    state: R::State,
    values: &[<R::Value as Value>::Storage],
    index: u64,
) -> R::State {
    let mut lanes = [reducer.nothing(); N];
    let (chunks, rest) = values.as_chunks::<N>();
    let mut at = index;
    for chunk in chunks {
        for lane in 0..N {
            let value = R::Value::load(chunk[lane]);
            lanes[lane] = reducer.push(lanes[lane], value, at + lane as u64);
        }
        at += N as u64;
    }
    for (lane, value) in rest.iter().enumerate() {
        lanes[lane] = reducer.push(lanes[lane], R::Value::load(*value), at + lane as u64);
    }
    let mut width = N / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = reducer.join(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    reducer.absorb(state, lanes[0])
}

/// Partials that a contiguous run keeps side by side.
pub const LANES: usize = 32;

/// The most elements that are folded into one partial.
pub const SHORT_RUN: usize = 128;

/// What a reduction accepts, and what it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Sums: integers are widened to 64 bits, floats stay.
    Accumulate,
    /// The dtype of the input.
    Same,
    /// Any dtype, as truth values.
    Truth,
    /// The position of an element.
    Position,
    /// Floats and complex numbers; integers become the default float.
    Float,
    /// Real floats, computed in `float64`.
    Wide,
}

/// An operation that makes one element of many.
pub struct Reduction {
    name: &'static str,
    documentation: &'static str,
    rule: Rule,
    has_identity: bool,
    folds: &'static [&'static dyn Fold],
}

/// The dtypes of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceSignature {
    /// What elements are cast to.
    pub compute: DType,
    /// The dtype of the result.
    pub output: DType,
}

impl Reduction {
    /// The name, that of the Array API standard where it has one.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it computes, in a sentence.
    #[must_use]
    pub fn documentation(&self) -> &'static str {
        self.documentation.trim()
    }

    /// Whether it has a value for no elements.
    #[must_use]
    pub const fn has_identity(&self) -> bool {
        self.has_identity
    }

    /// Whether the result depends on the order of the axes.
    pub(crate) fn is_ordered(&self) -> bool {
        self.rule == Rule::Position
    }

    /// The loop that computes with a dtype.
    pub(crate) fn fold(&self, compute: DType) -> Option<&'static dyn Fold> {
        let mut folds = self.folds.iter().copied();
        folds.find(|fold| fold.compute() == compute)
    }

    /// The dtypes of a call with an input of `input`. `dtype` is what the caller wants the result
    /// in, where the reduction leaves that open; integers become `default_float` where it takes
    /// floats alone.
    ///
    /// # Errors
    /// [`UnsupportedDType`] if the reduction isn't defined for them.
    pub fn resolve(
        &self,
        input: DType,
        dtype: Option<DType>,
        default_float: DType,
    ) -> Result<ReduceSignature, UnsupportedDType> {
        let float = match input.kind() {
            Kind::Float | Kind::Complex => input,
            _ => default_float,
        };
        let widened = |dtype: DType| match dtype.kind() {
            Kind::Bool | Kind::Int => DType::Int64,
            Kind::Uint => DType::Uint64,
            _ => dtype,
        };
        let (compute, output) = match self.rule {
            Rule::Accumulate => {
                let output = dtype.unwrap_or(widened(input));
                let wide = compute_dtype(widened(output));
                // What is widened while it is added need not be converted before.
                let stays = widened(input) == wide && self.fold(input).is_some();
                (if stays { input } else { wide }, output)
            }
            Rule::Same => (compute_dtype(input), dtype.unwrap_or(input)),
            Rule::Truth => (DType::Bool, self.folds[0].output()),
            Rule::Position => (compute_dtype(input), DType::Int64),
            Rule::Float => {
                let output = dtype.unwrap_or(float);
                (compute_dtype(output), output)
            }
            Rule::Wide => {
                let output = dtype.unwrap_or(float);
                let compute = match (input.is_complex(), output.kind()) {
                    (false, Kind::Float) => DType::Float64,
                    _ => DType::Complex128,
                };
                (compute, output)
            }
        };
        if self.fold(compute).is_none() {
            return Err(UnsupportedDType {
                operation: self.name,
                dtypes: [input].into_iter().chain(dtype).collect(),
            });
        }
        Ok(ReduceSignature { compute, output })
    }
}

impl fmt::Debug for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reduction")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Reduction {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Reduction {}

macro_rules! reductions {
    ($(
        $(#[doc = $documentation:literal])*
        $call:ident $name:ident: $rule:ident, $identity:literal, $file:ident::$reducer:ident
            $(over $($t:ty),+)? { $($python:tt)* };
    )*) => {
        /// Every reduction by its name.
        #[allow(non_upper_case_globals, reason = "a row's static is called as the reduction")]
        pub mod rows {
            use num_complex::Complex;

            use super::{Fold, Folded, Reduction, Rule, extreme, moments, scaled, sum, truth};

            $(
                $(#[doc = $documentation])*
                pub static $name: Reduction = Reduction {
                    name: stringify!($name),
                    documentation: concat!($($documentation),*),
                    rule: Rule::$rule,
                    has_identity: $identity,
                    folds: {
                        const FOLDS: &[&dyn Fold] =
                            reductions!(@folds $file $reducer $($($t),+)?);
                        FOLDS
                    },
                };
            )*
        }

        /// Every reduction, in the order of the rows.
        pub const REDUCTIONS: &[&Reduction] = &[$(&rows::$name),*];
    };
    (@folds $file:ident $reducer:ident) => { &[&Folded($file::$reducer)] };
    (@folds $file:ident $reducer:ident $($t:ty),+) => {
        &[$(&Folded($file::$reducer::<$t>::NEW)),+]
    };
}

/// Hands the rows to the macro `$each`.
///
/// A row reads `#[doc = ..] typed name: Rule, identity, file::Reducer over types { python };`. Its
/// first word is what a call may say beyond axes: `plain` and `averaged` nothing, `typed` the dtype
/// of the result, `corrected` a correction; `positional` ones take one axis. Its end is for the
/// documentation of the Python function: the standard's chapter, and an example, as `"elements",
/// "keyword=value" => "result"`. Macros that want only some of it match the rest as token trees:
/// `$($(#[$doc:meta])* $call:ident $name:ident: $rule:ident, $identity:literal, $file:ident::$reducer:ident $(over $($t:ty),+)? { $($python:tt)* };)*`.
#[macro_export]
macro_rules! for_each_reduction {
    ($each:ident) => {
        $each! {
            /// Whether all elements along the axes differ from zero.
            plain all: Truth, true, truth::All
                { utility: "[[1, 0], [1, 1]]", "axis=1" => "[False,  True]" };
            /// Whether any element along the axes differs from zero.
            plain any: Truth, true, truth::Any
                { utility: "[[0, 0], [0, 1]]", "axis=1" => "[False,  True]" };
            /// Position of the first largest element along the axes; the first NaN counts as largest.
            positional argmax: Position, false, extreme::ArgMax
                over bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Complex<f32>, Complex<f64>
                { searching: "[[1, 9, 3], [7, 5, 7]]", "axis=1" => "[1, 0]" };
            /// Position of the first smallest element along the axes; the first NaN counts as smallest.
            positional argmin: Position, false, extreme::ArgMin
                over bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Complex<f32>, Complex<f64>
                { searching: "[[1, 9, 3], [7, 5, 7]]", "axis=1" => "[0, 1]" };
            /// How many elements along the axes differ from zero.
            plain count_nonzero: Truth, true, sum::Sum over bool
                { searching: "[[1, 0, 3], [0, 0, 2]]", "axis=1" => "[2, 1]" };
            /// Logarithm of the sum of the exponentials of the elements along the axes.
            typed logsumexp: Wide, true, scaled::LogSumExp
                { beyond: "[1000.0, 1000.0]" => "1000.69314718" };
            /// The largest element along the axes, or a NaN if there is one.
            plain max: Same, false, extreme::Max
                over bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Complex<f32>, Complex<f64>
                { statistical: "[[1, 9], [7, 5]]", "axis=0" => "[7, 9]" };
            /// Arithmetic mean of the elements along the axes.
            averaged mean: Float, true, sum::Mean over f32, f64, Complex<f32>, Complex<f64>
                { statistical: "[[1, 2], [3, 6]]", "axis=1" => "[1.5, 4.5]" };
            /// The smallest element along the axes, or a NaN if there is one.
            plain min: Same, false, extreme::Min
                over bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Complex<f32>, Complex<f64>
                { statistical: "[[1, 9], [7, 5]]", "axis=0" => "[1, 5]" };
            /// Product of the elements along the axes.
            typed prod: Accumulate, true, sum::Product
                over i64, u64, f32, f64, Complex<f32>, Complex<f64>
                { statistical: "[[1, 2], [3, 4]]", "axis=1" => "[ 2, 12]" };
            /// Square root of the sum of the squares of the elements along the axes.
            typed reduce_hypot: Wide, true, scaled::Hypot
                { beyond: "[[3.0, 4.0], [5.0, 12.0]]", "axis=1" => "[ 5., 13.]" };
            /// Standard deviation of the elements along the axes.
            corrected std: Wide, true, moments::Deviation
                { statistical: "[1.0, 3.0, 5.0, 7.0]", "correction=1" => "2.5819889" };
            /// Sum of the elements along the axes.
            typed sum: Accumulate, true, sum::Sum
                over bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Complex<f32>, Complex<f64>
                { statistical: "[[1, 2], [3, 4]]", "axis=1" => "[3, 7]" };
            /// Variance of the elements along the axes.
            corrected var: Wide, true, moments::Variance
                { statistical: "[1.0, 3.0, 5.0, 7.0]", "correction=1" => "6.66666667" };
        }
    };
}

for_each_reduction!(reductions);

/// The reduction of a name.
#[must_use]
pub fn find_reduction(name: &str) -> Option<&'static Reduction> {
    REDUCTIONS.iter().copied().find(|row| row.name == name)
}
