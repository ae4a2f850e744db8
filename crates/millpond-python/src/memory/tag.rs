//! Tags: names under which allocations are counted.

use millpond::runtime::Tag;
use pyo3::prelude::*;

use crate::integer;
use crate::memory::scopes::Key;

/// A name under which allocations are counted, with budgets.
///
/// In `with tag:` everything that the thread allocates counts there, on any device and from any
/// pool, until it is freed. What a tag counts its parents count too. A tag may be entered by many
/// threads at once, and again inside of itself.
#[pyclass(frozen, name = "Tag", module = "millpond.memory")]
pub(super) struct PyTag {
    tag: Tag,
    key: Key,
}

impl PyTag {
    fn of(tag: Tag) -> Self {
        Self {
            tag,
            key: Key::new(),
        }
    }
}

#[pymethods]
impl PyTag {
    /// Make a tag without a parent.
    #[new]
    fn new(name: String) -> Self {
        Self::of(Tag::new(name))
    }

    /// Make a tag that counts here too; its name is this one's, a slash and its own.
    fn child(&self, name: &str) -> Self {
        Self::of(self.tag.child(name))
    }

    /// Its name, with those of its parents.
    #[getter]
    fn name(&self) -> &str {
        self.tag.name()
    }

    /// Bytes granted to live allocations.
    #[getter]
    fn used(&self) -> usize {
        self.tag.used()
    }

    /// The most that `used` has been.
    #[getter]
    fn used_high(&self) -> usize {
        self.tag.used_high()
    }

    /// Number of live allocations.
    #[getter]
    fn live(&self) -> usize {
        self.tag.live()
    }

    /// Bytes that may be used at a time; None for no limit. What is in use stays.
    ///
    /// An allocation beyond raises `BudgetError`.
    #[getter]
    fn budget(&self) -> Option<usize> {
        self.tag.budget()
    }

    #[setter]
    fn set_budget(&self, #[pyo3(from_py_with = integer::count_or_none)] budget: Option<usize>) {
        self.tag.set_budget(budget);
    }

    /// Bytes beyond which reclaimers are called, with the level 'soft'; None for no limit.
    #[getter]
    fn soft_budget(&self) -> Option<usize> {
        self.tag.soft_budget()
    }

    #[setter]
    fn set_soft_budget(
        &self,
        #[pyo3(from_py_with = integer::count_or_none)] soft_budget: Option<usize>,
    ) {
        self.tag.set_soft_budget(soft_budget);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        let inner = slf.get();
        inner.key.enter(&inner.tag);
        slf
    }

    fn __exit__(
        &self,
        _kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.key.exit::<Tag>()
    }

    fn __repr__(&self) -> String {
        format!("<Tag {}: {} bytes used>", self.name(), self.used())
    }
}

/// Adds the class to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTag>()
}
