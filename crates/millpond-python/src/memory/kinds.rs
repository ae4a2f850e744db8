//! The classes of memory objects, one for each kind.

use millpond::MemoryKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::integer;
use crate::memory::PyMemory;
use crate::runtime::PyQueue;
use crate::tensor::place::DeviceLike;

macro_rules! kinds {
    ($($(#[$doc:meta])* $class:ident: $kind:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// Made of a number of bytes, or of memory of this kind, which is then another view of
            /// the same bytes.
            #[pyclass(frozen, subclass, extends = PyMemory, module = "millpond.memory")]
            struct $class;

            #[pymethods]
            impl $class {
                #[new]
                #[pyo3(signature = (nbytes, *, device=None, queue=None))]
                fn new(
                    py: Python<'_>,
                    nbytes: &Bound<'_, PyAny>,
                    device: Option<DeviceLike>,
                    queue: Option<Py<PyQueue>>,
                ) -> PyResult<PyClassInitializer<Self>> {
                    let kind = MemoryKind::$kind;
                    let memory = match nbytes.cast::<PyMemory>() {
                        Ok(other) => other.get().again(kind, device.is_none() && queue.is_none())?,
                        Err(_) => {
                            let nbytes = integer::count(nbytes)?;
                            PyMemory::allocate(py, kind, nbytes, device, queue)?
                        }
                    };
                    Ok(PyClassInitializer::from(memory).add_subclass(Self))
                }
            }
        )*

        /// The object, in the class of its kind.
        pub(super) fn into_object(memory: PyMemory, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
            let kind = memory.allocation()?.kind();
            let parent = PyClassInitializer::from(memory);
            Ok(match kind {
                $(MemoryKind::$kind => Bound::new(py, parent.add_subclass($class))?.into_any(),)*
            })
        }

        /// The kind of memory that a class stands for.
        pub(super) fn kind_of(class: &Bound<'_, PyType>) -> PyResult<MemoryKind> {
            $(
                if class.is_subclass_of::<$class>()? {
                    return Ok(MemoryKind::$kind);
                }
            )*
            Err(PyTypeError::new_err(
                "Memory has no kind: use DeviceMemory, SharedMemory or HostMemory",
            ))
        }

        /// The name of the class of a kind.
        pub(super) fn class_name(kind: MemoryKind) -> &'static str {
            match kind {
                $(MemoryKind::$kind => stringify!($class),)*
            }
        }

        /// Adds the classes to the module.
        pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            module.add_class::<PyMemory>()?;
            $(module.add_class::<$class>()?;)*
            Ok(())
        }
    };
}

kinds! {
    /// Memory that lives on the device; the host reaches it by copies only.
    DeviceMemory: Device;
    /// Memory that migrates between host and device; both may touch it.
    SharedMemory: Shared;
    /// Memory that lives on the host; the device reaches it over its bus.
    HostMemory: Host;
}
