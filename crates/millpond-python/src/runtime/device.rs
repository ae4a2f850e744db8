//! Devices.

use std::hash::{Hash, Hasher};

use millpond::runtime::{Device, Partition, QueueOptions};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};

use crate::error::Raise;
use crate::gil;
use crate::integer;
use crate::runtime::queue::PyQueue;
use crate::tensor::dtype::DTypeLike;

/// A processor with its memory.
///
/// Devices compare equal if they are the same, print as their name, and travel in pickles by it.
#[pyclass(frozen, eq, hash, name = "Device", module = "millpond")]
#[derive(PartialEq, Clone)]
pub(crate) struct PyDevice(pub(crate) Device);

impl PyDevice {
    /// The Python object of a device. Those that there are from the beginning have one each, as
    /// programs ask arrays for theirs as often as they wait.
    pub(crate) fn object<'py>(py: Python<'py>, device: &Device) -> PyResult<Bound<'py, Self>> {
        static KNOWN: PyOnceLock<Vec<Py<PyDevice>>> = PyOnceLock::new();
        let known = KNOWN.get_or_try_init(py, || {
            let all = millpond::devices().iter();
            all.map(|device| Py::new(py, Self(device.clone())))
                .collect::<PyResult<_>>()
        })?;
        match known.iter().find(|known| known.get().0 == *device) {
            Some(known) => Ok(known.bind(py).clone()),
            None => Bound::new(py, Self(device.clone())),
        }
    }
}

impl Hash for PyDevice {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// One level of a processor's data cache.
#[pyclass(frozen, get_all, eq, name = "Cache", module = "millpond")]
#[derive(PartialEq)]
struct PyCache {
    /// 1 for the nearest.
    level: u8,
    /// Bytes of one instance.
    nbytes: usize,
    /// How many cores share one instance.
    shared_by: usize,
}

#[pymethods]
impl PyCache {
    fn __repr__(&self) -> String {
        format!(
            "Cache(level={}, nbytes={}, shared_by={})",
            self.level, self.nbytes, self.shared_by
        )
    }
}

/// How to split a device: into parts of as many cores, or into parts of these numbers of cores.
///
/// # Errors
/// What is wrong with the numbers.
fn partition_of(cores: &Bound<'_, PyAny>) -> PyResult<Partition> {
    if cores.is_instance_of::<PyString>() {
        return integer::count(cores).map(Partition::Equally);
    }
    let Ok(counts) = cores.try_iter() else {
        return integer::count(cores).map(Partition::Equally);
    };
    let counts: PyResult<_> = counts.map(|cores| integer::count(&cores?)).collect();
    counts.map(Partition::ByCounts)
}

#[pymethods]
impl PyDevice {
    /// Its name, for instance 'cpu'.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The driver's short name.
    #[getter]
    fn backend(&self) -> &str {
        self.0.info().backend
    }

    /// The device's number among those of its driver.
    #[getter]
    fn index(&self) -> usize {
        self.0.info().index
    }

    /// The maker's name for it.
    #[getter]
    fn model(&self) -> &str {
        &self.0.info().name
    }

    /// The maker.
    #[getter]
    fn vendor(&self) -> &str {
        &self.0.info().vendor
    }

    /// The driver's version.
    #[getter]
    fn driver_version(&self) -> &str {
        &self.0.info().driver_version
    }

    /// 'cpu', 'gpu' or 'other': the class of processor.
    #[getter]
    fn device_class(&self) -> String {
        format!("{:?}", self.0.info().class).to_lowercase()
    }

    /// Cores or multiprocessors that it may use.
    #[getter]
    fn cores(&self) -> usize {
        self.0.info().cores
    }

    /// Worker threads, for devices that run on the host.
    #[getter]
    fn threads(&self) -> usize {
        self.0.info().threads
    }

    /// Vector instructions in use, for instance 'avx2'.
    #[getter]
    fn simd(&self) -> &str {
        self.0.info().simd
    }

    /// Data caches, nearest first.
    #[getter]
    fn caches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let caches: Vec<PyCache> = self
            .0
            .info()
            .caches
            .iter()
            .map(|cache| PyCache {
                level: cache.level,
                nbytes: cache.bytes,
                shared_by: cache.shared_by,
            })
            .collect();
        PyTuple::new(py, caches)
    }

    /// Bytes of memory that it has in all.
    #[getter]
    fn memory(&self) -> usize {
        self.0.info().memory
    }

    /// Largest single allocation, in bytes.
    #[getter]
    fn max_allocation(&self) -> usize {
        self.0.info().max_allocation
    }

    /// Alignment of every allocation, in bytes.
    #[getter]
    fn alignment(&self) -> usize {
        self.0.info().alignment
    }

