//! Linear algebra: the module that `millpond.tensor.linalg` re-exports, and what the main namespace
//! has of it.

mod decomposition;
mod norm;
pub(crate) mod product;

use pyo3::prelude::*;

use crate::tensor::manipulation;

/// Adds the functions of the main namespace.
pub(super) fn register(tensor: &Bound<'_, PyModule>) -> PyResult<()> {
    product::register(tensor)
}

/// The module.
pub(super) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "millpond.tensor.linalg")?;
    product::register(&module)?;
    decomposition::register(&module)?;
    norm::register(&module)?;
    manipulation::register_matrix_transpose(&module)?;
    Ok(module)
}
