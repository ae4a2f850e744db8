//! Streams of other libraries, as they show them.

use millpond::runtime::Allocation;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use crate::gil;
use crate::runtime::PyQueue;
use crate::runtime::event::PyEvent;
use crate::tensor::foreign::describe;

/// The stream of CUDA that is the default of all of a device's users (`cudaStreamLegacy`).
pub(super) const LEGACY: usize = 1;

/// A stream as a number or an object: one with `__cuda_stream__`, PyTorch's or CuPy's.
#[derive(Clone, Copy)]
pub(crate) struct StreamLike(pub(super) usize);

impl<'py> FromPyObject<'_, 'py> for StreamLike {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let handle = if let Some(protocol) = object.getattr_opt(intern!(py, "__cuda_stream__"))? {
            let (_version, handle): (i64, i64) = protocol.call0()?.extract()?;
            handle
        } else if let Ok(number) = object.extract::<i64>() {
            number
        } else {
            let mut names = ["cuda_stream", "ptr"].into_iter();
            let shown = names.find_map(|name| object.getattr_opt(name).transpose());
            match shown {
                Some(shown) => shown?.extract()?,
                None => {
                    return Err(PyTypeError::new_err(format!(
                        "expected a stream, as a number or an object with __cuda_stream__, got {}",
                        describe(&object)
                    )));
                }
            }
        };
        match usize::try_from(handle) {
            // CUDA's own number of the default stream, which libraries name as 0.
            Ok(0) => Ok(Self(LEGACY)),
            Ok(handle) => Ok(Self(handle)),
            Err(_) => Err(PyValueError::new_err(format!("{handle} is no stream"))),
        }
    }
}

/// Has a stream come behind what is pending on memory that its library is given.
///
/// # Errors
/// A stream that the driver refuses; the failure of what computed the elements.
pub(super) fn hold(py: Python<'_>, memory: &Allocation, stream: usize) -> PyResult<()> {
    gil::submit(py, || {
        // SAFETY: whoever asks for the memory says that the stream lives.
        unsafe { memory.hold_stream(stream, true) }
    })
}

/// Has what uses memory come behind what a stream was given so far.
///
/// # Errors
/// A stream that the driver refuses.
pub(super) fn follow(py: Python<'_>, memory: &Allocation, stream: usize) -> PyResult<()> {
    gil::submit(py, || {
        // SAFETY: whoever hands the memory over says that the stream lives.
        unsafe { memory.follow_stream(stream) }
    })
}

#[pymethods]
impl PyQueue {
    /// Make everything submitted from now on happen after what a stream of another library was given
    /// so far, without a wait of the host.
    ///
    /// The stream is a number, which has to be that of a stream which lives, or an object with
    /// `__cuda_stream__`, such as a stream of PyTorch or CuPy. Only devices with streams have them: not
    /// the CPU.
    fn follow_stream(&self, py: Python<'_>, stream: StreamLike) -> PyResult<PyEvent> {
        let stream = stream.0;
        gil::submit(py, || {
            // SAFETY: the caller says that it is a stream which lives.
            unsafe { self.0.follow_stream(stream) }
        })
        .map(PyEvent)
    }

    /// Make what a stream of another library is given from now on happen after everything submitted to
    /// the queue so far.
    ///
    /// The host waits only for what it has to carry out itself, such as tasks. The stream is as for
    /// `follow_stream`.
    fn hold_stream(&self, py: Python<'_>, stream: StreamLike) -> PyResult<()> {
        let stream = stream.0;
        gil::submit(py, || {
            let event = self.0.record()?;
            // SAFETY: the caller says that it is a stream which lives.
            unsafe { self.0.device().hold_stream(stream, &[&event]) }
        })
    }
}
