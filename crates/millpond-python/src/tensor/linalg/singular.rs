//! Singular values, and what is made of them.

use millpond::tensor::{Tensor, linalg};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::tensor::array::{ArrayLike, PyArray, named};
use crate::tensor::operators::Answer;
use crate::tensor::{enter, foreign};

/// Takes matrices apart into singular vectors and singular values.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
/// full_matrices : bool, optional
///     Whether the vectors make square matrices.
///
/// Returns
/// -------
/// SVDResult
///     ``U``, ``S``, from the largest on, and ``Vh``.
///
/// Raises
/// ------
/// ValueError
///     For an array of fewer than two axes.
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
/// >>> xp.linalg.svd(xp.asarray([[3., 0.], [0., 4.]])).S
/// Array([4., 3.])
#[pyfunction]
#[pyo3(signature = (x, /, *, full_matrices=true))]
fn svd<'py>(py: Python<'py>, x: ArrayLike<'py>, full_matrices: bool) -> Answer<'py> {
    enter(py);
    let factors = linalg::svd(x.tensor(), full_matrices).raise()?;
    named(py, "SVDResult", factors.into())
}

/// Computes singular values, from the largest on.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
///
/// Returns
/// -------
/// Array
///     The values, of shape (..., min(M, N)), real.
///
/// Raises
/// ------
/// ValueError
///     For an array of fewer than two axes.
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
/// >>> xp.linalg.svdvals(xp.asarray([[3., 0.], [0., -4.]]))
/// Array([4., 3.])
#[pyfunction]
#[pyo3(signature = (x, /))]
fn svdvals<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::svdvals(x.tensor()))
}

/// A tolerance: a number, or an array of them, one for each matrix.
enum Tolerance<'py> {
    Number(f64),
    Array(ArrayLike<'py>),
}

impl<'py> FromPyObject<'_, 'py> for Tolerance<'py> {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = obj.extract() {
            return Ok(Self::Array(array));
        }
        foreign::refuse_arrays(&obj)?;
        obj.extract().map(Self::Number).map_err(|_| {
            PyTypeError::new_err(format!(
                "rtol: expected a number or an array, got {}",
                foreign::describe(&obj)
            ))
        })
    }
}

impl Tolerance<'_> {
    /// As the operations take it.
    fn beside(self, x: &Tensor) -> PyResult<Tensor> {
        match self {
            Self::Array(array) => Ok(array.tensor().clone()),
            Self::Number(value) => linalg::tolerance(value, x).raise(),
        }
    }
}

/// Counts the singular values that aren't negligible.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
/// rtol : float or Array, optional
///     Singular values of at most this part of the largest are negligible; by default the larger
///     size times the distance from one to the next number.
///
/// Returns
/// -------
/// Array
///     The numbers, of shape (...), `int64`.
///
/// Raises
/// ------
/// ValueError
///     For an array of fewer than two axes.
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
/// >>> xp.linalg.matrix_rank(xp.asarray([[1., 2.], [2., 4.]]))
/// Array(1)
#[pyfunction]
#[pyo3(signature = (x, /, *, rtol=None))]
fn matrix_rank<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    rtol: Option<Tolerance<'py>>,
) -> Answer<'py> {
    enter(py);
    let rtol = rtol.map(|rtol| rtol.beside(x.tensor())).transpose()?;
    PyArray::of(py, linalg::matrix_rank(x.tensor(), rtol.as_ref()))
}

/// Computes pseudo-inverses.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
/// rtol : float or Array, optional
///     Singular values of at most this part of the largest count as zero; by default the larger
///     size times the distance from one to the next number.
///
/// Returns
/// -------
/// Array
///     The pseudo-inverses, of shape (..., N, M).
///
/// Raises
/// ------
/// ValueError
///     For an array of fewer than two axes.
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
/// >>> xp.linalg.pinv(xp.asarray([[2., 0.], [0., 0.]]))
/// Array([[0.5, 0. ],
///        [0. , 0. ]])
#[pyfunction]
#[pyo3(signature = (x, /, *, rtol=None))]
fn pinv<'py>(py: Python<'py>, x: ArrayLike<'py>, rtol: Option<Tolerance<'py>>) -> Answer<'py> {
    enter(py);
    let rtol = rtol.map(|rtol| rtol.beside(x.tensor())).transpose()?;
    PyArray::of(py, linalg::pinv(x.tensor(), rtol.as_ref()))
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(svd, module)?)?;
    module.add_function(wrap_pyfunction!(svdvals, module)?)?;
    module.add_function(wrap_pyfunction!(matrix_rank, module)?)?;
    module.add_function(wrap_pyfunction!(pinv, module)?)
}
