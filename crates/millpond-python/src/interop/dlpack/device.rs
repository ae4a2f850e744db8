//! Devices as DLPack writes them: a type and a number.
#![allow(
    clippy::doc_markdown,
    reason = "what Python shows is written as its documentation is"
)]

use millpond::runtime::{Device, MemoryKind};
use millpond::tensor::Tensor;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

use super::{CPU, CUDA, CUDA_HOST, CUDA_MANAGED};
use crate::runtime::PyDevice;

/// The device that an array is exported as.
///
/// # Errors
/// `BufferError` for a device that DLPack has no name for.
pub(crate) fn device_of(tensor: &Tensor) -> PyResult<(i32, i32)> {
    let device = tensor.device();
    if is_cuda(&device) && tensor.kind() == MemoryKind::Host {
        return Ok((CUDA_HOST, 0));
    }
    name_of(&device).ok_or_else(|| {
        PyBufferError::new_err(format!(
            "__dlpack_device__: DLPack has no name for {device}"
        ))
    })
}

fn is_cuda(device: &Device) -> bool {
    device.info().backend == "cuda"
}

/// What DLPack calls a device.
fn name_of(device: &Device) -> Option<(i32, i32)> {
    let info = device.info();
    if info.host_executed {
        return Some((CPU, 0));
    }
    is_cuda(device).then_some((CUDA, info.index as i32))
}

/// The device that DLPack calls so, for memory that it reaches and the host doesn't.
pub(super) fn cuda_device(device_type: i32, number: i32) -> Option<&'static Device> {
    let named = [CUDA, CUDA_MANAGED].contains(&device_type);
    let mut devices = millpond::devices().iter().filter(|_| named);
    devices.find(|device| name_of(device) == Some((CUDA, number)))
}

/// The first device that runs on the host.
///
/// # Errors
/// `BufferError` if there is none.
pub(super) fn host_device() -> PyResult<&'static Device> {
    let mut devices = millpond::devices().iter();
    let host = devices.find(|device| device.info().host_executed);
    host.ok_or_else(|| PyBufferError::new_err("there is no device of the host"))
}

/// Says what DLPack calls a device.
///
/// Parameters
/// ----------
/// device : Device
///     The device.
///
/// Returns
/// -------
/// tuple of int
///     Type and number, as ``x.__dlpack_device__()`` gives them for its arrays. All devices that run
///     on the host are one CPU to DLPack.
///
/// Raises
/// ------
/// TypeError
///     For what is no device.
/// ValueError
///     For a device that DLPack has no name for.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond
/// >>> import millpond.tensor as xp
/// >>> xp.device_to_dldevice(millpond.default_device())
/// (1, 0)
#[pyfunction]
#[pyo3(signature = (device, /))]
fn device_to_dldevice(device: &PyDevice) -> PyResult<(i32, i32)> {
    name_of(&device.0).ok_or_else(|| {
        PyValueError::new_err(format!(
            "device_to_dldevice: DLPack has no name for {}",
            device.0.name()
        ))
    })
}

/// Finds the device that DLPack calls so.
///
/// Parameters
/// ----------
/// dl_device : tuple of int
///     Type and number.
///
/// Returns
/// -------
/// Device
///     The device; of those that run on the host, the first.
///
/// Raises
/// ------
/// TypeError
///     For what is no pair of integers.
/// ValueError
///     For a device that there isn't.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import millpond.tensor as xp
/// >>> xp.dldevice_to_device(np.zeros(3).__dlpack_device__())
/// Device('cpu')
#[pyfunction]
#[pyo3(signature = (dl_device, /))]
fn dldevice_to_device(dl_device: (i32, i32)) -> PyResult<PyDevice> {
    let unknown = || {
        PyValueError::new_err(format!(
            "dldevice_to_device: there is no device {dl_device:?}; the CPU is {:?}",
            (CPU, 0)
        ))
    };
    let mut devices = millpond::devices().iter();
    let named = devices.find(|device| name_of(device) == Some(dl_device));
    named.cloned().map(PyDevice).ok_or_else(unknown)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(device_to_dldevice, module)?)?;
    module.add_function(wrap_pyfunction!(dldevice_to_device, module)?)
}
