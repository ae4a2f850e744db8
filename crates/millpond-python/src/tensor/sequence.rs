//! Nested sequences of numbers, as Python programs write small arrays.

use millpond::tensor::{Place, Tensor, creation, data_types};
use millpond::types::promote::promote;
use millpond::types::shape::MAX_NDIM;
use millpond::types::{DType, Kind, Scalar};
use pyo3::Borrowed;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyRange, PySequence, PyTuple};

use crate::error::Raise;
use crate::tensor::array::PyArray;
use crate::tensor::{foreign, scalar};

/// Whether an object is a sequence that arrays are made of.
pub(crate) fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.cast::<PyList>().is_ok()
        || object.cast::<PyTuple>().is_ok()
        || object.cast::<PyRange>().is_ok()
}

/// Whether the innermost elements are arrays of some sort, rather than numbers; the first tells. Arrays without axes
/// that stand beside numbers are numbers.
///
/// # Errors
/// `ValueError` for sequences that are nested too deep; those of reading the sequence.
pub(crate) fn holds_arrays(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let mut element = object.clone();
    for _ in 0..MAX_NDIM {
        if !is_sequence(&element) {
            let array = element.cast::<PyArray>();
            let scalar = array.is_ok_and(|array| array.get().tensor().ndim() == 0);
            return Ok(!(is_number(&element)? || scalar && holds_number(object, 0)?));
        }
        match element.cast::<PySequence>() {
            Ok(sequence) if sequence.len()? > 0 => element = sequence.get_item(0)?,
            _ => return Ok(false),
        }
    }
    Ok(false)
}

fn is_number(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(scalar::of_python(object)?.is_some() || foreign::is_numpy(object.py(), object, "generic")?)
}

fn holds_number(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if !is_sequence(object) {
        return is_number(object);
    }
    check_depth(depth)?;
    for item in object.try_iter()? {
        if holds_number(&item?, depth + 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Fails for sequences that no array has axes enough for; one that contains itself ends here as well.
pub(crate) fn check_depth(depth: usize) -> PyResult<()> {
    if depth < MAX_NDIM {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "asarray: sequences are nested deeper than {MAX_NDIM} levels"
    )))
}

/// The array of nested sequences of numbers.
///
/// # Errors
/// `ValueError` for sequences of different lengths, `TypeError` for elements that are no numbers,
/// `OverflowError` for integers that the dtype can't hold.
pub(crate) fn array(
    object: &Bound<'_, PyAny>,
    dtype: Option<DType>,
    place: &Place,
) -> PyResult<Tensor> {
    let elements = elements(object)?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => elements.natural_dtype(place)?,
    };
    creation::from_bytes(elements.bytes(dtype)?, dtype, &elements.shape, place).raise()
}

/// The numbers of nested sequences.
///
/// # Errors
/// As for [`array()`].
pub(crate) fn elements(object: &Bound<'_, PyAny>) -> PyResult<Elements> {
    let mut elements = Elements::default();
    elements.walk(object.as_borrowed(), 0)?;
    Ok(elements)
}

/// What was found in the sequences, in row-major order.
#[derive(Default)]
pub(crate) struct Elements {
    shape: Vec<usize>,
    values: Vec<Scalar>,
    /// The dtype of NumPy's scalars and of arrays without axes among the elements, promoted.
    strong: Option<DType>,
    /// How deep the numbers lie; `None` before the first.
    depth: Option<usize>,
}

impl Elements {
    /// The length of the sequences at each depth.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The dtype that holds all of them at a place.
    ///
    /// # Errors
    /// `OverflowError` for integers that no dtype holds.
    pub(crate) fn natural_dtype(&self, place: &Place) -> PyResult<DType> {
        self.dtype(data_types::default_float(place.device()))
    }

