//! The interpreter that the package belongs to: the main one. Its threads, its callbacks and its end are those of one
//! interpreter, and another's end would be taken for the process's.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The number of the interpreter that a process begins with.
const MAIN: i64 = 0;

/// Fails in every other interpreter of the process, with `ImportError`.
#[pyfunction]
fn check_interpreter() -> PyResult<()> {
    // SAFETY: called with the interpreter's lock, so that there is a current one.
    let current = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: the interpreter runs this.
    let number = unsafe { ffi::PyInterpreterState_GetID(current) };
    if number == MAIN {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "millpond runs in the main interpreter of a process only, this is number {number}"
    )))
}

/// Adds the function.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(check_interpreter, module)?)
}
