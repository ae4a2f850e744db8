//! Arrays for NumPy, which is imported when it is first needed and not linked.

use millpond::tensor::Tensor;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::gil;
use crate::interop::view::View;
use crate::tensor::array::PyArray;

/// An array of NumPy with the elements: over the same memory where the host may look at it, which
/// is where it isn't device memory, else, or if `copy` is true, a copy.
///
/// # Errors
/// `ValueError` if `copy` is false and there is no other way; `TypeError` for dtypes that NumPy
/// lacks; the failure of what computed the elements.
pub(crate) fn asnumpy<'py>(
    array: &Bound<'py, PyArray>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let tensor = array.get().tensor();
    let numpy = py.import("numpy")?;
    let shared = tensor.kind().host_accessible() && copy != Some(true);
    if shared {
        return numpy.call_method1("asarray", (pyo3::types::PyMemoryView::from(array)?,));
    }
    if copy != Some(false) {
        return copied(&numpy, tensor);
    }
    if !tensor.device().info().host_executed {
        return Err(PyValueError::new_err(format!(
            "{} memory of {} reaches NumPy by a copy only, which copy=False forbids",
            tensor.kind(),
            tensor.device()
        )));
    }
    numpy.call_method1("from_dlpack", (array,))
}

fn copied<'py>(numpy: &Bound<'py, PyModule>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let py = numpy.py();
    let name = tensor.dtype().name();
    let dtype = numpy.call_method1("dtype", (name,)).map_err(|_| {
        PyTypeError::new_err(format!(
            "NumPy has no {name}: convert to another dtype first"
        ))
    })?;
    let target = numpy.call_method1("empty", (tensor.shape().to_vec(), dtype))?;
    gil::wait_written(py, tensor.memory())?;
    let mut buffer = View::in_one_piece(&target, true)?;
    let bytes = buffer.bytes_mut();
    gil::submit(py, || tensor.read_into(bytes))?;
    Ok(target)
}

/// `__array__`: what NumPy calls to make an array of this one.
///
/// # Errors
/// As for [`asnumpy`]; a dtype that NumPy can't convert to.
pub(crate) fn array<'py>(
    array: &Bound<'py, PyArray>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = asnumpy(array, copy)?;
    let Some(dtype) = dtype.filter(|dtype| !dtype.is_none()) else {
        return Ok(made);
    };
    let py = array.py();
    let same = made
        .getattr("dtype")?
        .eq(py.import("numpy")?.call_method1("dtype", (dtype,))?)?;
    if !same && copy == Some(false) {
        return Err(PyValueError::new_err(format!(
            "a conversion to {dtype} needs a copy, which copy=False forbids"
        )));
    }
    let arguments = PyDict::new(py);
    arguments.set_item("copy", false)?;
    made.call_method("astype", (dtype,), Some(&arguments))
}
