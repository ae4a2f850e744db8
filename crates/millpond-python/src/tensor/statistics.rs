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

/// A function for each row: what the calls of one sort take is written once.
macro_rules! functions {
    ($(
        $(#[doc = $about:literal])*
        $call:ident $name:ident: $rule:ident, $identity:literal, $file:ident::$reducer:ident
            $(over $($t:ty),+)?;
    )*) => {
        $( functions!(@$call [$($about),*] $name); )*

        /// Adds the functions.
        pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            // Named in full, as one is called like the standard library.
            $( module.add_function(wrap_pyfunction!(self::$name, module)?)?; )*
            Ok(())
        }
    };
    (@plain [$($about:literal),*] $name:ident) => {
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
        #[pyfunction]
        #[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
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
    (@typed [$($about:literal),*] $name:ident) => {
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
    (@corrected [$($about:literal),*] $name:ident) => {
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
        #[pyfunction]
        #[pyo3(signature = (x, /, *, axis=None, correction=0.0, keepdims=false, out=None))]
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
    (@positional [$($about:literal),*] $name:ident) => {
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
