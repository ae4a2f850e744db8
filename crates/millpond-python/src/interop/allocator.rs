//! Our pools as allocators of other libraries.
//!
//! `StreamAllocator` is called by libraries that take functions of Python. Those that take functions of C from
//! a library, such as PyTorch, find `millpond_malloc` and `millpond_free` in the extension itself, so that what
//! they allocate and our arrays come from the same pool. They serve from the allocator that was installed for
//! the device, and need no interpreter.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use millpond::runtime::{Address, StreamAllocator};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::gil;
use crate::interop::stream::StreamLike;
use crate::memory::PyPool;

/// Allocators by the numbers of their devices, for the functions of C. They are never taken out: what was
/// allocated comes back to the one that it is from.
static INSTALLED: Mutex<Option<HashMap<c_int, Arc<StreamAllocator>>>> = Mutex::new(None);

/// A pool as the allocator of another library, in the order of that library's streams.
///
/// What is allocated for a stream may be used by what the stream is given from then on, and what is freed on a
/// stream serves again behind what the stream was given so far: no host waits. Streams are numbers or objects, as
/// for `Queue.follow_stream`.
#[pyclass(frozen, name = "StreamAllocator", module = "millpond.memory")]
struct PyStreamAllocator(Arc<StreamAllocator>);

#[pymethods]
impl PyStreamAllocator {
    #[new]
    fn new(pool: &PyPool) -> Self {
        Self(Arc::new(StreamAllocator::new(&pool.0)))
    }

    /// The pool.
    #[getter]
    fn pool(&self) -> PyPool {
        PyPool(self.0.pool().clone())
    }

    /// How many allocations are handed out.
    #[getter]
    fn live(&self) -> usize {
        self.0.live()
    }

    /// Allocate bytes for a stream; the answer is the address.
    fn malloc(&self, py: Python<'_>, nbytes: usize, stream: StreamLike) -> PyResult<usize> {
        let answer = gil::submit(py, || {
            // SAFETY: the caller says that it is a stream which lives.
            unsafe { self.0.allocate(nbytes, stream.0) }
        });
        answer.map(Address::get)
    }

    /// Free what `malloc` answered, on any stream.
    fn free(&self, py: Python<'_>, address: usize, stream: StreamLike) -> PyResult<()> {
        gil::submit(py, || {
            // SAFETY: as above.
            unsafe { self.0.free(Address::new(address), stream.0) }
        })
    }

    /// Have the functions of C allocate from here, for the device of the pool; the answer is where they are: the
    /// path of the library, and the names of the functions that allocate and free.
    ///
    /// A device has one such allocator, for as long as the process lives.
    fn install(&self, py: Python<'_>) -> PyResult<(String, &'static str, &'static str)> {
        let device = self.0.pool().device();
        // Devices without streams have no use for it.
        gil::submit(py, || device.stream())?;
        let number = device.info().index as c_int;
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = installed.get_or_insert_default();
        let kept = known.entry(number).or_insert_with(|| Arc::clone(&self.0));
        if !Arc::ptr_eq(kept, &self.0) {
            return Err(PyValueError::new_err(format!(
                "StreamAllocator.install: {device} has one already, of {}",
                kept.pool().name()
            )));
        }
        let path = py.import("millpond._millpond")?.getattr("__file__")?;
        Ok((path.extract()?, "millpond_malloc", "millpond_free"))
    }

    fn __repr__(&self) -> String {
        let pool = self.0.pool();
        format!(
            "<StreamAllocator of '{}', {} live>",
            pool.name(),
            self.live()
        )
    }
}

fn installed(device: c_int) -> Option<Arc<StreamAllocator>> {
    let installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    installed.as_ref()?.get(&device).cloned()
}

/// Allocates for a stream, for libraries that look the function up by its name; null where that isn't possible.
#[unsafe(no_mangle)]
extern "C" fn millpond_malloc(bytes: isize, device: c_int, stream: *mut c_void) -> *mut c_void {
    let allocate = || {
        let allocator = installed(device)?;
        let bytes = usize::try_from(bytes).ok()?;
        // SAFETY: the library says that it is a stream which lives.
        let address = unsafe { allocator.allocate(bytes, handle(stream)) };
        Some(address.ok()?.as_ptr())
    };
    let answer = catch_unwind(AssertUnwindSafe(allocate)).ok().flatten();
    answer.unwrap_or(std::ptr::null_mut())
}

/// Frees what `millpond_malloc` answered. What can't be freed, as its stream is being recorded, is kept.
#[unsafe(no_mangle)]
extern "C" fn millpond_free(
    address: *mut c_void,
    _bytes: isize,
    device: c_int,
    stream: *mut c_void,
) {
    let free = || {
        let allocator = installed(device)?;
        let address = Address::of(address.cast_const());
        // SAFETY: as above.
        unsafe { allocator.free(address, handle(stream)) }.ok()
    };
    let _ = catch_unwind(AssertUnwindSafe(free));
}

/// A stream's number; CUDA's null is the default stream.
fn handle(stream: *mut c_void) -> usize {
    match stream.addr() {
        0 => super::stream::LEGACY,
        handle => handle,
    }
}

/// Adds the class.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyStreamAllocator>()
}
