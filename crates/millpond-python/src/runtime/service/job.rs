//! A callable with what it is called for, and what the thread that calls it is given.

use std::sync::Arc;

use millpond::runtime::queue::serve_tasks;
use millpond::runtime::{Failure, FailureKind, Gate, Queue};
use millpond::tensor::Tensor;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::held;
use super::list::{Next, wait_for_job};
use crate::gil;
use crate::interop::buffer_protocol::TaskView;
use crate::runtime::event::PyEvent;

/// A callable, with what it is called for.
pub(super) struct Job {
    pub(super) function: Py<PyAny>,
    pub(super) cause: Cause,
}

/// What it is called for.
pub(super) enum Cause {
    /// A queue reached it.
    Task(Task),
    /// An event was reached.
    Callback(Py<PyEvent>),
}

/// A callable that a queue waits for.
pub(super) struct Task {
    pub(super) queue: Queue,
    pub(super) gate: Gate,
    pub(super) uses: Vec<Tensor>,
    /// Whether the callable is given views of what it uses.
    pub(super) views: bool,
    pub(super) name: Arc<str>,
    pub(super) origin: Option<Arc<str>>,
}

/// A callable whose time has come, for the thread that runs it.
#[pyclass(frozen, name = "_Job", module = "millpond")]
struct PyJob(Job);

#[pymethods]
impl PyJob {
    /// What is to be called.
    #[getter]
    fn function(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.function.clone_ref(py)
    }

    /// What it is to be called with.
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0.cause {
            Cause::Callback(event) => PyTuple::new(py, [event.clone_ref(py)]),
            Cause::Task(task) if task.views => {
                let views: PyResult<Vec<_>> = task
                    .uses
                    .iter()
                    .map(|tensor| TaskView::memoryview(py, tensor))
                    .collect();
                PyTuple::new(py, views?)
            }
            Cause::Task(_) => Ok(PyTuple::empty(py)),
        }
    }

    /// Tell that it has returned.
    fn finish(&self, py: Python<'_>) {
        self.conclude(py, Ok(()));
    }

    /// Tell that it has raised.
    fn fail(&self, py: Python<'_>, exception: Bound<'_, PyAny>) -> PyResult<()> {
        match &self.0.cause {
            Cause::Callback(_) => {
                let function = self.0.function.bind(py);
                PyErr::from_value(exception).write_unraisable(py, Some(function));
                self.conclude(py, Ok(()));
            }
            Cause::Task(task) => {
                let lines = py
                    .import("traceback")?
                    .call_method1("format_exception", (exception,))?;
                let lines: Vec<String> = lines.extract()?;
                let command = format!("task {}", task.name);
                let failure = Failure::with_origin(
                    FailureKind::Command,
                    command,
                    lines.concat().trim_end(),
                    task.origin.clone(),
                );
                self.conclude(py, Err(failure));
            }
        }
        Ok(())
    }
}

impl PyJob {
    fn conclude(&self, py: Python<'_>, outcome: Result<(), Failure>) {
        held::set(None);
        if let Cause::Task(task) = &self.0.cause {
            gil::release(py, || task.gate.open(outcome));
        }
    }
}

/// The next callable whose time has come; none when the thread should end.
#[pyfunction]
fn next_job(py: Python<'_>) -> Option<PyJob> {
    gil::enter();
    serve_tasks();
    loop {
        let (job, dead) = gil::release(py, wait_for_job);
        drop(dead);
        match job {
            Next::Run(job) => {
                if let Cause::Task(task) = &job.cause {
                    let memory = task.uses.iter().map(|tensor| tensor.memory().clone());
                    held::set(Some(held::Held {
                        queue: task.queue.clone(),
                        memory: memory.collect(),
                        name: Arc::clone(&task.name),
                    }));
                }
                return Some(PyJob(job));
            }
            Next::Look => {}
            Next::Stop => return None,
        }
    }
}

/// Adds what the thread calls to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyJob>()?;
    module.add_function(wrap_pyfunction!(next_job, module)?)
}
