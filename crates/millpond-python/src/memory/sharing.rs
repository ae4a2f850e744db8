//! Memory given to other processes, and had from them.
//!
//! What `multiprocessing` sends of it is in `_sharing.py`.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use millpond::runtime::{Export, ImportedPool, MemoryHandle, PoolHandle};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyTuple, PyType};

use crate::error::Raise;
use crate::gil;
use crate::memory::pool::PyPool;
use crate::memory::{PyMemory, kinds};
use crate::runtime::{PyDevice, PyQueue};
use crate::tensor::place::{DeviceLike, Where, device_or_default};

/// Something that can be closed, once or more often.
struct Closable<T> {
    inner: Mutex<Option<T>>,
    /// What messages call it.
    name: &'static str,
}

impl<T> Closable<T> {
    fn new(inner: T, name: &'static str) -> Self {
        Self {
            inner: Mutex::new(Some(inner)),
            name,
        }
    }

    /// # Errors
    /// `ValueError` once it was closed.
    fn with<R>(&self, body: impl FnOnce(&T) -> R) -> PyResult<R> {
        self.lock()
            .as_ref()
            .map(body)
            .ok_or_else(|| PyValueError::new_err(format!("the {} was closed", self.name)))
    }

    fn close(&self) {
        // Dropped without the lock, since it may be the end of memory.
        let inner = self.lock().take();
        drop(inner);
    }

    fn is_closed(&self) -> bool {
        self.lock().is_none()
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        // What it holds is taken or left, whatever the thread that held the lock did later.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory that other processes may open, until this is closed or let go.
///
/// They need `data`, and the descriptor `fd`, which is the same for all memory of a pool. Sent by
/// `multiprocessing`, it arrives as a `MemoryHandle` that has both.
///
/// The memory is kept until then, and is not handed out again. Whoever has it open should let go
/// before: later the bytes may be used for something else. The memory counts as shared with the
/// host, so commands on it are done when the call returns that submits them.
#[pyclass(frozen, weakref, name = "Export", module = "millpond.memory")]
struct PyExport(Closable<Export>);

#[pymethods]
impl PyExport {
    /// What another process needs beside the descriptor.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.with(|export| export.handle().to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The descriptor that goes with it. It is open until this is closed.
    #[getter]
    fn fd(&self) -> PyResult<RawFd> {
        self.0.with(|export| export.as_fd().as_raw_fd())
    }

    /// The same as `fd`.
    fn fileno(&self) -> PyResult<RawFd> {
        self.fd()
    }

    /// Number of bytes.
    #[getter]
    fn nbytes(&self) -> PyResult<usize> {
        self.0.with(|export| export.handle().bytes())
    }

    /// Kind of memory: 'shared' or 'host'.
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        self.0.with(|export| export.handle().kind().name())
    }

    /// Whether it was closed.
    #[getter]
    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Keep the memory no longer. Closing twice does nothing.
    fn close(&self) {
        gil::enter();
        self.0.close();
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().nbytes()?;
        Ok(slf)
    }

    fn __exit__(
        &self,
        _kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) {
        self.close();
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let module = slf.py().import("millpond._sharing")?;
        Ok(module.call_method1("reduce", (slf,))?.cast_into()?)
    }

    fn __repr__(&self) -> String {
        self.0
            .with(|export| {
                let (handle, descriptor) = (export.handle(), export.as_fd().as_raw_fd());
                let (bytes, kind) = (handle.bytes(), handle.kind());
                format!("<Export of {bytes} bytes of {kind} memory, fd {descriptor}>")
            })
            .unwrap_or_else(|_| "<Export, closed>".to_owned())
    }
}

/// A pool of another process, opened by what its `Pool.handle` says.
///
/// Nothing can be allocated from it; memory of it that the other process exports is opened by its
/// `data` alone, without a descriptor.
#[pyclass(frozen, weakref, name = "ImportedPool", module = "millpond.memory")]
struct PyImportedPool(Closable<ImportedPool>);

#[pymethods]
impl PyImportedPool {
    #[new]
    #[pyo3(signature = (data, fd, *, device=None))]
    fn new(
        py: Python<'_>,
        data: &[u8],
        #[pyo3(from_py_with = descriptor)] fd: RawFd,
        device: Option<DeviceLike>,
    ) -> PyResult<Self> {
        let device = device_or_default(device)?;
        let import = || device.import_pool(&PoolHandle::from_bytes(data)?, borrowed(fd));
        let pool = gil::submit(py, import)?;
        Ok(Self(Closable::new(pool, "imported pool")))
    }

