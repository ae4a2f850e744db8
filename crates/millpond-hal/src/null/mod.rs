//! # What this is
//! A driver without a device, for tests of everything above the driver interface.
//!
//! # Model
//! Memory is a range of addresses that no program can map, and a counter. Commands end in the
//! order that the contract asks for and touch no memory; gates, `after` points, barriers and
//! failures work as on a device. There is no thread: commands without foreign code end inside of
//! `submit`, while host tasks run on the thread that next asks how far a queue is (`reached`,
//! `outcome`, `wait`, `on_reached`), that opens a gate, drops a queue or shuts a device down.
//! Callbacks run on the thread that ended their command.
//!
//! A *manual* driver ends a command only when a test calls [`NullDriver::step`],
//! [`NullDriver::run_all`] or the same on a [`NullQueue`], so that every schedule can be written
//! down.
//!
//! # Guarantees
//! The rules B1 to B6 of the crate, but for the content of memory. Deliberately not done here:
//! times of commands, host kernels (a launch ends without running).
//!
//! # Example
//! ```
//! use millpond_hal::null::{NullDriver, NullOptions};
//! use millpond_hal::Driver;
//! let driver = NullDriver::with(NullOptions { devices: 2, ..NullOptions::default() });
//! assert_eq!(driver.devices().unwrap().len(), 2);
//! assert_eq!(driver.null_devices()[0].allocated_bytes(), 0);
//! ```
//!
//! # Where to look
//! `schedule` for what happens before what, `world` for who runs it, `device` for memory.

mod device;
mod queue;
mod schedule;
mod world;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::device::Device;
use crate::driver::Driver;
use crate::error::DeviceError;
use crate::point::QueueId;

pub use device::NullDevice;
pub use queue::NullQueue;
use world::World;

/// How a null driver is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullOptions {
    /// The number of devices.
    pub devices: usize,
    /// Whether commands end only when a test steps.
    pub manual: bool,
    /// Bytes that each device has.
    pub memory: usize,
}

impl Default for NullOptions {
    /// One device with a terabyte, not manual.
    fn default() -> Self {
        Self {
            devices: 1,
            manual: false,
            memory: 1 << 40,
        }
    }
}

/// A driver without a device; clones are handles to the same one.
#[derive(Clone, Debug)]
pub struct NullDriver {
    world: Arc<World>,
    devices: Vec<Arc<NullDevice>>,
}

impl NullDriver {
    /// A driver with this number of devices, not manual.
    #[must_use]
    pub fn new(devices: usize) -> Self {
        Self::with(NullOptions {
            devices,
            ..NullOptions::default()
        })
    }

    /// A driver with these options.
    #[must_use]
    pub fn with(options: NullOptions) -> Self {
        let world = Arc::new(World::new(options.manual));
        let devices = (0..options.devices)
            .map(|index| Arc::new(NullDevice::new(&world, index, &options)))
            .collect();
        Self { world, devices }
    }

    /// The devices with their own type.
    #[must_use]
    pub fn null_devices(&self) -> &[Arc<NullDevice>] {
        &self.devices
    }

    /// Ends one command of a queue, if one may start: the answer is its sequence number.
    pub fn step(&self, queue: QueueId) -> Option<u64> {
        self.world.step(Some(queue)).map(|point| point.sequence)
    }

    /// Ends every command that may start, on all queues, until none is left that may; the answer
    /// is their number.
    pub fn run_all(&self) -> usize {
        std::iter::from_fn(|| self.world.step(None)).count()
    }
}

impl Default for NullDriver {
    fn default() -> Self {
        Self::with(NullOptions::default())
    }
}

impl Driver for NullDriver {
    fn name(&self) -> &'static str {
        device::BACKEND
    }

    fn devices(&self) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        Ok(self
            .devices
            .iter()
            .map(|device| Arc::clone(device) as Arc<dyn Device>)
            .collect())
    }
}
