//! Subscripts: from what Python programs write between brackets to views, copies and assignments.
//!
//! Integers, slices, `...` and `None`, alone or in tuples, give views and never wait: `key` reads
//! them. Arrays, of integers or of truth values, and what becomes one give copies: `array` makes
//! them. `functions` has those of the standard's chapter.

mod array;
mod functions;
mod key;

use millpond::tensor::{Index, Operand, Place, Tensor};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PySlice};

use crate::error::Raise;
use crate::tensor::array::PyArray;
use crate::tensor::operators::Answer;
use crate::tensor::{asarray, enter, scalar};

use key::Key;

pub(crate) use functions::register;

/// The array that an argument beside a tensor is or stands for: of ours, of NumPy, or a sequence.
pub(crate) fn array_beside(
    tensor: &Tensor,
    argument: &Bound<'_, PyAny>,
) -> PyResult<Option<Tensor>> {
    let array = array::of_key(tensor, argument.as_borrowed())?;
    Ok(array.map(array::IndexArray::into_tensor))
}

/// `tensor[key]`.
#[inline]
pub(crate) fn get<'py>(tensor: &Tensor, key: &Bound<'py, PyAny>) -> Answer<'py> {
    let py = key.py();
    // The most common keys need no list.
    if let Ok(slice) = key.cast_exact::<PySlice>() {
        let index = key::of_slice(tensor.shape(), 0, slice.as_borrowed())?;
        return PyArray::of(py, tensor.get(&[index]));
    }
    if key.cast_exact::<PyInt>().is_ok() {
        return PyArray::of(
            py,
            tensor.get(&[Index::At(key::position(key.as_borrowed())?)]),
        );
    }
    // An array without axes may stand for a number.
    if let Ok(array) = key.cast::<PyArray>()
        && array.get().tensor().ndim() > 0
    {
        enter(py);
        return PyArray::of(py, tensor.get(&[Index::Array(array.get().tensor())]));
    }
    match Key::new(tensor, key.as_borrowed())? {
        Key::Basic(indices) => PyArray::of(py, tensor.get(&indices)),
        Key::WithArrays(parts) => {
            enter(py);
            let parts = parts.with_numbers_of_arrays()?;
            PyArray::of(py, tensor.get(&parts.indices()))
        }
    }
}

/// `tensor[key] = value`.
pub(crate) fn set(
    tensor: &Tensor,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    enter(key.py());
    if let Ok(array) = key.cast::<PyArray>() {
        return assign(tensor, &[Index::Array(array.get().tensor())], value);
    }
    match Key::new(tensor, key.as_borrowed())? {
        Key::Basic(indices) => assign(tensor, &indices, value),
        Key::WithArrays(parts) => assign(tensor, &parts.indices(), value),
    }
}

fn assign(tensor: &Tensor, indices: &[Index<'_>], value: &Bound<'_, PyAny>) -> PyResult<()> {
    with_operand(tensor, value, |value| tensor.set(indices, value))
}

/// Calls `with` with a value for elements of an array: an array, a number, or what becomes an array
/// beside it.
fn with_operand(
    tensor: &Tensor,
    value: &Bound<'_, PyAny>,
    with: impl FnOnce(Operand<'_>) -> millpond::tensor::Result<()>,
) -> PyResult<()> {
    if let Ok(value) = value.cast::<PyArray>() {
        return with(Operand::Tensor(value.get().tensor())).raise();
    }
    if let Some(value) = scalar::of_python(value)? {
        return with(Operand::Scalar(value)).raise();
    }
    let value = asarray::of_any(value, None, &Place::of(tensor))?;
    with(Operand::Tensor(&value)).raise()
}
