//! Pools of this runtime, as one of the allocators.

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{Allocation, Device, MemoryKind, Pool, PoolOptions, Queue, Registry};

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
        let device = device();
        let options = PoolOptions {
            maximum_size: Some(bytes),
            ..PoolOptions::default()
        };
        Self {
            queue: device.default_queue().unwrap(),
            pool: device.create_pool(MemoryKind::Device, options).unwrap(),
        }
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
