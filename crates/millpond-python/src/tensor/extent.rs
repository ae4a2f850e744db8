//! Shapes, axes and counts as Python programs write them: an integer, or a sequence of integers.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PyInt, PySet, PyTuple};
use smallvec::{SmallVec, smallvec};

use crate::integer;
use crate::tensor::foreign;

/// An integer or a sequence of them.
#[derive(Clone, Debug)]
pub(crate) struct Integers(pub(crate) SmallVec<[isize; 4]>);

impl Integers {
    /// A single one.
    pub(crate) fn one(value: isize) -> Self {
        Self(smallvec![value])
    }

    /// Axes as operations take them: none are all of them.
    pub(crate) fn given(axes: Option<&Self>) -> Option<&[isize]> {
        axes.map(|axes| &axes.0[..])
    }

    /// One for each axis: a single one holds for all of them.
    pub(crate) fn beside(&self, axes: Option<&Self>) -> SmallVec<[isize; 4]> {
        match (&self.0[..], axes) {
            (&[value], Some(axes)) => SmallVec::from_elem(value, axes.0.len()),
            _ => self.0.clone(),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Integers {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if obj.cast::<PyInt>().is_ok() {
            return Ok(Self(smallvec![integer::integer(&obj)?]));
        }
        let refusal = || {
            PyTypeError::new_err(format!(
                "expected an integer or a sequence of integers, got {}",
                foreign::describe(&obj)
            ))
        };
        let wrong = |error: PyErr| {
            if error.is_instance_of::<PyTypeError>(obj.py()) {
                refusal()
            } else {
                error
            }
        };
        let one = |item: Borrowed<'_, 'py, PyAny>| integer::integer(&item).map_err(wrong);
        if let Ok(tuple) = obj.cast::<PyTuple>() {
            let sizes = tuple.iter_borrowed().map(one);
            return sizes.collect::<PyResult<_>>().map(Self);
        }
        match integer::integer(&obj) {
            Ok(value) => return Ok(Self(smallvec![value])),
            Err(error) if error.is_instance_of::<PyTypeError>(obj.py()) => {}
            Err(error) => return Err(error),
        }
        // Integers come out of these, too, but in no order, or as what they aren't meant for.
        if obj.cast::<PyDict>().is_ok()
            || obj.cast::<PySet>().is_ok()
            || obj.cast::<PyFrozenSet>().is_ok()
            || obj.cast::<PyBytes>().is_ok()
            || obj.cast::<PyByteArray>().is_ok()
        {
            return Err(refusal());
        }
        obj.try_iter()
            .map_err(wrong)?
            .map(|item| one(item?.as_borrowed()))
            .collect::<PyResult<_>>()
            .map(Self)
    }
}

/// Sizes of axes.
#[derive(Clone, Debug)]
pub(crate) struct ShapeLike(pub(crate) SmallVec<[usize; 4]>);

impl<'py> FromPyObject<'_, 'py> for ShapeLike {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Integers(sizes) = obj.extract()?;
        sizes
            .iter()
            .map(|&size| {
                usize::try_from(size).map_err(|_| {
                    PyValueError::new_err(format!(
                        "a shape has no negative sizes, got {}",
                        foreign::describe(&obj)
                    ))
                })
            })
            .collect::<PyResult<_>>()
            .map(Self)
    }
}

/// Sizes or steps as a tuple.
pub(crate) fn tuple<'py, T>(py: Python<'py>, values: &[T]) -> PyResult<Bound<'py, PyTuple>>
where
    T: IntoPyObject<'py> + Copy,
{
    PyTuple::new(py, values.iter().copied())
}
