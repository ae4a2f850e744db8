//! Functions that pick elements by indices and conditions.

use millpond::kernel::IndexMode;
use millpond::tensor::{Operand, Place, indexing};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::array::{self, IndexArray};
use super::with_operand;
use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray, tuple_of};
use crate::tensor::operators::Answer;
use crate::tensor::out::Out;
use crate::tensor::{asarray, enter};

/// The rule for indices outside of their axis.
#[derive(Debug)]
struct Mode(IndexMode);

impl<'py> FromPyObject<'_, 'py> for Mode {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name: String = obj.extract()?;
        IndexMode::named(&name).map(Self).ok_or_else(|| {
            PyValueError::new_err(format!("expected 'raise', 'clip' or 'wrap', got '{name}'"))
        })
    }
}

/// Indices beside an array. Those that the host has are checked along the axis that they are for,
/// unless they are to be brought into it.
fn indices(
    x: &ArrayLike<'_>,
    indices: &Bound<'_, PyAny>,
    axis: Option<isize>,
    mode: &Mode,
) -> PyResult<IndexArray> {
    let tensor = x.tensor();
    let array = array::of_argument(tensor, indices)?;
    let ndim = tensor.ndim() as isize;
    let axis = axis.unwrap_or(0);
    let axis = if axis < 0 { axis + ndim } else { axis };
    if let (IndexMode::Check, Ok(axis)) = (mode.0, usize::try_from(axis)) {
        array.check(tensor.shape(), axis)?;
    }
    Ok(array)
}

/// Takes the elements at indices along an axis.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// indices : Array
///     Integers, from the end if negative. Their axes take the place of the axis.
/// axis : int, optional
///     The axis; may be left out if there is one at most.
/// out : Array, optional
///     Where the result goes; it may overlap the operands.
/// mode : {'raise', 'clip', 'wrap'}, optional
///     What becomes of an index outside of the axis: an error, which the next wait for the result
///     raises as an `IndexError`; the nearest end; or counting on round the axis.
///
/// Returns
/// -------
/// Array
///     The elements, `out` if that was given.
///
/// Raises
/// ------
/// TypeError
///     For indices that aren't integers.
/// ValueError
///     Without an axis, for an array of several; for an unknown mode; for an `out` of
///     another shape.
/// IndexError
///     For an axis that `x` doesn't have.
/// CommandIndexError
///     An `IndexError` for an index outside of the axis: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, indexing functions; beyond it: `out`, `mode`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.asarray([[1, 2, 3], [4, 5, 6]])
/// >>> xp.take(x, xp.asarray([2, 0]), axis=1).tolist()
/// [[3, 1], [6, 4]]
#[pyfunction]
#[pyo3(
    signature = (x, indices, /, *, axis=None, out=None, mode=Mode(IndexMode::Check)),
    text_signature = "(x, indices, /, *, axis=None, out=None, mode='raise')"
)]
fn take<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    indices: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
    out: Option<Out<'py>>,
    mode: Mode,
) -> Answer<'py> {
    enter(py);
    let indices = self::indices(&x, indices, axis, &mode)?.into_tensor();
    let target = out.as_ref().map(Out::tensor);
    let result = x.tensor().take(&indices, axis, mode.0, target).raise()?;
    match out {
        Some(out) => Ok(out.object()),
        None => PyArray::object(py, result),
    }
}

/// Takes the elements along an axis at indices that are chosen for each place on the other axes.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// indices : Array
///     Integers, in as many axes as the array has; the others are broadcast with the array's.
/// axis : int, optional
///     The axis.
/// mode : {'raise', 'clip', 'wrap'}, optional
///     As for `take`.
///
/// Returns
/// -------
/// Array
///     The elements, of the shape of the indices but for what is broadcast.
///
/// Raises
/// ------
/// TypeError
///     For indices that aren't integers.
/// ValueError
///     For indices of another number of axes.
/// IndexError
///     For an axis that `x` doesn't have.
/// CommandIndexError
///     An `IndexError` for an index outside of the axis: at the call or at the next wait.
///
/// Notes
/// -----
/// Array API standard, indexing functions; beyond it: `mode`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.asarray([[10, 30, 20], [60, 40, 50]])
/// >>> xp.take_along_axis(x, xp.asarray([[2], [-1]])).tolist()
/// [[20], [50]]
#[pyfunction]
#[pyo3(
    signature = (x, indices, /, *, axis=-1, mode=Mode(IndexMode::Check)),
    text_signature = "(x, indices, /, *, axis=-1, mode='raise')"
)]
fn take_along_axis<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    indices: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
    mode: Mode,
) -> Answer<'py> {
    enter(py);
    let indices = self::indices(&x, indices, Some(axis), &mode)?.into_tensor();
    PyArray::of(py, x.tensor().take_along_axis(&indices, axis, mode.0))
}

/// Puts values at indices along an axis.
///
/// Parameters
/// ----------
/// x : Array
///     The array that is written.
/// indices : Array
///     Integers, from the end if negative. Of several values for one element the last stays.
/// vals : Array or number
///     The values; they broadcast to what `take` would give.
/// axis : int, optional
///     The axis; may be left out if there is one at most.
/// mode : {'raise', 'clip', 'wrap'}, optional
///     As for `take`. An error leaves the elements as they were.
///
/// Returns
/// -------
/// None
///     The array has changed.
///
/// Raises
/// ------
/// TypeError
///     For indices that aren't integers.
/// ValueError
///     For an array that can't be written, for values that don't broadcast, and for an
///     unknown mode.
/// IndexError
///     For an axis that `x` doesn't have.
/// CommandIndexError
///     An `IndexError` for an index outside of the axis: at the call or at the next wait.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.zeros(4, dtype="int64")
/// >>> xp.put(x, xp.asarray([1, 3, 1]), xp.asarray([5, 6, 7]))
/// >>> x.tolist()
/// [0, 7, 0, 6]
#[pyfunction]
#[pyo3(
    signature = (x, indices, vals, /, *, axis=None, mode=Mode(IndexMode::Check)),
    text_signature = "(x, indices, vals, /, *, axis=None, mode='raise')"
)]
fn put<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    indices: &Bound<'py, PyAny>,
    vals: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
    mode: Mode,
) -> PyResult<()> {
    enter(py);
    let indices = self::indices(&x, indices, axis, &mode)?.into_tensor();
    let put = |values: Operand<'_>| x.tensor().put(&indices, values, axis, mode.0);
    with_operand(x.tensor(), vals, put)
}

