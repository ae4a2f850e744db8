//! Views of other objects' buffers.
//!
//! Written out rather than taken from `PyO3`, whose buffers have at least one dimension.

use std::ffi::{CStr, c_int};
use std::slice;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::interop::format;

/// An object's buffer, exported while this lives. Its memory stays where it is until then.
pub(crate) struct View(Box<ffi::Py_buffer>);

// SAFETY: the description is plain data that nobody changes, and the buffer is released with the
// interpreter attached.
unsafe impl Send for View {}

// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// The buffer of an object, of any layout; `None` if it exports none.
    ///
    /// # Errors
    /// What the object says.
    pub(crate) fn strided(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        // SAFETY: any object may be asked.
        if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 0 {
            return Ok(None);
        }
        Self::ask(object, ffi::PyBUF_RECORDS_RO).map(Some)
    }

    /// The buffer of an object in one piece, in row-major order.
    ///
    /// # Errors
    /// `TypeError` if it has none; `BufferError` if it isn't in one piece, is read-only where it is
    /// to be written, or has references to objects, which aren't bytes to copy or to change.
    pub(crate) fn in_one_piece(object: &Bound<'_, PyAny>, writable: bool) -> PyResult<Self> {
        let view = Self::ask(object, ffi::PyBUF_FULL_RO)?;
        if !view.is_row_major() {
            return Err(PyBufferError::new_err("the buffer is not in one piece"));
        }
        if format::holds_objects(view.format()) {
            return Err(PyBufferError::new_err(
                "the buffer holds references to objects of Python",
            ));
        }
        if writable && view.is_read_only() {
            return Err(PyBufferError::new_err("the buffer is read-only"));
        }
        Ok(view)
    }

    /// The bytes of a buffer in one piece that may be written, whatever their elements are.
    ///
    /// # Errors
    /// What the object says, for instance of a buffer that isn't so.
    pub(crate) fn writable(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::ask(object, ffi::PyBUF_WRITABLE)
    }

    fn ask(object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: the view may be written, and stays in its box until it is released.
        let status = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, flags) };
        if status == 0 {
            Ok(Self(view))
        } else {
            // Nothing was exported: the box is freed without a release.
            Err(PyErr::fetch(object.py()))
        }
    }

    /// The element of index zero on each axis.
    pub(crate) fn pointer(&self) -> *const u8 {
        self.0.buf.cast_const().cast()
    }

    /// Bytes of all elements.
    pub(crate) fn len(&self) -> usize {
        self.0.len.unsigned_abs()
    }

    /// Bytes of one element.
    pub(crate) fn item_size(&self) -> usize {
        self.0.itemsize.unsigned_abs()
    }

    /// Whether it must not be written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.0.readonly != 0
    }

    /// The format of the elements: bytes, if none is named.
    pub(crate) fn format(&self) -> &CStr {
        if self.0.format.is_null() {
            return c"B";
        }
        // SAFETY: a format is a C string that stays while the buffer is exported.
        unsafe { CStr::from_ptr(self.0.format) }
    }

    /// Sizes of the axes.
    pub(crate) fn shape(&self) -> SmallVec<[usize; 4]> {
        self.axes(self.0.shape)
            .iter()
            .map(|size| size.unsigned_abs())
            .collect()
    }

    /// Steps of the axes, in bytes, of a buffer that has more than the order of its elements.
    pub(crate) fn strides(&self) -> Vec<isize> {
        self.axes(self.0.strides).to_vec()
    }

    fn axes(&self, numbers: *const ffi::Py_ssize_t) -> &[isize] {
        if numbers.is_null() || self.0.ndim <= 0 {
            return &[];
        }
        // SAFETY: there is a number for each dimension, and they stay while the buffer is exported.
        unsafe { slice::from_raw_parts(numbers, self.0.ndim.unsigned_abs() as usize) }
    }

    fn is_row_major(&self) -> bool {
        let order = b'C'.cast_signed();
        // SAFETY: the view was filled by the object, and isn't released.
        unsafe { ffi::PyBuffer_IsContiguous(&raw const *self.0, order as _) != 0 }
    }

    /// The bytes of a buffer in one piece.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.len() == 0 || !self.is_row_major() {
            return &[];
        }
        // SAFETY: the buffer is in one piece of that many bytes, which stay while it is exported. A
        // program that changes them from another thread meanwhile gets some mixture of them, as it
        // does from every reader of buffers.
        unsafe { slice::from_raw_parts(self.pointer(), self.len()) }
    }

    /// The bytes of a buffer in one piece that may be written; none of another.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        if self.len() == 0 || self.is_read_only() || !self.is_row_major() {
            return &mut [];
        }
        // SAFETY: as above; the object lets the bytes be written.
        unsafe { slice::from_raw_parts_mut(self.0.buf.cast(), self.len()) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        Python::attach(|_| {
            // SAFETY: the view was filled by the object, and is released once.
            unsafe { ffi::PyBuffer_Release(&raw mut *self.0) };
        });
    }
}
