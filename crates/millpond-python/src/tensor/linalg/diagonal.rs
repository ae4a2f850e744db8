//! Diagonals and traces.

use millpond::tensor::linalg;
use pyo3::prelude::*;

use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::enter;
use crate::tensor::operators::Answer;

/// Views diagonals of matrices.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
/// offset : int, optional
///     How many columns to the right of the main diagonal.
///
/// Returns
/// -------
/// Array
///     A view of `x`, whose last axis is the diagonal.
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
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.diagonal(xp.asarray([[1, 2], [3, 4]]))
/// Array([1, 4])
#[pyfunction]
#[pyo3(signature = (x, /, *, offset=0))]
fn diagonal<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] offset: isize,
) -> Answer<'py> {
    PyArray::of(py, x.tensor().diagonal(offset))
}

/// Adds the elements along diagonals of matrices.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
/// offset : int, optional
///     How many columns to the right of the main diagonal.
/// dtype : dtype, optional
///     Dtype of the result; if nothing is said, that of a sum.
///
/// Returns
/// -------
/// Array
///     The sums, of shape (...).
///
/// Raises
/// ------
/// TypeError
///     For what is no array, and for a dtype that there isn't.
/// ValueError
///     For an array of fewer than two axes.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.trace(xp.asarray([[1, 2], [3, 4]]))
/// Array(5)
#[pyfunction]
#[pyo3(signature = (x, /, *, offset=0, dtype=None))]
fn trace<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] offset: isize,
    dtype: Option<DTypeLike>,
) -> Answer<'py> {
    enter(py);
    let dtype = dtype.map(|dtype| dtype.0);
    PyArray::of(py, linalg::trace(x.tensor(), offset, dtype))
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(diagonal, module)?)?;
    module.add_function(wrap_pyfunction!(trace, module)?)
}
