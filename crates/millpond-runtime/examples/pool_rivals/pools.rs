//! Pools of this runtime, as one of the allocators.

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{
    Allocation, Device, MemoryKind, Pool, PoolOptions, Queue, Registry, Result,
};

use crate::allocator::Allocator;

/// A pool and the queue that it is asked on.
#[derive(Debug)]
pub(crate) struct Millpond {
    pub(crate) queue: Queue,
    pub(crate) pool: Pool,
}

/// A device without memory, whose commands end at once.
pub(crate) fn device() -> Device {
    device_of(NullDriver::with(NullOptions {
        memory: 4 << 40,
        ..NullOptions::default()
    }))
}

/// The device of a driver.
pub(crate) fn device_of(driver: NullDriver) -> Device {
    let devices = Registry::new(&[Arc::new(driver) as Arc<dyn Driver>]);
    devices.default_device().unwrap()
}

impl Millpond {
    /// A new pool that may have so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self::on(&device(), bytes)
    }

    /// The same on a device.
    pub(crate) fn on(device: &Device, bytes: usize) -> Self {
        let options = PoolOptions {
            maximum_size: Some(bytes),
            ..PoolOptions::default()
        };
        Self::with(device, options).unwrap()
    }

    fn with(device: &Device, options: PoolOptions) -> Result<Self> {
        Ok(Self {
            queue: device.default_queue()?,
            pool: device.create_pool(MemoryKind::Device, options)?,
        })
    }
}

impl Allocator for Millpond {
    type Block = Allocation;

    const NAME: &'static str = "millpond";

    #[inline]
    fn allocate(&self, bytes: usize) -> Option<Allocation> {
        self.queue.allocate_from(&self.pool, bytes).ok()
    }

    #[inline]
    fn free(&self, block: Allocation) {
        drop(block);
    }

    fn reserved(&self) -> Option<usize> {
        Some(self.pool.statistics().reserved_high)
    }

    fn with_own_queue(&self) -> Option<Self> {
        Some(Self {
            queue: self
                .pool
                .device()
                .create_queue(&millpond_hal::QueueOptions::default())
                .ok()?,
            pool: self.pool.clone(),
        })
    }
}

/// A pool of the device's driver, which keeps what it has.
#[derive(Debug)]
pub(crate) struct OfDriver(Millpond);

impl OfDriver {
    pub(crate) const NAME: &'static str = "driver's pool";

    /// A new one, if the driver has any.
    pub(crate) fn on(device: &Device) -> Option<Self> {
        let options = PoolOptions {
            native: true,
            ..PoolOptions::default()
        };
        Millpond::with(device, options).map(Self).ok()
    }
}

impl Allocator for OfDriver {
    type Block = Allocation;

    const NAME: &'static str = Self::NAME;

    fn allocate(&self, bytes: usize) -> Option<Allocation> {
        self.0.allocate(bytes)
    }

    fn free(&self, block: Allocation) {
        self.0.free(block);
    }

    fn reserved(&self) -> Option<usize> {
        self.0.reserved()
    }
}
