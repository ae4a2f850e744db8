//! Reclaimers: functions of Python that give memory up when it becomes short.

use std::sync::{Mutex, PoisonError};

use millpond::runtime::{Level, Pressure, Reclaimer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::gil;
use crate::tensor::foreign::describe;
use crate::tensor::place::{DeviceLike, device_or_default};

/// What a reclaimer is told.
#[pyclass(frozen, get_all, eq, name = "Pressure", module = "millpond.memory")]
#[derive(PartialEq)]
struct PyPressure {
    /// How short memory is: 'soft' if a tag is beyond its soft budget, 'growth' if the allocation
    /// would have to wait, 'critical' if it would fail.
    level: &'static str,
    /// Name of the pool that is asked.
    pool: String,
    /// Kind of memory: 'device', 'shared' or 'host'.
    kind: &'static str,
    /// Bytes that are wanted.
    wanted: usize,
    /// Name of the tag that is beyond its soft budget, if that is why.
    tag: Option<String>,
}

impl PyPressure {
    fn of(pressure: &Pressure) -> Self {
        Self {
            level: match pressure.level {
                Level::Soft => "soft",
                Level::Growth => "growth",
                _ => "critical",
            },
            pool: pressure.pool.clone(),
            kind: pressure.kind.name(),
            wanted: pressure.wanted,
            tag: pressure.tag.clone(),
        }
    }
}

#[pymethods]
impl PyPressure {
    fn __repr__(&self) -> String {
        let tag = self.tag.as_ref().map(|tag| format!(", tag {tag}"));
        format!(
            "<Pressure {}: {} bytes wanted of {}{}>",
            self.level,
            self.wanted,
            self.pool,
            tag.unwrap_or_default()
        )
    }
}

/// A registered reclaimer: it is called until this is closed, also if nobody keeps this.
#[pyclass(frozen, name = "Reclaimer", module = "millpond.memory")]
struct PyReclaimer(Mutex<Option<Reclaimer>>);

impl PyReclaimer {
    fn take(&self) -> Option<Reclaimer> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }
}

impl Drop for PyReclaimer {
    fn drop(&mut self) {
        std::mem::forget(self.take());
    }
}

#[pymethods]
impl PyReclaimer {
    /// Call the function no more. Closing twice does nothing.
    fn close(&self) {
        drop(self.take());
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(
        &self,
        _kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) {
        self.close();
    }
}

/// Have `callback(pressure)` called when memory of a device becomes short, so that it gives some up.
///
/// It runs on the thread that allocates, before the allocation waits or fails, and may free,
/// allocate and wait; what it allocates calls no reclaimer. Reclaimers are called in the order in
/// which they were added, until there is enough. What one raises is reported by
/// `sys.unraisablehook`.
#[pyfunction]
#[pyo3(signature = (callback, device=None))]
fn add_reclaimer(
    py: Python<'_>,
    callback: Py<PyAny>,
    device: Option<DeviceLike>,
) -> PyResult<PyReclaimer> {
    if !callback.bind(py).is_callable() {
        return Err(PyTypeError::new_err(format!(
            "add_reclaimer: a callback is something that can be called, not {}",
            describe(callback.bind(py))
        )));
    }
    let device = device_or_default(device)?;
    let reclaimer = device.add_reclaimer(move |pressure| {
        gil::call_back(|py| {
            let callback = callback.bind(py);
            if let Err(exception) = callback.call1((PyPressure::of(pressure),)) {
                exception.write_unraisable(py, Some(callback));
            }
        });
    });
    Ok(PyReclaimer(Mutex::new(Some(reclaimer))))
}

/// Adds classes and the function to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPressure>()?;
    module.add_class::<PyReclaimer>()?;
    module.add_function(wrap_pyfunction!(add_reclaimer, module)?)
}