    /// Whether host threads run its kernels, on host memory whatever the kind.
    #[getter]
    fn host_executed(&self) -> bool {
        self.0.info().host_executed
    }

    /// Kinds of memory that can be given to other processes.
    #[getter]
    fn shareable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.info().shareable.iter().map(|kind| kind.name()))
    }

    /// Kinds of memory of which the driver has pools of its own: `Pool(..., native=True)`.
    #[getter]
    fn driver_pools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let kinds = self.0.info().driver_pools.iter();
        PyTuple::new(py, kinds.map(|kind| kind.name()))
    }

    /// A stream of the device's own, as a number, for libraries that have a stream wait for their work;
    /// the same one whenever it is asked for. Nothing of millpond's is carried out on it. The CPU has none.
    #[getter]
    fn stream(&self) -> PyResult<usize> {
        gil::enter();
        self.0.stream().raise()
    }

    /// Whether it computes with float64.
    #[getter]
    fn has_float64(&self) -> bool {
        self.0.info().float64
    }

    /// Whether it computes with float16.
    #[getter]
    fn has_float16(&self) -> bool {
        self.0.info().float16
    }

    /// Whether it computes with a dtype.
    fn supports(&self, dtype: DTypeLike) -> bool {
        self.0.info().supports(dtype.0)
    }

    /// The in-order queue that work goes to unless told otherwise.
    #[getter]
    fn default_queue(&self) -> PyResult<PyQueue> {
        self.0.default_queue().map(PyQueue).raise()
    }

    /// Make a queue.
    ///
    /// Commands of an in-order queue take effect in the order of their submission; with
    /// `profiling` the times of each are kept for `Event.times`.
    #[pyo3(signature = (in_order=true, profiling=false))]
    pub(super) fn create_queue(
        &self,
        py: Python<'_>,
        in_order: bool,
        profiling: bool,
    ) -> PyResult<PyQueue> {
        gil::enter();
        let options = QueueOptions {
            out_of_order: !in_order,
            profiling,
        };
        gil::release(py, || self.0.create_queue(&options))
            .map(PyQueue)
            .raise()
    }

    /// Wait for everything submitted to every queue of the device.
    ///
    /// Raises the first failure that no wait has told yet, and `TimeoutError` after `timeout`
    /// seconds.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        gil::wait_devices(py, std::slice::from_ref(&self.0), gil::timeout(timeout)?)
    }

    /// Split it into devices with cores of their own.
    ///
    /// A number makes as many parts of that many cores as there are; a sequence makes one part for
    /// each of its numbers.
    fn partition(&self, py: Python<'_>, cores: &Bound<'_, PyAny>) -> PyResult<Vec<Self>> {
        let partition = partition_of(cores)?;
        let parts = gil::release(py, || self.0.partition(&partition)).raise()?;
        Ok(parts.into_iter().map(Self).collect())
    }

    fn __str__(&self) -> &str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!("Device('{}')", self.0.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let name = self.0.name();
        if millpond::device(name).ok().as_ref() != Some(&self.0) {
            return Err(PyTypeError::new_err(format!(
                "cannot pickle device '{name}': it is part of another, made by this process"
            )));
        }
        let function = py.import("millpond")?.getattr("device")?;
        Ok((function, (name.to_owned(),)))
    }
}

/// Every device found, by the settings of the environment. There is always a CPU.
#[pyfunction]
fn devices() -> Vec<PyDevice> {
    gil::enter();
    millpond::devices().iter().cloned().map(PyDevice).collect()
}

/// The device of this name, for instance 'cpu' or 'cpu:0'.
#[pyfunction]
fn device(name: &str) -> PyResult<PyDevice> {
    millpond::device(name).map(PyDevice).raise()
}

/// The device that work goes to unless told otherwise.
#[pyfunction]
fn default_device() -> PyResult<PyDevice> {
    millpond::default_device().map(PyDevice).raise()
}

/// Wait for everything submitted to every queue of every device.
///
/// Raises the first failure that no wait has told yet, and `TimeoutError` after `timeout` seconds.
#[pyfunction]
#[pyo3(signature = (timeout=None))]
fn wait(py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
    gil::wait_devices(py, millpond::devices(), gil::timeout(timeout)?)
}

/// Adds classes and functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDevice>()?;
    module.add_class::<PyCache>()?;
    module.add_function(wrap_pyfunction!(devices, module)?)?;
    module.add_function(wrap_pyfunction!(device, module)?)?;
    module.add_function(wrap_pyfunction!(default_device, module)?)?;
    module.add_function(wrap_pyfunction!(wait, module)?)
}
