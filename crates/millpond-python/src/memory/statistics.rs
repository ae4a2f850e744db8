//! What pools hold.

use millpond::runtime::{Device, MemoryKind, Statistics};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::gil;
use crate::tensor::place::{DeviceLike, device_or_default};

/// What a pool holds, in bytes, at one moment.
///
/// `reserved == used + pending + cached` whenever no call is in progress.
#[pyclass(frozen, get_all, eq, name = "Statistics", module = "millpond.memory")]
#[derive(PartialEq)]
pub(super) struct PyStatistics {
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
    pub(super) fn of(statistics: &Statistics) -> Self {
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

/// What the default pools of a device hold: a dictionary from kind to `Statistics`.
#[pyfunction]
#[pyo3(signature = (device=None))]
fn stats(py: Python<'_>, device: Option<DeviceLike>) -> PyResult<Bound<'_, PyDict>> {
    gil::enter();
    let device = device_or_default(device)?;
    let dict = PyDict::new(py);
    for kind in MemoryKind::ALL {
        let statistics = gil::release(py, || device.default_pool(kind).statistics());
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
    gil::release(py, || millpond::devices().iter().map(Device::live).sum())
}

/// Adds the class and functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyStatistics>()?;
    module.add_function(wrap_pyfunction!(stats, module)?)?;
    module.add_function(wrap_pyfunction!(live, module)?)
}
