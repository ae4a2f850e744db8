//! Arrays of others: `from_dlpack`.

use millpond::runtime::{Device, MemoryKind, Queue};
use millpond::tensor::{Order, Tensor};
use millpond::types::DType;
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::slice;
use std::sync::Arc;

use super::capsule::{Offered, Taken};
use super::device::{cuda_device, host_device};
use super::structure::{Array, DataType, IS_COPIED, Legacy, READ_ONLY, VERSION, Versioned};
use super::{CPU, CUDA, CUDA_HOST, CUDA_MANAGED};
use crate::error::Raise;
use crate::gil;
use crate::interop::elements::Elements;
use crate::interop::stream;
use crate::tensor::foreign::describe;

/// Memory of the host that a vendor's driver has pinned; the CPU reaches it as any other.
const PINNED: [i32; 2] = [CUDA_HOST, 11];

/// An array over the memory of an object with the DLPack protocol, for a device, or for the
/// default device.
///
/// The memory isn't copied unless `copy` is true, or not false and there is no other way.
///
/// # Errors
/// `AttributeError` for objects without the protocol; `BufferError` for memory that can't be imported.
pub(crate) fn import(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    device: Option<&Device>,
    copy: Option<bool>,
) -> PyResult<Tensor> {
    gil::enter();
    let Some((capsule, own)) = capsule_of(object, copy)? else {
        let class = object.get_type();
        return Err(PyAttributeError::new_err(format!(
            "from_dlpack: {} has no __dlpack__ method",
            class.name()?
        )));
    };
    let device = match (own, device) {
        (Some(own), _) => own,
        (None, Some(device)) if device.info().host_executed => device,
        _ => host_device()?,
    };
    let queue = device.default_queue().raise()?;
    // The producer has our stream wait for what is pending on its side.
    let ordered = |tensor: Tensor| {
        if own.is_some() {
            stream::follow(py, tensor.memory(), device.stream().raise()?)?;
        }
        Ok::<_, PyErr>(tensor)
    };
    if let Some(taken) = Taken::<Versioned>::out_of(&capsule)? {
        let flags = flags_of(&taken)?;
        let read_only = flags & READ_ONLY != 0;
        let tensor = ordered(adopt(&taken.array(), taken, &queue, read_only)?)?;
        let fresh = flags & IS_COPIED != 0;
        return finish(py, tensor, copy == Some(true) && !fresh);
    }
    if let Some(taken) = Taken::<Legacy>::out_of(&capsule)? {
        let tensor = ordered(adopt(&taken.array(), taken, &queue, false)?)?;
        return finish(py, tensor, copy == Some(true));
    }
    Err(PyBufferError::new_err(format!(
        "from_dlpack: {} is no fresh DLPack capsule",
        capsule.repr()?
    )))
}

/// An array over the memory of a structure that is offered. The structure is taken over only if that succeeds.
///
/// # Errors
/// As for [`import`].
pub(super) fn accept(py: Python<'_>, offered: Offered<Versioned>) -> PyResult<Tensor> {
    gil::enter();
    let read_only = flags_of(&offered)? & READ_ONLY != 0;
    let array = offered.array();
    let own = cuda_device(array.device.device_type, array.device.device_id);
    let device = own.map_or_else(host_device, Ok)?;
    let offered = Arc::new(offered);
    let queue = device.default_queue().raise()?;
    let tensor = adopt(&array, Arc::clone(&offered), &queue, read_only)?;
    if own.is_some() {
        // The giver's work is on the stream that it was told of.
        gil::submit(py, || tensor.memory().lend_to_stream())?;
    }
    offered.accept();
    Ok(tensor)
}

/// The flags of a structure.
///
/// # Errors
/// `BufferError` for a version that lays structures out otherwise.
fn flags_of(taken: &Taken<Versioned>) -> PyResult<u64> {
    let (version, flags) = taken.version_and_flags();
    if version.major == VERSION.major {
        return Ok(flags);
    }
    Err(PyBufferError::new_err(format!(
        "from_dlpack: version {}.{} of DLPack is unknown",
        version.major, version.minor
    )))
}

fn finish(py: Python<'_>, tensor: Tensor, copy: bool) -> PyResult<Tensor> {
    if copy {
        gil::submit(py, || tensor.copy(Order::K))
    } else {
        Ok(tensor)
    }
}

