//! # What this is
//! The host backend: runs millpond's commands on the processor's cores, in the machine's memory.
//! Always present, needs nothing but the operating system (Linux).
//!
//! # Model
//! A [`CpuDriver`] finds one device, or one for each list of cores that its [`CpuConfig`] names.
//! A device has worker threads, started as work comes, and a board on which its queues offer what
//! may start. Kernels, and large copies and fills, are cut into chunks which any number of threads
//! take; everything else runs whole on one thread. A thread that waits for a queue takes part, so
//! a small command that is submitted and waited for runs on the calling thread, with no other
//! involved. All three kinds of memory are the same here and keep their names.
//!
//! # Guarantees
//! Rules B1 to B6 of [`millpond_hal`], and beyond:
//! * Submission and completion take constant time, whatever the backlog; chains of any length use
//!   constant stack. Waiting for points and gates occupies no thread.
//! * A command doesn't stay unstarted while a worker is free. A worker that sleeps in a host task
//!   because it waits for a queue is replaced meanwhile, so nested waits don't starve.
//! * A panic in foreign code becomes the command's failure. A gate whose every handle is dropped
//!   fails. What a command holds is dropped before its point is reached.
//! * Allocations are aligned to 64 bytes, those from 2 MiB on to a huge page.
//! * Shared and host memory of an arena can be given to other processes: a file in memory, sealed
//!   against becoming shorter, that every process maps.
//! * Shutdown waits for what runs; what stands still for a second is made to fail.
//!
//! Deliberately not done here: pools, limits on the backlog, order across queues beyond the points
//! that a submission names; a queue that has ended takes its failures with it.
//!
//! # Example
//! ```
//! use millpond_cpu::{CpuConfig, CpuDriver};
//! use millpond_hal::{Command, Driver, QueueOptions, Submission, Wait};
//!
//! let driver = CpuDriver::new(CpuConfig::default());
//! let device = driver.devices()?.remove(0);
//! let queue = device.create_queue(&QueueOptions::default())?;
//! let task = Command::Task {
//!     name: "example".into(),
//!     task: Box::new(|| Err("no luck".to_owned())),
//! };
//! // SAFETY: a task names no memory, and no other thread submits.
//! let point = unsafe { queue.submit(Submission::new(task)) }?;
//! assert_eq!(queue.wait(point.sequence, None), Wait::Reached);
//! let failure = queue.outcome(point.sequence).unwrap().unwrap_err();
//! assert_eq!(failure.to_string(), "host task example failed: no luck");
//! # Ok::<(), millpond_hal::DeviceError>(())
//! ```
//!
//! # Where to look
//! `queue` for the life of a command (`queue/line.rs` is its state machine), `executor` for the
//! threads (`executor/board.rs` decides who is woken, `executor/spread.rs` shares a kernel),
//! `memory` and `topology` for what the system gives.

#![allow(
    unsafe_code,
    reason = "runs kernels and copies on raw addresses, maps memory; each block argues"
)]

mod arena;
mod device;
mod driver;
mod executor;
mod memory;
mod queue;
mod sync;
mod topology;

pub use driver::{CpuConfig, CpuDriver};
