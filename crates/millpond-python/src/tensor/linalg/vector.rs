//! Products of vectors that only the namespace `linalg` has.

use millpond::tensor::linalg;
use pyo3::prelude::*;

use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::enter;
use crate::tensor::operators::Answer;

/// Multiplies each element of a vector with each of another.
///
/// Parameters
/// ----------
/// x1, x2 : Array
///     The vectors.
///
/// Returns
/// -------
/// Array
///     The products, of shape (M, N).
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For what are no vectors.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.outer(xp.asarray([1, 2]), xp.asarray([3, 4]))
/// Array([[3, 4],
///        [6, 8]])
#[pyfunction]
#[pyo3(signature = (x1, x2, /))]
fn outer<'py>(py: Python<'py>, x1: ArrayLike<'py>, x2: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::outer(x1.tensor(), x2.tensor()))
}

/// Multiplies three-dimensional vectors, so that the products are perpendicular to both.
///
/// Parameters
/// ----------
/// x1, x2 : Array
///     The arrays; their other axes are broadcast.
/// axis : int, optional
///     The axis that the vectors are along, counted from the end.
///
/// Returns
/// -------
/// Array
///     The products, of the shape that both broadcast to.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an axis of another size than three, and for shapes that don't broadcast.
/// IndexError
///     For an axis that the arrays don't have.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.cross(xp.asarray([1, 0, 0]), xp.asarray([0, 1, 0]))
/// Array([0, 0, 1])
#[pyfunction]
#[pyo3(signature = (x1, x2, /, *, axis=-1), text_signature = "(x1, x2, /, *, axis=-1)")]
fn cross<'py>(
    py: Python<'py>,
    x1: ArrayLike<'py>,
    x2: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::cross(x1.tensor(), x2.tensor(), axis))
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(outer, module)?)?;
    module.add_function(wrap_pyfunction!(cross, module)?)
}
