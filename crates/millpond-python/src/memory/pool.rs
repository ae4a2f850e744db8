//! Pools and their statistics.

use millpond::runtime::{MemoryKind, Pool, Statistics};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Raise;
use crate::gil;
use crate::integer;
use crate::runtime::PyDevice;
use crate::tensor::place::{DeviceLike, KindLike, device_or_default};

/// The memory of one kind on one device: where allocations come from.
#[pyclass(frozen, name = "Pool", module = "millpond.memory")]
struct PyPool(Pool);

#[pymethods]
impl PyPool {
    /// Device whose memory it is.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device().clone())
    }

    /// Kind of memory: 'device', 'shared' or 'host'.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// What it holds now.
    fn statistics(&self, py: Python<'_>) -> PyStatistics {
        gil::enter();
        PyStatistics::of(&gil::release(py, || self.0.statistics()))
    }

    /// Give free memory back until at most `keep` bytes are reserved or nothing more is free.
    ///
    /// Memory whose last use hasn't completed counts as in use; nothing waits.
    #[pyo3(signature = (keep=0))]
    fn trim(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = integer::count)] keep: usize,
    ) -> PyResult<()> {
        gil::enter();
        gil::release(py, || self.0.trim(keep)).raise()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.device() == other.0.device() && self.0.kind() == other.0.kind()
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.0.device().name(), self.kind())
            .into_pyobject(py)?
            .hash()
    }

    fn __repr__(&self) -> String {
        format!("<Pool of {} memory on {}>", self.0.kind(), self.0.device())
    }
}

/// What a pool holds, in bytes, at one moment.
///
/// `reserved == used + pending + cached` whenever no call is in progress.
#[pyclass(frozen, get_all, eq, name = "Statistics", module = "millpond.memory")]
#[derive(PartialEq)]
struct PyStatistics {
    /// Live allocations, as granted.
    used: usize,
    /// Live allocations, as asked for.
    requested: usize,
    /// Freed, but the last use hasn't completed.
    pending: usize,
    /// Free.
    cached: usize,
    /// Had from the driver.
    reserved: usize,
    /// The most that `used` has been.
    used_high: usize,
    /// The most that `reserved` has been.
    reserved_high: usize,
    /// Number of live allocations.
    live: usize,
}

impl PyStatistics {
    fn of(statistics: &Statistics) -> Self {
        Self {
            used: statistics.used,
            requested: statistics.requested,
            pending: statistics.pending,
            cached: statistics.cached,
            reserved: statistics.reserved,
            used_high: statistics.used_high,
            reserved_high: statistics.reserved_high,
            live: statistics.live,
        }
    }

    fn fields(&self) -> [(&'static str, usize); 8] {
        [
            ("used", self.used),
            ("requested", self.requested),
            ("pending", self.pending),
            ("cached", self.cached),
            ("reserved", self.reserved),
            ("used_high", self.used_high),
            ("reserved_high", self.reserved_high),
            ("live", self.live),
        ]
    }
}

#[pymethods]
impl PyStatistics {
    /// The fields as a dictionary.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in self.fields() {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let fields = self.fields().map(|(name, value)| format!("{name}={value}"));
        format!("Statistics({})", fields.join(", "))
    }
}

/// The pool of a kind of memory on a device, the default device if none is named.
#[pyfunction]
#[pyo3(signature = (device=None, kind=KindLike(MemoryKind::Device)))]
#[pyo3(text_signature = "(device=None, kind='device')")]
fn pool(device: Option<DeviceLike>, kind: KindLike) -> PyResult<PyPool> {
    let device = device_or_default(device)?;
    Ok(PyPool(device.pool(kind.0)))
}

/// What the pools of a device hold: a dictionary from kind to `Statistics`.
#[pyfunction]
#[pyo3(signature = (device=None))]
fn stats(py: Python<'_>, device: Option<DeviceLike>) -> PyResult<Bound<'_, PyDict>> {
    gil::enter();
    let device = device_or_default(device)?;
    let dict = PyDict::new(py);
    for kind in MemoryKind::ALL {
        let statistics = gil::release(py, || device.pool(kind).statistics());
        dict.set_item(
            kind.name(),
            PyStatistics::of(&statistics).into_pyobject(py)?,
        )?;
    }
    Ok(dict)
}

/// The number of allocations of all pools that are alive.
#[pyfunction]
fn live(py: Python<'_>) -> usize {
    gil::enter();
    gil::release(py, || {
        let devices = millpond::devices().iter();
        let pools = devices.flat_map(|device| MemoryKind::ALL.map(|kind| device.pool(kind)));
        pools.map(|pool| pool.statistics().live).sum()
    })
}

/// Adds classes and functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPool>()?;
    module.add_class::<PyStatistics>()?;
    module.add_function(wrap_pyfunction!(pool, module)?)?;
    module.add_function(wrap_pyfunction!(stats, module)?)?;
    module.add_function(wrap_pyfunction!(live, module)?)
}
