//! Arguments that say how a pool behaves.

use std::time::Duration;

use millpond::MemoryKind;
use millpond::runtime::Zero;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::tensor::foreign::describe;
use crate::tensor::place::KindLike;

/// What new allocations hold, and the names of it.
const ZERO: [(&str, Zero); 3] = [
    ("never", Zero::Never),
    ("fresh", Zero::Fresh),
    ("always", Zero::Always),
];

/// What new allocations hold, by its name.
#[derive(Clone, Copy)]
pub(super) struct ZeroLike(pub(super) Zero);

impl<'py> FromPyObject<'_, 'py> for ZeroLike {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name = obj.cast::<PyString>().ok();
        let name = name.as_ref().map(|name| name.to_str()).transpose()?;
        let found = ZERO.into_iter().find(|(known, _)| name == Some(known));
        found.map(|(_, zero)| Self(zero)).ok_or_else(|| {
            PyValueError::new_err(format!(
                "zero: expected 'never', 'fresh' or 'always', got {}",
                describe(&obj)
            ))
        })
    }
}

/// The name of what new allocations hold.
pub(super) fn zero_name(zero: Zero) -> &'static str {
    let found = ZERO.into_iter().find(|(_, known)| *known == zero);
    found.map_or("never", |(name, _)| name)
}

/// A kind of memory, for an argument that is called `kind`.
///
/// # Errors
/// `ValueError` for anything else.
pub(super) fn kind(object: &Bound<'_, PyAny>) -> PyResult<MemoryKind> {
    let found: PyResult<KindLike> = object.extract();
    found.map(|KindLike(kind)| kind).map_err(|_| {
        PyValueError::new_err(format!(
            "kind: expected 'device', 'shared' or 'host', got {}",
            describe(object)
        ))
    })
}

/// As [`kind`], for an argument that may be `None`.
///
/// # Errors
/// As for [`kind`].
pub(super) fn kind_or_none(object: &Bound<'_, PyAny>) -> PyResult<Option<MemoryKind>> {
    if object.is_none() {
        return Ok(None);
    }
    kind(object).map(Some)
}

/// How long memory may be unused; none for ever.
///
/// # Errors
/// `ValueError` for a negative number or one that is none.
pub(super) fn idle_release(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    match seconds {
        None => Ok(None),
        Some(seconds) => Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| {
            PyValueError::new_err(format!(
                "idle_release: expected 0 or more seconds, got {seconds}"
            ))
        }),
    }
}
