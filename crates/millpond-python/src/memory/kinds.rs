//! The classes of memory objects, one for each kind.

use millpond::MemoryKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::integer;
use crate::memory::PyMemory;
use crate::runtime::PyQueue;
use crate::tensor::place::DeviceLike;

/// Memory that lives on the device; the host reaches it by copies only.
#[pyclass(frozen, extends = PyMemory, name = "DeviceMemory", module = "millpond.memory")]
struct DeviceMemory;

/// Memory that migrates between host and device; both may touch it.
#[pyclass(frozen, extends = PyMemory, name = "SharedMemory", module = "millpond.memory")]
struct SharedMemory;

/// Memory that lives on the host; the device reaches it over its bus.
#[pyclass(frozen, extends = PyMemory, name = "HostMemory", module = "millpond.memory")]
struct HostMemory;

/// The object, in the class of its kind.
pub(super) fn into_object(memory: PyMemory, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let kind = memory.allocation.kind();
    let parent = PyClassInitializer::from(memory);
    Ok(match kind {
        MemoryKind::Device => Bound::new(py, parent.add_subclass(DeviceMemory))?.into_any(),
        MemoryKind::Shared => Bound::new(py, parent.add_subclass(SharedMemory))?.into_any(),
        MemoryKind::Host => Bound::new(py, parent.add_subclass(HostMemory))?.into_any(),
    })
}

/// The kind of memory that a class stands for.
pub(super) fn kind_of(class: &Bound<'_, PyType>) -> PyResult<MemoryKind> {
    if class.is_subclass_of::<DeviceMemory>()? {
        Ok(MemoryKind::Device)
    } else if class.is_subclass_of::<SharedMemory>()? {
        Ok(MemoryKind::Shared)
    } else if class.is_subclass_of::<HostMemory>()? {
        Ok(MemoryKind::Host)
    } else {
        Err(PyTypeError::new_err(
            "Memory has no kind: use DeviceMemory, SharedMemory or HostMemory",
        ))
    }
}

#[pymethods]
impl DeviceMemory {
    #[new]
    #[pyo3(signature = (nbytes, *, device=None, queue=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = integer::count)] nbytes: usize,
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let memory = PyMemory::allocate(py, MemoryKind::Device, nbytes, device, queue)?;
        Ok(PyClassInitializer::from(memory).add_subclass(Self))
    }
}

#[pymethods]
impl SharedMemory {
    #[new]
    #[pyo3(signature = (nbytes, *, device=None, queue=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = integer::count)] nbytes: usize,
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let memory = PyMemory::allocate(py, MemoryKind::Shared, nbytes, device, queue)?;
        Ok(PyClassInitializer::from(memory).add_subclass(Self))
    }
}

#[pymethods]
impl HostMemory {
    #[new]
    #[pyo3(signature = (nbytes, *, device=None, queue=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = integer::count)] nbytes: usize,
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let memory = PyMemory::allocate(py, MemoryKind::Host, nbytes, device, queue)?;
        Ok(PyClassInitializer::from(memory).add_subclass(Self))
    }
}

/// Adds the classes to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyMemory>()?;
    module.add_class::<DeviceMemory>()?;
    module.add_class::<SharedMemory>()?;
    module.add_class::<HostMemory>()
}
