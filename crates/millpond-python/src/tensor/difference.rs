//! Functions about differences and products of arrays: neighbours, closeness, dot products.

use millpond::tensor::data_types::{self, TypeSource};
use millpond::tensor::utility::Tolerance;
use millpond::tensor::{Place, Tensor, creation};
use millpond::types::shape;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::operators::Answer;
use crate::tensor::{enter, scalar};

/// Computes the differences of neighbours along an axis.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int, optional
///     The axis.
/// n : int, optional
///     How many times differences are taken.
/// prepend, append : Array or number, optional
///     What is put in front and behind before; a number stands for itself at each place.
///
/// Returns
/// -------
/// Array
///     The differences; the axis is shorter by `n`, before what is put beside it.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a negative `n`, for an array without axes, and for what doesn't fit beside `x`.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, utility functions; beyond it: numbers as `prepend` and `append`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.diff(xp.asarray([1, 4, 9, 16]))
/// Array([3, 5, 7])
#[pyfunction]
#[pyo3(
    signature = (x, /, *, axis=-1, n=1, prepend=None, append=None),
    text_signature = "(x, /, *, axis=-1, n=1, prepend=None, append=None)"
)]
fn diff<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
    #[pyo3(from_py_with = integer::count)] n: usize,
    prepend: Option<&Bound<'py, PyAny>>,
    append: Option<&Bound<'py, PyAny>>,
) -> Answer<'py> {
    enter(py);
    let x = x.tensor();
    let [prepend, append] =
        [prepend, append].map(|object| object.map(|object| beside(x, object, axis)).transpose());
    PyArray::of(py, x.diff(axis, n, prepend?.as_ref(), append?.as_ref()))
}

/// What is put beside an array along an axis: an array with axes as it is, a number at each place.
fn beside(x: &Tensor, object: &Bound<'_, PyAny>, axis: isize) -> PyResult<Tensor> {
    let place = Place::of(x);
    let number = match scalar::of_python(object)? {
        Some(value) => {
            let sources = [TypeSource::Tensor(x), TypeSource::Scalar(value)];
            let default = data_types::default_float(&x.device());
            let dtype = data_types::result_type(&sources, default).raise()?;
            creation::scalar(value, Some(dtype), &place).raise()?
        }
        None => match scalar::of_numpy(object)? {
            Some((value, dtype)) => creation::scalar(value, Some(dtype), &place).raise()?,
            None => object.extract::<ArrayLike<'_>>()?.tensor().clone(),
        },
    };
    if number.ndim() != 0 {
        return Ok(number);
    }
    let axis = shape::normalize_axis(axis, x.ndim())
        .map_err(millpond::tensor::Error::from)
        .raise()?;
    let mut sizes = x.shape().to_vec();
    sizes[axis] = 1;
    number.broadcast_to(&sizes).raise()
}

fn tolerance(absolute: f64, relative: f64, equal_nan: bool) -> Tolerance {
    Tolerance {
        absolute,
        relative,
        equal_nan,
    }
}

/// Says which elements of two arrays are close.
///
/// Parameters
/// ----------
/// a1, a2 : Array
///     The arrays.
/// atol : float, optional
///     What may always be between them.
/// rtol : float, optional
///     What may be between them for each unit of `a2`.
/// equal_nan : bool, optional
///     Whether NaNs are close to one another.
///
/// Returns
/// -------
/// Array
///     Truth values, of the shape that both broadcast to.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If the shapes don't broadcast.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.isclose(xp.asarray([1.0, 2.0]), xp.asarray([1.0, 2.1]))
/// Array([ True, False])
#[pyfunction]
#[pyo3(signature = (a1, a2, atol=1e-8, rtol=1e-5, equal_nan=false))]
fn isclose<'py>(
    py: Python<'py>,
    a1: ArrayLike<'py>,
    a2: ArrayLike<'py>,
    atol: f64,
    rtol: f64,
    equal_nan: bool,
) -> Answer<'py> {
    enter(py);
    PyArray::of(
        py,
        a1.tensor()
            .isclose(a2.tensor(), &tolerance(atol, rtol, equal_nan)),
    )
}

/// Says whether all elements of two arrays are close.
///
/// Parameters
/// ----------
/// a1, a2, atol, rtol, equal_nan
///     As for `isclose`.
///
/// Returns
/// -------
/// Array
///     One truth value, of no axis.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If the shapes don't broadcast.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> bool(xp.allclose(xp.asarray([1.0]), xp.asarray([1.0 + 1e-9])))
/// True
#[pyfunction]
#[pyo3(signature = (a1, a2, atol=1e-8, rtol=1e-5, equal_nan=false))]
fn allclose<'py>(
    py: Python<'py>,
    a1: ArrayLike<'py>,
    a2: ArrayLike<'py>,
    atol: f64,
    rtol: f64,
    equal_nan: bool,
) -> Answer<'py> {
    enter(py);
    PyArray::of(
        py,
        a1.tensor()
            .allclose(a2.tensor(), &tolerance(atol, rtol, equal_nan)),
    )
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(diff, module)?)?;
    module.add_function(wrap_pyfunction!(isclose, module)?)?;
    module.add_function(wrap_pyfunction!(allclose, module)?)
}
