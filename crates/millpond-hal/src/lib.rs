//! # What this is
//! The narrow waist between millpond's runtime and the processors it runs on: a handful of
//! object-safe traits, and commands as plain data.
//!
//! # Model
//! A [`Driver`] finds [`Device`]s. A device hands out raw memory and makes [`Queue`]s. A queue
//! takes [`Command`]s and answers with [`Point`]s, places in its history: a queue's id and a
//! sequence number. Points are plain data: nothing owns them, ids are never reused.
//!
//! # Guarantees
//! What callers owe:
//! * A1. Memory named by a command stays allocated until the command's point is reached.
//! * A2. Memory named by a command belongs to the device of the queue, or is host memory which
//!   that device can reach; that of a copy may belong to another device of the same driver.
//! * A3. Whatever must happen before a command is either earlier on the same in-order queue or
//!   among its `after` or `behind` points, which are points of queues of the same driver; the
//!   runtime bridges drivers with [`Gate`]s.
//! * A4. Calls to [`Queue::submit`] on one queue are serialised by the caller.
//!
//! What backends owe:
//! * B1. Sequence numbers of a queue count from 1 without gaps, in the order of `submit` calls.
//! * B2. Commands of an in-order queue take effect in sequence order. Commands of an out-of-order
//!   queue start when their `after` and `behind` points are reached; a [`Command::Barrier`] waits for every
//!   earlier command of its queue and holds every later one back.
//! * B3. A command one of whose `after` points failed is not run: it fails with the same
//!   [`Failure`]. Order alone, on an in-order queue or by `behind`, passes no failure on.
//! * B4. [`Progress::completed`] is the longest finished prefix, published with release order
//!   after the effects of its commands; a failed command counts as finished.
//! * B5. `submit` never waits for a command and never runs one on the calling thread. No backend
//!   runs foreign code while it holds a lock.
//! * B6. Dropping the last handle of a queue lets submitted commands finish.
//!
//! Deliberately not done here: pools, order across queues, retries, limits. A layer in
//! [`layers`] wraps a driver to check (`validate`), record (`trace`) or break (`fault`) it.
//!
//! # Example
//! ```
//! use millpond_hal::{Driver, null::NullDriver};
//! let devices = NullDriver::default().devices().unwrap();
//! assert_eq!(devices[0].info().backend, "null");
//! ```
//!
//! # Where to look
//! [`queue`] for the life of a command, [`command`] for what can be asked, [`kernel`] for code
//! that a host device runs, [`code`] for what other devices compile, [`library`] for what their
//! vendors have libraries for, [`program`] for what was compiled elsewhere, [`arena`] for memory that
//! other processes are given, [`driver_pool`] for pools that the driver itself has.

#[allow(
    unsafe_code,
    reason = "declares unsafe contracts of the interface, has no unsafe block"
)]
pub mod arena;
#[allow(
    unsafe_code,
    reason = "declares unsafe contracts of the interface, has no unsafe block"
)]
pub mod code;
pub mod command;
#[allow(
    unsafe_code,
    reason = "declares unsafe contracts of the interface, has no unsafe block"
)]
pub mod device;
pub mod driver;
pub mod driver_pool;
pub mod error;
pub mod gate;
pub mod info;
#[allow(
    unsafe_code,
    reason = "declares unsafe contracts of the interface, has no unsafe block"
)]
pub mod kernel;
#[allow(unsafe_code, reason = "passes unsafe calls on to the driver below")]
pub mod layers;
pub mod library;
pub mod life;
pub mod needs;
#[allow(
    unsafe_code,
    reason = "implements unsafe contracts of the interface; unsafe blocks are only in its tests"
)]
pub mod null;
pub mod point;
pub mod program;
#[allow(
    unsafe_code,
    reason = "declares unsafe contracts of the interface, has no unsafe block"
)]
pub mod queue;
pub mod recorder;
mod sync;
pub mod unordered;
pub mod watch;

pub use arena::{Arena, ArenaId, HandleError, Place};
pub use code::DeviceCode;
pub use command::{Address, Advice, Command, HostTask, Pattern, Submission, Touch};
pub use device::{Device, Partition, RawAllocation};
pub use driver::Driver;
pub use driver_pool::{DriverPool, DriverPoolOptions, DriverPoolState, DriverReuse};
pub use error::{DeviceError, Failure, FailureKind};
pub use gate::Gate;
pub use info::{Accelerator, Cache, DeviceClass, DeviceInfo, device_label};
pub use kernel::{Access, Footprint, Growing, HostKernel, KernelError, Moves, Traffic};
pub use library::LibraryWork;
pub use life::Life;
pub use point::{Point, Progress, QueueId};
pub use program::{Entry, EntryInfo, Grid, Program};
pub use queue::{Joined, Queue, QueueOptions, Times, Wait};
pub use watch::Watch;