    /// Open memory of the pool, for a queue, by the `data` of its export.
    #[pyo3(signature = (data, *, queue=None))]
    #[allow(unsafe_code, reason = "whoever opens memory promises to take turns")]
    fn open<'py>(
        &self,
        py: Python<'py>,
        data: &[u8],
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let pool = self.0.with(Clone::clone)?;
        let queue = match queue {
            Some(queue) => queue.get().0.clone(),
            None => pool.device().default_queue().raise()?,
        };
        let memory = gil::submit(py, || {
            let handle = MemoryHandle::from_bytes(data)?;
            // SAFETY: the documentation of sharing asks the processes to take turns.
            unsafe { pool.import_memory(&queue, &handle) }
        })?;
        PyMemory::object(py, memory)
    }

    /// Kind of memory: 'shared' or 'host'.
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        self.0.with(|pool| pool.kind().name())
    }

    /// Device that reaches the memory here.
    #[getter]
    fn device(&self) -> PyResult<PyDevice> {
        self.0.with(|pool| PyDevice(pool.device().clone()))
    }

    /// Whether it was closed.
    #[getter]
    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Open no more memory. What is open stays valid. Closing twice does nothing.
    fn close(&self) {
        gil::enter();
        self.0.close();
    }

    fn __repr__(&self) -> String {
        self.0
            .with(|pool| {
                format!(
                    "<ImportedPool of {} memory on {}>",
                    pool.kind(),
                    pool.device()
                )
            })
            .unwrap_or_else(|_| "<ImportedPool, closed>".to_owned())
    }
}

#[pymethods]
impl PyMemory {
    /// Let other processes open these bytes, until the answer is closed or let go.
    ///
    /// The memory must come from a pool made with `shareable=True`. What was submitted on it is
    /// done when this returns, and later commands when the call returns that submits them.
    fn export(&self, py: Python<'_>) -> PyResult<PyExport> {
        self.check_writable("export")?;
        let part = self.range("export", 0, None)?;
        let memory = self.allocation()?;
        gil::wait_idle(py, &memory)?;
        let export = gil::submit(py, || memory.export(part))?;
        Ok(PyExport(Closable::new(export, "export")))
    }

    /// Memory of another process, by the `data` and the descriptor of its export.
    ///
    /// The descriptor, a number or an object with `fileno`, may be closed afterwards. The memory
    /// stays valid whatever becomes of the other process; when the export is closed the bytes may
    /// be used there for something else. Nothing orders what the processes do: they should take
    /// turns. Of `Memory`, or of the class of its kind.
    #[classmethod]
    #[pyo3(signature = (data, fd, *, device=None, queue=None))]
    #[allow(unsafe_code, reason = "whoever opens memory promises to take turns")]
    fn from_handle<'py>(
        class: &Bound<'py, PyType>,
        data: &[u8],
        #[pyo3(from_py_with = descriptor)] fd: RawFd,
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        let queue = Where::new(device, queue, None).place()?.queue;
        let handle = MemoryHandle::from_bytes(data).map_err(millpond::Error::from);
        let handle = handle.raise()?;
        if let Ok(kind) = kinds::kind_of(class)
            && kind != handle.kind()
        {
            return Err(PyTypeError::new_err(format!(
                "from_handle: a handle to {} memory makes a {}, not a {}",
                handle.kind(),
                kinds::class_name(handle.kind()),
                kinds::class_name(kind)
            )));
        }
        // SAFETY: the documentation of sharing asks the processes to take turns.
        let import = || unsafe { queue.import_memory(&handle, borrowed(fd)) };
        PyMemory::object(py, gil::submit(py, import)?)
    }
}

#[pymethods]
impl PyPool {
    /// What other processes open the pool by; they then open memory of it by the `data` of its
    /// exports alone.
    ///
    /// The pool must be made with `shareable=True`. The handle keeps neither the pool nor memory.
    fn handle<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.0.handle().raise()?;
        let descriptor = self.0.descriptor().raise()?.as_raw_fd();
        let class = py.import("millpond._sharing")?.getattr("PoolHandle")?;
        class.call1((PyBytes::new(py, &handle.to_bytes()), descriptor))
    }
}

/// A descriptor, as Python's own calls take them.
///
/// # Errors
/// `TypeError` for what is none; `ValueError` for a negative number.
fn descriptor(object: &Bound<'_, PyAny>) -> PyResult<RawFd> {
    let number = if object.is_instance_of::<PyInt>() {
        object.clone()
    } else {
        object
            .call_method0("fileno")
            .map_err(|_| PyTypeError::new_err("fd: expected a number or an object with fileno()"))?
    };
    match number.extract::<RawFd>() {
        Ok(number) if number >= 0 => Ok(number),
        _ => Err(PyValueError::new_err(format!(
            "fd: {number} is not a file descriptor"
        ))),
    }
}

/// The descriptor of this number for the length of a call.
#[allow(unsafe_code, reason = "Python has descriptors as numbers")]
fn borrowed<'a>(number: RawFd) -> BorrowedFd<'a> {
    // SAFETY: the number isn't negative. Callers duplicate the descriptor, which fails cleanly if
    // it isn't open, and use nothing else of it.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Adds the classes to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyExport>()?;
    module.add_class::<PyImportedPool>()
}
