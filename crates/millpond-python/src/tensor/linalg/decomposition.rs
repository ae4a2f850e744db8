//! Decompositions, solutions and what is made of parts of matrices: what only the namespace `linalg`
//! has.

use millpond::tensor::{Tensor, linalg};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray, named};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::operators::Answer;
use crate::tensor::{enter, foreign};

/// Functions of one array, one result each: what they take is written once.
macro_rules! of_one {
    ($($(#[doc = $about:literal])* $name:ident;)*) => { $(
        $(#[doc = $about])*
        #[pyfunction]
        #[pyo3(signature = (x, /))]
        fn $name<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
            enter(py);
            PyArray::of(py, linalg::$name(x.tensor()))
        }
    )* };
}

/// The same with several results, in a named tuple.
macro_rules! of_one_several {
    ($($(#[doc = $about:literal])* $name:ident: $class:literal;)*) => { $(
        $(#[doc = $about])*
        #[pyfunction]
        #[pyo3(signature = (x, /))]
        fn $name<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
            enter(py);
            named(py, $class, linalg::$name(x.tensor()).raise()?.into())
        }
    )* };
}

of_one! {
    /// Computes determinants.
    ///
    /// Parameters
    /// ----------
    /// x : Array
    ///     Square matrices, of shape (..., N, N). Without elements, the determinant is one.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.linalg.det(xp.asarray([[1., 2.], [3., 4.]]))
    /// Array(-2.)
    det;
    /// Inverts matrices.
    ///
    /// Parameters
    /// ----------
    /// x : Array
    ///     Square matrices, of shape (..., N, N).
    ///
    /// Raises
    /// ------
    /// LinAlgError
    ///     If a matrix is singular: at the call or at the next wait.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.linalg.inv(xp.asarray([[2., 0.], [0., 4.]]))
    /// Array([[0.5 , 0.  ],
    ///        [0.  , 0.25]])
    inv;
    /// Computes singular values, from the largest on.
    ///
    /// Parameters
    /// ----------
    /// x : Array
    ///     Matrices, of shape (..., M, N).
    ///
    /// Raises
    /// ------
    /// LinAlgError
    ///     If a matrix has infinities or NaNs: at the call or at the next wait.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.linalg.svdvals(xp.asarray([[3., 0.], [0., -4.]]))
    /// Array([4., 3.])
    svdvals;
    /// Computes the eigenvalues of self-adjoint matrices, from the smallest on.
    ///
    /// Parameters
    /// ----------
    /// x : Array
    ///     Square matrices, of shape (..., N, N); the upper triangle isn't read.
    ///
    /// Raises
    /// ------
    /// LinAlgError
    ///     If a matrix has infinities or NaNs: at the call or at the next wait.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.linalg.eigvalsh(xp.asarray([[0., 0.], [3., 0.]]))
    /// Array([-3.,  3.])
    eigvalsh;
    /// Computes eigenvalues, which are complex.
    ///
    /// Parameters
    /// ----------
    /// x : Array
    ///     Square matrices, of shape (..., N, N).
    ///
    /// Raises
    /// ------
    /// LinAlgError
    ///     If a matrix has infinities or NaNs: at the call or at the next wait.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.linalg.eigvals(xp.asarray([[2.]]))
    /// Array([2.+0.j])
    eigvals;
}

of_one_several! {
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
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.linalg.slogdet(xp.asarray([[-1.]]))
    /// SlogdetResult(sign=Array(-1.), logabsdet=Array(0.))
    slogdet: "SlogdetResult";
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
    /// LinAlgError
    ///     If a matrix has infinities or NaNs: at the call or at the next wait.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.linalg.eigh(xp.asarray([[4., 0.], [0., 1.]])).eigenvalues
    /// Array([1., 4.])
    eigh: "EighResult";
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
    /// LinAlgError
    ///     If a matrix has infinities or NaNs: at the call or at the next wait.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.linalg.eig(xp.asarray([[2.]])).eigenvalues
    /// Array([2.+0.j])
    eig: "EigResult";
}

/// Takes self-adjoint positive definite matrices apart: a triangle times its adjoint.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N); the other triangle isn't read.
/// upper : bool, optional
///     Whether the result is the upper triangle.
///
/// Raises
/// ------
/// LinAlgError
///     If a matrix isn't positive definite: at the call or at the next wait.
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
/// LinAlgError
///     If a matrix is singular: at the call or at the next wait.
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
/// LinAlgError
///     If a matrix has infinities or NaNs: at the call or at the next wait.
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

/// Multiplies matrices with themselves.
///
/// Parameters
/// ----------
/// x : Array
///     Square matrices, of shape (..., N, N).
/// n : int
///     How many of them are multiplied; of their inverses, if it is negative.
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

/// Multiplies each element of a vector with each of another.
///
/// Parameters
/// ----------
/// x1, x2 : Array
///     The vectors.
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

/// Views diagonals of matrices.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, of shape (..., M, N).
/// offset : int, optional
///     How many columns to the right of the main diagonal.
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
    macro_rules! add {
        ($($name:ident)*) => { $( module.add_function(wrap_pyfunction!($name, module)?)?; )* };
    }
    add!(cholesky cross det diagonal eig eigh eigvals eigvalsh inv matrix_power);
    add!(matrix_rank outer pinv qr slogdet solve svd svdvals trace);
    Ok(())
}
