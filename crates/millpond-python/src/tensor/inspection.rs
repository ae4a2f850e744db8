//! What the namespace says about itself, by the standard's inspection interface.

use millpond::tensor::data_types;
use millpond::types::DType;
use millpond::types::shape::MAX_NDIM;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::error::Raise;
use crate::runtime::PyDevice;
use crate::tensor::dtype::PyDType;
use crate::tensor::foreign;
use crate::tensor::place::{DeviceLike, device_or_default};

/// Dtypes that the standard doesn't have.
const BEYOND: [DType; 2] = [DType::Float16, DType::Bfloat16];

/// Capabilities, devices and dtypes of the namespace.
///
/// What holds for a device is asked for that device; the default device is meant where none is
/// named.
#[pyclass(frozen, module = "millpond.tensor")]
#[derive(Debug)]
struct NamespaceInfo;

#[pymethods]
impl NamespaceInfo {
    /// Says which optional parts of the standard there are.
    ///
    /// Returns
    /// -------
    /// dict
    ///     ``'boolean indexing'``, ``'data-dependent shapes'`` and ``'max dimensions'``.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For any argument.
    ///
    /// Notes
    /// -----
    /// Array API standard, inspection.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> info = xp.__array_namespace_info__()
    /// >>> info.capabilities()["max dimensions"]
    /// 64
    fn capabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let answer = PyDict::new(py);
        answer.set_item("boolean indexing", true)?;
        answer.set_item("data-dependent shapes", true)?;
        answer.set_item("max dimensions", MAX_NDIM)?;
        Ok(answer)
    }

    /// Returns the device that arrays go to unless told otherwise.
    ///
    /// Returns
    /// -------
    /// Device
    ///     The device.
    ///
    /// Raises
    /// ------
    /// UnknownDeviceError
    ///     If the settings name a device that there isn't.
    ///
    /// Notes
    /// -----
    /// Array API standard, inspection.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> info = xp.__array_namespace_info__()
    /// >>> info.default_device() == xp.ones(3).device
    /// True
    fn default_device(&self) -> PyResult<PyDevice> {
        millpond::default_device().map(PyDevice).raise()
    }

    /// Returns all devices.
    ///
    /// Returns
    /// -------
    /// tuple of Device
    ///     The devices.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For any argument.
    ///
    /// Notes
    /// -----
    /// Array API standard, inspection.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> info = xp.__array_namespace_info__()
    /// >>> info.default_device() in info.devices()
    /// True
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let devices: Vec<_> = millpond::devices().iter().cloned().map(PyDevice).collect();
        PyTuple::new(py, devices)
    }

    /// Returns the dtypes that arrays get unless told otherwise.
    ///
    /// Parameters
    /// ----------
    /// device : Device or str, optional
    ///     The device.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Dtypes by the names ``'real floating'``, ``'complex floating'``, ``'integral'`` and
    ///     ``'indexing'``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a device that there isn't.
    ///
    /// Notes
    /// -----
    /// Array API standard, inspection.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> info = xp.__array_namespace_info__()
    /// >>> info.default_dtypes()["integral"]
    /// int64
    #[pyo3(signature = (*, device=None))]
    fn default_dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<DeviceLike>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let device = device_or_default(device)?;
        let named = [
            ("real floating", data_types::default_float(&device)),
            ("complex floating", data_types::default_complex(&device)),
            ("integral", data_types::DEFAULT_INTEGER),
            ("indexing", data_types::DEFAULT_INTEGER),
        ];
        let answer = PyDict::new(py);
        for (name, dtype) in named {
            answer.set_item(name, PyDType::of(py, dtype)?)?;
        }
        Ok(answer)
    }

    /// Returns the standard's dtypes that a device computes with.
    ///
    /// Parameters
    /// ----------
    /// device : Device or str, optional
    ///     The device.
    /// kind : str or tuple of str, optional
    ///     The kinds to name, as `isdtype` knows them; all of them, if nothing is said.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Dtypes by their names.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a device or a kind that there isn't.
    /// TypeError
    ///     For a kind that is no name.
    ///
    /// Notes
    /// -----
    /// Array API standard, inspection.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> info = xp.__array_namespace_info__()
    /// >>> info.dtypes(kind="unsigned integer")
    /// {'uint8': uint8, 'uint16': uint16, 'uint32': uint32, 'uint64': uint64}
    #[pyo3(signature = (*, device=None, kind=None))]
    fn dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<DeviceLike>,
        kind: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let device = device_or_default(device)?;
        let answer = PyDict::new(py);
        for &dtype in DType::ALL {
            let of_kind = match kind {
                Some(kind) => is_of_kind(dtype, kind)?,
                None => true,
            };
            if of_kind && !BEYOND.contains(&dtype) && device.info().supports(dtype) {
                answer.set_item(dtype.name(), PyDType::of(py, dtype)?)?;
            }
        }
        Ok(answer)
    }
}

/// Whether a dtype is of a kind, or of one of a tuple of kinds.
///
/// # Errors
/// `ValueError` for a name that is no kind, `TypeError` for what is no name.
pub(crate) fn is_of_kind(dtype: DType, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(name) = kind.cast::<PyString>() {
        return data_types::isdtype(dtype, name.to_str()?).raise();
    }
    let Ok(kinds) = kind.cast::<PyTuple>() else {
        return Err(PyTypeError::new_err(format!(
            "expected the name of a kind of dtypes or a tuple of them, got {}",
            foreign::describe(kind)
        )));
    };
    for kind in kinds.iter_borrowed() {
        if is_of_kind(dtype, &kind)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns an object that answers questions about the namespace.
///
/// Returns
/// -------
/// NamespaceInfo
///     The object.
///
/// Raises
/// ------
/// TypeError
///     For any argument.
///
/// Notes
/// -----
/// Array API standard, inspection.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> info = xp.__array_namespace_info__()
/// >>> info.capabilities()["boolean indexing"]
/// True
/// >>> info.default_dtypes()["real floating"]
/// float64
#[pyfunction]
fn __array_namespace_info__() -> NamespaceInfo {
    NamespaceInfo
}

/// Adds the function.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(__array_namespace_info__, module)?)
}
