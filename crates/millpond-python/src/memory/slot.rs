//! The allocation of a memory object, until a queue frees it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use millpond::runtime::{Allocation, Error, Event};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Raise;

/// Holds an allocation, which can be taken out once. The lock is never held over a call that waits.
pub(super) struct Slot(Mutex<Option<Allocation>>);

impl Slot {
    pub(super) fn new(allocation: Allocation) -> Self {
        Self(Mutex::new(Some(allocation)))
    }

    /// Another handle to the allocation.
    ///
    /// # Errors
    /// `ValueError` if it was freed.
    pub(super) fn allocation(&self) -> PyResult<Allocation> {
        self.lock().clone().ok_or_else(freed)
    }

    /// Takes the allocation out to free it, and puts it back if that fails.
    ///
    /// # Errors
    /// `ValueError` if it was freed before; what `free` answers.
    pub(super) fn free(
        &self,
        free: impl FnOnce(Allocation) -> Result<Event, (Error, Allocation)>,
    ) -> PyResult<Event> {
        let allocation = self.lock().take().ok_or_else(freed)?;
        free(allocation)
            .map_err(|(error, allocation)| {
                *self.lock() = Some(allocation);
                error
            })
            .raise()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Allocation>> {
        // A handle is whole whatever the thread that held the lock did later.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cold]
fn freed() -> PyErr {
    PyValueError::new_err("the memory was freed on a queue and can't be used any more")
}
