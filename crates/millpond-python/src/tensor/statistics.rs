//! Functions that make one element of many.

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

/// The arguments that reductions have in common.
#[derive(Default)]
struct How<'py> {
    axis: Option<Integers>,
    keepdims: bool,
    dtype: Option<DTypeLike>,
    correction: f64,
    out: Option<ArrayLike<'py>>,
}

impl<'py> How<'py> {
    fn run(&self, py: Python<'py>, what: &'static Reduction, x: &ArrayLike<'py>) -> Answer<'py> {
        enter(py);
        let how = Reduce {
            axes: Integers::given(self.axis.as_ref()),
            keepdims: self.keepdims,
            dtype: self.dtype.map(|dtype| dtype.0),
            correction: self.correction,
            out: self.out.as_ref().map(ArrayLike::tensor),
        };
        let result = reduce(what, x.tensor(), &how).raise()?;
        match &self.out {
            Some(out) => Ok(out.object().clone().into_any()),
            None => PyArray::object(py, result),
        }
    }
}

/// Adds the elements along axes.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int or tuple of int, optional
///     The axes to reduce; all of them, if nothing is said.
/// dtype : dtype, optional
///     Dtype of the sum; integers are widened to 64 bits, if nothing is said.
/// keepdims : bool, optional
///     Whether reduced axes stay, with size one.
/// out : Array, optional
///     Where the result goes.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, dtype=None, keepdims=false, out=None))]
fn sum<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    dtype: Option<DTypeLike>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        dtype,
        out,
        ..How::default()
    };
    how.run(py, &rows::sum, &x)
}

/// Multiplies the elements along axes.
///
/// Parameters
/// ----------
/// x, axis, dtype, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, dtype=None, keepdims=false, out=None))]
fn prod<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    dtype: Option<DTypeLike>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        dtype,
        out,
        ..How::default()
    };
    how.run(py, &rows::prod, &x)
}

/// Finds the largest element along axes; a NaN wins.
///
/// Parameters
/// ----------
/// x : Array
///     The array; there must be elements.
/// axis, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
fn max<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        out,
        ..How::default()
    };
    how.run(py, &rows::max, &x)
}

/// Finds the smallest element along axes; a NaN wins.
///
/// Parameters
/// ----------
/// x : Array
///     The array; there must be elements.
/// axis, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
fn min<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        out,
        ..How::default()
    };
    how.run(py, &rows::min, &x)
}

/// Computes the mean of the elements along axes.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
fn mean<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        out,
        ..How::default()
    };
    how.run(py, &rows::mean, &x)
}

/// Computes the variance of the elements along axes.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis, keepdims, out
///     As for `sum`.
/// correction : int or float, optional
///     What is subtracted from the number of elements to divide by.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, correction=0.0, keepdims=false, out=None))]
fn var<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    correction: f64,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        correction,
        out,
        ..How::default()
    };
    how.run(py, &rows::var, &x)
}

/// Computes the standard deviation of the elements along axes.
///
/// Parameters
/// ----------
/// x, axis, correction, keepdims, out
///     As for `var`.
#[pyfunction]
#[pyo3(name = "std", signature = (x, /, *, axis=None, correction=0.0, keepdims=false, out=None))]
fn standard_deviation<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    correction: f64,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        correction,
        out,
        ..How::default()
    };
    how.run(py, &rows::std, &x)
}

/// Says whether any element along axes is true; elements that differ from zero are.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
fn any<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        out,
        ..How::default()
    };
    how.run(py, &rows::any, &x)
}

/// Says whether all elements along axes are true; elements that differ from zero are.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
fn all<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        out,
        ..How::default()
    };
    how.run(py, &rows::all, &x)
}

/// Counts the elements along axes that differ from zero.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
fn count_nonzero<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        out,
        ..How::default()
    };
    how.run(py, &rows::count_nonzero, &x)
}

/// Finds the position of the first largest element along an axis; a NaN wins.
///
/// Parameters
/// ----------
/// x : Array
///     The array; there must be elements.
/// axis : int, optional
///     The axis; without, the position counts all elements in row-major order.
/// keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
fn argmax<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let axis = axis.map(Integers::one);
    let how = How {
        axis,
        keepdims,
        out,
        ..How::default()
    };
    how.run(py, &rows::argmax, &x)
}

/// Finds the position of the first smallest element along an axis; a NaN wins.
///
/// Parameters
/// ----------
/// x, axis, keepdims, out
///     As for `argmax`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, out=None))]
fn argmin<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let axis = axis.map(Integers::one);
    let how = How {
        axis,
        keepdims,
        out,
        ..How::default()
    };
    how.run(py, &rows::argmin, &x)
}

/// Computes the logarithm of the sum of the exponentials of the elements along axes, without undue
/// overflow.
///
/// Parameters
/// ----------
/// x, axis, dtype, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, dtype=None, keepdims=false, out=None))]
fn logsumexp<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    dtype: Option<DTypeLike>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        dtype,
        out,
        ..How::default()
    };
    how.run(py, &rows::logsumexp, &x)
}

/// Computes the root of the sum of the squares of the elements along axes, without undue overflow.
///
/// Parameters
/// ----------
/// x, axis, dtype, keepdims, out
///     As for `sum`.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, dtype=None, keepdims=false, out=None))]
fn reduce_hypot<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    dtype: Option<DTypeLike>,
    keepdims: bool,
    out: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let how = How {
        axis,
        keepdims,
        dtype,
        out,
        ..How::default()
    };
    how.run(py, &rows::reduce_hypot, &x)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sum, module)?)?;
    module.add_function(wrap_pyfunction!(prod, module)?)?;
    module.add_function(wrap_pyfunction!(max, module)?)?;
    module.add_function(wrap_pyfunction!(min, module)?)?;
    module.add_function(wrap_pyfunction!(mean, module)?)?;
    module.add_function(wrap_pyfunction!(var, module)?)?;
    module.add_function(wrap_pyfunction!(standard_deviation, module)?)?;
    module.add_function(wrap_pyfunction!(any, module)?)?;
    module.add_function(wrap_pyfunction!(all, module)?)?;
    module.add_function(wrap_pyfunction!(count_nonzero, module)?)?;
    module.add_function(wrap_pyfunction!(argmax, module)?)?;
    module.add_function(wrap_pyfunction!(argmin, module)?)?;
    module.add_function(wrap_pyfunction!(logsumexp, module)?)?;
    module.add_function(wrap_pyfunction!(reduce_hypot, module)?)
}
