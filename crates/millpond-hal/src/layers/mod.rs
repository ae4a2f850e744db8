//! # What this is
//! Drivers over drivers: [`Validate`] checks calls, [`Order`] checks that what uses the same memory
//! is ordered, [`Trace`] records calls, [`Fault`] breaks them.
//!
//! # Model
//! [`Layered`] wraps the devices, parts and queues of a driver and hands each call to a
//! [`Layer`], which by default passes it on. Layers stack, as a layered driver is a driver.
//!
//! # Guarantees
//! A wrapped queue keeps its identity and its progress, so points mean the same above and below.
//! A layer holds no lock while it calls the driver below or foreign code; but [`Order`] holds its own
//! over a submission, as it has to see them in the order in which they are made. Deliberately not done
//! here: policy; a program that works with layers works without them.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use millpond_hal::Driver;
//! use millpond_hal::layers::{Layered, Trace, Validate};
//! use millpond_hal::null::NullDriver;
//!
//! let checked = Layered::new(Arc::new(NullDriver::default()), Validate::default());
//! let traced = Layered::new(Arc::new(checked), Trace::default());
//! let device = traced.devices().unwrap().remove(0);
//! device.shutdown();
//! assert_eq!(traced.layer().events().len(), 1);
//! ```
//!
//! # Where to look
//! `wrap` for what all layers share.

mod arena;
mod fault;
mod order;
mod trace;
mod validate;
mod wrap;

#[cfg(test)]
mod tests;

pub use fault::Fault;
pub use order::{Actor, Conflict, Order, Race};
pub use trace::{Trace, TraceCommand, TraceEvent};
pub use validate::Validate;
pub use wrap::{Layer, Layered, Site};
