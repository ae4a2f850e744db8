//! Functions that make one element of many: one for each row of the reductions.

use millpond::kernel::Reduction;
use millpond::kernel::ops::reduction::rows;
use millpond::tensor::statistics::{Reduce, reduce};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::enter;
use crate::tensor::extent::Integers;
use crate::tensor::operators::Answer;
use crate::tensor::out::Out;

/// Reduces an array, into `out` where that is given.
fn call<'py>(
    py: Python<'py>,
    what: &'static Reduction,
    x: &ArrayLike<'py>,
    how: Reduce<'_>,
    out: Option<&Out<'py>>,
) -> Answer<'py> {
    enter(py);
    let how = Reduce {
        out: out.map(Out::tensor),
        ..how
    };
    let result = reduce(what, x.tensor(), &how).raise()?;
    match out {
        Some(out) => Ok(out.object()),
        None => PyArray::object(py, result),
    }
}

/// Where the standard has a reduction.
macro_rules! note {
    (beyond) => {
        "Beyond the Array API standard."
    };
    (utility) => {
        "Array API standard, utility functions; beyond it: `out`."
    };
    (searching) => {
        "Array API standard, searching functions; beyond it: `out`."
    };
    (statistical) => {
        "Array API standard, statistical functions; beyond it: `out`."
    };
}

/// The dtype of the results of a rule.
macro_rules! dtype {
    (Accumulate) => {
        "The results, of the dtype of `x`, if nothing else is said; integers and truth values become ``int64``, or ``uint64``."
    };
    (Same) => {
        "The results, of the dtype of `x`."
    };
    (Truth) => {
        "The results: truth values, or numbers as ``int64``."
    };
    (Position) => {
        "The positions, ``int64``."
    };
    (Float) => {
        "The results, of the dtype of `x`; the default float for integers."
    };
    (Wide) => {
        "The results, of the dtype of `x`; the default float for integers. They are computed in ``float64``."
    };
}

/// When a reduction is refused for its elements.
macro_rules! refusal {
    (true) => {
        "    For axes that are named twice, and for an `out` of another shape."
    };
    (false) => {
        "    For no elements, for axes that are named twice, and for an `out` of another shape."
    };
}