/// Puts values along an axis at indices that are chosen for each place on the other axes.
///
/// Parameters
/// ----------
/// x : Array
///     The array that is written.
/// indices : Array
///     Integers, in as many axes as the array has; the others broadcast to the array's.
/// values : Array or number
///     The values; they broadcast to what `take_along_axis` would give.
/// axis : int, optional
///     The axis.
/// mode : {'raise', 'clip', 'wrap'}, optional
///     As for `put`.
///
/// Returns
/// -------
/// None
///     The array has changed.
///
/// Raises
/// ------
/// TypeError
///     For indices that aren't integers.
/// ValueError
///     For an array that can't be written, for values that don't broadcast, and for an
///     unknown mode.
/// IndexError
///     For an axis that `x` doesn't have.
/// CommandIndexError
///     An `IndexError` for an index outside of the axis: at the call or at the next wait.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.asarray([[10, 30, 20], [60, 40, 50]])
/// >>> xp.put_along_axis(x, xp.argmax(x, axis=1, keepdims=True), 99, axis=1)
/// >>> x.tolist()
/// [[10, 99, 20], [99, 40, 50]]
#[pyfunction]
#[pyo3(
    signature = (x, indices, /, values, axis=-1, *, mode=Mode(IndexMode::Check)),
    text_signature = "(x, indices, /, values, axis=-1, *, mode='raise')"
)]
fn put_along_axis<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    indices: &Bound<'py, PyAny>,
    values: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
    mode: Mode,
) -> PyResult<()> {
    enter(py);
    let indices = self::indices(&x, indices, Some(axis), &mode)?.into_tensor();
    let put = |operand: Operand<'_>| x.tensor().put_along_axis(&indices, operand, axis, mode.0);
    with_operand(x.tensor(), values, put)
}

/// Extracts the elements of an array where a condition isn't zero, in row-major order. Waits for
/// the condition.
///
/// Parameters
/// ----------
/// condition : Array
///     As many elements as the array has.
/// arr : Array
///     The array.
///
/// Returns
/// -------
/// Array
///     The elements, in one axis.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a condition of another number of elements.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.asarray([[1, 2, 3], [4, 5, 6]])
/// >>> xp.extract(x % 2 == 0, x).tolist()
/// [2, 4, 6]
#[pyfunction]
#[pyo3(signature = (condition, arr))]
fn extract<'py>(py: Python<'py>, condition: ArrayLike<'py>, arr: ArrayLike<'py>) -> Answer<'py> {
    enter(py);
    PyArray::of(py, indexing::extract(condition.tensor(), arr.tensor()))
}

/// Places values at the elements of an array where a mask isn't zero, in row-major order.
///
/// Parameters
/// ----------
/// arr : Array
///     The array that is written.
/// mask : Array
///     A mask of the same shape.
/// vals : Array or sequence
///     The values, taken again from the first when they are used up.
///
/// Returns
/// -------
/// None
///     The array has changed.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an array that can't be written, and for a mask of another shape.
/// CommandValueError
///     A `ValueError` if elements are chosen and there is no value: at the call or at the
///     next wait.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.arange(6)
/// >>> xp.place(x, x > 2, xp.asarray([10, 20]))
/// >>> x.tolist()
/// [0, 1, 2, 10, 20, 10]
#[pyfunction]
#[pyo3(signature = (arr, mask, vals))]
fn place<'py>(
    py: Python<'py>,
    arr: ArrayLike<'py>,
    mask: ArrayLike<'py>,
    vals: &Bound<'py, PyAny>,
) -> PyResult<()> {
    enter(py);
    let values = asarray::of_any(vals, None, &Place::of(arr.tensor()))?;
    indexing::place(arr.tensor(), mask.tensor(), &values).raise()
}

/// Finds the places of the elements that aren't zero. Waits for the array.
///
/// Parameters
/// ----------
/// arr : Array
///     The array.
///
/// Returns
/// -------
/// tuple of Array
///     For each axis the coordinates of these elements, in row-major order.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an array without axes.
///
/// Notes
/// -----
/// Array API standard, searching functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> rows, columns = xp.nonzero(xp.asarray([[0, 7], [8, 0]]))
/// >>> rows.tolist(), columns.tolist()
/// ([0, 1], [1, 0])
#[pyfunction]
#[pyo3(signature = (arr))]
fn nonzero<'py>(py: Python<'py>, arr: ArrayLike<'py>) -> PyResult<Bound<'py, PyTuple>> {
    enter(py);
    tuple_of(py, arr.tensor().nonzero().raise()?)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(extract, module)?)?;
    module.add_function(wrap_pyfunction!(nonzero, module)?)?;
    module.add_function(wrap_pyfunction!(place, module)?)?;
    module.add_function(wrap_pyfunction!(put, module)?)?;
    module.add_function(wrap_pyfunction!(put_along_axis, module)?)?;
    module.add_function(wrap_pyfunction!(take, module)?)?;
    module.add_function(wrap_pyfunction!(take_along_axis, module)?)
}
