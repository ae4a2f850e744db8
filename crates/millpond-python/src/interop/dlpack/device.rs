//! Devices as DLPack writes them: a type and a number.
#![allow(
    clippy::doc_markdown,
    reason = "what Python shows is written as its documentation is"
)]

use millpond::tensor::Tensor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::CPU;
use crate::runtime::PyDevice;

/// The device that an array is exported as.
pub(crate) fn device_of(tensor: &Tensor) -> (i32, i32) {
    debug_assert!(
        tensor.device().info().host_executed,
        "no other device is exported"
    );
    (CPU, 0)
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
    if device.0.info().host_executed {
        return Ok((CPU, 0));
    }
    Err(PyValueError::new_err(format!(
        "device_to_dldevice: DLPack has no name for {}",
        device.0.name()
    )))
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
    if dl_device != (CPU, 0) {
        return Err(unknown());
    }
    let mut devices = millpond::devices().iter();
    let host = devices.find(|device| device.info().host_executed);
    host.cloned().map(PyDevice).ok_or_else(unknown)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(device_to_dldevice, module)?)?;
    module.add_function(wrap_pyfunction!(dldevice_to_device, module)?)
}
