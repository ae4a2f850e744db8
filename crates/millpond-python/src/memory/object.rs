//! Memory objects: bytes of one kind on one device.

use std::ffi::c_int;
use std::ops::Range;

use millpond::runtime::{Allocation, MemoryKind};
use millpond::tensor::Tensor;
use millpond::types::shape::ShapeError;
use millpond::types::{DType, Layout};
use millpond_capi::memory::Memory;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyType};

use crate::error::Raise;
use crate::gil;
use crate::integer;
use crate::interop::{buffer_protocol, foreign};
use crate::memory::kinds;
use crate::memory::slot::Slot;
use crate::runtime::{PyDevice, PyQueue};
use crate::tensor::place::{DeviceLike, Where};

/// Bytes of unified shared memory. Views share the bytes, which live as long as any of them.
///
/// The bytes of new memory are not initialised. Copies and fills are submitted to the queue of the
/// memory and return at once, unless they say that they wait.
#[pyclass(frozen, subclass, weakref, name = "Memory", module = "millpond.memory")]
pub(crate) struct PyMemory {
    /// Shared with views, each of which has its own.
    pub(super) slot: Slot,
    /// Where the view begins.
    pub(super) offset: usize,
    /// How long it is.
    pub(super) bytes: usize,
    read_only: bool,
}

impl PyMemory {
    fn whole(allocation: Allocation, read_only: bool) -> Self {
        Self {
            bytes: allocation.bytes(),
            slot: Slot::new(allocation),
            offset: 0,
            read_only,
        }
    }

    pub(super) fn allocate(
        py: Python<'_>,
        kind: MemoryKind,
        nbytes: usize,
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<Self> {
        let place = Where::new(device, queue, None).place()?;
        gil::submit(py, || place.queue.allocate(kind, nbytes))
            .map(|allocation| Self::whole(allocation, false))
    }

    /// All of the memory that an array is in; read-only if the array is.
    pub(crate) fn of<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
        let memory = Self::whole(tensor.memory().clone(), tensor.is_read_only());
        kinds::into_object(memory, py)
    }

