//! Integers as arguments: sizes, offsets, axes and counts.
//!
//! What isn't one is refused with the value; an exception that an object's `__index__` raises is
//! passed on. Python adds the name of the argument.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::tensor::foreign;

/// An integer of the machine's size.
///
/// # Errors
/// `TypeError` for what is no integer, `OverflowError` for one of more bits; what the object
/// raises.
pub(crate) fn integer(object: &Bound<'_, PyAny>) -> PyResult<isize> {
    object.extract().map_err(|error| refusal(object, error))
}

/// A number of bytes, elements or the like.
///
/// # Errors
/// As for [`integer`]; `ValueError` for a negative one.
pub(crate) fn count(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    object.extract().map_err(|error| {
        if object.lt(0).unwrap_or(false) {
            let value = foreign::describe(object);
            return PyValueError::new_err(format!("expected 0 or more, got {value}"));
        }
        refusal(object, error)
    })
}

/// The number of a diagonal. One that the machine has no integer for lies beside every matrix, as the
/// farthest that it has one for does.
///
/// # Errors
/// `TypeError` for what is no integer; what the object raises.
pub(crate) fn diagonal(object: &Bound<'_, PyAny>) -> PyResult<isize> {
    match object.extract::<isize>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
            Ok(if object.lt(0)? {
                isize::MIN
            } else {
                isize::MAX
            })
        }
        answer => answer.map_err(|error| refusal(object, error)),
    }
}

/// As [`count`], for an argument that may be `None`.
///
/// # Errors
/// As for [`count`].
pub(crate) fn count_or_none(object: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if object.is_none() {
        return Ok(None);
    }
    count(object).map(Some)
}

/// As [`integer`], for an argument that may be `None`.
///
/// # Errors
/// As for [`integer`].
pub(crate) fn integer_or_none(object: &Bound<'_, PyAny>) -> PyResult<Option<isize>> {
    if object.is_none() {
        return Ok(None);
    }
    integer(object).map(Some)
}

#[cold]
fn refusal(object: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = object.py();
    if error.is_instance_of::<PyOverflowError>(py) {
        let value = foreign::describe(object);
        let bits = usize::BITS;
        PyOverflowError::new_err(format!("{value} does not fit into {bits} bits"))
    } else if error.is_instance_of::<PyTypeError>(py) {
        let value = foreign::describe(object);
        PyTypeError::new_err(format!("expected an integer, got {value}"))
    } else {
        error
    }
}
