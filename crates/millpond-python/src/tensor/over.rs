//! Arrays over memory objects that a program has, for `millpond.dpctl`, and where in its memory an
//! array begins.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::memory::PyMemory;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::enter;
use crate::tensor::extent::{Integers, ShapeLike};
use crate::tensor::operators::Answer;

/// An array over memory: strides and offset are counted in elements, the latter from the begin of
/// the memory object to the element of index zero.
///
/// Raises `ValueError` where elements lie outside of the memory, or aren't aligned in it.
#[pyfunction]
fn _over<'py>(
    memory: &Bound<'py, PyMemory>,
    dtype: DTypeLike,
    shape: ShapeLike,
    strides: Integers,
    offset: usize,
) -> Answer<'py> {
    let py = memory.py();
    enter(py);
    if shape.0.len() != strides.0.len() {
        return Err(PyValueError::new_err(format!(
            "an array of {} axes has as many strides, not {}",
            shape.0.len(),
            strides.0.len()
        )));
    }
    let view = memory
        .get()
        .as_array(dtype.0, &shape.0, &strides.0, offset)?;
    PyArray::object(py, view)
}

/// The element of index zero, counted from the begin of the array's allocation.
#[pyfunction]
fn _offset(array: ArrayLike<'_>) -> usize {
    array.tensor().layout().offset()
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_over, module)?)?;
    module.add_function(wrap_pyfunction!(_offset, module)?)
}
