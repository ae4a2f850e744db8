//! What stands between the brackets, part by part.

use millpond::tensor::{Index, Tensor};
use millpond::types::DType;
use pyo3::Borrowed;
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PySliceMethods, PyTuple};
use smallvec::SmallVec;

use super::array::{self, IndexArray};
use crate::tensor::foreign;

type Indices = SmallVec<[Index<'static>; 4]>;

/// A key, read for an array of some shape.
pub(super) enum Key {
    /// Without arrays.
    Basic(Indices),
    /// With arrays among its parts.
    WithArrays(Parts),
}

impl Key {
    /// Reads a key.
    #[inline]
    pub(super) fn new(tensor: &Tensor, key: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let shape = tensor.shape();
        let Ok(keys) = key.cast::<PyTuple>() else {
            return match simple(shape, 0, key)? {
                Some(index) => Ok(Self::Basic(SmallVec::from_iter([index]))),
                None => Parts::new(tensor, &[key]).map(Self::WithArrays),
            };
        };
        // Axes are counted from the left up to the ellipsis, after it from the right.
        let consumed = keys
            .iter_borrowed()
            .filter(|key| !key.is_none() && !key.is(PyEllipsis::get(key.py())))
            .count();
        let mut axis = 0;
        let mut indices = Indices::new();
        for key in keys.iter_borrowed() {
            let Some(index) = simple(shape, axis, key)? else {
                let keys: SmallVec<[_; 4]> = keys.iter_borrowed().collect();
                return Parts::new(tensor, &keys).map(Self::WithArrays);
            };
            match index {
                Index::Ellipsis => axis += shape.len().saturating_sub(consumed),
                Index::NewAxis => {}
                _ => axis += 1,
            }
            indices.push(index);
        }
        Ok(Self::Basic(indices))
    }
}

/// The parts of a key with arrays.
pub(super) struct Parts(Vec<Part>);

enum Part {
    Plain(Index<'static>),
    Array(Tensor),
}

impl Parts {
    #[cold]
    fn new(tensor: &Tensor, keys: &[Borrowed<'_, '_, PyAny>]) -> PyResult<Self> {
        let shape = tensor.shape();
        // Masks stand for several axes, so arrays are made before axes are counted.
        let mut arrays: SmallVec<[Option<IndexArray>; 4]> = SmallVec::new();
        let mut consumed = 0;
        for &key in keys {
            let array = array::of_key(tensor, key)?;
            consumed += match &array {
                Some(array) => array.axes(),
                None if key.is_none() || key.is(PyEllipsis::get(key.py())) => 0,
                None => 1,
            };
            arrays.push(array);
        }
        // Where a mask or an empty array may leave nothing to pick, no index is outside.
        let checked = arrays.iter().flatten().all(IndexArray::picks);
        let (mut axis, mut parts) = (0, Vec::with_capacity(keys.len()));
        for (&key, array) in keys.iter().zip(arrays) {
            if let Some(array) = array {
                if checked {
                    array.check(shape, axis)?;
                }
                axis += array.axes();
                parts.push(Part::Array(array.into_tensor()));
                continue;
            }
            let Some(index) = simple(shape, axis, key)? else {
                return Err(array::refusal(&key));
            };
            match index {
                Index::Ellipsis => axis += shape.len().saturating_sub(consumed),
                Index::NewAxis => {}
                _ => axis += 1,
            }
            parts.push(Part::Plain(index));
        }
        Ok(Self(parts))
    }

    /// The same with numbers in place of integers of no dimension, if there are no other arrays: a
    /// view is what NumPy gives then. Waits for these.
    pub(super) fn with_numbers_of_arrays(mut self) -> PyResult<Self> {
        let is_number = |array: &Tensor| array.ndim() == 0 && array.dtype() != DType::Bool;
        let are_numbers = self.0.iter().all(|part| match part {
            Part::Plain(_) => true,
            Part::Array(array) => is_number(array) && array.dtype().is_integer(),
        });
        if are_numbers {
            for part in &mut self.0 {
                if let Part::Array(array) = part {
                    *part = Part::Plain(array::number(array)?);
                }
            }
        }
        Ok(self)
    }

    /// As arrays take them.
    pub(super) fn indices(&self) -> SmallVec<[Index<'_>; 4]> {
        self.0
            .iter()
            .map(|part| match part {
                Part::Plain(index) => *index,
                Part::Array(array) => Index::Array(array),
            })
            .collect()
    }
}

/// A slice, an integer, `None` or `...` as an index; `None` for other objects.
#[inline]
fn simple(
    shape: &[usize],
    axis: usize,
    key: Borrowed<'_, '_, PyAny>,
) -> PyResult<Option<Index<'static>>> {
    if let Ok(slice) = key.cast_exact::<PySlice>() {
        return of_slice(shape, axis, slice).map(Some);
    }
    if key.cast_exact::<PyInt>().is_ok() {
        return position(key).map(|at| Some(Index::At(at)));
    }
    if key.is_none() {
        return Ok(Some(Index::NewAxis));
    }
    if key.is(PyEllipsis::get(key.py())) {
        return Ok(Some(Index::Ellipsis));
    }
    array::integer(key)
}

/// An integer as an index; one that no axis is long enough for is out of bounds.
pub(super) fn position(key: Borrowed<'_, '_, PyAny>) -> PyResult<isize> {
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
pub(super) fn of_slice(
    shape: &[usize],
    axis: usize,
    slice: Borrowed<'_, '_, PySlice>,
) -> PyResult<Index<'static>> {
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
