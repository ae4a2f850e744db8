//! # What this is
//! The Python extension `millpond._millpond`: classes and conversions over the facade crate. What
//! is better said in Python lies in `python/src/millpond`.
//!
//! # Model
//! `runtime` has devices, queues, events, gates and tasks; `memory` has memory objects and
//! pools; `tensor` has arrays; `interop` exchanges memory with others, and hands objects to native
//! extensions.
//!
//! # Guarantees
//! * Every wait, and every call that may wait, runs with the interpreter lock released (rule O9),
//!   and Ctrl-C interrupts it; `gil.rs` is the only file that releases it.
//! * No thread of a backend touches a Python object: callables run on a thread of Python's own
//!   (`runtime/service`), owners of foreign memory are let go at the next call (rule M3).
//! * Classes are frozen and hold no cells, so that they are safe without an interpreter lock.
//!
//! # Example
//! ```python
//! import millpond
//! queue = millpond.default_device().default_queue
//! queue.record().wait()
//! ```
//!
//! # Where to look
//! `error.rs` for the mapping of errors to exceptions, `gil.rs` for waits.

mod error;
mod gil;
mod integer;
mod interop;
#[allow(unsafe_code, reason = "asks Python for its interpreter")]
mod interpreter;
mod memory;
mod runtime;
mod tensor;

use pyo3::prelude::*;

/// The extension module.
#[pymodule(gil_used = false)]
fn _millpond(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    gil::install();
    interpreter::register(module)?;
    runtime::register(module)?;
    memory::register(module)?;
    tensor::register(module)?;
    interop::allocator::register(module)?;
    interop::native::register(module)
}