/// Asks an object for its capsule, in the words that it understands.
///
/// With it comes the device of ours that the memory is of, unless it is the host's.
fn capsule_of<'py>(
    object: &Bound<'py, PyAny>,
    copy: Option<bool>,
) -> PyResult<Option<(Bound<'py, PyAny>, Option<&'static Device>)>> {
    let py = object.py();
    if !object.hasattr("__dlpack__")? {
        return Ok(None);
    }
    let arguments = PyDict::new(py);
    arguments.set_item("max_version", (VERSION.major, VERSION.minor))?;
    if let Some(copy) = copy {
        arguments.set_item("copy", copy)?;
    }
    let device = object.call_method0("__dlpack_device__")?;
    let (device_type, device_id): (i32, i32) = device.extract().map_err(|_| {
        PyBufferError::new_err(format!(
            "from_dlpack: __dlpack_device__ answers {}, not a type and a number",
            describe(&device)
        ))
    })?;
    let reached = device_type == CPU || PINNED.contains(&device_type);
    let own = cuda_device(device_type, device_id);
    if let Some(own) = own {
        arguments.set_item("stream", own.stream().raise()?)?;
    } else if !reached {
        if copy == Some(false) {
            return Err(PyBufferError::new_err(format!(
                "from_dlpack: memory of device {:?} needs a copy, which copy=False forbids",
                (device_type, device_id)
            )));
        }
        arguments.set_item("dl_device", (CPU, 0))?;
    }
    match object.call_method("__dlpack__", (), Some(&arguments)) {
        // Before DLPack 1.0 the method took a stream only.
        Err(error) if reached && error.is_instance_of::<PyTypeError>(py) => object
            .call_method0("__dlpack__")
            .map(|capsule| Some((capsule, own))),
        answer => answer.map(|capsule| Some((capsule, own))),
    }
}

fn adopt(
    array: &Array,
    owner: impl Send + 'static,
    queue: &Queue,
    read_only: bool,
) -> PyResult<Tensor> {
    let kind = match array.device.device_type {
        CUDA => MemoryKind::Device,
        CUDA_MANAGED => MemoryKind::Shared,
        _ => MemoryKind::Host,
    };
    let elements = elements_of(array, queue)?;
    let tensor = elements.import(queue, kind, read_only, owner)?;
    tensor.ok_or_else(|| {
        PyBufferError::new_err("from_dlpack: the elements are not aligned to their size")
    })
}

fn elements_of(array: &Array, queue: &Queue) -> PyResult<Elements> {
    let refuse = |reason: String| PyBufferError::new_err(format!("from_dlpack: {reason}"));
    let (device_type, device_id) = (array.device.device_type, array.device.device_id);
    let reached = if queue.device().info().host_executed {
        device_type == CPU || PINNED.contains(&device_type)
    } else {
        cuda_device(device_type, device_id) == Some(queue.device())
    };
    if !reached {
        return Err(refuse(format!(
            "memory of device {:?} is not reached by {}",
            (device_type, device_id),
            queue.device()
        )));
    }
    let dtype = dtype_of(array.dtype).ok_or_else(|| {
        refuse(format!(
            "elements of code {}, {} bits and {} lanes are of no dtype",
            array.dtype.code, array.dtype.bits, array.dtype.lanes
        ))
    })?;
    let ndim = usize::try_from(array.ndim).map_err(|_| refuse("ndim is negative".to_owned()))?;
    let shape = numbers(array.shape, ndim);
    let shape: Vec<usize> = shape
        .iter()
        .map(|&size| usize::try_from(size))
        .collect::<Result<_, _>>()
        .map_err(|_| refuse(format!("shape {shape:?} is negative")))?;
    let size = dtype.size() as isize;
    let byte_strides: Option<Vec<isize>> = if array.strides.is_null() {
        row_major(&shape, size)
    } else {
        let strides = numbers(array.strides, ndim);
        strides
            .iter()
            .map(|&stride| (stride as isize).checked_mul(size))
            .collect()
    };
    let byte_strides =
        byte_strides.ok_or_else(|| refuse("it is larger than the address space".to_owned()))?;
    let offset = usize::try_from(array.byte_offset)
        .map_err(|_| refuse("the offset is larger than the address space".to_owned()))?;
    Ok(Elements {
        pointer: array.data.cast::<u8>().wrapping_add(offset).cast_const(),
        dtype,
        shape,
        byte_strides,
    })
}

/// The numbers of an array's shape or strides.
fn numbers<'a>(pointer: *const i64, ndim: usize) -> &'a [i64] {
    if ndim == 0 || pointer.is_null() {
        return &[];
    }
    // SAFETY: DLPack says that there are `ndim` numbers, which stay until the structure is
    // deleted; the callers use them before.
    unsafe { slice::from_raw_parts(pointer, ndim) }
}

fn row_major(shape: &[usize], item_size: isize) -> Option<Vec<isize>> {
    let mut strides = vec![0; shape.len()];
    let mut stride = item_size;
    for (target, &size) in strides.iter_mut().zip(shape).rev() {
        *target = stride;
        stride = stride.checked_mul(isize::try_from(size.max(1)).ok()?)?;
    }
    Some(strides)
}

/// The dtype of elements, if there is one.
pub(super) fn dtype_of(dtype: DataType) -> Option<DType> {
    let found = DType::ALL
        .iter()
        .copied()
        .find(|found| found.dlpack_code() == dtype.code && found.bits() == usize::from(dtype.bits));
    found.filter(|_| dtype.lanes == 1)
}
