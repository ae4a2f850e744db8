//! Finds the functions that the interpreter's millpond shows.

use std::ffi::CStr;
use std::sync::OnceLock;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::error::{Result, check};
use crate::raw::{PYTHON_VERSION, VERSION, mp_python_table, mp_table};

/// Where the table is.
const CAPSULE: &CStr = c"millpond._millpond._C_API";

/// The tables, which are as old as the process' millpond and never go.
#[derive(Clone, Copy)]
struct Found {
    python: &'static mp_python_table,
    native: &'static mp_table,
}

// SAFETY: both are static and never written.
unsafe impl Send for Found {}
// SAFETY: as above.
unsafe impl Sync for Found {}

/// Read without the interpreter lock, which tasks must not take. Who is second finds the same.
static FOUND: OnceLock<Found> = OnceLock::new();

/// Finds millpond. The first conversion does as well; a module that calls this in its initialisation
/// fails there, where the reason is plain.
///
/// # Errors
/// `ImportError` without millpond, or with one that is older than what this crate was made for.
pub fn import(py: Python<'_>) -> PyResult<()> {
    found(py).map(|_| ())
}

/// The functions that know objects of Python.
pub(crate) fn python(py: Python<'_>) -> PyResult<&'static mp_python_table> {
    found(py).map(|found| found.python)
}

/// The functions of the C interface, for what has no type here.
///
/// # Panics
/// Before [`import`], or a first conversion, has found them. Who has a handle needs no care.
#[must_use]
pub fn table() -> &'static mp_table {
    FOUND.get().expect("import was called before").native
}

/// The number of handles that extensions have and haven't let go of: for tests.
///
/// # Errors
/// As for any call.
pub fn live_handles(py: Python<'_>) -> PyResult<usize> {
    import(py)?;
    Ok(count()?)
}

fn count() -> Result<usize> {
    let mut count = 0;
    // SAFETY: the result's place may be written.
    check(unsafe { (table().mp_handle_count)(&raw mut count) })?;
    Ok(count)
}

fn found(py: Python<'_>) -> PyResult<Found> {
    match FOUND.get() {
        Some(found) => Ok(*found),
        None => find(py).map(|found| *FOUND.get_or_init(|| found)),
    }
}

fn find(py: Python<'_>) -> PyResult<Found> {
    py.import("millpond")?;
    // SAFETY: the interpreter is attached, and the name is a text with an end.
    let table = unsafe { ffi::PyCapsule_Import(CAPSULE.as_ptr(), 0) };
    if table.is_null() {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: a capsule of this name holds this table, which is static.
    let python: &'static mp_python_table = unsafe { &*table.cast() };
    // SAFETY: as above; all versions begin with these fields.
    let native = unsafe { &*python.functions };
    if python.version < PYTHON_VERSION || native.version < VERSION {
        return Err(PyImportError::new_err(format!(
            "the extension was compiled with version {VERSION} of millpond's C interface, which has version {}: \
             install a newer millpond",
            native.version
        )));
    }
    Ok(Found { python, native })
}
