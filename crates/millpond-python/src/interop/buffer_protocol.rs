//! Python's buffer protocol: arrays as buffers, and buffers as arrays, without copies.
//!
//! A buffer of an array shares its memory with host code, so the export waits for what is pending
//! on it (rule O5), and from then on commands on it finish before the calls that submit them
//! return. Device memory has no buffer (M4).

use std::ffi::{CString, c_int, c_void};
use std::ptr;

use millpond::runtime::{Address, Allocation, MemoryKind, Queue};
use millpond::tensor::{Place, Tensor, creation};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::gil;
use crate::interop::elements::Elements;
use crate::interop::format::{dtype_of, format_of};
use crate::interop::view::View;

/// Bytes that are copied while their exporter waits.
const COPIED: usize = 64 << 10;

/// What a view points to, freed with it.
struct Parts {
    /// Of the elements: it can't be freed as long as they are seen.
    _memory: Allocation,
    format: CString,
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

/// Fills a view of an array's elements, once nothing is pending on them.
///
/// # Errors
/// `BufferError` for device memory, dtypes without a format, and views that ask for what the array
/// isn't; the failure of what computed the elements.
///
/// # Safety
/// `view` may be written; `owner` keeps the array's memory alive.
pub(crate) unsafe fn fill(
    owner: Bound<'_, PyAny>,
    tensor: &Tensor,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    // SAFETY: the caller's promise. The protocol asks for a null owner where the call fails.
    unsafe { (*view).obj = ptr::null_mut() };
    if !tensor.kind().host_accessible() {
        return Err(refusal(owner.py())?);
    }
    share(owner.py(), tensor, false)?;
    // SAFETY: the caller's promise; nothing is pending on the elements.
    unsafe { fill_unsynchronised(owner, tensor, view, flags) }
}

/// What is said of device memory. NumPy asks every array for its buffer first, so the text is made
/// once, and the exception at once rather than when it is looked at.
fn refusal(py: Python<'_>) -> PyResult<PyErr> {
    let text = intern!(
        py,
        "device memory has no buffer, as the host does not access it: copy it to shared or host \
         memory, or use asnumpy"
    );
    let error = py.get_type::<PyBufferError>().call1((text,))?;
    Ok(PyErr::from_value(error))
}

/// Waits for what is pending on an array, and shares its memory with host code from then on.
///
/// # Errors
/// `BufferError` for memory that the host can't reach, or must not if not of `any_kind`; the
/// failure of what computed the elements.
pub(super) fn share(py: Python<'_>, tensor: &Tensor, any_kind: bool) -> PyResult<Address> {
    let memory = tensor.memory();
    gil::wait_idle(py, memory)?;
    let base = gil::release(py, || memory.share_with_host(any_kind)).raise()?;
    Ok(base.offset(tensor.layout().offset() * tensor.item_size()))
}

/// Fills a view without waiting.
///
/// # Errors
/// `BufferError` as for [`fill`].
///
/// # Safety
/// As for [`fill`]; the host reaches the memory, and nothing is pending on it while the view is
/// used.
unsafe fn fill_unsynchronised(
    owner: Bound<'_, PyAny>,
    tensor: &Tensor,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    let asks = |flag: c_int| flags & flag == flag;
    let refuse = |reason: &str| Err(PyBufferError::new_err(format!("no such buffer: {reason}")));
    let layout = tensor.layout();
    let (row_major, column_major) = (layout.is_contiguous(), layout.is_column_major());
    if asks(ffi::PyBUF_WRITABLE) && tensor.is_read_only() {
        return refuse("the array is read-only");
    }
    if asks(ffi::PyBUF_C_CONTIGUOUS) && !row_major {
        return refuse("the array is not row-major");
    }
    if asks(ffi::PyBUF_F_CONTIGUOUS) && !column_major {
        return refuse("the array is not column-major");
    }
    if asks(ffi::PyBUF_ANY_CONTIGUOUS) && !row_major && !column_major {
        return refuse("the array is not contiguous");
    }
    if !asks(ffi::PyBUF_STRIDES) && !row_major {
        return refuse("the array is not row-major, and strides were not asked for");
    }
    let Some(format) = format_of(tensor.dtype()) else {
        return refuse(&format!("{} has no format", tensor.dtype()));
    };
    let item_size = tensor.item_size() as isize;
    let mut parts = Box::new(Parts {
        _memory: tensor.memory().clone(),
        format: format.to_owned(),
        shape: tensor.shape().iter().map(|&size| size as isize).collect(),
        strides: tensor
            .strides()
            .iter()
            .map(|&stride| stride * item_size)
            .collect(),
    });
    let with_shape = asks(ffi::PyBUF_ND);
    let optional = |asked: bool, pointer: *mut ffi::Py_ssize_t| {
        if asked { pointer } else { ptr::null_mut() }
    };
    let filled = ffi::Py_buffer {
        buf: tensor.address().as_ptr::<c_void>(),
        len: tensor.bytes() as isize,
        itemsize: item_size,
        readonly: c_int::from(tensor.is_read_only()),
        ndim: if with_shape {
            tensor.ndim() as c_int
        } else {
            1
        },
        format: if asks(ffi::PyBUF_FORMAT) {
            parts.format.as_ptr().cast_mut()
        } else {
            ptr::null_mut()
        },
        shape: optional(with_shape, parts.shape.as_mut_ptr()),
        strides: optional(asks(ffi::PyBUF_STRIDES), parts.strides.as_mut_ptr()),
        suboffsets: ptr::null_mut(),
        internal: ptr::null_mut(),
        obj: ptr::null_mut(),
    };
    let filled = ffi::Py_buffer {
        internal: Box::into_raw(parts).cast(),
        obj: owner.into_ptr(),
        ..filled
    };
    // SAFETY: the caller's promise. The pointers are into the boxed parts, which live until the
    // view is released, or into the memory that the owner, counted by the view, keeps.
    unsafe { view.write(filled) };
    Ok(())
}

/// Frees what [`fill`] allocated.
///
/// # Safety
/// The view was filled by [`fill`], and is released once.
pub(crate) unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: the caller's promise.
    let internal = unsafe { (*view).internal };
    if !internal.is_null() {
        // SAFETY: it came from a box of parts, and is taken back once.
        drop(unsafe { Box::from_raw(internal.cast::<Parts>()) });
    }
}

