//! Events.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use millpond::runtime::{Event, Status};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::gil;
use crate::runtime::device::PyDevice;
use crate::runtime::queue::PyQueue;
use crate::runtime::service;

/// A place in a queue's history that one can wait for, in asyncio by `await event`.
#[pyclass(frozen, name = "Event", module = "millpond")]
pub(crate) struct PyEvent(pub(crate) Event);

/// When a command was submitted, started and finished: seconds since a moment fixed for the
/// process.
#[pyclass(frozen, get_all, eq, name = "Times", module = "millpond")]
#[derive(PartialEq)]
struct PyTimes {
    /// Handed to the queue.
    submitted: f64,
    /// Began to run.
    started: f64,
    /// Finished.
    finished: f64,
}

#[pymethods]
impl PyTimes {
    /// Seconds between start and finish.
    #[getter]
    fn duration(&self) -> f64 {
        self.finished - self.started
    }

    fn __repr__(&self) -> String {
        format!(
            "Times(submitted={}, started={}, finished={})",
            self.submitted, self.started, self.finished
        )
    }
}

/// The moment, by the host's clock, at which an event was reached.
#[pyclass(frozen, name = "_Stamp", module = "millpond")]
struct Stamp(Arc<OnceLock<Instant>>);

#[pymethods]
impl Stamp {
    /// Seconds between another stamp and this one; waits for both.
    fn seconds_since(&self, py: Python<'_>, earlier: &Self) -> f64 {
        let (begin, end) = gil::release(py, || (*earlier.0.wait(), *self.0.wait()));
        end.saturating_duration_since(begin).as_secs_f64()
    }
}

#[pymethods]
impl PyEvent {
    /// The queue that it was recorded on.
    #[getter]
    fn queue(&self) -> PyQueue {
        PyQueue(self.0.queue())
    }

    /// The device of that queue.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device())
    }

    /// The number of the command on its queue; 0 is before the first.
    #[getter]
    fn sequence(&self) -> u64 {
        self.0.sequence()
    }

    /// 'pending', 'complete' or 'failed': what has become of the work. Doesn't wait.
    #[getter]
    fn status(&self) -> &'static str {
        gil::enter();
        name(self.0.status())
    }

    /// Whether the work has finished, well or not. Doesn't wait.
    #[getter]
    fn is_done(&self) -> bool {
        gil::enter();
        self.0.status() != Status::Pending
    }

    /// Wait until the work has finished.
    ///
    /// Raises the work's failure, every time; `TimeoutError` after `timeout` seconds.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        gil::wait_event(py, &self.0, gil::timeout(timeout)?)
    }

    /// When the command was submitted, started and finished, if its queue profiles.
    #[getter]
    fn times(&self) -> PyResult<PyTimes> {
        gil::enter();
        let times = self.0.times().raise()?;
        Ok(PyTimes {
            submitted: times.submitted.as_secs_f64(),
            started: times.started.as_secs_f64(),
            finished: times.finished.as_secs_f64(),
        })
    }

    /// Call `callback(event)` when the work has finished, well or not.
    ///
    /// It is called by the thread that serves tasks, never by this call. What it raises is
    /// reported by `sys.unraisablehook`.
    fn on_complete(slf: Py<Self>, py: Python<'_>, callback: Py<PyAny>) -> PyResult<()> {
        gil::enter();
        if !callback.bind(py).is_callable() {
            return Err(PyTypeError::new_err(
                "a callback is something that can be called",
            ));
        }
        service::call_back(py, slf, callback)
    }

    fn _stamp(&self, py: Python<'_>) -> Stamp {
        let moment = Arc::new(OnceLock::new());
        let kept = Arc::clone(&moment);
        gil::release(py, || {
            self.0.on_complete(move |_| {
                // It is called once, so the cell is empty.
                let _ = kept.set(Instant::now());
            });
        });
        Stamp(moment)
    }

    fn __await__<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let coroutine = py
            .import("millpond._asyncio")?
            .call_method1("wait", (slf,))?;
        coroutine.call_method0("__await__")
    }

    fn __repr__(&self) -> String {
        format!(
            "<Event {} of queue {}, {}>",
            self.0.sequence(),
            self.0.queue().id(),
            name(self.0.status())
        )
    }
}

fn name(status: Status) -> &'static str {
    match status {
        Status::Pending => "pending",
        Status::Complete => "complete",
        Status::Failed => "failed",
    }
}

/// Adds classes to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTimes>()?;
    module.add_class::<Stamp>()?;
    module.add_class::<PyEvent>()
}
