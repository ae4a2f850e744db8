//! What a call answers that fails.

use std::ffi::CStr;
use std::fmt;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::import::{python, table};
use crate::raw::{MP_INVALID, MP_OK, mp_status};

/// A call that failed: its status, and what it said. In Python it is the exception that the same
/// call raises there, with its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: mp_status,
    message: String,
}

/// What calls answer.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An argument that can't be.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: MP_INVALID,
            message: message.into(),
        }
    }

    /// The status, one of those of [`crate::raw`].
    #[must_use]
    pub const fn status(&self) -> mp_status {
        self.status
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let raised = Python::attach(|py| {
            // The thread's last failure has the class and the attributes, if it is still this one.
            if last_message() != error.message {
                return None;
            }
            let python = python(py).ok()?;
            // SAFETY: the interpreter is attached.
            unsafe { (python.mp_error_raise)() };
            Self::take(py)
        });
        raised.unwrap_or_else(|| match error.status {
            MP_INVALID => PyValueError::new_err(error.message),
            _ => PyRuntimeError::new_err(error.message),
        })
    }
}

/// The result of a call.
pub(crate) fn check(status: mp_status) -> Result<()> {
    if status == MP_OK {
        return Ok(());
    }
    Err(Error {
        status,
        message: last_message(),
    })
}

fn last_message() -> String {
    // SAFETY: the function may be called at any time.
    let text = unsafe { (table().mp_error_message)() };
    // SAFETY: it answers a text that stays until this thread's next call that fails.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}
