//! The bytes of memory objects: copied, read, written and filled.

use millpond::runtime::Pattern;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt};

use super::{PyMemory, transfer};
use crate::gil;
use crate::integer;
use crate::tensor::foreign::describe;

#[pymethods]
impl PyMemory {
    /// Submit a copy of other memory, or of an object with the buffer protocol, to these bytes.
    ///
    /// The bytes of a buffer are taken at once, so it may be changed afterwards.
    #[pyo3(signature = (source, *, offset=0))]
    fn copy_from(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integer::count)] offset: usize,
    ) -> PyResult<()> {
        self.check_writable("copy_from")?;
        if let Ok(source) = source.cast::<Self>() {
            let source = source.get();
            let target = self.range("copy_from", offset, Some(source.bytes))?;
            return source.submit_copy(py, self, target.start);
        }
        // The size is checked before so many bytes are copied.
        let target = self.range("copy_from", offset, Some(transfer::len(source)?))?;
        let bytes = transfer::snapshot(source)?;
        if bytes.len() != target.len() {
            return Err(PyValueError::new_err(
                "copy_from: the buffer changed its size meanwhile",
            ));
        }
        let memory = self.allocation()?;
        gil::submit(py, || memory.write_owned(target.start, bytes))
    }

    /// Submit a copy of these bytes to other memory; to a writable buffer, copy them and wait.
    #[pyo3(signature = (target, *, offset=0))]
    fn copy_to(
        &self,
        py: Python<'_>,
        target: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integer::count)] offset: usize,
    ) -> PyResult<()> {
        let Ok(target) = target.cast::<Self>() else {
            return self.read_into(py, target, offset);
        };
        let target = target.get();
        target.check_writable("copy_to")?;
        let range = target.range("copy_to", offset, Some(self.bytes))?;
        self.submit_copy(py, target, range.start)
    }

    /// Copy the bytes of an object with the buffer protocol to these, and wait for it.
    #[pyo3(signature = (data, *, offset=0))]
    fn write(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integer::count)] offset: usize,
    ) -> PyResult<()> {
        self.check_writable("write")?;
        let len = transfer::len(data)?;
        let range = self.range("write", offset, Some(len))?;
        let memory = self.allocation()?;
        gil::wait_idle(py, &memory)?;
        transfer::write(py, &memory, range.start, data)
    }

    /// Wait for the bytes, and copy them.
    #[pyo3(signature = (offset=0, nbytes=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = integer::count)] offset: usize,
        #[pyo3(from_py_with = integer::count_or_none)] nbytes: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let range = self.range("read", offset, nbytes)?;
        let memory = self.allocation()?;
        gil::wait_written(py, &memory)?;
        PyBytes::new_with(py, range.len(), |bytes| {
            gil::submit(py, || memory.read(range.start, bytes))
        })
    }

    /// Wait for the bytes from `offset` on, and copy as many as the writable buffer has room for.
    #[pyo3(signature = (buffer, offset=0))]
    fn read_into(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = integer::count)] offset: usize,
    ) -> PyResult<()> {
        let len = transfer::len(buffer)?;
        let range = self.range("read_into", offset, Some(len))?;
        let memory = self.allocation()?;
        gil::wait_written(py, &memory)?;
        transfer::read(py, &memory, range.start, buffer)
    }

    /// Wait for the bytes, and copy all of them.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.read(py, 0, None)
    }

    /// Submit a fill with a byte, or with a pattern of 1, 2, 4, 8 or 16 bytes.
    #[pyo3(signature = (pattern=None))]
    fn fill(&self, py: Python<'_>, pattern: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.check_writable("fill")?;
        let bytes: Vec<u8> = match pattern {
            None => vec![0],
            Some(pattern) if pattern.is_instance_of::<PyInt>() => {
                let byte = pattern.extract::<u8>().map_err(|_| {
                    let value = describe(pattern);
                    PyValueError::new_err(format!("fill: a byte is 0 to 255, not {value}"))
                })?;
                vec![byte]
            }
            Some(pattern) => transfer::snapshot(pattern)?,
        };
        let pattern = Pattern::new(&bytes).ok_or_else(|| {
            PyValueError::new_err(format!(
                "fill: a pattern has 1, 2, 4, 8 or 16 bytes, not {}",
                bytes.len()
            ))
        })?;
        let range = self.range("fill", 0, None)?;
        let allocation = self.allocation()?;
        let queue = allocation.queue();
        gil::submit(py, || queue.fill(&allocation, range, pattern))
    }
}

impl PyMemory {
    fn submit_copy(&self, py: Python<'_>, target: &Self, at: usize) -> PyResult<()> {
        let (from, to) = (self.allocation()?, target.allocation()?);
        let queue = to.queue();
        gil::submit(py, || queue.copy(&from, self.offset, &to, at, self.bytes))
    }
}
