//! Elements of several arrays in one, and of one in several; elements that are repeated or rolled.

use millpond::tensor::manipulation;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray, tuple_of};
use crate::tensor::extent::{Integers, ShapeLike};
use crate::tensor::manipulation::arrays::Arrays;
use crate::tensor::operators::Answer;
use crate::tensor::{enter, indexing};

/// Joins arrays along an axis.
///
/// Parameters
/// ----------
/// arrays : sequence of Array
///     The arrays; their shapes differ along the axis at most.
/// axis : int, optional
///     The axis; with None, all elements come in one row.
///
/// Returns
/// -------
/// Array
///     The elements, of the dtype that those of the arrays promote to.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For no array, and for shapes that differ along other axes.
/// IndexError
///     For an axis that the arrays don't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.concat([xp.asarray([1, 2]), xp.asarray([3])])
/// Array([1, 2, 3])
#[pyfunction]
#[pyo3(signature = (arrays, /, *, axis=Some(0)), text_signature = "(arrays, /, *, axis=0)")]
fn concat<'py>(
    arrays: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
) -> Answer<'py> {
    let py = arrays.py();
    enter(py);
    let arrays = Arrays::of(arrays)?;
    PyArray::of(py, manipulation::concat(&arrays.tensors(), axis))
}

/// Joins arrays along a new axis.
///
/// Parameters
/// ----------
/// arrays : sequence of Array
///     The arrays, all of one shape.
/// axis : int, optional
///     Where the new axis is, in the result.
///
/// Returns
/// -------
/// Array
///     The elements, of the dtype that those of the arrays promote to.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For no array, and for arrays of several shapes.
/// IndexError
///     For an axis that the result doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.stack([xp.asarray([1, 2]), xp.asarray([3, 4])], axis=1)
/// Array([[1, 3],
///        [2, 4]])
#[pyfunction]
#[pyo3(signature = (arrays, /, *, axis=0))]
fn stack<'py>(
    arrays: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
) -> Answer<'py> {
    let py = arrays.py();
    enter(py);
    let arrays = Arrays::of(arrays)?;
    PyArray::of(py, manipulation::stack(&arrays.tensors(), axis))
}

/// Views what lies along an axis, one after the other.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int, optional
///     The axis.
///
/// Returns
/// -------
/// tuple of Array
///     The views, which lack the axis.
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
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> first, second = xp.unstack(xp.asarray([[1, 2], [3, 4]]))
/// >>> second
/// Array([3, 4])
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=0))]
fn unstack<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
) -> PyResult<Bound<'py, PyTuple>> {
    tuple_of(py, x.tensor().unstack(axis).raise()?)
}

/// Repeats an array as tiles do.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// repetitions : int or tuple of int
///     How many times along each axis, the last ones if there are fewer.
///
/// Returns
/// -------
/// Array
///     A copy; `x` counts as having as many axes as there are numbers, the new ones in
///     front.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a negative number.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.tile(xp.asarray([1, 2]), (2, 2))
/// Array([[1, 2, 1, 2],
///        [1, 2, 1, 2]])
#[pyfunction]
#[pyo3(signature = (x, repetitions, /))]
fn tile<'py>(py: Python<'py>, x: ArrayLike<'py>, repetitions: ShapeLike) -> Answer<'py> {
    enter(py);
    PyArray::of(py, x.tensor().tile(&repetitions.0))
}

/// Repeats each element.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// repeats : int or Array
///     How many times; an array of integers has one for each element along the axis, or one for all,
///     and is waited for, since the shape depends on it.
/// axis : int, optional
///     The axis along which the copies lie; without, all elements come in one row.
///
/// Returns
/// -------
/// Array
///     A copy.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If a number is negative, or if there are as many as the axis has not.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.repeat(xp.asarray([7, 8, 9]), xp.asarray([2, 0, 1])).tolist()
/// [7, 7, 9]
#[pyfunction]
#[pyo3(signature = (x, repeats, /, *, axis=None))]
fn repeat<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    repeats: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
) -> Answer<'py> {
    enter(py);
    if let Some(counts) = indexing::array_beside(x.tensor(), repeats)? {
        return PyArray::of(py, x.tensor().repeat_each(&counts, axis));
    }
    let count = integer::integer(repeats)?;
    let count = usize::try_from(count)
        .map_err(|_| PyValueError::new_err(format!("repeat: repeats is negative: {count}")))?;
    PyArray::of(py, x.tensor().repeat(count, axis))
}

/// Copies an array with its elements shifted along axes; what leaves at one end enters at the
/// other.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// shift : int or tuple of int
///     How far, for each axis.
/// axis : int or tuple of int, optional
///     The axes; without, the elements are shifted as if they were in one row.
///
/// Returns
/// -------
/// Array
///     A copy, of the shape of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For other numbers of shifts than of axes.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.roll(xp.asarray([1, 2, 3]), 1)
/// Array([3, 1, 2])
#[pyfunction]
#[pyo3(signature = (x, /, shift, *, axis=None))]
fn roll<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    shift: Integers,
    axis: Option<Integers>,
) -> Answer<'py> {
    enter(py);
    let shifts = shift.beside(axis.as_ref());
    PyArray::of(py, x.tensor().roll(&shifts, Integers::given(axis.as_ref())))
}

/// Adds the functions.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(concat, module)?)?;
    module.add_function(wrap_pyfunction!(stack, module)?)?;
    module.add_function(wrap_pyfunction!(unstack, module)?)?;
    module.add_function(wrap_pyfunction!(tile, module)?)?;
    module.add_function(wrap_pyfunction!(repeat, module)?)?;
    module.add_function(wrap_pyfunction!(roll, module)?)
}
