//! Functions that choose between elements and have arguments of their own.

use millpond::kernel::ops::rows;
use millpond::tensor::Operand;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::operand::Operands;
use crate::tensor::operators::Answer;
use crate::tensor::out::Out;
use crate::tensor::{elementwise, enter, order};

/// Limits each element from below and above.
///
/// Parameters
/// ----------
/// x : Array
///     The elements.
/// min, max : Array or number, optional
///     The bounds; there is none on a side where nothing is said.
/// out : Array, optional
///     Where the result goes; it may overlap the operands.
/// order : {'K', 'C', 'F', 'A'}, optional
///     How the axes of a new result lie in memory.
///
/// Returns
/// -------
/// Array
///     The result, `out` if that was given.
///
/// Raises
/// ------
/// TypeError
///     For what is neither an array nor a number, and for an `out` of a dtype of a lower
///     kind.
/// ValueError
///     If the shapes don't broadcast, and for an `out` of another shape.
///
/// Notes
/// -----
/// Integers as bounds may lie outside of the dtype: they bound nothing.
///
/// Array API standard, element-wise functions; beyond it: `out`, `order`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.clip(xp.asarray([1, 5, 9]), 2, 8)
/// Array([2, 5, 8])
#[pyfunction]
#[pyo3(signature = (x, /, min=None, max=None, out=None, order="K"))]
fn clip<'py>(
    x: &Bound<'py, PyAny>,
    min: Option<&Bound<'py, PyAny>>,
    max: Option<&Bound<'py, PyAny>>,
    out: Option<Out<'py>>,
    order: &str,
) -> Answer<'py> {
    let py = x.py();
    enter(py);
    let order = order::parse(order)?;
    let array: ArrayLike<'py> = x.extract()?;
    let objects = [Some(x), min, max];
    let given = objects
        .into_iter()
        .flatten()
        .map(|object| object.as_borrowed());
    let operands = Operands::of("clip", given)?;
    let operands = operands.list();
    let (low, high): (Option<Operand<'_>>, Option<Operand<'_>>) = match (min, max) {
        (Some(_), Some(_)) => (Some(operands[1]), Some(operands[2])),
        (Some(_), None) => (Some(operands[1]), None),
        (None, Some(_)) => (None, Some(operands[1])),
        (None, None) => (None, None),
    };
    let target = out.as_ref().map(Out::tensor);
    let result = array.tensor().clip(low, high, target).raise()?;
    match out {
        Some(out) => Ok(out.object()),
        None => PyArray::object(py, order::arranged(result, order)?),
    }
}

/// Chooses elements of one operand where a condition holds, of another where it doesn't.
///
/// Parameters
/// ----------
/// condition : Array
///     Truth values.
/// x1 : Array or number
///     What is chosen where the condition holds.
/// x2 : Array or number
///     What is chosen elsewhere.
/// out : Array, optional
///     Where the result goes; it may overlap the operands.
/// order : {'K', 'C', 'F', 'A'}, optional
///     How the axes of a new result lie in memory.
///
/// Returns
/// -------
/// Array
///     The result, `out` if that was given, of the dtype that both operands promote to.
///
/// Raises
/// ------
/// TypeError
///     For a condition that holds no truth values, for what is neither an array nor a
///     number, and for an `out` of a dtype of a lower kind.
/// ValueError
///     If the shapes don't broadcast, and for an `out` of another shape.
///
/// Notes
/// -----
/// Array API standard, searching functions; beyond it: `out`, `order`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.asarray([3, -1, 2])
/// >>> xp.where(x > 0, x, 0)
/// Array([3, 0, 2])
#[pyfunction]
#[pyo3(signature = (condition, x1, x2, /, *, out=None, order="K"))]
fn r#where<'py>(
    condition: &Bound<'py, PyAny>,
    x1: &Bound<'py, PyAny>,
    x2: &Bound<'py, PyAny>,
    out: Option<Out<'py>>,
    order: &str,
) -> Answer<'py> {
    let objects = [condition, x1, x2];
    let operands = Operands::of(
        "where",
        objects.into_iter().map(|object| object.as_borrowed()),
    )?;
    let (py, operands) = (condition.py(), operands.list());
    elementwise::call(py, &rows::where_, &operands, out.as_ref(), order)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(clip, module)?)?;
    module.add_function(wrap_pyfunction!(r#where, module)?)
}
