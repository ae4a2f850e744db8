//! # What this is
//! The runtime of millpond: devices, queues, events, memory that is owned by smart pointers, and
//! the pools that it comes from. It names no backend and knows no arrays.
//!
//! # Model
//! A [`Device`] has a default [`Queue`] and a default [`Pool`] for each kind of memory. A queue
//! hands out [`Allocation`]s and takes commands on them; order follows from the allocations that
//! commands use, whichever queue or thread they come from. An [`Event`] is a place in a queue's
//! history that one can wait for.
//!
//! # Guarantees
//! * Submission never waits, but for the bounded backlog (rules O1, O4).
//! * Commands on the same memory take effect in the order of their submission (O2, O3).
//! * Dropping the last handle of an allocation neither waits nor calls a driver, and memory isn't
//!   reused before its last use but by commands ordered behind it (M1, M2).
//! * Failures surface at a wait, once, and reach whatever depends on them (O7).
//! * After [`shutdown()`] and in forked processes every call answers a clear error (O10).
//!
//! # Example
//! ```
//! use millpond_hal::Driver;
//! use millpond_hal::null::NullDriver;
//! use millpond_runtime::{Device, MemoryKind};
//!
//! let device = Device::open(NullDriver::default().devices()?.remove(0));
//! let queue = device.default_queue()?;
//! let memory = queue.allocate(MemoryKind::Device, 1024)?;
//! queue.wait()?;
//! assert_eq!(memory.bytes(), 1024);
//! # Ok::<(), millpond_runtime::Error>(())
//! ```
//!
//! # Where to look
//! [`memory`] for ownership, [`sharing`] for memory of several processes, [`queue`] for order,
//! [`pool`] for reuse, `ARCHITECTURE.md` for the life of a command and of an allocation.

// Tests that are shared with programs outside name the crate as these do.
#[cfg(test)]
extern crate self as millpond_runtime;

pub mod clock;
#[allow(unsafe_code, reason = "hands programs of others to the driver")]
pub mod device;
pub mod error;
pub mod event;
pub mod explain;
pub mod graph;
#[allow(unsafe_code, reason = "registers a fork handler")]
mod lifecycle;
#[allow(
    unsafe_code,
    reason = "recycles shared blocks and copies bytes between host and memory"
)]
pub mod memory;
#[allow(unsafe_code, reason = "gives segments back to the driver")]
pub mod pool;
#[allow(
    unsafe_code,
    reason = "submits commands, whose safety rules it upholds by tracking"
)]
pub mod queue;
pub mod registry;
#[allow(unsafe_code, reason = "imports memory of other processes")]
pub mod sharing;
pub mod shutdown;
#[allow(unsafe_code, reason = "streams are others', whose lives they promise")]
mod streams;
mod sync;
pub mod trace;
pub mod waiting;
mod weaken;

pub use device::Device;
pub use error::{Error, Result};
pub use event::{Event, Status};
pub use explain::{Closed, Execution, Explanation};
pub use graph::{
    Graph, GraphBuilder, GraphMemory, GraphOperand, GraphOptions, GraphUse, RequiredMemory,
};
pub use memory::{
    Allocation, Buffer, Host, HostMut, Operand, Release, View, ViewMut, drain_releases,
};
pub use millpond_hal::{
    Accelerator, Access, Address, Advice, DeviceClass, DeviceError, DeviceInfo, Entry, EntryInfo,
    Failure, FailureKind, Gate, Grid, HandleError, HostKernel, Partition, Pattern, Program,
    QueueOptions, Touch, Traffic,
};
pub use millpond_types::MemoryKind;
pub use pool::{
    AllocateOptions, Fit, Level, OutOfMemory, Pool, PoolOptions, Pressure, Reclaimer,
    RecordedPoint, RecordedUse, Recorder, Recording, RecordingWriter, Refused, Replay, Reuse,
    Scope, Statistics, Step, Tag, TagScope, Wait, Zero,
};
pub use queue::work::TaskResult;
pub use queue::{BACKLOG, Hold, INLINE_NANOSECONDS, Operands, Queue, Use, close_windows_at_random};
pub use registry::Registry;
pub use sharing::{Export, ImportedPool, MemoryHandle, PoolHandle};
pub use shutdown::shutdown;
pub use streams::StreamAllocator;