/// A function for each row: what the calls of one sort take is written once.
macro_rules! functions {
    ($(
        $(#[doc = $about:literal])*
        $call:ident $name:ident: $rule:ident, $identity:tt, $file:ident::$reducer:ident
            $(over $($t:ty),+)?
            { $chapter:ident: $elements:literal $(, $keyword:literal)? => $result:literal };
    )*) => {
        $( functions!(@$call [$($about),*] [
            "",
            "Returns",
            "-------",
            "Array",
            concat!("    ", dtype!($rule)),
            "",
            "Raises",
            "------",
            "TypeError",
            "    For a dtype that the function isn't defined for, and for what is no array.",
            "ValueError",
            refusal!($identity),
            "IndexError",
            "    For an axis that `x` doesn't have.",
            "",
            "Notes",
            "-----",
            note!($chapter),
            "",
            "Examples",
            "--------",
            ">>> import millpond.tensor as xp",
            concat!(">>> xp.", stringify!($name), "(xp.asarray(", $elements, ")" $(, ", ", $keyword)?, ")"),
            concat!("Array(", $result, ")")
        ] $name); )*

        /// Adds the functions.
        pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            // Named in full, as one is called like the standard library.
            $( module.add_function(wrap_pyfunction!(self::$name, module)?)?; )*
            Ok(())
        }
    };
    (@plain $($rest:tt)*) => {
        functions!(@axes (x, /, *, axis=None, keepdims=false, out=None) $($rest)*);
    };
    (@averaged $($rest:tt)*) => {
        functions!(@axes (x, axis=None, keepdims=false, *, out=None) $($rest)*);
    };
    (@axes ($($signature:tt)*) [$($about:literal),*] [$($tail:expr),*] $name:ident) => {
        $(#[doc = $about])*
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The array.
        /// axis : int or tuple of int, optional
        ///     The axes to reduce; all of them, if nothing is said.
        /// keepdims : bool, optional
        ///     Whether reduced axes stay, with size one.
        /// out : Array, optional
        ///     Where the result goes.
        $(#[doc = $tail])*
        #[pyfunction]
        #[pyo3(signature = ($($signature)*))]
        fn $name<'py>(
            py: Python<'py>,
            x: ArrayLike<'py>,
            axis: Option<Integers>,
            keepdims: bool,
            out: Option<Out<'py>>,
        ) -> Answer<'py> {
            let axes = Integers::given(axis.as_ref());
            let how = Reduce { axes, keepdims, ..Reduce::default() };
            call(py, &rows::$name, &x, how, out.as_ref())
        }
    };
    (@typed [$($about:literal),*] [$($tail:expr),*] $name:ident) => {
        $(#[doc = $about])*
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The array.
        /// axis : int or tuple of int, optional
        ///     The axes to reduce; all of them, if nothing is said.
        /// dtype : dtype, optional
        ///     Dtype of the result; if nothing is said, it follows from that of the elements.
        /// keepdims : bool, optional
        ///     Whether reduced axes stay, with size one.
        /// out : Array, optional
        ///     Where the result goes.
        $(#[doc = $tail])*
        #[pyfunction]
        #[pyo3(signature = (x, /, *, axis=None, dtype=None, keepdims=false, out=None))]
        fn $name<'py>(
            py: Python<'py>,
            x: ArrayLike<'py>,
            axis: Option<Integers>,
            dtype: Option<DTypeLike>,
            keepdims: bool,
            out: Option<Out<'py>>,
        ) -> Answer<'py> {
            let axes = Integers::given(axis.as_ref());
            let dtype = dtype.map(|dtype| dtype.0);
            let how = Reduce { axes, keepdims, dtype, ..Reduce::default() };
            call(py, &rows::$name, &x, how, out.as_ref())
        }
    };
    (@corrected [$($about:literal),*] [$($tail:expr),*] $name:ident) => {
        $(#[doc = $about])*
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The array.
        /// axis : int or tuple of int, optional
        ///     The axes to reduce; all of them, if nothing is said.
        /// correction : int or float, optional
        ///     What is subtracted from the number of elements to divide by.
        /// keepdims : bool, optional
        ///     Whether reduced axes stay, with size one.
        /// out : Array, optional
        ///     Where the result goes.
        $(#[doc = $tail])*
        #[pyfunction]
        #[pyo3(signature = (x, axis=None, correction=0.0, keepdims=false, *, out=None))]
        fn $name<'py>(
            py: Python<'py>,
            x: ArrayLike<'py>,
            axis: Option<Integers>,
            correction: f64,
            keepdims: bool,
            out: Option<Out<'py>>,
        ) -> Answer<'py> {
            let axes = Integers::given(axis.as_ref());
            let how = Reduce { axes, keepdims, correction, ..Reduce::default() };
            call(py, &rows::$name, &x, how, out.as_ref())
        }
    };
    (@positional [$($about:literal),*] [$($tail:expr),*] $name:ident) => {
        $(#[doc = $about])*
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The array; there must be elements.
        /// axis : int, optional
        ///     The axis; without, the position counts all elements in row-major order.
        /// keepdims : bool, optional
        ///     Whether reduced axes stay, with size one.
        /// out : Array, optional
        ///     Where the result goes.
        $(#[doc = $tail])*
        #[pyfunction]
        #[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
        fn $name<'py>(
            py: Python<'py>,
            x: ArrayLike<'py>,
            #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
            keepdims: bool,
            out: Option<Out<'py>>,
        ) -> Answer<'py> {
            let axes = axis.as_ref().map(core::slice::from_ref);
            let how = Reduce { axes, keepdims, ..Reduce::default() };
            call(py, &rows::$name, &x, how, out.as_ref())
        }
    };
}

millpond::kernel::for_each_reduction!(functions);
