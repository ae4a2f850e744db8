//! Functions that sort, and those that search what is sorted.

use millpond::tensor::searching::Side;
use millpond::tensor::sorting::Ranked;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray, named};
use crate::tensor::operand::Operands;
use crate::tensor::operators::Answer;
use crate::tensor::{enter, foreign};

/// The name of a way to sort. There is one, which keeps equal elements in order.
struct Kind;

impl<'py> FromPyObject<'_, 'py> for Kind {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match obj.extract::<&str>() {
            Ok("stable" | "mergesort" | "radixsort") => Ok(Self),
            _ => Err(PyValueError::new_err(format!(
                "kind: expected 'stable', 'mergesort' or 'radixsort', got {}",
                foreign::describe(&obj)
            ))),
        }
    }
}

/// Sorts the elements along an axis.
///
/// NaNs are the largest, whatever their sign; zeros of either sign are equal; complex numbers are
/// ordered by their real, then their imaginary parts. Equal elements stay in order, in descending
/// order too.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int, optional
///     The axis.
/// descending : bool, optional
///     Whether the largest come first.
/// stable : bool, optional
///     Whether equal elements must stay in order; they always do.
/// kind : {'stable', 'mergesort', 'radixsort'}, optional
///     Names of other libraries for ways to sort; all mean the one there is.
///
/// Returns
/// -------
/// Array
///     The elements in order, of the array's shape and dtype.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an unknown kind.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, sorting functions; beyond it: `kind`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.sort(xp.asarray([3, 1, 2])).tolist()
/// [1, 2, 3]
#[pyfunction]
#[pyo3(
    signature = (x, /, *, axis=-1, descending=false, stable=true, kind=None),
    text_signature = "(x, /, *, axis=-1, descending=False, stable=True, kind=None)"
)]
fn sort<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
    descending: bool,
    stable: bool,
    kind: Option<Kind>,
) -> Answer<'py> {
    let _ = (stable, kind);
    enter(py);
    PyArray::of(py, x.tensor().sort(axis, descending))
}

/// Finds where the sorted elements along an axis come from.
///
/// Parameters
/// ----------
/// x, axis, descending, stable, kind
///     As for `sort`.
///
/// Returns
/// -------
/// Array
///     Positions along the axis, `int64`, of the array's shape.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an unknown kind.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, sorting functions; beyond it: `kind`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.argsort(xp.asarray([3, 1, 2]), descending=True).tolist()
/// [0, 2, 1]
#[pyfunction]
#[pyo3(
    signature = (x, axis=-1, descending=false, stable=true, kind=None),
    text_signature = "(x, axis=-1, descending=False, stable=True, kind=None)"
)]
fn argsort<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
    descending: bool,
    stable: bool,
    kind: Option<Kind>,
) -> Answer<'py> {
    let _ = (stable, kind);
    enter(py);
    PyArray::of(py, x.tensor().argsort(axis, descending))
}

/// Finds the largest or smallest elements along an axis.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// k : int
///     How many.
/// axis : int, optional
///     The axis; without, the elements of the whole array in row-major order.
/// mode : {'largest', 'smallest'}, optional
///     Which ones.
///
/// Returns
/// -------
/// values, indices : Array
///     The elements, first things first, and their positions; of equal ones the first come first.
///
/// Raises
/// ------
/// ValueError
///     For more elements than there are, and for an unknown mode.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> values, indices = xp.top_k(xp.asarray([3, 1, 4, 1]), 2)
/// >>> values.tolist(), indices.tolist()
/// ([4, 3], [2, 0])
#[pyfunction]
#[pyo3(
    signature = (x, k, /, *, axis=None, mode="largest"),
    text_signature = "(x, k, /, *, axis=None, mode='largest')"
)]
fn top_k<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::count)] k: usize,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
    mode: &str,
) -> Answer<'py> {
    enter(py);
    let largest = match mode {
        "largest" => true,
        "smallest" => false,
        _ => {
            return Err(PyValueError::new_err(format!(
                "top_k: mode must be 'largest' or 'smallest', not '{mode}'"
            )));
        }
    };
    let Ranked { values, indices } = x.tensor().top_k(k, axis, largest).raise()?;
    named(py, "TopKResult", vec![values, indices])
}

/// Finds where elements would have to be put into a sorted array, so that it stays sorted.
///
/// NaNs are the largest, as for `sort`.
///
/// Parameters
/// ----------
/// x1 : Array
///     The array, of one axis, in ascending order unless there is a sorter.
/// x2 : Array or number
///     The elements.
/// side : {'left', 'right'}, optional
///     Whether an element goes before those that equal it, or behind them.
/// sorter : Array, optional
///     Positions through which `x1` is in ascending order, as `argsort` gives them.
///
/// Returns
/// -------
/// Array
///     Positions, `int64`, of the shape of `x2`.
///
/// Raises
/// ------
/// ValueError
///     If `x1` has more axes than one, for a sorter of another shape, and for an unknown
///     side.
/// TypeError
///     For a sorter that doesn't hold integers.
///
/// Notes
/// -----
/// Array API standard, searching functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.asarray([1, 2, 2, 5])
/// >>> xp.searchsorted(x, xp.asarray([0, 2, 9])).tolist()
/// [0, 1, 4]
/// >>> int(xp.searchsorted(x, 2, side="right"))
/// 3
#[pyfunction]
#[pyo3(
    signature = (x1, x2, /, *, side="left", sorter=None),
    text_signature = "(x1, x2, /, *, side='left', sorter=None)"
)]
fn searchsorted<'py>(
    x1: &Bound<'py, PyAny>,
    x2: &Bound<'py, PyAny>,
    side: &str,
    sorter: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    let py = x1.py();
    enter(py);
    let array: ArrayLike<'py> = x1.extract()?;
    let side = match side {
        "left" => Side::Left,
        "right" => Side::Right,
        _ => {
            return Err(PyValueError::new_err(format!(
                "searchsorted: side must be 'left' or 'right', not '{side}'"
            )));
        }
    };
    let objects = [x1, x2].into_iter().map(|object| object.as_borrowed());
    let operands = Operands::of("searchsorted", objects)?;
    let sorter = sorter.as_ref().map(ArrayLike::tensor);
    let wanted = operands.list()[1];
    PyArray::of(py, array.tensor().searchsorted(wanted, side, sorter))
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sort, module)?)?;
    module.add_function(wrap_pyfunction!(argsort, module)?)?;
    module.add_function(wrap_pyfunction!(top_k, module)?)?;
    module.add_function(wrap_pyfunction!(searchsorted, module)?)
}
