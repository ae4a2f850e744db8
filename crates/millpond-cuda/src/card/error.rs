//! Errors of the driver, with the function that reported them and the driver's own words.

use std::ffi::{CStr, c_char};
use std::fmt;

use millpond_hal::{Command, Failure, FailureKind};

use crate::api::{Api, Code};

/// A call of the driver that failed.
#[derive(Clone, Debug)]
pub(crate) enum CudaError {
    /// The call was refused; the device goes on.
    Refused { call: &'static str, text: String },
    /// The device doesn't have what this backend is built on.
    Lacking(&'static str),
    /// The device is lost.
    Lost(Failure),
}

impl CudaError {
    pub(super) fn of(api: &dyn Api, call: &'static str, code: Code) -> Self {
        Self::Refused {
            call,
            text: describe(api, code),
        }
    }

    /// A call of a library that was refused, and what it said.
    pub(crate) const fn refused(call: &'static str, text: String) -> Self {
        Self::Refused { call, text }
    }

    pub(super) const fn lacking(what: &'static str) -> Self {
        Self::Lacking(what)
    }

    pub(super) fn lost(failure: &Failure) -> Self {
        Self::Lost(failure.clone())
    }

    /// The failure of all that is on the device, if it is lost.
    pub(crate) const fn loss(&self) -> Option<&Failure> {
        match self {
            Self::Lost(failure) => Some(failure),
            Self::Refused { .. } | Self::Lacking(_) => None,
        }
    }

    /// The failure of a command that met this error.
    pub(crate) fn fail(&self, command: &Command, origin: Option<std::sync::Arc<str>>) -> Failure {
        match self {
            Self::Lost(failure) => failure.clone(),
            Self::Refused { .. } | Self::Lacking(_) => {
                command.fail(FailureKind::Command, self.to_string(), origin)
            }
        }
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { call, text, .. } => write!(f, "{call}: {text}"),
            Self::Lacking(what) => write!(f, "the device lacks {what}"),
            Self::Lost(failure) => f.write_str(failure.reason()),
        }
    }
}

/// What an answer means where the device isn't there yet.
pub(super) fn check(api: &dyn Api, call: &'static str, code: Code) -> Result<(), CudaError> {
    if code == Code::SUCCESS {
        Ok(())
    } else {
        Err(CudaError::of(api, call, code))
    }
}

/// A function that writes a text of the driver's.
type Asking<'a> = &'a dyn Fn(*mut *const c_char) -> Code;

/// The name and meaning of a code, by the driver's word.
fn describe(api: &dyn Api, code: Code) -> String {
    let ask = |asking: Asking<'_>| {
        let mut text = std::ptr::null();
        if code == Code::MISSING || asking(&raw mut text) != Code::SUCCESS || text.is_null() {
            return None;
        }
        // SAFETY: the driver answers a text that lives as long as the program.
        let text = unsafe { CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    };
    // SAFETY: the text is written to a place of its type.
    let name = ask(&|text| unsafe { api.error_name(code, text) });
    // SAFETY: as above.
    let meaning = ask(&|text| unsafe { api.error_string(code, text) });
    match (name, meaning) {
        (Some(name), Some(meaning)) => format!("{name} ({meaning})"),
        (Some(text), None) | (None, Some(text)) => text,
        (None, None) => code.to_string(),
    }
}
