//! Functions that take arrays as sets.

use millpond::kernel::Wanted;
use millpond::tensor::Operand;
use millpond::tensor::sets::{self, Unique};
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::error::Raise;
use crate::tensor::array::{ArrayLike, PyArray, named};
use crate::tensor::enter;
use crate::tensor::operand::Operands;
use crate::tensor::operators::Answer;

fn unique<'py>(py: Python<'py>, x: &ArrayLike<'py>, wanted: Wanted) -> PyResult<Unique> {
    enter(py);
    x.tensor().unique(wanted).raise()
}

/// Finds the different elements of an array.
///
/// The elements of the whole array are taken in row-major order. NaNs differ from one another,
/// zeros of either sign don't: the first stands for all. How many there are is a shape, so that
/// the call waits for the array.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
///
/// Returns
/// -------
/// values : Array
///     The elements in ascending order, of one axis.
/// indices : Array
///     Where in the array each occurs first, `int64`.
/// inverse_indices : Array
///     Which of the values each element is, `int64`, of the array's shape.
/// counts : Array
///     How often each occurs, `int64`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
///
/// Notes
/// -----
/// Array API standard, set functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> found = xp.unique_all(xp.asarray([3, 1, 3]))
/// >>> found.values.tolist(), found.indices.tolist()
/// ([1, 3], [1, 0])
/// >>> found.inverse_indices.tolist(), found.counts.tolist()
/// ([1, 0, 1], [1, 2])
#[pyfunction]
#[pyo3(signature = (x))]
fn unique_all<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    let wanted = Wanted {
        indices: true,
        counts: true,
        inverse: true,
    };
    let found = unique(py, &x, wanted)?;
    let rest = [found.indices, found.inverse, found.counts];
    let arrays = [Some(found.values)].into_iter().chain(rest).flatten();
    named(py, "UniqueAllResult", arrays.collect())
}

/// Finds the different elements of an array, and how often each occurs.
///
/// Parameters
/// ----------
/// x : Array
///     As for `unique_all`.
///
/// Returns
/// -------
/// values, counts : Array
///     As for `unique_all`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
///
/// Notes
/// -----
/// Array API standard, set functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> values, counts = xp.unique_counts(xp.asarray([3, 1, 3]))
/// >>> values.tolist(), counts.tolist()
/// ([1, 3], [1, 2])
#[pyfunction]
#[pyo3(signature = (x))]
fn unique_counts<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    let wanted = Wanted {
        counts: true,
        ..Wanted::default()
    };
    let found = unique(py, &x, wanted)?;
    let arrays = [Some(found.values), found.counts].into_iter().flatten();
    named(py, "UniqueCountsResult", arrays.collect())
}

/// Finds the different elements of an array, and which of them each element is.
///
/// Parameters
/// ----------
/// x : Array
///     As for `unique_all`.
///
/// Returns
/// -------
/// values, inverse_indices : Array
///     As for `unique_all`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
///
/// Notes
/// -----
/// Array API standard, set functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> values, inverse = xp.unique_inverse(xp.asarray([3, 1, 3]))
/// >>> values.tolist(), inverse.tolist()
/// ([1, 3], [1, 0, 1])
#[pyfunction]
#[pyo3(signature = (x))]
fn unique_inverse<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    let wanted = Wanted {
        inverse: true,
        ..Wanted::default()
    };
    let found = unique(py, &x, wanted)?;
    let arrays = [Some(found.values), found.inverse].into_iter().flatten();
    named(py, "UniqueInverseResult", arrays.collect())
}

/// Finds the different elements of an array.
///
/// Parameters
/// ----------
/// x : Array
///     As for `unique_all`.
///
/// Returns
/// -------
/// Array
///     The values, as for `unique_all`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
///
/// Notes
/// -----
/// Array API standard, set functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.unique_values(xp.asarray([3, 1, 3])).tolist()
/// [1, 3]
#[pyfunction]
#[pyo3(signature = (x))]
fn unique_values<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    PyArray::object(py, unique(py, &x, Wanted::default())?.values)
}

/// Says of each element whether it is among others.
///
/// Parameters
/// ----------
/// x1 : Array or number
///     The elements.
/// x2 : Array or number
///     Those that they may be among; one of both is an array. A NaN is among nothing.
/// invert : bool, optional
///     Whether the answers are turned.
///
/// Returns
/// -------
/// Array
///     Truth values, of the shape of `x1`.
///
/// Raises
/// ------
/// TypeError
///     For what is neither an array nor a number, and without an array.
///
/// Notes
/// -----
/// Array API standard, set functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.isin(xp.asarray([1, 2, 3]), xp.asarray([3, 1])).tolist()
/// [True, False, True]
#[pyfunction]
#[pyo3(
    signature = (x1, x2, /, *, invert=false),
    text_signature = "(x1, x2, /, *, invert=False)"
)]
fn isin<'py>(x1: &Bound<'py, PyAny>, x2: &Bound<'py, PyAny>, invert: bool) -> Answer<'py> {
    let py = x1.py();
    enter(py);
    let objects = [x1, x2].into_iter().map(|object| object.as_borrowed());
    let operands = Operands::of("isin", objects)?;
    let list: SmallVec<[Operand<'_>; 3]> = operands.list();
    PyArray::of(py, sets::isin(list[0], list[1], invert))
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(unique_all, module)?)?;
    module.add_function(wrap_pyfunction!(unique_counts, module)?)?;
    module.add_function(wrap_pyfunction!(unique_inverse, module)?)?;
    module.add_function(wrap_pyfunction!(unique_values, module)?)?;
    module.add_function(wrap_pyfunction!(isin, module)?)
}
