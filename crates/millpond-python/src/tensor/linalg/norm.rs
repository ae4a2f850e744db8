//! Norms of vectors and of matrices.

use millpond::tensor::linalg::{self, MatrixNorm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::extent::Integers;
use crate::tensor::operators::Answer;
use crate::tensor::{enter, foreign};

/// Computes norms of vectors.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int or tuple of int, optional
///     The axes that a vector is along; all of them, if nothing is said.
/// keepdims : bool, optional
///     Whether these axes stay, with size one.
/// ord : int or float, optional
///     The order *p*: the *p*-th root of the sum of the *p*-th powers of the moduli. Infinity means
///     the largest modulus, minus infinity the smallest, zero how many numbers aren't zero.
///
/// Returns
/// -------
/// Array
///     The norms, real, of the shape of `x` without the axes, or with size one.
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
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.vector_norm(xp.asarray([3., -4.]))
/// Array(5.)
#[pyfunction]
#[pyo3(
    signature = (x, /, *, axis=None, keepdims=false, ord=2.0),
    text_signature = "(x, /, *, axis=None, keepdims=False, ord=2)"
)]
fn vector_norm<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    axis: Option<Integers>,
    keepdims: bool,
    ord: f64,
) -> Answer<'py> {
    enter(py);
    let axes = Integers::given(axis.as_ref());
    PyArray::of(py, linalg::vector_norm(x.tensor(), axes, keepdims, ord))
}

/// Which norm of a matrix.
struct Order(MatrixNorm);

impl<'py> FromPyObject<'_, 'py> for Order {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let refused = || {
            PyValueError::new_err(format!(
                "ord: expected 'fro', 'nuc', 1, 2, infinity or the negative of one, got {}",
                foreign::describe(&obj)
            ))
        };
        if obj.is_none() {
            return Ok(Self(MatrixNorm::Frobenius));
        }
        if let Ok(name) = obj.cast::<PyString>() {
            return match name.to_str()? {
                "fro" => Ok(Self(MatrixNorm::Frobenius)),
                "nuc" => Ok(Self(MatrixNorm::Nuclear)),
                _ => Err(refused()),
            };
        }
        let order = obj.extract().map_err(|_| refused())?;
        Ok(Self(MatrixNorm::Order(order)))
    }
}

/// Computes norms of matrices.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
/// keepdims : bool, optional
///     Whether the last two axes stay, with size one.
/// ord : {'fro', 'nuc', 1, 2, inf, -1, -2, -inf}, optional
///     The root of the sum of squares; the sum of the singular values; the largest sum of moduli of
///     a column; the largest singular value; the largest sum of moduli of a row; the smallest ones.
///
/// Returns
/// -------
/// Array
///     The norms, real, of shape (...), or (..., 1, 1).
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an array of fewer than two axes, and for an order that there isn't.
///
/// Notes
/// -----
/// Array API standard, extension linalg.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linalg.matrix_norm(xp.asarray([[1., 2.], [3., -4.]]), ord=1)
/// Array(6.)
#[pyfunction]
#[pyo3(
    signature = (x, /, *, keepdims=false, ord=Order(MatrixNorm::Frobenius)),
    text_signature = "(x, /, *, keepdims=False, ord='fro')"
)]
fn matrix_norm<'py>(py: Python<'py>, x: ArrayLike<'py>, keepdims: bool, ord: Order) -> Answer<'py> {
    enter(py);
    PyArray::of(py, linalg::matrix_norm(x.tensor(), keepdims, ord.0))
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(vector_norm, module)?)?;
    module.add_function(wrap_pyfunction!(matrix_norm, module)?)
}
