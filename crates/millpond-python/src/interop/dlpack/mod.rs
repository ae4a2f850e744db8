//! DLPack 1.x: arrays exchanged with other libraries without copies.
//!
//! Memory of NVIDIA's devices is exported as theirs. Whoever takes it over names a stream, which comes behind
//! what is pending on our side. From then on our commands on such memory finish before the call that submits
//! them returns, as on memory that host code has seen. `exchange.rs` says how streams are told of where the
//! consumer is an extension.
//!
//! Memory of devices that run on the host is exported as memory of the CPU, whatever its kind:
//! the exchange is between array libraries, which ask for a device and get one, not a look of the
//! host at its bytes. As with buffers, the export waits for what is pending on the array.

mod capsule;
mod device;
mod exchange;
mod export;
mod import;
mod structure;

pub(crate) use device::{device_of, register};
pub(crate) use exchange::table;
pub(crate) use export::export;
pub(crate) use import::import;

/// Memory that the CPU reaches (`kDLCPU`).
const CPU: i32 = 1;

/// Memory that a device of NVIDIA's reaches (`kDLCUDA`).
const CUDA: i32 = 2;

/// Memory of the host that such devices reach as well (`kDLCUDAHost`).
const CUDA_HOST: i32 = 3;

/// Memory that NVIDIA's driver moves (`kDLCUDAManaged`).
const CUDA_MANAGED: i32 = 13;