    /// New memory, as an object of its kind.
    pub(super) fn object(py: Python<'_>, allocation: Allocation) -> PyResult<Bound<'_, PyAny>> {
        kinds::into_object(Self::whole(allocation, false), py)
    }

    /// What the C interface has of it.
    ///
    /// # Errors
    /// `ValueError` if it was freed.
    pub(crate) fn part(&self) -> PyResult<Memory> {
        Ok(Memory {
            allocation: self.allocation()?,
            offset: self.offset,
            bytes: self.bytes,
            read_only: self.read_only,
        })
    }

    /// The object of what the C interface has.
    pub(crate) fn of_part<'py>(py: Python<'py>, part: &Memory) -> PyResult<Bound<'py, PyAny>> {
        let memory = Self {
            slot: Slot::new(part.allocation.clone()),
            offset: part.offset,
            bytes: part.bytes,
            read_only: part.read_only,
        };
        kinds::into_object(memory, py)
    }

    /// The memory that the view is of.
    ///
    /// # Errors
    /// `ValueError` if it was freed.
    pub(crate) fn allocation(&self) -> PyResult<Allocation> {
        self.slot.allocation()
    }

    /// Another view of the same bytes, for an object of the class of their kind.
    ///
    /// # Errors
    /// `ValueError` for memory of another kind, and if it was freed; `TypeError` where a place is
    /// named, as memory stays where it is.
    pub(super) fn again(&self, kind: MemoryKind, in_place: bool) -> PyResult<Self> {
        let own = self.allocation()?.kind();
        if own != kind {
            return Err(PyValueError::new_err(format!(
                "{own} memory is no {kind} memory; copy it instead"
            )));
        }
        if !in_place {
            return Err(PyTypeError::new_err(
                "a view of memory is where that is: leave out device and queue",
            ));
        }
        self.view_of(self.offset..self.offset + self.bytes)
    }

    /// The bytes as an array.
    pub(crate) fn as_tensor(&self) -> PyResult<Tensor> {
        let layout = Layout::contiguous(&[self.bytes], 1).map_err(|error| layout_error(&error))?;
        self.seen_as(DType::Uint8, layout.at_offset(self.offset))
    }

    /// The bytes as an array of some dtype, whose element at `offset`, counted in elements from
    /// the view's begin, has index zero.
    ///
    /// # Errors
    /// `ValueError` where elements lie outside of the view, or aren't aligned.
    pub(crate) fn as_array(
        &self,
        dtype: DType,
        shape: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> PyResult<Tensor> {
        // Offsets of arrays are counted in elements; memory of others may lie anywhere.
        let address = self.allocation()?.address().get();
        if !self.offset.is_multiple_of(dtype.size()) || !address.is_multiple_of(dtype.real().size())
        {
            return Err(PyValueError::new_err(format!(
                "an array of {dtype} can't begin at byte {} of memory at {address:#x}: elements \
                 would not be aligned",
                self.offset
            )));
        }
        let begin = self.offset / dtype.size();
        let layout = Layout::new(shape, strides, offset).map_err(|error| layout_error(&error))?;
        let tensor = self.seen_as(dtype, layout.at_offset(offset.saturating_add(begin)))?;
        // That it lies within the allocation is known now; a view may be less.
        let touched = tensor.layout().byte_span(dtype.size());
        let own = self.offset..self.offset + self.bytes;
        if !touched.is_empty() && (touched.start < own.start || touched.end > own.end) {
            return Err(PyValueError::new_err(format!(
                "an array of {dtype} with shape {shape:?} and strides {strides:?} from element \
                 {offset} on reaches outside of its {} bytes",
                self.bytes
            )));
        }
        Ok(tensor)
    }

    fn seen_as(&self, dtype: DType, layout: Layout) -> PyResult<Tensor> {
        Tensor::from_parts(self.allocation()?, dtype, layout, self.read_only).raise()
    }

    /// A range of the view, as one of the allocation.
    pub(crate) fn range(
        &self,
        operation: &str,
        offset: usize,
        nbytes: Option<usize>,
    ) -> PyResult<Range<usize>> {
        let nbytes = nbytes.unwrap_or(self.bytes.saturating_sub(offset));
        match offset.checked_add(nbytes) {
            Some(end) if end <= self.bytes => Ok(self.offset + offset..self.offset + end),
            _ => Err(PyIndexError::new_err(format!(
                "{operation}: {nbytes} bytes from {offset} reach outside of {} bytes",
                self.bytes
            ))),
        }
    }

    pub(super) fn check_writable(&self, operation: &str) -> PyResult<()> {
        if self.read_only {
            return Err(PyTypeError::new_err(format!(
                "{operation}: the memory is read-only"
            )));
        }
        Ok(())
    }

    fn view_of(&self, range: Range<usize>) -> PyResult<Self> {
        Ok(Self {
            slot: Slot::new(self.allocation()?),
            offset: range.start,
            bytes: range.len(),
            read_only: self.read_only,
        })
    }
}

