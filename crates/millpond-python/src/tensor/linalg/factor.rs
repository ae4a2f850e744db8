//! Factors of matrices.

use millpond::tensor::linalg;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::tensor::array::{ArrayLike, PyArray, named};
use crate::tensor::enter;
use crate::tensor::operators::Answer;

/// Takes self-adjoint positive definite matrices apart: a triangle times its adjoint.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N); the other triangle isn't read.
/// upper : bool, optional
///     Whether the result is the upper triangle.
///
/// Returns
/// -------
/// Array
///     The triangles, of the shape of `x`; the rest is zero.
///
/// Raises
/// ------
/// ValueError
///     For what aren't square matrices.
/// LinAlgError
///     If a matrix isn't positive definite: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.cholesky(xp.asarray([[4., 2.], [2., 5.]]))
/// Array([[2., 0.],
///        [1., 2.]])
#[pyfunction]
#[pyo3(signature = (x, /, *, upper=false))]
fn cholesky<'py>(py: Python<'py>, x: ArrayLike<'py>, upper: bool) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::cholesky(x.tensor(), upper))
}

/// Takes matrices apart into one with orthonormal columns and an upper triangle.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
/// mode : {'reduced', 'complete'}, optional
///     Whether the first factor has as many columns as are needed, or is square.
///
/// Returns
/// -------
/// QRResult
///     ``Q`` and ``R``.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an array of fewer than two axes, and for an unknown mode.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> q, r = xp.linalg.qr(xp.asarray([[3., 1.], [4., 2.]]))
/// >>> xp.allclose(q @ r, xp.asarray([[3., 1.], [4., 2.]]))
/// Array(True)
#[pyfunction]
#[pyo3(signature = (x, /, *, mode="reduced"))]
fn qr<'py>(py: Python<'py>, x: ArrayLike<'py>, mode: &str) -> Answer<'py> {
    enter(py);
    let complete = match mode {
        "reduced" => false,
        "complete" => true,
        other => {
            return Err(PyValueError::new_err(format!(
                "qr: expected the mode 'reduced' or 'complete', got '{other}'"
            )));
        }
    };
    let factors = linalg::qr(x.tensor(), complete).raise()?;
    named(py, "QRResult", factors.into())
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cholesky, module)?)?;
    module.add_function(wrap_pyfunction!(qr, module)?)
}
