//! Queues.

use std::sync::Arc;

use millpond::runtime::{Event, Gate, Queue};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::gil;
use crate::integer;
use crate::memory::{PyMemory, uses};
use crate::runtime::device::PyDevice;
use crate::runtime::event::PyEvent;
use crate::runtime::gate::PyGate;
use crate::runtime::service;
use crate::tensor::place::{DeviceLike, device_or_default};

/// An ordered line of commands on one device.
///
/// Queues compare equal if they are the same, and a copy of one is itself. In a pickle a queue is the default queue of its
/// device, wherever it is unpickled; only default queues can be pickled.
#[pyclass(frozen, eq, hash, name = "Queue", module = "millpond")]
#[derive(PartialEq, Clone, Hash)]
pub(crate) struct PyQueue(pub(crate) Queue);

#[pymethods]
impl PyQueue {
    /// Make a queue of a device, or of the default device; a queue stands for its device.
    #[new]
    #[pyo3(signature = (device=None, *, in_order=true, profiling=false))]
    fn new(
        py: Python<'_>,
        device: Option<DeviceLike>,
        in_order: bool,
        profiling: bool,
    ) -> PyResult<Self> {
        PyDevice(device_or_default(device)?).create_queue(py, in_order, profiling)
    }

    /// The device that it belongs to.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device().clone())
    }

    /// A number that no other queue of the process has or will have.
    #[getter]
    fn id(&self) -> u64 {
        self.0.id()
    }

    /// Whether commands take effect in the order of their submission.
    #[getter]
    fn is_in_order(&self) -> bool {
        self.0.is_in_order()
    }

    /// Whether the times of its commands are kept.
    #[getter]
    fn is_profiling(&self) -> bool {
        self.0.is_profiling()
    }

    /// Whether everything submitted has finished.
    #[getter]
    fn is_idle(&self) -> bool {
        gil::enter();
        self.0.is_idle()
    }

    /// Wait for everything submitted so far.
    ///
    /// Raises the first failure that no wait has told yet, and `TimeoutError` after `timeout`
    /// seconds.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        gil::wait_queue(py, &self.0, gil::timeout(timeout)?)
    }

    /// An event for everything submitted so far.
    fn record(&self, py: Python<'_>) -> PyResult<PyEvent> {
        gil::submit(py, || self.0.record()).map(PyEvent)
    }

    /// Make everything submitted from now on happen after everything before, and the events.
    #[pyo3(signature = (events=Vec::new()))]
    fn barrier(&self, py: Python<'_>, events: Vec<Py<PyEvent>>) -> PyResult<PyEvent> {
        let events: Vec<Event> = events
            .into_iter()
            .map(|event| event.get().0.clone())
            .collect();
        let events: Vec<&Event> = events.iter().collect();
        gil::submit(py, || self.0.barrier(&events)).map(PyEvent)
    }

    /// Make everything submitted from now on happen after the event, wherever it was recorded.
    fn wait_for(&self, py: Python<'_>, event: &PyEvent) -> PyResult<()> {
        gil::submit(py, || self.0.wait_for(&event.0))
    }

    /// Call a function when the queue reaches this place; the event tells when it has returned.
    ///
    /// The function runs on a thread that serves all tasks, one after the other. Commands on the
    /// arrays and memory objects in `uses` are ordered with it, on any queue; with `views` it is
    /// called with a memoryview of each of them, else with nothing. It may submit work, but not
    /// wait for this queue, which waits for it. An exception makes the event, and what depends on
    /// it, fail.
    #[pyo3(signature = (function, uses=None, *, views=false, name=None))]
    fn task(
        &self,
        py: Python<'_>,
        function: Py<PyAny>,
        uses: Option<&Bound<'_, PyAny>>,
        views: bool,
        name: Option<String>,
    ) -> PyResult<PyEvent> {
        gil::enter();
        if !function.bind(py).is_callable() {
            return Err(PyTypeError::new_err(
                "a task is something that can be called",
            ));
        }
        let name = name.map_or_else(|| service::name_of(function.bind(py)), Ok)?;
        let submission = service::Submission {
            function,
            uses: uses::of(uses, views)?,
            views,
            name: Arc::from(name),
        };
        service::submit(py, &self.0, submission).map(PyEvent)
    }

    /// Hold the queue until the gate, or a new one, is opened; the answer is the gate.
    #[pyo3(signature = (gate=None))]
    fn gate(&self, py: Python<'_>, gate: Option<Py<PyGate>>) -> PyResult<Py<PyGate>> {
        let gate = match gate {
            Some(gate) => gate,
            None => Py::new(py, PyGate(Gate::new()))?,
        };
        let inner = &gate.get().0;
        gil::submit(py, || self.0.gate(inner, &[]))?;
        Ok(gate)
    }

    /// Hint that memory will be used on the device.
    #[pyo3(signature = (memory, offset=0, nbytes=None))]
    fn prefetch(
        &self,
        py: Python<'_>,
        memory: &PyMemory,
        #[pyo3(from_py_with = integer::count)] offset: usize,
        #[pyo3(from_py_with = integer::count_or_none)] nbytes: Option<usize>,
    ) -> PyResult<()> {
        let range = memory.range("prefetch", offset, nbytes)?;
        let allocation = memory.allocation()?;
        gil::submit(py, || self.0.prefetch(&allocation, range))
    }

    /// Close the queue to new work; what was submitted is finished. Closing twice does nothing.
    fn close(&self, py: Python<'_>) {
        gil::enter();
        gil::release(py, || self.0.close());
    }

    fn __repr__(&self) -> String {
        let order = if self.0.is_in_order() {
            "in order"
        } else {
            "out of order"
        };
        format!("<Queue {} of {}, {order}>", self.0.id(), self.0.device())
    }

    // What is copied with a queue in it goes on using that queue.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: Py<PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PyDevice,))> {
        let device = self.0.device();
        if device.default_queue().raise()? != self.0 {
            return Err(PyTypeError::new_err(format!(
                "cannot pickle queue {}: only the default queue of a device travels, as that",
                self.0.id()
            )));
        }
        let function = py.import("millpond._pickle")?.getattr("default_queue")?;
        Ok((function, (PyDevice(device.clone()),)))
    }
}

/// Adds the class to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyQueue>()
}