#[pymethods]
impl PyMemory {
    /// The bytes of an object with the buffer protocol, without a copy; read-only if they are.
    ///
    /// The object is kept until the last use of the memory. Of `SharedMemory` and `HostMemory`.
    #[classmethod]
    #[pyo3(signature = (obj, *, device=None, queue=None))]
    fn wrap<'py>(
        class: &Bound<'py, PyType>,
        obj: &Bound<'py, PyAny>,
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kind = kinds::kind_of(class)?;
        if !kind.host_accessible() {
            return Err(PyTypeError::new_err(
                "wrap: a buffer is host memory, which device memory is not: wrap it as shared or \
                 host memory, or copy it",
            ));
        }
        Self::adopt(
            class.py(),
            kind,
            foreign::Source::buffer(obj)?,
            device,
            queue,
        )
    }

    /// Memory at an address that the device can reach; `owner` is kept until its last use.
    ///
    /// Until then `nbytes` bytes must stay there, and nobody else touch them while work on them is
    /// pending. Of `DeviceMemory`, `SharedMemory` and `HostMemory`.
    #[classmethod]
    #[pyo3(signature = (ptr, nbytes, owner, *, read_only=false, device=None, queue=None))]
    #[allow(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python function"
    )]
    fn from_pointer<'py>(
        class: &Bound<'py, PyType>,
        #[pyo3(from_py_with = integer::count)] ptr: usize,
        #[pyo3(from_py_with = integer::count)] nbytes: usize,
        owner: Py<PyAny>,
        read_only: bool,
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let source = foreign::Source::pointer(ptr, nbytes, owner, read_only)?;
        Self::adopt(class.py(), kinds::kind_of(class)?, source, device, queue)
    }

    /// Number of bytes.
    #[getter]
    fn nbytes(&self) -> PyResult<usize> {
        self.allocation()?;
        Ok(self.bytes)
    }

    /// Kind of memory: 'device', 'shared' or 'host'.
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        Ok(self.allocation()?.kind().name())
    }

    /// Kind of memory: 'device', 'shared' or 'host'.
    #[getter]
    fn usm_type(&self) -> PyResult<&'static str> {
        Ok(self.allocation()?.kind().name())
    }

    /// Device that the memory belongs to.
    #[getter]
    fn device(&self) -> PyResult<PyDevice> {
        Ok(PyDevice(self.allocation()?.device()))
    }

    /// Queue that copies and fills are submitted to.
    #[getter]
    fn queue(&self) -> PyResult<PyQueue> {
        Ok(PyQueue(self.allocation()?.queue()))
    }

    /// Address of the first byte. Who touches it answers for order and lifetime.
    #[getter]
    fn ptr(&self) -> PyResult<usize> {
        Ok(self.allocation()?.address().offset(self.offset).get())
    }

    /// Whether it must not be written.
    #[getter]
    fn read_only(&self) -> PyResult<bool> {
        self.allocation()?;
        Ok(self.read_only)
    }

    /// Whether somebody else owns the bytes.
    #[getter]
    fn is_foreign(&self) -> PyResult<bool> {
        Ok(self.allocation()?.is_foreign())
    }

    /// A view of some of the bytes.
    #[pyo3(signature = (offset=0, nbytes=None))]
    fn view<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = integer::count)] offset: usize,
        #[pyo3(from_py_with = integer::count_or_none)] nbytes: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        kinds::into_object(self.view_of(self.range("view", offset, nbytes)?)?, py)
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PySlice>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let len = isize::try_from(self.bytes)?;
        let slice = index.indices(len)?;
        if slice.step != 1 {
            return Err(PyValueError::new_err("memory is sliced with step 1 only"));
        }
        let start = usize::try_from(slice.start)?;
        self.view(py, start, Some(slice.slicelength))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.nbytes()
    }

    fn __repr__(&self) -> String {
        let Ok(allocation) = self.allocation() else {
            return format!("<Memory of {} bytes, freed>", self.bytes);
        };
        let class = kinds::class_name(allocation.kind());
        format!(
            "<{class} of {} bytes at {:#x} on {}>",
            self.bytes,
            allocation.address().offset(self.offset).get(),
            allocation.device()
        )
    }

    /// # Safety
    /// Called by Python only, with a view to fill.
    #[allow(
        unsafe_code,
        reason = "the buffer protocol hands in a raw pointer to fill"
    )]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let tensor = slf.get().as_tensor()?;
        // SAFETY: Python hands in a view that may be filled, and the exporting object.
        unsafe { buffer_protocol::fill(slf.into_any(), &tensor, view, flags) }
    }

    /// # Safety
    /// Called by Python only, with a view that `__getbuffer__` filled.
    #[allow(
        unsafe_code,
        reason = "the buffer protocol hands in a raw pointer to release"
    )]
    #[allow(clippy::unused_self, reason = "the signature is the protocol's")]
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python hands in each view once that was filled by `__getbuffer__`.
        unsafe { buffer_protocol::release(view) }
    }
}

fn layout_error(error: &ShapeError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

impl PyMemory {
    /// Foreign memory, of a pointer or of a buffer, as an object of this kind.
    fn adopt(
        py: Python<'_>,
        kind: MemoryKind,
        source: foreign::Source,
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<Bound<'_, PyAny>> {
        gil::enter();
        let queue = Where::new(device, queue, None).place()?.queue;
        let read_only = source.read_only;
        let allocation = foreign::adopt(&queue, kind, source)?;
        kinds::into_object(Self::whole(allocation, read_only), py)
    }
}
