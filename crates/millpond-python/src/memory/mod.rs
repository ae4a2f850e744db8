//! Memory objects, pools, tags, reclaimers and recordings, as Python sees them.

mod contents;
mod kinds;
mod life;
mod object;
mod options;
mod pool;
mod reclaimer;
mod recording;
mod replay;
mod scope;
mod scopes;
mod sharing;
mod slot;
mod statistics;
mod tag;
mod transfer;
pub(crate) mod uses;

use pyo3::prelude::*;

pub(crate) use object::PyMemory;
pub(crate) use pool::PyPool;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    kinds::register(module)?;
    pool::register(module)?;
    scope::register(module)?;
    sharing::register(module)?;
    statistics::register(module)?;
    tag::register(module)?;
    recording::register(module)?;
    replay::register(module)?;
    reclaimer::register(module)
}
