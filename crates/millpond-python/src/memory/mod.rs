//! Memory objects and pools, as Python sees them.

mod contents;
mod kinds;
mod object;
mod pool;
mod transfer;
pub(crate) mod uses;

use pyo3::prelude::*;

pub(crate) use object::PyMemory;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    kinds::register(module)?;
    pool::register(module)
}
