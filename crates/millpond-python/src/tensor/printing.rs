//! Arrays as text.
use crate::tensor::array::PyArray;
use millpond::tensor::Tensor;
use pyo3::prelude::*;
pub(crate) fn repr(tensor: &Tensor) -> PyResult<String> {
    Ok(format!("{tensor:?}"))
}
pub(crate) fn text(tensor: &Tensor) -> PyResult<String> {
    Ok(format!("{tensor:?}"))
}
pub(crate) fn format(array: &Bound<'_, PyArray>, spec: &str) -> PyResult<String> {
    let _ = spec;
    text(array.get().tensor())
}
#[pyfunction]
fn get_print_options(py: Python<'_>) -> PyResult<Bound<'_, pyo3::types::PyDict>> {
    Ok(pyo3::types::PyDict::new(py))
}
#[pyfunction]
fn set_print_options() {}
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(get_print_options, module)?)?;
    module.add_function(wrap_pyfunction!(set_print_options, module)?)
}
