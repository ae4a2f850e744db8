//! Axes in another order, more of them, or fewer: views.

use pyo3::prelude::*;

use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::extent::Integers;
use crate::tensor::operators::Answer;

/// Views an array with its axes in another order.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axes : tuple of int
///     Each axis once, in the new order.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If not each axis is named once.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.permute_dims(xp.ones((2, 3, 4)), (2, 0, 1)).shape
/// (4, 2, 3)
#[pyfunction]
#[pyo3(signature = (x, /, axes))]
fn permute_dims<'py>(py: Python<'py>, x: ArrayLike<'py>, axes: Integers) -> Answer<'py> {
    PyArray::of(py, x.tensor().permute_dims(&axes.0))
}

/// Views an array with the last two axes exchanged.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, in the last two axes.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an array of fewer than two axes.
///
/// Notes
/// -----
/// Array API standard, linear algebra functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.matrix_transpose(xp.asarray([[1, 2], [3, 4]]))
/// Array([[1, 3],
///        [2, 4]])
#[pyfunction]
#[pyo3(signature = (x))]
fn matrix_transpose<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    PyArray::of(py, x.tensor().matrix_transpose())
}

/// Views an array with axes moved elsewhere; the others keep their order.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// source : int or tuple of int
///     The axes to move.
/// destination : int or tuple of int
///     Where each of them goes.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For axes that are named twice, and for other numbers of sources than of
///     destinations.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.moveaxis(xp.ones((2, 3, 4)), 0, -1).shape
/// (3, 4, 2)
#[pyfunction]
#[pyo3(signature = (x, source, destination, /))]
fn moveaxis<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    source: Integers,
    destination: Integers,
) -> Answer<'py> {
    PyArray::of(py, x.tensor().moveaxis(&source.0, &destination.0))
}

/// Views an array with two axes exchanged.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis1, axis2 : int
///     The axes.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.swapaxes(xp.ones((2, 3, 4)), 0, 2).shape
/// (4, 3, 2)
#[pyfunction]
#[pyo3(signature = (x, axis1, axis2))]
fn swapaxes<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis1: isize,
    #[pyo3(from_py_with = integer::integer)] axis2: isize,
) -> Answer<'py> {
    PyArray::of(py, x.tensor().swapaxes(axis1, axis2))
}

/// Views an array with new axes of size one.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int or tuple of int, optional
///     Where the new axes are, in the result.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an axis that is named twice.
/// IndexError
///     For an axis that the result doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.expand_dims(xp.ones(3), (0, -1)).shape
/// (1, 3, 1)
#[pyfunction]
#[pyo3(signature = (x, /, axis=Integers::one(0)), text_signature = "(x, /, axis=0)")]
fn expand_dims<'py>(py: Python<'py>, x: ArrayLike<'py>, axis: Integers) -> Answer<'py> {
    PyArray::of(py, x.tensor().expand_dims(&axis.0))
}

/// Views an array without axes of size one.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int or tuple of int, optional
///     The axes to leave out; all of size one, if nothing is said.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an axis of another size than one.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.squeeze(xp.ones((1, 3, 1)), axis=0).shape
/// (3, 1)
#[pyfunction]
#[pyo3(signature = (x, /, axis=None))]
fn squeeze<'py>(py: Python<'py>, x: ArrayLike<'py>, axis: Option<Integers>) -> Answer<'py> {
    PyArray::of(py, x.tensor().squeeze(Integers::given(axis.as_ref())))
}

/// Views an array with the elements along axes in reverse order.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int or tuple of int, optional
///     The axes; all of them, if nothing is said.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.flip(xp.asarray([1, 2, 3]))
/// Array([3, 2, 1])
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None))]
fn flip<'py>(py: Python<'py>, x: ArrayLike<'py>, axis: Option<Integers>) -> Answer<'py> {
    PyArray::of(py, x.tensor().flip(Integers::given(axis.as_ref())))
}

/// Adds the one function that `linalg` has as well.
pub(crate) fn register_matrix_transpose(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(matrix_transpose, module)?)
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(permute_dims, module)?)?;
    register_matrix_transpose(module)?;
    module.add_function(wrap_pyfunction!(moveaxis, module)?)?;
    module.add_function(wrap_pyfunction!(swapaxes, module)?)?;
    module.add_function(wrap_pyfunction!(expand_dims, module)?)?;
    module.add_function(wrap_pyfunction!(squeeze, module)?)?;
    module.add_function(wrap_pyfunction!(flip, module)?)
}
