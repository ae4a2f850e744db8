//! Arrays as indices, and what becomes one: arrays of NumPy, truth values, lists and ranges.
//!
//! What the host has is copied to the device, so that the program may change it at once, and its
//! integers are checked against their axis before anything is done.

use millpond::tensor::{Index, Item, Place, Tensor, creation};
use millpond::types::{DType, Scalar};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes};
use pyo3::{Borrowed, intern};

use super::key;
use crate::error::Raise;
use crate::tensor::array::PyArray;
use crate::tensor::{foreign, sequence};

/// An array as an index.
pub(super) struct IndexArray {
    tensor: Tensor,
    /// The least and the greatest of its integers, where the host has them.
    ends: Option<(i128, i128)>,
}

impl IndexArray {
    /// An array of what the host has.
    fn on_host(bytes: Vec<u8>, dtype: DType, shape: &[usize], place: &Place) -> PyResult<Self> {
        let ends = ends(&bytes, dtype);
        let tensor = creation::from_bytes(bytes, dtype, shape, place).raise()?;
        Ok(Self { tensor, ends })
    }

    /// How many axes it stands for.
    pub(super) fn axes(&self) -> usize {
        match self.tensor.dtype() {
            DType::Bool => self.tensor.ndim(),
            _ => 1,
        }
    }

    /// Whether it surely picks something.
    pub(super) fn picks(&self) -> bool {
        self.tensor.size() > 0 && self.tensor.dtype() != DType::Bool
    }

    /// Fails if the host knows that an integer is outside of the axis, where there is that.
    pub(super) fn check(&self, shape: &[usize], axis: usize) -> PyResult<()> {
        let (Some(&size), Some((least, greatest))) = (shape.get(axis), self.ends) else {
            return Ok(());
        };
        let outside = [greatest, least]
            .into_iter()
            .find(|&index| index >= size as i128 || index < -(size as i128));
        match outside {
            Some(index) => Err(PyIndexError::new_err(format!(
                "index {index} is out of bounds for axis {axis} with size {size}"
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn into_tensor(self) -> Tensor {
        self.tensor
    }
}

/// The array that a part of a key stands for; `None` for parts that are none.
pub(super) fn of_key(
    tensor: &Tensor,
    key: Borrowed<'_, '_, PyAny>,
) -> PyResult<Option<IndexArray>> {
    let (py, place) = (key.py(), Place::of(tensor));
    if let Ok(array) = key.cast::<PyArray>() {
        let tensor = array.get().tensor().clone();
        return Ok(Some(IndexArray { tensor, ends: None }));
    }
    if key.cast::<PyBool>().is_ok() || foreign::is_numpy(py, &key, "bool_")? {
        let value = Scalar::Bool(key.is_truthy()?);
        let bytes = value.to_bytes(DType::Bool)[..1].to_vec();
        return IndexArray::on_host(bytes, DType::Bool, &[], &place).map(Some);
    }
    if foreign::is_numpy(py, &key, "ndarray")? {
        return of_numpy(&key, &place).map(Some);
    }
    if sequence::is_sequence(&key) {
        return of_sequence(&key, &place).map(Some);
    }
    Ok(None)
}

/// The array of a function's argument beside an array.
pub(super) fn of_argument(tensor: &Tensor, argument: &Bound<'_, PyAny>) -> PyResult<IndexArray> {
    if let Some(array) = of_key(tensor, argument.as_borrowed())? {
        return Ok(array);
    }
    let Ok(index) = argument.extract::<i64>() else {
        return Err(PyTypeError::new_err(format!(
            "expected an array of integers as indices, got {}",
            foreign::describe(argument)
        )));
    };
    let bytes = index.to_ne_bytes().to_vec();
    IndexArray::on_host(bytes, DType::Int64, &[], &Place::of(tensor))
}

/// An object that stands for an integer and isn't an array of ours; `None` for others.
#[cold]
pub(super) fn integer(key: Borrowed<'_, '_, PyAny>) -> PyResult<Option<Index<'static>>> {
    let is_array = key.cast::<PyArray>().is_ok()
        || key.cast::<PyBool>().is_ok()
        || foreign::is_numpy(key.py(), &key, "ndarray")?;
    if is_array {
        return Ok(None);
    }
    match key::position(key) {
        Ok(at) => Ok(Some(Index::At(at))),
        Err(error) if error.is_instance_of::<PyTypeError>(key.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The number that an array of integers of no dimension holds. Waits for it.
pub(super) fn number(array: &Tensor) -> PyResult<Index<'static>> {
    let value = array.item().raise()?.to_i128();
    isize::try_from(value).map(Index::At).map_err(|_| {
        PyIndexError::new_err(format!("index {value} is out of bounds for every axis"))
    })
}

/// What is said of objects that index nothing.
pub(super) fn refusal(key: &Bound<'_, PyAny>) -> PyErr {
    PyIndexError::new_err(format!(
        "{} is no index; indices are integers, slices, '...', None, and arrays of integers or of \
         truth values",
        foreign::describe(key)
    ))
}

/// A copy of an array of NumPy.
fn of_numpy(array: &Bound<'_, PyAny>, place: &Place) -> PyResult<IndexArray> {
    let py = array.py();
    let mut array = array.clone();
    let mut dtype = array.getattr(intern!(py, "dtype"))?;
    if !dtype.getattr(intern!(py, "isnative"))?.is_truthy()? {
        dtype = dtype.call_method1(intern!(py, "newbyteorder"), ("=",))?;
        array = array.call_method1(intern!(py, "astype"), (&dtype,))?;
    }
    let Some(dtype) = foreign::native_dtype(&dtype)? else {
        return Err(PyIndexError::new_err(format!(
            "a NumPy array of {dtype} is no index; integers and truth values are"
        )));
    };
    let shape: Vec<usize> = array.getattr(intern!(py, "shape"))?.extract()?;
    let bytes = array.call_method0(intern!(py, "tobytes"))?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes().to_vec();
    IndexArray::on_host(bytes, dtype, &shape, place)
}

/// The array of nested sequences; without elements, of integers.
fn of_sequence(object: &Bound<'_, PyAny>, place: &Place) -> PyResult<IndexArray> {
    if sequence::holds_arrays(object)? {
        return Err(refusal(object));
    }
    let found = sequence::elements(object)?;
    let dtype = if found.is_empty() {
        DType::Int64
    } else {
        found.natural_dtype(place)?
    };
    IndexArray::on_host(found.bytes(dtype)?, dtype, found.shape(), place)
}

/// The least and the greatest of integers in bytes; `None` for other dtypes, and if there are none.
fn ends(bytes: &[u8], dtype: DType) -> Option<(i128, i128)> {
    fn of<T: Item + Ord + Into<i128>>(bytes: &[u8]) -> Option<(i128, i128)> {
        let items = || bytes.chunks_exact(size_of::<T>()).map(T::of);
        Some((items().min()?.into(), items().max()?.into()))
    }
    match dtype {
        DType::Int8 => of::<i8>(bytes),
        DType::Int16 => of::<i16>(bytes),
        DType::Int32 => of::<i32>(bytes),
        DType::Int64 => of::<i64>(bytes),
        DType::Uint8 => of::<u8>(bytes),
        DType::Uint16 => of::<u16>(bytes),
        DType::Uint32 => of::<u32>(bytes),
        DType::Uint64 => of::<u64>(bytes),
        _ => None,
    }
}
