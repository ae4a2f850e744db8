//! `__cuda_array_interface__`, version 3: arrays as an address and a stream, of ours for others and of others.
//!
//! What is pending on an array of ours the default stream is made to wait for, which is the stream that is named: so
//! a consumer that doesn't look at the stream, but works on that one, comes behind it as well.

use millpond::runtime::{Address, Device, MemoryKind};
use millpond::tensor::Tensor;
use millpond::types::{DType, Kind};
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::Raise;
use crate::gil;
use crate::interop::elements::Elements;
use crate::interop::stream::{self, LEGACY};
use crate::tensor::extent::{Integers, ShapeLike};
use crate::tensor::foreign::describe;

/// The version of the dictionary.
const VERSION: u32 = 3;

/// What the interface of an array says: its elements are there when the stream that it names has come so far.
///
/// # Errors
/// `AttributeError` for devices without CUDA, `TypeError` for a dtype that can't be said; the failure of what computed the
/// elements.
pub(crate) fn export<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyDict>> {
    let device = tensor.device();
    if device.info().backend != "cuda" {
        return Err(PyAttributeError::new_err(format!(
            "arrays of {device} have no __cuda_array_interface__"
        )));
    }
    let typestr = typestr(tensor.dtype())?;
    tensor.memory().share_with_others();
    stream::hold(py, tensor.memory(), LEGACY)?;
    let size = tensor.item_size() as isize;
    let strides: Vec<isize> = tensor
        .strides()
        .iter()
        .map(|stride| stride * size)
        .collect();
    let address = if tensor.size() == 0 {
        0
    } else {
        tensor.address().get()
    };
    let dictionary = PyDict::new(py);
    dictionary.set_item("version", VERSION)?;
    dictionary.set_item("shape", PyTuple::new(py, tensor.shape())?)?;
    dictionary.set_item("typestr", typestr)?;
    dictionary.set_item("data", (address, tensor.is_read_only()))?;
    if tensor.is_contiguous() {
        dictionary.set_item("strides", py.None())?;
    } else {
        dictionary.set_item("strides", PyTuple::new(py, strides)?)?;
    }
    dictionary.set_item("stream", LEGACY)?;
    Ok(dictionary)
}

/// The array over the memory that an object shows by the interface, behind what its stream was given so far; `None`
/// without one.
///
/// # Errors
/// `TypeError` and `ValueError` for a dictionary that isn't as the interface says, `BufferError` for memory that no device
/// here reaches.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    let py = object.py();
    let Some(shown) = object.getattr_opt(intern!(py, "__cuda_array_interface__"))? else {
        return Ok(None);
    };
    let Ok(shown) = shown.cast::<PyDict>() else {
        return Err(PyTypeError::new_err(format!(
            "__cuda_array_interface__ of {} is {}, not a dictionary",
            describe(object),
            describe(&shown)
        )));
    };
    let shown = Shown(shown);
    if shown.optional("mask")?.is_some() {
        return Err(PyBufferError::new_err(
            "__cuda_array_interface__: arrays with a mask have no equivalent",
        ));
    }
    let dtype = dtype_of(&shown.needed("typestr")?.extract::<String>()?)?;
    let shape: ShapeLike = shown.needed("shape")?.extract()?;
    let (address, read_only): (usize, bool) = shown.needed("data")?.extract()?;
    let strides = match shown.optional("strides")? {
        Some(strides) => strides.extract::<Integers>()?.0.to_vec(),
        None => row_major(&shape.0, dtype.size()),
    };
    if strides.len() != shape.0.len() {
        return Err(PyValueError::new_err(format!(
            "__cuda_array_interface__: {} strides for {} axes",
            strides.len(),
            shape.0.len()
        )));
    }
    let (device, kind) = place_of(address)?;
    let elements = Elements {
        pointer: Address::new(address).as_ptr::<u8>().cast_const(),
        dtype,
        shape: shape.0.to_vec(),
        byte_strides: strides,
    };
    let queue = device.default_queue().raise()?;
    let owner = object.clone().unbind();
    let tensor = elements.import(&queue, kind, read_only, owner)?;
    let tensor = tensor.ok_or_else(|| {
        PyBufferError::new_err(
            "__cuda_array_interface__: the elements are not aligned to their size",
        )
    })?;
    // Before version 3 the default stream was understood.
    let stream: Option<usize> = match shown.0.get_item("stream")? {
        Some(stream) if stream.is_none() => None,
        Some(stream) => Some(stream.extract()?),
        None => Some(LEGACY),
    };
    match stream {
        None => {}
        Some(0) => {
            return Err(PyValueError::new_err(
                "__cuda_array_interface__: stream 0 is ambiguous: it is 1, 2 or a handle",
            ));
        }
        Some(stream) => stream::follow(py, tensor.memory(), stream)?,
    }
    Ok(Some(tensor))
}

/// A dictionary of the interface.
struct Shown<'a, 'py>(&'a Bound<'py, PyDict>);

impl<'py> Shown<'_, 'py> {
    fn optional(&self, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(key)?.filter(|value| !value.is_none()))
    }

    fn needed(&self, key: &str) -> PyResult<Bound<'py, PyAny>> {
        self.optional(key)?.ok_or_else(|| {
            PyValueError::new_err(format!("__cuda_array_interface__ says nothing of {key}"))
        })
    }
}

/// The device whose memory lies at an address, and its kind. Without elements any will do.
fn place_of(address: usize) -> PyResult<(&'static Device, MemoryKind)> {
    let devices = millpond::devices().iter();
    for device in devices.filter(|device| device.info().backend == "cuda") {
        let kind = if address == 0 {
            Some(MemoryKind::Device)
        } else {
            gil::enter();
            device.kind_at(Address::new(address)).raise()?
        };
        if let Some(kind @ (MemoryKind::Device | MemoryKind::Shared)) = kind {
            return Ok((device, kind));
        }
    }
    Err(PyBufferError::new_err(format!(
        "__cuda_array_interface__: {address:#x} is memory of no device here"
    )))
}

fn row_major(shape: &[usize], size: usize) -> Vec<isize> {
    let mut strides = vec![size.cast_signed(); shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis].max(1).cast_signed());
    }
    strides
}

/// How this machine orders the bytes of a number.
const NATIVE: char = if cfg!(target_endian = "little") {
    '<'
} else {
    '>'
};

/// A dtype as NumPy's array interface writes it.
fn typestr(dtype: DType) -> PyResult<String> {
    let letter = match dtype.kind() {
        Kind::Bool => 'b',
        Kind::Int => 'i',
        Kind::Uint => 'u',
        Kind::Complex => 'c',
        Kind::Float if dtype == DType::Bfloat16 => {
            return Err(PyTypeError::new_err(format!("{dtype} has no type string")));
        }
        Kind::Float => 'f',
    };
    let size = dtype.size();
    let order = if size == 1 { '|' } else { NATIVE };
    Ok(format!("{order}{letter}{size}"))
}

/// The dtype of a type string, whichever way it says that the order of single bytes doesn't matter.
fn dtype_of(text: &str) -> PyResult<DType> {
    let same = |dtype: &DType| {
        let own = typestr(*dtype).unwrap_or_default();
        own == text || (own.starts_with('|') && own.get(1..) == text.get(1..))
    };
    DType::ALL.iter().copied().find(same).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "__cuda_array_interface__: elements of {text:?} are of no dtype"
        ))
    })
}
