//! Arrays for others: `__dlpack__` and `__dlpack_device__`.

use std::ffi::c_void;
use std::ptr;

use millpond::tensor::{Order, Tensor};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

use super::CPU;
use super::capsule::wrap;
use super::structure::{Array, DataType, Device, IS_COPIED, Legacy, READ_ONLY, VERSION, Versioned};
use crate::gil;
use crate::interop::buffer_protocol::share;

/// A structure with what it points to.
struct Exported<M> {
    managed: M,
    /// Keeps the memory.
    _tensor: Tensor,
    /// What the structure points to.
    _axes: [Vec<i64>; 2],
}

/// A capsule with the array: `__dlpack__` of the standard.
///
/// # Errors
/// `BufferError` for what isn't possible without a copy where none is allowed, for other devices,
/// and for read-only arrays where the consumer knows no such flag; the failure of what computed
/// the elements.
pub(crate) fn export<'py>(
    py: Python<'py>,
    tensor: &Tensor,
    stream: Option<&Bound<'py, PyAny>>,
    max_version: Option<(u32, u32)>,
    dl_device: Option<(i32, i32)>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(stream) = stream.filter(|stream| !stream.is_none()) {
        return Err(PyValueError::new_err(format!(
            "__dlpack__: memory of the CPU has no stream, {stream} was given"
        )));
    }
    check_device(tensor)?;
    if let Some(device) = dl_device.filter(|&device| device != (CPU, 0)) {
        return Err(PyBufferError::new_err(format!(
            "__dlpack__: cannot export to device {device:?}, only to the CPU, {:?}",
            (CPU, 0)
        )));
    }
    let knows_versions = max_version.is_some_and(|version| version.0 >= VERSION.major);
    let copied = copy == Some(true);
    if tensor.is_read_only() && !knows_versions && !copied {
        return Err(PyBufferError::new_err(
            "__dlpack__: the array is read-only, which only DLPack 1.0 and later can say: ask for \
             max_version=(1, 0) or for a copy",
        ));
    }
    let tensor = if copied {
        gil::submit(py, || tensor.copy(Order::C))?
    } else {
        tensor.clone()
    };
    share(py, &tensor, true)?;
    if knows_versions {
        let exported = versioned(tensor, if copied { IS_COPIED } else { 0 });
        // SAFETY: the box lives until the deleter is called.
        unsafe { wrap(py, exported) }
    } else {
        let exported = Exported::boxed(tensor, |array, manager| Legacy {
            array,
            manager,
            deleter: Some(delete_legacy),
        });
        // SAFETY: the box lives until the deleter is called.
        unsafe { wrap(py, exported) }
    }
}

/// Refuses memory that isn't the CPU's.
///
/// # Errors
/// `BufferError`.
pub(super) fn check_device(tensor: &Tensor) -> PyResult<()> {
    if tensor.device().info().host_executed {
        return Ok(());
    }
    Err(PyBufferError::new_err(format!(
        "__dlpack__: memory of {} is not exported",
        tensor.device()
    )))
}

/// A structure that owns a tensor; whether it is read-only is among its flags.
pub(super) fn versioned(tensor: Tensor, mut flags: u64) -> *mut Versioned {
    if tensor.is_read_only() {
        flags |= READ_ONLY;
    }
    Exported::boxed(tensor, |array, manager| Versioned {
        version: VERSION,
        manager,
        deleter: Some(delete_versioned),
        flags,
        array,
    })
}

/// A tensor in the words of DLPack, with its shape and strides at these places.
pub(super) fn described(tensor: &Tensor, shape: *mut i64, strides: *mut i64) -> Array {
    Array {
        data: tensor.address().as_ptr(),
        device: Device {
            device_type: CPU,
            device_id: 0,
        },
        ndim: tensor.ndim() as i32,
        dtype: DataType {
            code: tensor.dtype().dlpack_code(),
            bits: tensor.dtype().bits() as u8,
            lanes: 1,
        },
        shape,
        strides,
        byte_offset: 0,
    }
}

impl<M> Exported<M> {
    /// A pointer to the structure of a tensor. Its manager is the box that it lies in.
    fn boxed(tensor: Tensor, make: impl FnOnce(Array, *mut c_void) -> M) -> *mut M {
        let mut shape: Vec<i64> = tensor.shape().iter().map(|&size| size as i64).collect();
        let mut strides: Vec<i64> = tensor
            .strides()
            .iter()
            .map(|&stride| stride as i64)
            .collect();
        let array = described(&tensor, shape.as_mut_ptr(), strides.as_mut_ptr());
        let place: Box<std::mem::MaybeUninit<Self>> = Box::new_uninit();
        let place = Box::into_raw(place).cast::<Self>();
        let exported = Self {
            managed: make(array, place.cast()),
            _tensor: tensor,
            _axes: [shape, strides],
        };
        // SAFETY: the place was allocated for exactly this.
        unsafe { place.write(exported) };
        // SAFETY: the place is initialised.
        unsafe { ptr::addr_of_mut!((*place).managed) }
    }
}

unsafe extern "C" fn delete_versioned(managed: *mut Versioned) {
    // SAFETY: consumers call it with the structure that they were given.
    let manager = unsafe { (*managed).manager };
    // SAFETY: the manager is the box that the structure lies in, and is taken back once.
    drop(unsafe { Box::from_raw(manager.cast::<Exported<Versioned>>()) });
}

unsafe extern "C" fn delete_legacy(managed: *mut Legacy) {
    // SAFETY: consumers call it with the structure that they were given.
    let manager = unsafe { (*managed).manager };
    // SAFETY: the manager is the box that the structure lies in, and is taken back once.
    drop(unsafe { Box::from_raw(manager.cast::<Exported<Legacy>>()) });
}
