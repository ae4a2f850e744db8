//! Devices, queues, events, gates and tasks, as Python sees them.

pub(crate) mod device;
pub(crate) mod event;
mod explain;
pub(crate) mod gate;
mod lifecycle;
pub(crate) mod origin;
pub(crate) mod queue;
pub(crate) mod service;

use pyo3::prelude::*;

pub(crate) use device::PyDevice;
pub(crate) use queue::PyQueue;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    device::register(module)?;
    queue::register(module)?;
    event::register(module)?;
    gate::register(module)?;
    service::register(module)?;
    explain::register(module)?;
    lifecycle::register(module)
}
