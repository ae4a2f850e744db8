//! Arrays as sequences of what lies along their first axis.

use std::sync::atomic::{AtomicUsize, Ordering};

use millpond::kernel::ops::rows;
use millpond::tensor::{Index, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::tensor::array::PyArray;
use crate::tensor::{conversion, operators};

/// `len(tensor)`.
pub(crate) fn length(tensor: &Tensor) -> PyResult<usize> {
    let size = tensor.shape().first().copied();
    size.ok_or_else(|| PyTypeError::new_err("an array of no dimension has no length"))
}

/// `value in array`: compared in one operation, not element by element.
pub(crate) fn contains(array: &PyArray, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let found = operators::binary(&rows::equal, array, value)?;
    match found.cast::<PyArray>() {
        Ok(found) => {
            let any = found.get().tensor().any(None, false).raise()?;
            conversion::truth(value.py(), &any)
        }
        Err(_) => Ok(false),
    }
}

/// Views along the first axis, one after the other.
#[pyclass(frozen, module = "millpond.tensor")]
#[derive(Debug)]
pub(crate) struct ArrayIterator {
    tensor: Tensor,
    next: AtomicUsize,
}

impl ArrayIterator {
    pub(crate) fn new(tensor: &Tensor) -> PyResult<Self> {
        if tensor.ndim() == 0 {
            return Err(PyTypeError::new_err(
                "an array of no dimension cannot be iterated over",
            ));
        }
        Ok(Self {
            tensor: tensor.clone(),
            next: AtomicUsize::new(0),
        })
    }
}

#[pymethods]
impl ArrayIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= self.tensor.shape()[0] {
            // It stays exhausted, however often it is asked.
            self.next.fetch_sub(1, Ordering::Relaxed);
            return Ok(None);
        }
        let view = self.tensor.get(&[Index::At(index as isize)]).raise()?;
        PyArray::object(py, view).map(Some)
    }

    fn __length_hint__(&self) -> usize {
        self.tensor.shape()[0].saturating_sub(self.next.load(Ordering::Relaxed))
    }
}
