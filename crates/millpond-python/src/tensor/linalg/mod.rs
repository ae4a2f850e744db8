//! Linear algebra: the module that `millpond.tensor.linalg` re-exports, and what the main namespace
//! has of it.

mod diagonal;
mod eigen;
mod factor;
mod inverse;
mod norm;
pub(crate) mod product;
mod singular;
mod vector;

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
    vector::register(&module)?;
    diagonal::register(&module)?;
    norm::register(&module)?;
    inverse::register(&module)?;
    factor::register(&module)?;
    eigen::register(&module)?;
    singular::register(&module)?;
    manipulation::register_matrix_transpose(&module)?;
    Ok(module)
}
