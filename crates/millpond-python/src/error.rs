//! Errors as exceptions: the one place that decides which exception an error becomes.
//!
//! The classes are Python's (`millpond/exceptions.py`), so that they can have several bases and
//! attributes; they are looked up when the first error is raised.

use millpond::runtime::{Error, FailureKind};
use pyo3::exceptions::{
    PyBufferError, PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyNotImplementedError,
    PyOverflowError, PyTimeoutError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::gil;

/// Turns an error of millpond into an exception.
pub(crate) trait Raise<T> {
    /// The value, or the exception.
    fn raise(self) -> PyResult<T>;
}

impl<T, E: IntoException> Raise<T> for Result<T, E> {
    #[inline]
    fn raise(self) -> PyResult<T> {
        self.map_err(IntoException::into_exception)
    }
}

/// An error that has an exception.
pub(crate) trait IntoException {
    /// The exception.
    fn into_exception(self) -> PyErr;
}

impl IntoException for Error {
    #[cold]
    fn into_exception(self) -> PyErr {
        runtime_error(&self)
    }
}

impl IntoException for millpond::tensor::Error {
    #[cold]
    fn into_exception(self) -> PyErr {
        tensor_error(self)
    }
}

impl IntoException for PyErr {
    fn into_exception(self) -> PyErr {
        self
    }
}

/// The exception for an error of the runtime.
pub(crate) fn runtime_error(error: &Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Failed(failure) => own(class_of(failure.kind()), message, |attributes| {
            attributes.set_item("operation", failure.command())?;
            attributes.set_item("reason", failure.reason())?;
            attributes.set_item("origin", failure.origin())
        }),
        Error::OutOfMemory(report) => own("OutOfMemoryError", message, |attributes| {
            attributes.set_item("device", &report.device)?;
            attributes.set_item("pool", &report.pool)?;
            attributes.set_item("kind", report.kind.name())?;
            attributes.set_item("requested", report.requested)?;
            attributes.set_item("granted", report.granted)?;
            attributes.set_item("used", report.used)?;
            attributes.set_item("live", report.live)?;
            attributes.set_item("pending", report.pending)?;
            attributes.set_item("pending_by_queue", &report.pending_by_queue)?;
            attributes.set_item("cached", report.cached)?;
            attributes.set_item("largest_free", report.largest_free)?;
            attributes.set_item("reserved", report.reserved)?;
            attributes.set_item("maximum_size", report.maximum_size)?;
            attributes.set_item("other_pools", &report.other_pools)?;
            let points = report.fits_after.as_ref().map(|points| {
                let pairs = points
                    .iter()
                    .map(|point| (point.queue.get(), point.sequence));
                pairs.collect::<Vec<_>>()
            });
            attributes.set_item("fits_after", points)?;
            attributes.set_item("reason", &report.reason)
        }),
        Error::PoolClosed { .. } => own("PoolClosedError", message, |_| Ok(())),
        Error::Budget {
            tag,
            requested,
            used,
            budget,
        } => own("BudgetError", message, |attributes| {
            attributes.set_item("tag", tag)?;
            attributes.set_item("requested", requested)?;
            attributes.set_item("used", used)?;
            attributes.set_item("budget", budget)
        }),
        Error::Shared { handles, .. } => own("MemoryInUseError", message, |attributes| {
            attributes.set_item("handles", handles)
        }),
        Error::Device(_) => own("DeviceError", message, |_| Ok(())),
        Error::NotShareable { .. } | Error::Handle(_) => own("SharingError", message, |_| Ok(())),
        Error::Closed { .. } => own("QueueClosedError", message, |_| Ok(())),
        Error::ShutDown { .. } => own("ShutDownError", message, |_| Ok(())),
        Error::Forked { .. } => own("ForkedError", message, |_| Ok(())),
        Error::UnknownDevice { .. } => own("UnknownDeviceError", message, |_| Ok(())),
        Error::HostAccess { .. } => PyBufferError::new_err(message),
        Error::Interrupted { .. } => {
            gil::take_interrupt().unwrap_or_else(|| PyKeyboardInterrupt::new_err(message))
        }
        Error::Io { kind, .. } => std::io::Error::new(*kind, message).into(),
        Error::TimedOut { .. } => PyTimeoutError::new_err(message),
        Error::Bounds { .. } => PyIndexError::new_err(message),
        Error::OperandCount { .. } => PyTypeError::new_err(message),
        Error::DeviceMismatch { .. } | Error::Overlap { .. } | Error::Invalid { .. } => {
            PyValueError::new_err(message)
        }
        _ => own("Error", message, |_| Ok(())),
    }
}

/// The class for a failure of a kind.
const fn class_of(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Index => "CommandIndexError",
        FailureKind::Value => "CommandValueError",
        FailureKind::Numeric => "LinAlgError",
        _ => "CommandError",
    }
}

/// The exception for an error of the array library.
pub(crate) fn tensor_error(error: millpond::tensor::Error) -> PyErr {
    use millpond::tensor::{Error as TensorError, ErrorClass};
    let message = error.to_string();
    match error {
        TensorError::Runtime(error) => runtime_error(&error),
        error => match error.class() {
            ErrorClass::Type => PyTypeError::new_err(message),
            ErrorClass::Value => PyValueError::new_err(message),
            ErrorClass::Index => PyIndexError::new_err(message),
            ErrorClass::Overflow => PyOverflowError::new_err(message),
            ErrorClass::Memory => PyMemoryError::new_err(message),
            ErrorClass::Buffer => PyBufferError::new_err(message),
            ErrorClass::NotImplemented => PyNotImplementedError::new_err(message),
            _ => own("Error", message, |_| Ok(())),
        },
    }
}

/// The base of millpond's exceptions, with a message.
pub(crate) fn error(message: String) -> PyErr {
    own("Error", message, |_| Ok(()))
}

/// An exception of millpond's own, with attributes.
fn own(
    name: &str,
    message: String,
    attributes: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    Python::attach(|py| {
        let make = || {
            let class = py.import("millpond.exceptions")?.getattr(name)?;
            let keywords = PyDict::new(py);
            attributes(&keywords)?;
            class.call((message,), Some(&keywords))
        };
        match make() {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    })
}
