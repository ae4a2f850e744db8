//! Copies between memory and the buffers of Python objects.

use millpond::runtime::Allocation;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;

use crate::gil;
use crate::interop::view::View;

/// The bytes of an object's buffer, taken now.
///
/// # Errors
/// `TypeError` or `BufferError` if it has none, or not in one piece; `MemoryError` if there is no
/// room for them.
pub(super) fn snapshot(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let view = View::in_one_piece(object, false)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(view.len()).map_err(|_| {
        PyMemoryError::new_err(format!("no memory for a copy of {} bytes", view.len()))
    })?;
    bytes.extend_from_slice(view.bytes());
    Ok(bytes)
}

/// The number of bytes of an object's buffer.
///
/// # Errors
/// If it has none.
pub(super) fn len(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(View::in_one_piece(object, false)?.len())
}

/// Copies an object's bytes to memory, and waits for it.
///
/// # Errors
/// As for [`snapshot`]; a closed queue.
pub(super) fn write(
    py: Python<'_>,
    memory: &Allocation,
    offset: usize,
    object: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let buffer = View::in_one_piece(object, false)?;
    let bytes = buffer.bytes();
    check_apart("write", memory, bytes)?;
    gil::submit(py, || memory.write(offset, bytes))
}

/// Copies memory to an object's bytes, and waits for it.
///
/// # Errors
/// If it has no writable buffer, or not in one piece; the failure of the memory's last writer.
pub(super) fn read(
    py: Python<'_>,
    memory: &Allocation,
    offset: usize,
    object: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let mut buffer = View::in_one_piece(object, true)?;
    let bytes = buffer.bytes_mut();
    check_apart("read_into", memory, bytes)?;
    gil::submit(py, || memory.read(offset, bytes))
}

/// Fails if a buffer has bytes in common with memory that it is to be copied from or to.
fn check_apart(operation: &str, memory: &Allocation, bytes: &[u8]) -> PyResult<()> {
    let begin = memory.address().get();
    let buffer = bytes.as_ptr().addr();
    if buffer < begin + memory.bytes() && begin < buffer + bytes.len() {
        return Err(PyValueError::new_err(format!(
            "{operation}: the buffer lies within the memory"
        )));
    }
    Ok(())
}