/// What a task sees of an array that it uses. The task's turn has come, so nothing that was
/// submitted before is pending on the array, and what is submitted later waits for the task.
#[pyclass(frozen, name = "_TaskView", module = "millpond")]
pub(crate) struct TaskView(Tensor);

impl TaskView {
    /// A memoryview of the elements.
    ///
    /// # Errors
    /// `BufferError` for device memory.
    pub(crate) fn memoryview<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
        let view = Bound::new(py, Self(tensor.clone()))?.into_any();
        Ok(pyo3::types::PyMemoryView::from(&view)?.into_any())
    }
}

#[pymethods]
impl TaskView {
    /// # Safety
    /// Called by Python only, with a view to fill.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let tensor = slf.get().0.clone();
        // SAFETY: Python hands in a view that may be filled. Views are made for memory that the
        // host reaches only, while the task has it for itself.
        unsafe { fill_unsynchronised(slf.into_any(), &tensor, view, flags) }
    }

    /// # Safety
    /// Called by Python only, with a view that `__getbuffer__` filled.
    #[allow(clippy::unused_self, reason = "the signature is the protocol's")]
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python hands in each view once that was filled.
        unsafe { release(view) }
    }
}

/// The array over an object's buffer, without a copy; `None` if the object has no buffer, or one
/// whose elements are of no dtype of ours or not aligned.
///
/// # Errors
/// What the object says; a closed queue; `BufferError` if the queue's device doesn't reach memory
/// of the host.
pub(crate) fn import(object: &Bound<'_, PyAny>, queue: &Queue) -> PyResult<Option<Tensor>> {
    gil::enter();
    let Some(view) = View::strided(object)? else {
        return Ok(None);
    };
    let Some(dtype) = dtype_of(view.format(), view.item_size()) else {
        return Ok(None);
    };
    let elements = Elements {
        pointer: view.pointer(),
        dtype,
        shape: view.shape().into_vec(),
        byte_strides: view.strides(),
    };
    elements.import(queue, MemoryKind::Host, view.is_read_only(), view)
}

/// An array with the elements of an object's buffer, copied to a place of a device that works in the
/// host's memory. `None` for buffers that aren't in one piece in row-major order, whose elements are of
/// no dtype of ours, or that are too large to be copied before the call returns.
///
/// # Errors
/// A dtype that the device lacks; no memory; a closed queue.
pub(crate) fn copy(object: &Bound<'_, PyAny>, place: &Place) -> PyResult<Option<Tensor>> {
    gil::enter();
    // What NumPy can't describe goes the long way, which says what is wrong with it.
    let Ok(Some(view)) = View::strided(object) else {
        return Ok(None);
    };
    let Some(dtype) = dtype_of(view.format(), view.item_size()) else {
        return Ok(None);
    };
    let bytes = view.bytes();
    if bytes.len() != view.len() || bytes.len() > COPIED {
        return Ok(None);
    }
    creation::copied_from(bytes, dtype, &view.shape(), place)
        .raise()
        .map(Some)
}
