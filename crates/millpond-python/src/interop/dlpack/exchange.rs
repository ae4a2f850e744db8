//! Arrays for extensions, and of them, without a call of Python: the table of functions that DLPack 1.3 has a class
//! show as `__dlpack_c_exchange_api__`.
//!
//! The functions are said not to synchronise, as consumers give their work to the producer's stream. Memory of the CPU
//! has none, so what is exported waits for what is pending on it, as in `__dlpack__`. What is only *lent* stays as it
//! is otherwise: an array that went through an extension isn't shared with the host for good.
//!
//! Memory of a card is lent to the stream that consumers are told of, the device's own: it comes behind what is
//! pending on the memory, and whatever uses the memory later comes behind it. No host waits, so that what is lent
//! stays asynchronous here as well; on what is exported or imported work ends before its call returns.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::slice;

use millpond::runtime::Device;
use millpond::tensor::{Place, Tensor, creation};
use millpond::types::DType;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use super::capsule::Offered;
use super::device::{cuda_device, device_of};
use super::export::{described, versioned};
use super::import::{accept, dtype_of};
use super::structure::{Array, Exchange, ExchangeHeader, TellError, VERSION, Versioned};
use super::{CPU, CUDA, CUDA_HOST};
use crate::error::Raise;
use crate::gil;
use crate::interop::buffer_protocol::share;
use crate::interop::native::guarded;
use crate::tensor::array::PyArray;
use crate::tensor::foreign::describe;

/// The name of the capsule.
const NAME: &CStr = c"dlpack_exchange_api";

static TABLE: Exchange = Exchange {
    header: ExchangeHeader {
        version: VERSION,
        previous: ptr::null(),
    },
    allocate,
    export,
    import,
    lend,
    stream,
};

// SAFETY: the table points to functions only.
unsafe impl Sync for Exchange {}

/// The capsule with the table.
///
/// # Errors
/// No memory.
pub(crate) fn table(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let table = (&raw const TABLE).cast_mut().cast();
    // SAFETY: the table and the name are static, and capsules only hand the pointer on.
    let capsule = unsafe { ffi::PyCapsule_New(table, NAME.as_ptr(), None) };
    // SAFETY: it is null with an exception set, or a new reference.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }.map(Bound::unbind)
}

/// Has consumers come behind what is pending on an array, and what comes later here behind them: the device that
/// DLPack knows its memory by.
///
/// # Errors
/// `BufferError` for a device that DLPack has no name for; the failure of what computed the elements.
fn lend_memory(py: Python<'_>, tensor: &Tensor) -> PyResult<(i32, i32)> {
    let device = device_of(tensor)?;
    if device.0 == CUDA {
        gil::submit(py, || tensor.memory().lend_to_stream())?;
    } else {
        gil::wait_idle(py, tensor.memory())?;
    }
    Ok(device)
}

