//! Functions that rearrange elements, by what they rearrange.

mod arrays;
mod axes;
mod joined;
mod shape;

pub(crate) use axes::register_matrix_transpose;

use pyo3::prelude::*;

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    shape::register(module)?;
    axes::register(module)?;
    joined::register(module)
}
