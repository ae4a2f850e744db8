//! Arrays for others: `__dlpack__` and `__dlpack_device__`.

use std::ffi::c_void;
use std::ptr;

use millpond::tensor::{self, Tensor};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

use super::capsule::wrap;
use super::device::{device_of, host_device};
use super::structure::{Array, DataType, Device, IS_COPIED, Legacy, READ_ONLY, VERSION, Versioned};
use super::{CPU, CUDA};
use crate::gil;
use crate::interop::buffer_protocol::share;
use crate::interop::stream::{self, LEGACY};

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
    let own = device_of(tensor)?;
    let order = order_for(own, stream)?;
    let device = dl_device.unwrap_or(own);
    let to_host = device == (CPU, 0) && own != device;
    if device != own && !to_host {
        let cpu = (CPU, 0);
        let places = if own == cpu {
            format!("the CPU, {cpu:?}")
        } else {
            format!("{own:?} and the CPU, {cpu:?}")
        };
        return Err(PyBufferError::new_err(format!(
            "__dlpack__: cannot export to device {device:?}, only to {places}"
        )));
    }
    if to_host && copy == Some(false) {
        return Err(PyBufferError::new_err(format!(
            "__dlpack__: memory of {} reaches the CPU by a copy only, which copy=False forbids",
            tensor.device()
        )));
    }
    let knows_versions = max_version.is_some_and(|version| version.0 >= VERSION.major);
    let copied = copy == Some(true) || to_host;
    if tensor.is_read_only() && !knows_versions && !copied {
        return Err(PyBufferError::new_err(
            "__dlpack__: the array is read-only, which only DLPack 1.0 and later can say: ask for \
             max_version=(1, 0) or for a copy",
        ));
    }
    let tensor = if to_host {
        let host = host_device()?;
        gil::submit(py, || tensor.to_device(host))?
    } else if copied {
        gil::submit(py, || tensor.copy(tensor::Order::C))?
    } else {
        tensor.clone()
    };
    if to_host || own == (CPU, 0) {
        share(py, &tensor, true)?;
    } else {
        tensor.memory().share_with_others();
        match order {
            Order::None => {}
            Order::Host => gil::wait_idle(py, tensor.memory())?,
            Order::Stream(stream) => stream::hold(py, tensor.memory(), stream)?,
        }
    }
    if knows_versions {
        let exported = versioned(tensor, device, if copied { IS_COPIED } else { 0 });
        // SAFETY: the box lives until the deleter is called.
        unsafe { wrap(py, exported) }
    } else {
        let exported = Exported::boxed(tensor, device, |array, manager| Legacy {
            array,
            manager,
            deleter: Some(delete_legacy),
        });
        // SAFETY: the box lives until the deleter is called.
        unsafe { wrap(py, exported) }
    }
}

/// What the consumer comes behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Nothing: it has said that it takes care of that.
    None,
    /// The host waits for what is pending.
    Host,
    /// A stream of the consumer's does.
    Stream(usize),
}

/// What waits for what is pending, by what the consumer says of its stream. Who says nothing uses the
/// default stream.
///
/// # Errors
/// `ValueError` for a stream of the CPU's, and for what is no stream.
fn order_for(device: (i32, i32), stream: Option<&Bound<'_, PyAny>>) -> PyResult<Order> {
    // Memory of the host is looked at without a stream, too.
    let by_stream = |stream| match device.0 {
        CUDA => Order::Stream(stream),
        _ => Order::Host,
    };
    let Some(stream) = stream.filter(|stream| !stream.is_none()) else {
        return Ok(by_stream(LEGACY));
    };
    if device.0 == CPU {
        return Err(PyValueError::new_err(format!(
            "__dlpack__: memory of the CPU has no stream, {stream} was given"
        )));
    }
    match stream.extract::<i64>() {
        Ok(-1) => Ok(Order::None),
        Ok(number) if number > 0 => Ok(by_stream(number as usize)),
        // Zero may be one of two streams, so the protocol forbids it.
        _ => Err(PyValueError::new_err(format!(
            "__dlpack__: {stream} is no stream of CUDA: it is -1, 1, 2 or a handle"
        ))),
    }
}

/// A structure that owns a tensor; whether it is read-only is among its flags.
pub(super) fn versioned(tensor: Tensor, device: (i32, i32), mut flags: u64) -> *mut Versioned {
    if tensor.is_read_only() {
        flags |= READ_ONLY;
    }
    Exported::boxed(tensor, device, |array, manager| Versioned {
        version: VERSION,
        manager,
        deleter: Some(delete_versioned),
        flags,
        array,
    })
}

/// A tensor in the words of DLPack, with its shape and strides at these places.
pub(super) fn described(
    tensor: &Tensor,
    (device_type, device_id): (i32, i32),
    shape: *mut i64,
    strides: *mut i64,
) -> Array {
    Array {
        data: tensor.address().as_ptr(),
        device: Device {
            device_type,
            device_id,
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
    fn boxed(
        tensor: Tensor,
        device: (i32, i32),
        make: impl FnOnce(Array, *mut c_void) -> M,
    ) -> *mut M {
        let mut shape: Vec<i64> = tensor.shape().iter().map(|&size| size as i64).collect();
        let mut strides: Vec<i64> = tensor
            .strides()
            .iter()
            .map(|&stride| stride as i64)
            .collect();
        let array = described(&tensor, device, shape.as_mut_ptr(), strides.as_mut_ptr());
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