/// The array at a pointer.
fn array_of(py: Python<'_>, object: *mut PyObject) -> PyResult<Bound<'_, PyArray>> {
    // SAFETY: callers hand in an object that they have, or null.
    let object = unsafe { Bound::from_borrowed_ptr_or_opt(py, object) };
    let Some(object) = object else {
        return Err(PyTypeError::new_err("expected an array, got a null"));
    };
    object.cast_into::<PyArray>().map_err(|error| {
        PyTypeError::new_err(format!(
            "expected an array, got {}",
            describe(&error.into_inner())
        ))
    })
}

unsafe extern "C" fn export(object: *mut PyObject, out: *mut *mut Versioned) -> c_int {
    guarded(-1, |py| {
        let array = array_of(py, object)?;
        let tensor = array.get().tensor();
        let device = lend_memory(py, tensor)?;
        if device.0 == CPU {
            share(py, tensor, true)?;
        } else {
            tensor.memory().share_with_others();
        }
        // SAFETY: callers hand in a place for the structure.
        unsafe { out.write(versioned(tensor.clone(), device, 0)) };
        Ok(0)
    })
}

unsafe extern "C" fn import(managed: *mut Versioned, out: *mut *mut PyObject) -> c_int {
    guarded(-1, |py| {
        // SAFETY: callers hand in a structure, and give it away if this succeeds.
        let offered = unsafe { Offered::new(managed) };
        let object = PyArray::object(py, accept(py, offered)?)?;
        // SAFETY: callers hand in a place for the object.
        unsafe { out.write(object.into_ptr()) };
        Ok(0)
    })
}

unsafe extern "C" fn lend(object: *mut PyObject, out: *mut Array) -> c_int {
    const {
        assert!(
            size_of::<usize>() == size_of::<i64>(),
            "shapes and strides are lent as they are"
        );
    }
    guarded(-1, |py| {
        let array = array_of(py, object)?;
        // Views that an object was are kept as long as it is, so that shape and strides stay where they are.
        let tensor = array.get().tensor();
        if tensor.is_read_only() {
            return Err(PyBufferError::new_err(
                "the array is read-only, which what is lent can't say: export it",
            ));
        }
        let device = lend_memory(py, tensor)?;
        let shape = tensor.shape().as_ptr().cast_mut().cast();
        let strides = tensor.strides().as_ptr().cast_mut().cast();
        // SAFETY: callers hand in a place for the array.
        unsafe { out.write(described(tensor, device, shape, strides)) };
        Ok(0)
    })
}

unsafe extern "C" fn stream(device_type: i32, device_id: i32, out: *mut *mut c_void) -> c_int {
    guarded(-1, |_| {
        let stream = match device_type {
            // The host reaches it, without a stream.
            CPU | CUDA_HOST => 0,
            _ => cuda_device(device_type, device_id)
                .ok_or_else(|| {
                    PyBufferError::new_err(format!(
                        "work on arrays of device {:?} has no stream that others could use",
                        (device_type, device_id)
                    ))
                })?
                .stream()
                .raise()?,
        };
        // SAFETY: callers hand in a place for the stream.
        unsafe { out.write(ptr::without_provenance_mut(stream)) };
        Ok(0)
    })
}

unsafe extern "C" fn allocate(
    prototype: *const Array,
    out: *mut *mut Versioned,
    context: *mut c_void,
    tell: TellError,
) -> c_int {
    // SAFETY: callers hand in an array, of which the dtype, the shape and the device count.
    let prototype = unsafe { *prototype };
    let (kind, message) = match like(&prototype) {
        Ok(tensor) => {
            let device = (prototype.device.device_type, prototype.device.device_id);
            // SAFETY: callers hand in a place for the structure.
            unsafe { out.write(versioned(tensor, device, 0)) };
            return 0;
        }
        Err(refusal) => refusal,
    };
    let message = CString::new(message).unwrap_or_default();
    let message: *const c_char = message.as_ptr();
    // SAFETY: callers hand in a function with its context; both texts live until it returns.
    unsafe { tell(context, kind.as_ptr(), message) };
    -1
}

/// A new array of a prototype's device, dtype and shape that the host, or the device's own stream, may write at once;
/// or the name of an exception, and why.
fn like(prototype: &Array) -> Result<Tensor, (&'static CStr, String)> {
    const UNSUITABLE: &CStr = c"BufferError";
    let (device_type, device_id) = (prototype.device.device_type, prototype.device.device_id);
    let device = match device_type {
        CPU => millpond::devices()
            .iter()
            .find(|device| device.info().host_executed),
        CUDA => cuda_device(device_type, device_id),
        _ => None,
    };
    let Some(device) = device else {
        let device = (device_type, device_id);
        return Err((
            UNSUITABLE,
            format!("no memory of device {device:?} is handed out"),
        ));
    };
    let Some(dtype) = dtype_of(prototype.dtype) else {
        return Err((
            UNSUITABLE,
            format!("there is no dtype of {:?}", prototype.dtype),
        ));
    };
    let sizes = match usize::try_from(prototype.ndim) {
        Ok(ndim) if ndim > 0 => {
            // SAFETY: the prototype has as many sizes as it says.
            unsafe { slice::from_raw_parts(prototype.shape, ndim) }
        }
        _ => &[],
    };
    let shape: Result<Vec<usize>, _> = sizes.iter().map(|&size| usize::try_from(size)).collect();
    let shape = shape.map_err(|_| (UNSUITABLE, format!("shape {sizes:?} is negative")))?;
    allocated(device, &shape, dtype).map_err(|error| {
        let kind = match error {
            millpond::tensor::Error::Runtime(millpond::Error::OutOfMemory(_)) => c"MemoryError",
            _ => c"RuntimeError",
        };
        (kind, error.to_string())
    })
}

fn allocated(device: &Device, shape: &[usize], dtype: DType) -> millpond::tensor::Result<Tensor> {
    let queue = device.default_queue()?;
    let tensor = creation::empty(shape, dtype, &Place::on(&queue))?;
    let memory = tensor.memory();
    if device.info().host_executed {
        // This waits for whoever had the bytes before.
        memory.share_with_host(true)?;
    } else {
        memory.share_with_others();
        memory.lend_to_stream()?;
    }
    Ok(tensor)
}
