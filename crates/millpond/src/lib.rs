//! # What this is
//! millpond for Rust programs: devices, queues, events, memory that is given out and taken back in
//! the order of queues, and arrays that are computed on it asynchronously. This is the only crate
//! that names backends; a program needs no other.
//!
//! # Model
//! * A [`Device`] is a processor with its memory. [`devices`] lists them; there is always a CPU.
//! * A [`Queue`] is an ordered line of commands on a device: [`Queue::call`] over typed buffers,
//!   copies, fills, host tasks, barriers, and the operations of arrays.
//! * An [`Event`] is a place in a queue's history that one can wait for; a [`Gate`] holds a queue
//!   until somebody opens it.
//! * A [`Buffer`] owns elements of one type alone; an [`Allocation`] is a counted handle to bytes.
//!   Both come from a [`Pool`] of their device and [`MemoryKind`]: its current one, or one that is
//!   named, with limits of its own.
//! * A [`Graph`] is a list of commands and allocations that is recorded once and launched many
//!   times.
//! * A [`tensor::Tensor`] is a dtype and a layout over an allocation.
//!
//! # Guarantees
//! * Submitting doesn't wait, except for room when a queue's backlog is full (rule O4).
//! * The result is that of a program that runs line by line, whichever queues and threads share
//!   memory: order is kept for each allocation, and events are needed for foreign work only
//!   (O1 to O3).
//! * Looking at a value waits for what it shows, and for nothing else (O5).
//! * Dropping memory while work on it is pending is safe and doesn't wait (M1, M2).
//! * Work that fails later tells it at a wait, once, and fails what depends on it and nothing else
//!   (O7).
//! * After [`shutdown`] and in forked processes, calls answer a clear error (O10).
//! * Handles are `Send` and `Sync`.
//! * Code of one's own can't reach memory that a command uses; the compiler refuses it, as the
//!   following.
//!
//! A buffer can't be written while a host view of it lives:
//!
//! ```compile_fail,E0502
//! use millpond::{Buffer, MemoryKind};
//! # fn main() -> Result<(), millpond::Error> {
//! # let queue = millpond::default_device()?.default_queue()?;
//! let mut x = Buffer::from_slice(&queue, MemoryKind::Shared, &[1.0_f32])?;
//! let seen = x.host()?;
//! queue.call("add", (&mut x,), |(x,)| x[0] += 1.0)?;
//! println!("{}", seen[0]);
//! # Ok(()) }
//! ```
//!
//! A host view can't outlive its buffer:
//!
//! ```compile_fail,E0505
//! use millpond::{Buffer, MemoryKind};
//! # fn main() -> Result<(), millpond::Error> {
//! # let queue = millpond::default_device()?.default_queue()?;
//! let x = Buffer::from_slice(&queue, MemoryKind::Shared, &[1.0_f32])?;
//! let seen = x.host()?;
//! drop(x);
//! println!("{}", seen[0]);
//! # Ok(()) }
//! ```
//!
//! A call gets elements of the buffers' types, and of no others:
//!
//! ```compile_fail,E0631
//! use millpond::{Buffer, MemoryKind};
//! # fn main() -> Result<(), millpond::Error> {
//! # let queue = millpond::default_device()?.default_queue()?;
//! let x = Buffer::from_slice(&queue, MemoryKind::Shared, &[1.0_f32])?;
//! queue.call("read", (&x,), |(x,): (&[f64],)| assert_eq!(x[0], 1.0))?;
//! # Ok(()) }
//! ```
//!
//! # Example
//! ```
//! use millpond::tensor::{Place, creation};
//! use millpond::{Buffer, MemoryKind};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let queue = millpond::default_device()?.default_queue()?;
//!
//! // Buffers and code of one's own.
//! let x = Buffer::from_slice(&queue, MemoryKind::Device, &[1.0_f32, 2.0, 3.0])?;
//! let mut y = Buffer::zeroed(&queue, MemoryKind::Device, 3)?;
//! queue.call("double", (&x, &mut y), |(x, y)| {
//!     for (y, x) in y.iter_mut().zip(x) {
//!         *y = 2.0 * x;
//!     }
//! })?;
//! assert_eq!(y.to_vec()?, [2.0, 4.0, 6.0]);
//!
//! // Arrays and operations that are there.
//! let z = creation::from_slice(&[1.0, 4.0, 9.0], &[3], &Place::on(&queue))?;
//! let roots = (&z.sqrt()? + 1)?;
//! assert_eq!(roots.to_vec::<f64>()?, [2.0, 3.0, 4.0]);
//! # Ok(()) }
//! ```
//!
//! # Where to look
//! [`runtime`] for devices, queues and memory; [`tensor`] for arrays; [`types`] for dtypes and
//! layouts; [`kernel`] for the operations there are. The numbered programs in `examples/` of this
//! crate go through all of it; `docs/` has guides, `ARCHITECTURE.md` the reasons.
#![forbid(unsafe_code)]

mod pages;
mod process;
mod recording;

pub use millpond_kernel as kernel;
pub use millpond_runtime as runtime;
pub use millpond_tensor as tensor;
pub use millpond_types as types;

#[doc(inline)]
pub use millpond_hal::layers::{Actor, Conflict, Race};
#[doc(inline)]
pub use millpond_runtime::{
    Access, Address, AllocateOptions, Allocation, Buffer, Device, Error, Event, Export, Failure,
    FailureKind, Fit, Gate, Graph, GraphBuilder, GraphMemory, GraphOperand, GraphOptions, GraphUse,
    HandleError, Host, HostMut, ImportedPool, Level, MemoryHandle, MemoryKind, OutOfMemory,
    Partition, Pattern, Pool, PoolHandle, PoolOptions, Pressure, Queue, QueueOptions, Reclaimer,
    RecordedPoint, Recorder, Recording, RecordingWriter, Refused, Release, Replay, RequiredMemory,
    Result, Reuse, Scope, Statistics, Status, Step, Tag, TagScope, Touch, Use, View, ViewMut, Wait,
    Zero,
};
#[doc(inline)]
pub use millpond_types::{DType, Scalar};
pub use process::{
    cuda_compiler_report, cuda_library_reports, cuda_report, default_device, device, devices,
    look_in_packages, registry, shutdown, take_races,
};
pub use recording::recording_problem;
