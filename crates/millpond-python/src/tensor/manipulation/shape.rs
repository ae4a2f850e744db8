//! Another shape for the same elements: views where strides can say it, copies elsewhere.

use millpond::tensor::manipulation;
use millpond::types::shape;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Raise;
use crate::tensor::array::{ArrayLike, PyArray, tuple_of};
use crate::tensor::extent::{Integers, ShapeLike, tuple};
use crate::tensor::manipulation::arrays::Arrays;
use crate::tensor::operators::Answer;
use crate::tensor::{enter, order};

/// Gives the elements another shape.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// shape : int or tuple of int
///     The shape; one size may be -1 and follows from the others.
/// order : {'C', 'F'}, optional
///     How the elements are counted, in both shapes.
/// copy : bool, optional
///     Whether elements are copied always, never (which fails where it would be needed), or, by
///     default, where it is needed.
///
/// Returns
/// -------
/// Array
///     A view where strides can say it, else a copy.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a shape of another number of elements, and where ``copy=False`` forbids a copy
///     that is needed.
///
/// Notes
/// -----
/// Array API standard, manipulation functions; beyond it: `order`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.reshape(xp.arange(6), (2, -1))
/// Array([[0, 1, 2],
///        [3, 4, 5]])
#[pyfunction]
#[pyo3(signature = (x, /, shape, *, order="C", copy=None))]
fn reshape<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    shape: Integers,
    order: &str,
    copy: Option<bool>,
) -> Answer<'py> {
    enter(py);
    let order = order::parse(order)?;
    PyArray::of(py, x.tensor().reshape_in_order(&shape.0, order, copy))
}

/// Views an array with its elements repeated, so that it has a shape; the view is read-only.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// shape : int or tuple of int
///     The shape.
///
/// Returns
/// -------
/// Array
///     A view of `x` that can't be written.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If `x` doesn't broadcast to the shape.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2))
/// Array([[1, 2],
///        [1, 2]])
#[pyfunction]
#[pyo3(signature = (x, /, shape))]
fn broadcast_to<'py>(py: Python<'py>, x: ArrayLike<'py>, shape: ShapeLike) -> Answer<'py> {
    PyArray::of(py, x.tensor().broadcast_to(&shape.0))
}

/// Views arrays with the shape that all broadcast to.
///
/// Parameters
/// ----------
/// *arrays : Array
///     The arrays.
///
/// Returns
/// -------
/// tuple of Array
///     The views.
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
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x, y = xp.broadcast_arrays(xp.ones((2, 1)), xp.ones(3))
/// >>> x.shape, y.shape
/// ((2, 3), (2, 3))
#[pyfunction]
#[pyo3(signature = (*arrays))]
fn broadcast_arrays<'py>(arrays: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let arrays = Arrays::of(arrays)?;
    let views = manipulation::broadcast_arrays(&arrays.tensors()).raise()?;
    tuple_of(arrays.py, views)
}

/// Says which shape all of some shapes broadcast to.
///
/// Parameters
/// ----------
/// *shapes : tuple of int
///     The shapes.
///
/// Returns
/// -------
/// tuple of int
///     The shape.
///
/// Raises
/// ------
/// ValueError
///     If the shapes don't broadcast.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.broadcast_shapes((2, 1), (3,))
/// (2, 3)
#[pyfunction]
#[pyo3(signature = (*shapes))]
fn broadcast_shapes<'py>(shapes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let owned: Vec<ShapeLike> = shapes
        .iter_borrowed()
        .map(pyo3::Borrowed::extract)
        .collect::<PyResult<_>>()?;
    let borrowed: Vec<&[usize]> = owned.iter().map(|shape| &shape.0[..]).collect();
    let joined = shape::broadcast(&borrowed)
        .map_err(millpond::tensor::Error::from)
        .raise()?;
    tuple(shapes.py(), &joined)
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(reshape, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast_to, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast_shapes, module)?)
}
