//! # What this is
//! The CUDA backend: NVIDIA's devices, by the driver's own interface, which is loaded at run time. A
//! machine without it has no device, and no error.
//!
//! # Model
//! A [`CudaDriver`] finds the devices. Each has a context, the primary one that other libraries of
//! the process use as well, made when it is first needed. A queue gives its commands to a *lane*, a
//! stream with a counter in the host's memory: behind each command the stream writes its number
//! there. So a point is reached when a load says so, other streams wait for it by the same counter,
//! on any device, and no event is made. What the device can't do (host tasks, gates, large copies
//! from and to ordinary memory) is carried out by threads.
//!
//! # Guarantees
//! Rules B1 to B6 of [`millpond_hal`], and beyond:
//! * A command of the device is given to it at once, if all that it follows was: order between
//!   queues needs no thread.
//! * Copies between any two places are asynchronous: what goes from or to ordinary memory of the
//!   host goes through pinned buffers.
//! * Every call of the driver leaves the context that was current on the thread as it was.
//! * An error after which the context is of no use makes the device lost: what is unfinished fails
//!   with it, and every later call answers [`millpond_hal::DeviceError::Lost`] with the driver's
//!   words.
//!
//! * A kernel that has code for devices is compiled once and launched; any other is carried out by the
//!   host, in the same order and with the same outcome.
//!
//! Deliberately not done here: pools, and limits on the backlog. What the driver's own pools are
//! asked is here, what for is decided above. Not offered yet: memory that processes share, but that
//! of the driver's pools.
//!
//! # Example
//! ```
//! use millpond_cuda::{CudaConfig, CudaDriver};
//! use millpond_hal::Driver;
//!
//! let driver = CudaDriver::new(CudaConfig::default());
//! if driver.devices()?.is_empty() {
//!     println!("no device: {}", driver.report());
//! }
//! # Ok::<(), millpond_hal::DeviceError>(())
//! ```
//!
//! # Where to look
//! `api` for the driver's functions, `card` for a device and its errors, `lanes` for how work is
//! seen to finish, `queue` for the life of a command (`queue/line` is its state machine,
//! `queue/route.rs` decides who carries it out, `queue/launch.rs` launches kernels and
//! `queue/hosted.rs` has the host do so), `compiler` and `program` for what sources become, `order` for
//! programs that are made while others do their work, `memory` for the three kinds, `fake` for the driver
//! that the tests run on.

#![allow(
    unsafe_code,
    reason = "calls the driver and copies on raw addresses; each block argues"
)]

mod api;
mod card;
mod clock;
mod compiler;
mod courier;
mod crew;
mod device;
mod driver;
#[cfg(test)]
mod fake;
mod lanes;
mod library;
mod memory;
mod order;
mod pace;
mod program;
mod queue;
mod reports;
mod scratch;
mod search;
mod staging;
mod station;
mod streams;
mod table;
mod tried;

pub use driver::{CudaConfig, CudaDriver};
