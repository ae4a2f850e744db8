//! Elements as Python's numbers. Reading one waits for what writes the array (rule O5), with the
//! interpreter's lock let go of.

use millpond::tensor::Tensor;
use millpond::types::Scalar;
use millpond::types::shape::Tuple;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyList};

use crate::error::Raise;
use crate::gil;
use crate::tensor::operators::Answer;
use crate::tensor::scalar;

/// `bool(tensor)`.
pub(crate) fn truth(py: Python<'_>, tensor: &Tensor) -> PyResult<bool> {
    if tensor.ndim() != 0 {
        return Err(PyValueError::new_err(format!(
            "the truth value of an array of shape {} is ambiguous; use any() or all()",
            Tuple(tensor.shape())
        )));
    }
    Ok(read(py, tensor)?.is_truthy())
}

/// `int(tensor)`.
pub(crate) fn int<'py>(py: Python<'py>, tensor: &Tensor) -> Answer<'py> {
    let value = number(py, tensor, "int")?;
    // Most need no conversion by Python, which knows what can't be converted.
    if value.cast_exact::<PyInt>().is_ok() {
        return Ok(value);
    }
    py.get_type::<PyInt>().call1((value,))
}

/// `float(tensor)`.
pub(crate) fn float<'py>(py: Python<'py>, tensor: &Tensor) -> Answer<'py> {
    let value = number(py, tensor, "float")?;
    if value.cast_exact::<PyFloat>().is_ok() {
        return Ok(value);
    }
    py.get_type::<PyFloat>().call1((value,))
}

/// `complex(tensor)`.
pub(crate) fn complex<'py>(py: Python<'py>, tensor: &Tensor) -> Answer<'py> {
    let value = number(py, tensor, "complex")?;
    if value.cast_exact::<PyComplex>().is_ok() {
        return Ok(value);
    }
    py.get_type::<PyComplex>().call1((value,))
}

/// What stands for an integer in subscripts and the like.
pub(crate) fn index<'py>(py: Python<'py>, tensor: &Tensor) -> Answer<'py> {
    if !tensor.dtype().is_integer() {
        return Err(PyTypeError::new_err(format!(
            "an array of {} cannot be used as an integer",
            tensor.dtype()
        )));
    }
    number(py, tensor, "an index")
}

fn number<'py>(py: Python<'py>, tensor: &Tensor, what: &str) -> Answer<'py> {
    if tensor.ndim() != 0 {
        return Err(PyTypeError::new_err(format!(
            "only an array of no dimension can be converted to {what}, not one of shape {}",
            Tuple(tensor.shape())
        )));
    }
    scalar::to_python(py, read(py, tensor)?)
}

/// The value of the only element, once it is there.
fn read(py: Python<'_>, tensor: &Tensor) -> PyResult<Scalar> {
    gil::wait_written(py, tensor.memory())?;
    tensor.item().raise()
}

/// The only element.
pub(crate) fn item<'py>(py: Python<'py>, tensor: &Tensor) -> Answer<'py> {
    scalar::to_python(py, read(py, tensor)?)
}

/// The elements as nested lists.
pub(crate) fn list<'py>(py: Python<'py>, tensor: &Tensor) -> Answer<'py> {
    gil::wait_written(py, tensor.memory())?;
    let bytes = tensor.to_bytes().raise()?;
    let mut elements = bytes.chunks_exact(tensor.item_size()).map(|bytes| {
        // A chunk has the bytes of one element.
        Scalar::from_bytes(tensor.dtype(), bytes).unwrap_or(Scalar::Bool(false))
    });
    nested(py, tensor.shape(), &mut elements)
}

fn nested<'py>(
    py: Python<'py>,
    shape: &[usize],
    elements: &mut dyn Iterator<Item = Scalar>,
) -> Answer<'py> {
    let Some((&size, inner)) = shape.split_first() else {
        let element = elements.next();
        let missing = || PyValueError::new_err("the array has fewer elements than its shape");
        return scalar::to_python(py, element.ok_or_else(missing)?);
    };
    let list = PyList::empty(py);
    for _ in 0..size {
        list.append(nested(py, inner, elements)?)?;
    }
    Ok(list.into_any())
}
