//! What a task is ordered with: arrays and memory objects.

use millpond::tensor::Tensor;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;

use crate::memory::PyMemory;
use crate::tensor::array::PyArray;

/// The memory of one object, or of each of several.
///
/// # Errors
/// `TypeError` for objects that have none; `BufferError` if the host is to look at memory that it
/// can't reach.
pub(crate) fn of(uses: Option<&Bound<'_, PyAny>>, views: bool) -> PyResult<Vec<Tensor>> {
    let Some(uses) = uses.filter(|uses| !uses.is_none()) else {
        return Ok(Vec::new());
    };
    let found = match one(uses)? {
        Some(single) => vec![single],
        None => uses
            .try_iter()?
            .map(|each| {
                let each = each?;
                one(&each)?.ok_or_else(|| unfit(&each))
            })
            .collect::<PyResult<Vec<_>>>()?,
    };
    if views && let Some(hidden) = found.iter().find(|used| !used.kind().host_accessible()) {
        return Err(PyBufferError::new_err(format!(
            "a task has no view of {} memory, which the host does not access: copy it to shared \
             or host memory first",
            hidden.kind()
        )));
    }
    Ok(found)
}

fn one(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    if let Ok(array) = object.cast::<PyArray>() {
        return Ok(Some(array.get().tensor().clone()));
    }
    match object.cast::<PyMemory>() {
        Ok(memory) => memory.get().as_tensor().map(Some),
        Err(_) => Ok(None),
    }
}

fn unfit(object: &Bound<'_, PyAny>) -> PyErr {
    let class = object.get_type();
    let class = class.name().map(|name| name.to_string());
    PyTypeError::new_err(format!(
        "a task uses arrays and memory objects, not {}",
        class.unwrap_or_default()
    ))
}
