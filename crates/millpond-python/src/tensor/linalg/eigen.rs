//! Eigenvalues and eigenvectors.

use millpond::tensor::linalg;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::tensor::array::{ArrayLike, PyArray, named};
use crate::tensor::enter;
use crate::tensor::operators::Answer;

/// Computes eigenvalues and eigenvectors.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N).
///
/// Returns
/// -------
/// EigResult
///     ``eigenvalues`` and ``eigenvectors``, as columns of length one; both are complex.
///
/// Raises
/// ------
/// ValueError
///     For what aren't square matrices.
/// LinAlgError
///     If a matrix has infinities or NaNs: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.eig(xp.asarray([[2.]])).eigenvalues
/// Array([2.+0.j])
#[pyfunction]
#[pyo3(signature = (x, /))]
fn eig<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    named(py, "EigResult", linalg::eig(x.tensor()).raise()?.into())
}

/// Computes the eigenvalues and eigenvectors of self-adjoint matrices.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N); the upper triangle isn't read.
///
/// Returns
/// -------
/// EighResult
///     ``eigenvalues``, from the smallest on, and ``eigenvectors``, as columns.
///
/// Raises
/// ------
/// ValueError
///     For what aren't square matrices.
/// LinAlgError
///     If a matrix has infinities or NaNs: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.eigh(xp.asarray([[4., 0.], [0., 1.]])).eigenvalues
/// Array([1., 4.])
#[pyfunction]
#[pyo3(signature = (x, /))]
fn eigh<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    named(py, "EighResult", linalg::eigh(x.tensor()).raise()?.into())
}

/// Computes eigenvalues, which are complex.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N).
///
/// Returns
/// -------
/// Array
///     The values, of shape (..., N), complex.
///
/// Raises
/// ------
/// ValueError
///     For what aren't square matrices.
/// LinAlgError
///     If a matrix has infinities or NaNs: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.eigvals(xp.asarray([[2.]]))
/// Array([2.+0.j])
#[pyfunction]
#[pyo3(signature = (x, /))]
fn eigvals<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::eigvals(x.tensor()))
}

/// Computes the eigenvalues of self-adjoint matrices, from the smallest on.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N); the upper triangle isn't read.
///
/// Returns
/// -------
/// Array
///     The values, of shape (..., N), real.
///
/// Raises
/// ------
/// ValueError
///     For what aren't square matrices.
/// LinAlgError
///     If a matrix has infinities or NaNs: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.eigvalsh(xp.asarray([[0., 0.], [3., 0.]]))
/// Array([-3.,  3.])
#[pyfunction]
#[pyo3(signature = (x, /))]
fn eigvalsh<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::eigvalsh(x.tensor()))
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(eig, module)?)?;
    module.add_function(wrap_pyfunction!(eigh, module)?)?;
    module.add_function(wrap_pyfunction!(eigvals, module)?)?;
    module.add_function(wrap_pyfunction!(eigvalsh, module)?)
}
