//! What a pool would have made of a recording.

use millpond::runtime::{Refused, Replay};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What a pool would have made of a recording. Sizes are in bytes.
#[pyclass(frozen, eq, name = "Replay", module = "millpond.memory")]
#[derive(PartialEq)]
pub(super) struct PyReplay(pub(super) Replay);

/// A request of a recording that found no memory, and what the pool held then. Sizes are in bytes.
#[pyclass(frozen, eq, name = "Refused", module = "millpond.memory")]
#[derive(PartialEq)]
struct PyRefused(Refused);

impl PyReplay {
    fn fields(&self) -> [(&'static str, usize); 12] {
        [
            ("requests", self.requests()),
            ("allocations", self.allocations()),
            ("refused", self.refused()),
            ("refused_before", self.refused_before()),
            ("served_now", self.served_now()),
            ("waited", self.waited()),
            ("inserted_waits", self.inserted_waits()),
            ("driver_allocations", self.driver_allocations()),
            ("requested_high", self.requested_high()),
            ("used_high", self.used_high()),
            ("reserved_high", self.reserved_high()),
            ("used_at_reserved_high", self.used_at_reserved_high()),
        ]
    }
}

#[pymethods]
impl PyReplay {
    /// Requests in all.
    #[getter]
    fn requests(&self) -> usize {
        self.0.requests()
    }

    /// Requests that found memory.
    #[getter]
    fn allocations(&self) -> usize {
        self.0.allocations
    }

    /// Requests that were refused for want of memory.
    #[getter]
    fn refused(&self) -> usize {
        self.0.refused
    }

    /// Requests that the recorded pool had refused.
    #[getter]
    fn refused_before(&self) -> usize {
        self.0.refused_before
    }

    /// Those of them that found memory here. It is freed at once: how long the program would have
    /// kept it isn't known.
    #[getter]
    fn served_now(&self) -> usize {
        self.0.served_now
    }

    /// Requests for which the host would have waited until work was done.
    #[getter]
    fn waited(&self) -> usize {
        self.0.waited
    }

    /// Requests that had their queue wait for another.
    #[getter]
    fn inserted_waits(&self) -> usize {
        self.0.inserted_waits
    }

    /// How often the driver was asked for memory.
    #[getter]
    fn driver_allocations(&self) -> usize {
        self.0.driver_allocations
    }

    /// The most that was used, as asked for.
    #[getter]
    fn requested_high(&self) -> usize {
        self.0.requested_high
    }

    /// The most that was used, as granted.
    #[getter]
    fn used_high(&self) -> usize {
        self.0.used_high
    }

    /// The most that was reserved.
    #[getter]
    fn reserved_high(&self) -> usize {
        self.0.reserved_high
    }

    /// The most that was used, as granted, while that was reserved.
    #[getter]
    fn used_at_reserved_high(&self) -> usize {
        self.0.used_at_reserved_high
    }

    /// How much was reserved for each byte in use when the most was reserved: 1 is the best there
    /// is. None if nothing was used then.
    #[getter]
    fn fragmentation(&self) -> Option<f64> {
        self.0.fragmentation()
    }

    /// The most that was used under each tag, as asked for: a dictionary by its name.
    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, most) in &self.0.tags {
            dict.set_item(&**name, most)?;
        }
        Ok(dict)
    }

    /// The first request that was refused.
    #[getter]
    fn first_refusal(&self) -> Option<PyRefused> {
        self.0.first_refusal.clone().map(PyRefused)
    }

    /// All of it as a dictionary, of numbers, strings and dictionaries alone.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in self.fields() {
            dict.set_item(name, value)?;
        }
        dict.set_item("fragmentation", self.fragmentation())?;
        dict.set_item("tags", self.tags(py)?)?;
        let first = self.first_refusal().map(|first| first.as_dict(py));
        dict.set_item("first_refusal", first.transpose()?)?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let fields = self.fields().map(|(name, value)| format!("{name}={value}"));
        format!("Replay({})", fields.join(", "))
    }
}

#[pymethods]
impl PyRefused {
    /// Which step of the recording it is, from 0.
    #[getter]
    fn step(&self) -> usize {
        self.0.step
    }

    /// Asked for.
    #[getter]
    fn requested(&self) -> usize {
        self.0.requested
    }

    /// Of live allocations.
    #[getter]
    fn used(&self) -> usize {
        self.0.used
    }

    /// Freed, but still in use.
    #[getter]
    fn pending(&self) -> usize {
        self.0.pending
    }

    /// Free, in pieces too small.
    #[getter]
    fn cached(&self) -> usize {
        self.0.cached
    }

    /// The largest of these pieces.
    #[getter]
    fn largest_free(&self) -> usize {
        self.0.largest_free
    }

    /// Had from the driver.
    #[getter]
    fn reserved(&self) -> usize {
        self.0.reserved
    }

    /// What the driver or the pool said.
    #[getter]
    fn reason(&self) -> &str {
        &self.0.reason
    }

    /// All of it as a dictionary.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in [
            ("step", self.0.step),
            ("requested", self.0.requested),
            ("used", self.0.used),
            ("pending", self.0.pending),
            ("cached", self.0.cached),
            ("largest_free", self.0.largest_free),
            ("reserved", self.0.reserved),
        ] {
            dict.set_item(name, value)?;
        }
        dict.set_item("reason", self.reason())?;
        Ok(dict)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Refused: {}>", self.0)
    }
}

/// Adds the classes to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyReplay>()?;
    module.add_class::<PyRefused>()
}
