//! # What this is
//! millpond for Rust programs: devices, queues, events, memory, pools and arrays. The only crate
//! that names backends.
//!
//! # Where to look
//! [`runtime`] for devices, queues and memory; [`tensor`] for arrays; [`types`] for dtypes.
#![forbid(unsafe_code)]

mod process;

pub use millpond_kernel as kernel;
pub use millpond_runtime as runtime;
pub use millpond_tensor as tensor;
pub use millpond_types as types;

pub use millpond_runtime::{
    Allocation, Device, Error, Event, Gate, MemoryKind, Pool, Queue, QueueOptions, Statistics,
};
pub use millpond_types::{DType, Scalar};
pub use process::{default_device, device, devices, registry, shutdown};
