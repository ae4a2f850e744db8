//! Gates.

use millpond::runtime::{Failure, FailureKind, Gate};
use pyo3::prelude::*;

use crate::gil;

/// Holds queues until somebody opens it, from any thread. It opens once.
#[pyclass(frozen, name = "Gate", module = "millpond")]
pub(crate) struct PyGate(pub(crate) Gate);

#[pymethods]
impl PyGate {
    #[new]
    fn new() -> Self {
        Self(Gate::new())
    }

    /// Let queues pass; with an error (a text or an exception) what depends on the gate fails.
    ///
    /// The answer says whether this call opened it: opening it again changes nothing.
    #[pyo3(signature = (error=None))]
    fn open(&self, py: Python<'_>, error: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        gil::enter();
        let outcome = match error {
            None => Ok(()),
            Some(error) => {
                let reason = error.str()?.to_string();
                Err(Failure::new(FailureKind::Command, "gate", reason))
            }
        };
        Ok(gil::release(py, || self.0.open(outcome)))
    }

    /// Whether it was opened.
    #[getter]
    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    fn __repr__(&self) -> &'static str {
        if self.0.is_open() {
            "<Gate, open>"
        } else {
            "<Gate, closed>"
        }
    }
}

/// Adds the class to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyGate>()
}
