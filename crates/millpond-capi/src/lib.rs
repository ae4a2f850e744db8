//! # What this is
//! The C interface of millpond: `millpond.h`, for programs that link to the library, and the table
//! of the same functions, for extensions of an interpreter that runs millpond already.
//!
//! # Model
//! C holds counted [handles](handle) of devices, queues, events, gates, memory, pools and arrays.
//! Functions answer a [`Status`](status::Status) and give results through their last arguments;
//! what went wrong is kept for the thread. Plain data, enumerations and text are in [`data`] and
//! [`number`], what is called later in [`task`].
//!
//! # Guarantees
//! * A parameter's type says who owns what it points to, in Rust and in the header.
//! * What is marked as taken is taken whatever the call answers, and let go of exactly once.
//! * No panic crosses the border; no number that C passes is trusted to name something.
//! * Handles may be used by any thread, and released while work is pending: nothing waits.
//! * The [`table`] only grows: programs compiled with an older header run.
//!
//! # Example
//! ```c
//! mp_device *device;
//! mp_queue *queue;
//! mp_memory *memory;
//! if (mp_device_default(&device) || mp_device_queue(device, &queue)
//!     || mp_memory_allocate(queue, MP_MEMORY_SHARED, 1024, &memory)) {
//!     fprintf(stderr, "%s\n", mp_error_message());
//! }
//! ```
//!
//! # Where to look
//! `docs/guides/native.md` for how to use it, `python/src/millpond/include` for the headers, which
//! [`bindings`] prints; [`describe`] for how a function is declared. A new function is written in
//! the module of its object and appended to the [`table`].
#![allow(unsafe_code, reason = "a C interface is made of pointers")]
#![allow(
    clippy::doc_markdown,
    reason = "what headers show is written as their documentation is"
)]

pub mod array;
pub mod bindings;
pub mod data;
pub mod describe;
pub mod device;
pub mod event;
pub mod general;
pub mod handle;
pub mod memory;
pub mod number;
mod panic;
pub mod pool;
pub mod python;
pub mod queue;
pub mod status;
pub mod table;
pub mod task;
