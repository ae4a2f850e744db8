//! Arrays as a dictionary, `__millpond_array_interface__`, which objects of other packages show and read without a class
//! of ours. It names the memory object and the queue beside layout and dtype. Order goes with the memory, so nothing is
//! waited for, on either side.

use millpond::tensor::Tensor;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::memory::PyMemory;
use crate::runtime::PyQueue;
use crate::tensor::dtype::DTypeLike;
use crate::tensor::extent::{Integers, ShapeLike};
use crate::tensor::foreign::describe;

/// The version of our dictionary.
const VERSION: u32 = 1;

/// What `__millpond_array_interface__` of an array is.
pub(crate) fn own<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    dictionary.set_item("version", VERSION)?;
    dictionary.set_item("dtype", tensor.dtype().name())?;
    dictionary.set_item("shape", PyTuple::new(py, tensor.shape())?)?;
    dictionary.set_item("strides", PyTuple::new(py, tensor.strides())?)?;
    dictionary.set_item("offset", tensor.layout().offset())?;
    dictionary.set_item("read_only", tensor.is_read_only())?;
    dictionary.set_item("memory", PyMemory::of(py, tensor)?)?;
    dictionary.set_item("queue", Bound::new(py, PyQueue(tensor.queue()))?)?;
    Ok(dictionary)
}

/// The array that an object shows by `__millpond_array_interface__`; `None` without one.
///
/// # Errors
/// `TypeError` and `ValueError` for a dictionary that isn't as [`own`] writes it, and for elements outside of their memory.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    let name = intern!(object.py(), "__millpond_array_interface__");
    let Some(shown) = object.getattr_opt(name)? else {
        return Ok(None);
    };
    let Ok(shown) = shown.cast::<PyDict>() else {
        return Err(PyTypeError::new_err(format!(
            "__millpond_array_interface__ of {} is {}, not a dictionary",
            describe(object),
            describe(&shown)
        )));
    };
    let optional =
        |key: &str| Ok::<_, PyErr>(shown.get_item(key)?.filter(|value| !value.is_none()));
    let needed = |key: &str| {
        optional(key)?.ok_or_else(|| {
            PyValueError::new_err(format!(
                "__millpond_array_interface__ says nothing of {key}"
            ))
        })
    };
    let version: u32 = needed("version")?.extract()?;
    if version != VERSION {
        return Err(PyValueError::new_err(format!(
            "__millpond_array_interface__ has version {version}, not {VERSION}"
        )));
    }
    let memory = needed("memory")?;
    let memory = memory.cast::<PyMemory>().map_err(|_| {
        PyTypeError::new_err(format!(
            "__millpond_array_interface__: memory is {}, not a memory object",
            describe(&memory)
        ))
    })?;
    let dtype: DTypeLike = needed("dtype")?.extract()?;
    let shape: ShapeLike = needed("shape")?.extract()?;
    let strides = match optional("strides")? {
        Some(strides) => strides.extract::<Integers>()?.0.to_vec(),
        None => row_major(&shape.0),
    };
    if strides.len() != shape.0.len() {
        return Err(PyValueError::new_err(format!(
            "__millpond_array_interface__: {} strides for {} axes",
            strides.len(),
            shape.0.len()
        )));
    }
    let offset = optional("offset")?.map_or(Ok(0), |offset| offset.extract())?;
    let read_only = optional("read_only")?.map_or(Ok(false), |answer| answer.extract())?;
    let array = memory.get().as_array(dtype.0, &shape.0, &strides, offset)?;
    Ok(Some(if read_only { array.read_only() } else { array }))
}

fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1).cast_signed();
    }
    strides
}
