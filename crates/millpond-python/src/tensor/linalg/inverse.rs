//! Determinants, inverses and solutions.

use millpond::tensor::linalg;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray, named};
use crate::tensor::enter;
use crate::tensor::operators::Answer;

/// Computes determinants.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N). Without elements, the determinant is one.
///
/// Returns
/// -------
/// Array
///     The determinants, of shape (...).
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For what aren't square matrices.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.det(xp.asarray([[1., 2.], [3., 4.]]))
/// Array(-2.)
#[pyfunction]
#[pyo3(signature = (x, /))]
fn det<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::det(x.tensor()))
}

/// Computes the signs of determinants and the logarithms of their moduli.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N).
///
/// Returns
/// -------
/// SlogdetResult
///     ``sign`` and ``logabsdet``, zero and minus infinity for a singular matrix.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For what aren't square matrices.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.slogdet(xp.asarray([[-1.]]))
/// SlogdetResult(sign=Array(-1.), logabsdet=Array(0.))
#[pyfunction]
#[pyo3(signature = (x, /))]
fn slogdet<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    named(
        py,
        "SlogdetResult",
        linalg::slogdet(x.tensor()).raise()?.into(),
    )
}

/// Inverts matrices.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N).
///
/// Returns
/// -------
/// Array
///     The inverses, of the shape of `x`.
///
/// Raises
/// ------
/// ValueError
///     For what aren't square matrices.
/// LinAlgError
///     If a matrix is singular: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.inv(xp.asarray([[2., 0.], [0., 4.]]))
/// Array([[0.5 , 0.  ],
///        [0.  , 0.25]])
#[pyfunction]
#[pyo3(signature = (x, /))]
fn inv<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::inv(x.tensor()))
}

/// Solves systems of linear equations.
///
/// Parameters
/// ----------
/// x1 : Array
///     Square matrices, of shape (..., N, N).
/// x2 : Array
///     One vector, of shape (N,), or matrices, of shape (..., N, K).
///
/// Returns
/// -------
/// Array
///     What `x1` has to be multiplied with to give `x2`.
///
/// Raises
/// ------
/// ValueError
///     For what aren't square matrices, and for shapes that don't fit.
/// LinAlgError
///     If a matrix is singular: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.solve(xp.asarray([[2., 0.], [0., 4.]]), xp.asarray([1., 1.]))
/// Array([0.5 , 0.25])
#[pyfunction]
#[pyo3(signature = (x1, x2, /))]
fn solve<'py>(py: Python<'py>, x1: ArrayLike<'py>, x2: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::solve(x1.tensor(), x2.tensor()))
}

/// Multiplies matrices with themselves.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N).
/// n : int
///     How many of them are multiplied; of their inverses, if it is negative.
///
/// Returns
/// -------
/// Array
///     The powers, of the shape of `x`.
///
/// Raises
/// ------
/// ValueError
///     For what aren't square matrices.
/// LinAlgError
///     For a negative power, if a matrix is singular: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.matrix_power(xp.asarray([[1, 1], [0, 1]]), 5)
/// Array([[1, 5],
///        [0, 1]])
#[pyfunction]
#[pyo3(signature = (x, n, /))]
fn matrix_power<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] n: isize,
) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::matrix_power(x.tensor(), n))
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(det, module)?)?;
    module.add_function(wrap_pyfunction!(slogdet, module)?)?;
    module.add_function(wrap_pyfunction!(inv, module)?)?;
    module.add_function(wrap_pyfunction!(solve, module)?)?;
    module.add_function(wrap_pyfunction!(matrix_power, module)?)
}
