//! DLPack 1.x: arrays exchanged with other libraries without copies.
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
