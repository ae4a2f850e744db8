//! Subscripts: from what Python programs write between brackets to views and assignments.
//!
//! Integers, slices, `...` and `None`, alone or in tuples, give views and never wait. Masks and
//! arrays of integers aren't offered yet and are refused.

use millpond::tensor::{Index, Operand, Place, Tensor};
use pyo3::Borrowed;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyList, PySlice, PySliceMethods, PyTuple};
use smallvec::{SmallVec, smallvec};

use crate::error::Raise;
use crate::tensor::array::PyArray;
use crate::tensor::operators::Answer;
use crate::tensor::{asarray, enter, foreign, scalar};

type Indices = SmallVec<[Index; 4]>;

/// `tensor[key]`.
#[inline]
pub(crate) fn get<'py>(tensor: &Tensor, key: &Bound<'py, PyAny>) -> Answer<'py> {
    let py = key.py();
    // The most common keys need no list.
    if let Ok(slice) = key.cast_exact::<PySlice>() {
        let index = of_slice(tensor.shape(), 0, slice.as_borrowed())?;
        return PyArray::of(py, tensor.get(&[index]));
    }
    if key.cast_exact::<PyInt>().is_ok() {
        return PyArray::of(py, tensor.get(&[Index::At(position(key.as_borrowed())?)]));
    }
    let indices = parse(tensor, key.as_borrowed())?;
    PyArray::of(py, tensor.get(&indices))
}

/// `tensor[key] = value`.
pub(crate) fn set(
    tensor: &Tensor,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    enter(key.py());
    let indices = parse(tensor, key.as_borrowed())?;
    if let Ok(value) = value.cast::<PyArray>() {
        let value = Operand::Tensor(value.get().tensor());
        return tensor.set(&indices, value).raise();
    }
    if let Some(value) = scalar::of_python(value)? {
        return tensor.set(&indices, Operand::Scalar(value)).raise();
    }
    // What isn't an array yet becomes one beside it.
    let value = asarray::of_any(value, None, &Place::of(tensor))?;
    tensor.set(&indices, Operand::Tensor(&value)).raise()
}

/// The indices of a key.
#[inline]
fn parse(tensor: &Tensor, key: Borrowed<'_, '_, PyAny>) -> PyResult<Indices> {
    let shape = tensor.shape();
    if let Ok(slice) = key.cast_exact::<PySlice>() {
        return Ok(smallvec![of_slice(shape, 0, slice)?]);
    }
    let Ok(keys) = key.cast::<PyTuple>() else {
        return Ok(smallvec![of_key(shape, 0, key)?]);
    };
    // Axes are counted from the left up to the ellipsis, after it from the right.
    let consumed = keys
        .iter_borrowed()
        .filter(|key| !key.is_none() && !key.is(PyEllipsis::get(key.py())))
        .count();
    let mut axis = 0;
    let mut indices = Indices::new();
    for key in keys.iter_borrowed() {
        let index = of_key(shape, axis, key)?;
        match index {
            Index::Ellipsis => axis += shape.len().saturating_sub(consumed),
            Index::NewAxis => {}
            _ => axis += 1,
        }
        indices.push(index);
    }
    Ok(indices)
}

fn of_key(shape: &[usize], axis: usize, key: Borrowed<'_, '_, PyAny>) -> PyResult<Index> {
    if let Ok(slice) = key.cast_exact::<PySlice>() {
        return of_slice(shape, axis, slice);
    }
    if key.cast_exact::<PyInt>().is_ok() {
        return position(key).map(Index::At);
    }
    if key.is_none() {
        return Ok(Index::NewAxis);
    }
    if key.is(PyEllipsis::get(key.py())) {
        return Ok(Index::Ellipsis);
    }
    of_object(key)
}

/// An integer as an index; one that no axis is long enough for is out of bounds.
fn position(key: Borrowed<'_, '_, PyAny>) -> PyResult<isize> {
    key.extract::<isize>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(key.py()) {
            PyIndexError::new_err(format!(
                "index {} is out of bounds for every axis",
                foreign::describe(&key)
            ))
        } else {
            error
        }
    })
}

/// A slice of an axis, cut to its size. An axis that isn't there is found out by the array.
#[inline]
fn of_slice(shape: &[usize], axis: usize, slice: Borrowed<'_, '_, PySlice>) -> PyResult<Index> {
    let size = shape.get(axis).copied().unwrap_or(0);
    let found = slice.indices(size as isize)?;
    if found.slicelength == 0 {
        return Ok(Index::Slice {
            start: Some(0),
            stop: Some(0),
            step: Some(1),
        });
    }
    Ok(Index::Slice {
        start: Some(found.start),
        // Before the first element is no place that an index names.
        stop: (found.stop >= 0).then_some(found.stop),
        step: Some(found.step),
    })
}

/// Objects that stand for an integer; everything else is refused with the reason.
#[cold]
fn of_object(key: Borrowed<'_, '_, PyAny>) -> PyResult<Index> {
    let py = key.py();
    let not_yet = |what: &str| {
        Err(PyIndexError::new_err(format!(
            "indexing by {what} is not available yet; use integers, slices, '...' and None"
        )))
    };
    if key.cast::<PyBool>().is_ok() || foreign::is_numpy(py, &key, "bool_")? {
        return not_yet("truth values");
    }
    if let Ok(array) = key.cast::<PyArray>() {
        let array = array.get().tensor();
        return match array.ndim() {
            0 if array.dtype().is_integer() => position(key).map(Index::At),
            _ => not_yet(&format!("an array of {}", array.dtype())),
        };
    }
    if foreign::is_numpy(py, &key, "ndarray")? {
        return not_yet("an array of NumPy");
    }
    if key.cast::<PyList>().is_ok() {
        return not_yet("a list");
    }
    position(key).map(Index::At).map_err(|error| {
        if error.is_instance_of::<PyTypeError>(py) {
            PyIndexError::new_err(format!(
                "{} is no index; indices are integers, slices, '...' and None",
                foreign::describe(&key)
            ))
        } else {
            error
        }
    })
}