    /// Their bytes as elements of a dtype.
    ///
    /// # Errors
    /// Values that would lose their meaning.
    pub(crate) fn bytes(&self, dtype: DType) -> PyResult<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.values.len() * dtype.size());
        for &value in &self.values {
            check(value, dtype)?;
            bytes.extend_from_slice(&value.to_bytes(dtype)[..dtype.size()]);
        }
        Ok(bytes)
    }

    fn walk(&mut self, object: Borrowed<'_, '_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(list) = object.cast::<PyList>() {
            self.enter(list.len(), depth)?;
            return list
                .iter()
                .try_for_each(|item| self.walk(item.as_borrowed(), depth + 1));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            self.enter(tuple.len(), depth)?;
            return tuple
                .iter_borrowed()
                .try_for_each(|item| self.walk(item, depth + 1));
        }
        if object.cast::<PyRange>().is_ok() {
            self.enter(object.len()?, depth)?;
            return object
                .try_iter()?
                .try_for_each(|item| self.walk(item?.as_borrowed(), depth + 1));
        }
        self.number(object, depth)
    }

    fn enter(&mut self, len: usize, depth: usize) -> PyResult<()> {
        check_depth(depth)?;
        match self.shape.get(depth) {
            Some(&size) if size == len => Ok(()),
            Some(&size) => Err(PyValueError::new_err(format!(
                "asarray: sequences of lengths {size} and {len} stand side by side, {depth} \
                 levels deep"
            ))),
            None if self.depth.is_some() => Err(uneven(depth)),
            None => {
                self.shape.push(len);
                Ok(())
            }
        }
    }

    fn number(&mut self, object: Borrowed<'_, '_, PyAny>, depth: usize) -> PyResult<()> {
        if depth != self.shape.len() {
            return Err(uneven(depth));
        }
        self.depth = Some(depth);
        let (value, dtype) = if let Some(value) = scalar::of_python(&object)? {
            (value, None)
        } else if let Some((value, dtype)) = scalar::of_numpy(&object)? {
            (value, Some(dtype))
        } else if let Some((value, dtype)) = scalar::of_array(&object)? {
            (value, Some(dtype))
        } else {
            return Err(PyTypeError::new_err(format!(
                "asarray: expected a number, got {}",
                foreign::describe(&object)
            )));
        };
        if let Some(dtype) = dtype {
            self.strong = Some(match self.strong {
                Some(strong) => promote(strong, dtype)
                    .map_err(|error| PyTypeError::new_err(error.to_string()))?,
                None => dtype,
            });
        }
        self.values.push(value);
        Ok(())
    }

    /// The dtype that holds all elements.
    fn dtype(&self, default_float: DType) -> PyResult<DType> {
        let kind = self.values.iter().map(|value| value.kind()).max();
        if let Some(strong) = self.strong {
            let scalars = self.values.iter();
            return Ok(scalars.fold(strong, |dtype, &value| {
                millpond::types::promote::with_scalar(dtype, value, default_float)
            }));
        }
        match kind {
            None => Ok(default_float),
            Some(Kind::Int | Kind::Uint) => self.integer(),
            Some(_) => {
                let model = self.values.iter().max_by_key(|value| value.kind());
                let model = model.copied().unwrap_or(Scalar::Float(0.0));
                Ok(data_types::default_dtype(model, default_float))
            }
        }
    }

    fn integer(&self) -> PyResult<DType> {
        [DType::Int64, DType::Uint64]
            .into_iter()
            .find(|&dtype| self.values.iter().all(|value| value.fits(dtype)))
            .ok_or_else(|| {
                PyOverflowError::new_err(
                    "asarray: no integer dtype holds all elements, int64 and uint64 included",
                )
            })
    }
}

fn uneven(depth: usize) -> PyErr {
    PyValueError::new_err(format!(
        "asarray: a number and a sequence stand side by side, {depth} levels deep"
    ))
}

/// Fails if an element would lose its meaning.
fn check(value: Scalar, dtype: DType) -> PyResult<()> {
    if !value.fits(dtype) {
        return Err(PyOverflowError::new_err(format!(
            "asarray: {} is out of bounds for {dtype}",
            value.to_i128()
        )));
    }
    match value {
        Scalar::Complex(value) if !dtype.is_complex() && dtype != DType::Bool => {
            Err(PyTypeError::new_err(format!(
                "asarray: {value} is complex and cannot become {dtype}"
            )))
        }
        Scalar::Float(value) if dtype.is_integer() && !value.is_finite() => Err(
            PyValueError::new_err(format!("asarray: {value} cannot become {dtype}")),
        ),
        _ => Ok(()),
    }
}
