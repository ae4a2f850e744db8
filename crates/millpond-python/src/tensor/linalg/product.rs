//! Products of vectors and matrices, for both namespaces, and the operator.

use millpond::tensor::{Casting, Tensor, linalg};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::extent::Integers;
use crate::tensor::operators::Answer;
use crate::tensor::out::Out;
use crate::tensor::{enter, foreign, order};

/// Multiplies matrices.
///
/// The last two axes are matrices, the others count them and broadcast. A vector counts as a row
/// on the left and as a column on the right, and is left out of the result. Integers wrap and are
/// otherwise exact; half floats are added as ``float32`` and rounded once.
///
/// Parameters
/// ----------
/// x1, x2 : Array
///     Vectors or matrices, of shapes (..., M, K) and (..., K, N).
/// out : Array, optional
///     Where the result goes; it may overlap the operands.
/// dtype : dtype, optional
///     Dtype that is computed with, of the kind of the operands or a higher one.
/// order : {'K', 'C', 'F', 'A'}, optional
///     How the axes of a new result lie in memory.
///
/// Returns
/// -------
/// Array
///     The products, of shape (..., M, N) and the promoted dtype.
///
/// Raises
/// ------
/// TypeError
///     For what is no array, and for a `dtype` or an `out` of a lower kind.
/// ValueError
///     For arrays without axes and for shapes that don't fit.
///
/// Notes
/// -----
/// Array API standard, linear algebra functions; beyond it: `out`, `dtype`, `order`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.matmul(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, -1]))
/// Array([-1, -1])
#[pyfunction]
#[pyo3(signature = (x1, x2, out=None, dtype=None, order="K"))]
fn matmul<'py>(
    py: Python<'py>,
    x1: ArrayLike<'py>,
    x2: ArrayLike<'py>,
    out: Option<Out<'py>>,
    dtype: Option<DTypeLike>,
    order: &str,
) -> Answer<'py> {
    enter(py);
    let order = order::parse(order)?;
    let target = out.as_ref().map(Out::tensor);
    let result = match dtype {
        Some(DTypeLike(dtype)) => {
            let cast = |x: &ArrayLike<'_>| x.tensor().cast(dtype, Casting::SameKind, false);
            linalg::matmul(&cast(&x1).raise()?, &cast(&x2).raise()?, target)
        }
        None => linalg::matmul(x1.tensor(), x2.tensor(), target),
    };
    match (out, result.raise()?) {
        (Some(out), _) => Ok(out.object()),
        (None, result) => PyArray::object(py, order::arranged(result, order)?),
    }
}

/// Adds products along axes of both arrays.
///
/// Parameters
/// ----------
/// x1, x2 : Array
///     The arrays.
/// axes : int or tuple of sequences of int, optional
///     The axes, those of `x1` and those of `x2`, each with its partner at the same place; or how
///     many of the last axes of `x1` and the first of `x2`.
///
/// Returns
/// -------
/// Array
///     The sums, with the other axes of `x1` and then those of `x2`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array, and for axes that are neither a number nor two sequences.
/// ValueError
///     For axes of different sizes, and for more axes than there are.
///
/// Notes
/// -----
/// Array API standard, linear algebra functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.asarray([[1, 2], [3, 4]])
/// >>> xp.tensordot(x, x, axes=((0, 1), (0, 1)))
/// Array(30)
#[pyfunction]
#[pyo3(signature = (x1, x2, axes=None), text_signature = "(x1, x2, axes=2)")]
fn tensordot<'py>(
    py: Python<'py>,
    x1: ArrayLike<'py>,
    x2: ArrayLike<'py>,
    axes: Option<&Bound<'py, PyAny>>,
) -> Answer<'py> {
    enter(py);
    let (first, second) = match axes {
        None => counted(x1.tensor(), x2.tensor(), 2)?,
        Some(axes) if axes.cast::<PyInt>().is_ok() => {
            counted(x1.tensor(), x2.tensor(), integer::integer(axes)?)?
        }
        Some(axes) => axes.extract::<(Integers, Integers)>().map_err(|_| {
            PyTypeError::new_err(format!(
                "tensordot: expected a number of axes or two sequences of axes, got {}",
                foreign::describe(axes)
            ))
        })?,
    };
    let result = linalg::tensordot(x1.tensor(), x2.tensor(), &first.0, &second.0);
    PyArray::of(py, result)
}

/// The last axes of one array and the first of another.
fn counted(first: &Tensor, second: &Tensor, count: isize) -> PyResult<(Integers, Integers)> {
    let most = first.ndim().min(second.ndim()) as isize;
    if !(0..=most).contains(&count) {
        return Err(PyValueError::new_err(format!(
            "tensordot: {count} axes of arrays of {} and {} dimensions",
            first.ndim(),
            second.ndim()
        )));
    }
    let axes = |axes: std::ops::Range<isize>| Integers(axes.collect());
    Ok((axes(-count..0), axes(0..count)))
}

/// Adds the products of the elements along an axis, the first ones conjugated.
///
/// Parameters
/// ----------
/// x1, x2 : Array
///     The arrays; their other axes are broadcast.
/// axis : int, optional
///     The axis, counted from the end.
///
/// Returns
/// -------
/// Array
///     The sums, of the promoted dtype, without the axis.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If the shapes don't fit.
/// IndexError
///     For an axis that the arrays don't have.
///
/// Notes
/// -----
/// Array API standard, linear algebra functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.vecdot(xp.asarray([1j, 2]), xp.asarray([1j, 3]))
/// Array(7.+0.j)
#[pyfunction]
#[pyo3(signature = (x1, x2, axis=-1), text_signature = "(x1, x2, axis=-1)")]
fn vecdot<'py>(
    py: Python<'py>,
    x1: ArrayLike<'py>,
    x2: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
) -> Answer<'py> {
    enter(py);
    PyArray::of(py, x1.tensor().vecdot(x2.tensor(), axis))
}

/// `array @ other`, or the other way round.
pub(crate) fn operator<'py>(
    array: &PyArray,
    other: &Bound<'py, PyAny>,
    reflected: bool,
) -> Answer<'py> {
    let py = other.py();
    enter(py);
    let Ok(second) = other.cast::<PyArray>() else {
        foreign::refuse_arrays(other)?;
        return Ok(py.NotImplemented().into_bound(py));
    };
    let (first, second) = (array.tensor(), second.get().tensor());
    let (lhs, rhs) = if reflected {
        (second, first)
    } else {
        (first, second)
    };
    PyArray::of(py, linalg::matmul(lhs, rhs, None))
}

/// `array @= other`.
pub(crate) fn in_place(array: &PyArray, other: &Bound<'_, PyAny>) -> PyResult<()> {
    enter(other.py());
    let Ok(second) = other.cast::<PyArray>() else {
        foreign::refuse_arrays(other)?;
        return Err(PyTypeError::new_err(format!(
            "matmul: an array and {} cannot be combined in place",
            foreign::describe(other)
        )));
    };
    let target = array.tensor();
    linalg::matmul(target, second.get().tensor(), Some(target)).raise()?;
    Ok(())
}

/// Adds the functions that both namespaces have.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(matmul, module)?)?;
    module.add_function(wrap_pyfunction!(tensordot, module)?)?;
    module.add_function(wrap_pyfunction!(vecdot, module)?)
}
