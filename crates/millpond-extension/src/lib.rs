//! # What this is
//! Arrays, queues and events of the interpreter's millpond for Python extensions in Rust, which are
//! written with [PyO3](https://pyo3.rs).
//!
//! # Model
//! An extension that linked the crate `millpond` would have a runtime of its own, to which arrays of
//! Python mean nothing. This crate has none: it finds the table of functions that the `millpond`
//! of the interpreter shows, and gives them types. An [`Array`] is an argument or a result of a
//! `#[pyfunction]` like any other type; [`Queue::submit`] runs a closure over slices of arrays, in
//! order with everything else that uses the same memory.
//!
//! # Guarantees
//! * There is one runtime in the process, whichever extensions it has.
//! * Handles are counted, may be used by any thread, and may go while work is pending.
//! * A task's slices don't overlap unless they are all read, and nothing else of millpond writes
//!   what it reads, or touches what it writes, while it runs. NumPy or another library that shares the
//!   memory is the caller's to keep away, as in any extension.
//! * An extension works with every later version of millpond; one that is too old is an
//!   `ImportError`.
//!
//! # Example
//! ```
//! use millpond_extension::{Array, Event};
//! use pyo3::prelude::*;
//!
//! /// Squares an array in place; returns before that is done.
//! #[pyfunction]
//! fn square(x: Array) -> PyResult<Event> {
//!     let squared = x.queue()?.submit(c"square", (x.updates::<f64>()?,), |(x,)| {
//!         x.iter_mut().for_each(|x| *x *= *x);
//!     });
//!     Ok(squared?)
//! }
//!
//! #[pymodule]
//! fn example(module: &Bound<'_, PyModule>) -> PyResult<()> {
//!     millpond_extension::import(module.py())?;
//!     module.add_function(wrap_pyfunction!(square, module)?)
//! }
//! ```
//!
//! # Where to look
//! [`Array`] for what can be asked of one, [`Queue`] for tasks, [`raw`] for the functions that have
//! no type here. `examples/native/rust` is a whole extension.
#![allow(unsafe_code, reason = "a C interface is made of pointers")]

mod array;
mod element;
mod error;
mod event;
mod handle;
mod import;
mod queue;
#[allow(
    non_camel_case_types,
    clippy::doc_markdown,
    reason = "what C sees is named and documented as in the header"
)]
#[rustfmt::skip]
pub mod raw;
mod task;

pub use array::{Array, Reads, Updates, Writes};
pub use element::Element;
pub use error::{Error, Result};
pub use event::{Event, State};
pub use import::{import, live_handles, table};
pub use queue::Queue;
pub use task::{Operands, Outcome};
