//! Memory that somebody else owns, as an allocation (rule M3).

use std::ptr;

use millpond::runtime::{Address, Allocation, MemoryKind, Queue, Release};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::interop::view::View;

/// Bytes of somebody else's, with what keeps them there.
pub(crate) struct Source {
    address: Address,
    bytes: usize,
    /// Whether they must not be written.
    pub(crate) read_only: bool,
    release: Release,
}

impl Source {
    /// The bytes at an address, which stay there while `owner` lives: so says the caller.
    ///
    /// # Errors
    /// `ValueError` for bytes that can't be.
    pub(crate) fn pointer(
        address: usize,
        bytes: usize,
        owner: Py<PyAny>,
        read_only: bool,
    ) -> PyResult<Self> {
        if (address == 0 && bytes > 0) || address.checked_add(bytes).is_none() {
            return Err(PyValueError::new_err(format!(
                "{bytes} bytes at {address:#x} are not memory"
            )));
        }
        Ok(Self {
            address: Address::new(address),
            bytes,
            read_only,
            release: held(owner),
        })
    }

    /// The bytes of an object's buffer, which stay there while it is exported.
    ///
    /// # Errors
    /// `TypeError` or `BufferError` if the object has none, or not in one piece.
    pub(crate) fn buffer(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let view = View::in_one_piece(object, false)?;
        let address = address_or_dangling(view.pointer());
        Ok(Self::kept(address, view.len(), view.is_read_only(), view))
    }

    /// Bytes that stay there while `owner` lives.
    pub(super) fn kept(
        address: Address,
        bytes: usize,
        read_only: bool,
        owner: impl Send + 'static,
    ) -> Self {
        Self {
            address,
            bytes,
            read_only,
            release: held(owner),
        }
    }
}

/// A release that drops the owner, at a call from Python.
fn held(owner: impl Send + 'static) -> Release {
    Release::deferred(move || {
        Python::attach(|_| drop(owner));
    })
}

/// Wraps the bytes for a queue of a device that reaches them: memory of the host, or device memory of
/// its own.
///
/// # Errors
/// A closed queue; `BufferError` if the device can't reach the bytes.
pub(crate) fn adopt(queue: &Queue, kind: MemoryKind, source: Source) -> PyResult<Allocation> {
    let device = queue.device();
    if kind == MemoryKind::Host && !device.info().host_executed {
        return Err(PyBufferError::new_err(format!(
            "{device} does not reach memory of the host: copy it"
        )));
    }
    // SAFETY: whoever made the source said that its bytes are initialised, can be read, and stay
    // until the release: a buffer by the rules of its protocol, DLPack by those of its own, a raw
    // pointer by the documentation of the function that takes it. The caller keeps the source's
    // `read_only` with the allocation and submits no command that writes it. A device that runs on
    // the host reaches all of it. Host code that touches the bytes while commands are pending
    // breaks the rule that the same documentation states; commands on such memory finish before
    // the call that submits them returns.
    unsafe { queue.import(kind, source.address, source.bytes, source.release) }.raise()
}

/// Memory of no bytes needs an address that isn't null.
pub(super) fn address_or_dangling(pointer: *const u8) -> Address {
    if pointer.is_null() {
        Address::of(ptr::dangling::<u128>())
    } else {
        Address::of(pointer)
    }
}
