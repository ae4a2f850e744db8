//! A processor with its memory.

use std::alloc::Layout;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use millpond_types::MemoryKind;

use crate::arena::{self, Arena, ArenaId};
use crate::command::Address;
use crate::driver_pool::{self, DriverPool, DriverPoolOptions};
use crate::error::DeviceError;
use crate::info::DeviceInfo;
use crate::life::Life;
use crate::point::Point;
use crate::program::Program;
use crate::queue::{Queue, QueueOptions};

/// Memory as the driver gives it. Whoever holds it must give it back to the same device, once.
#[derive(Debug, PartialEq, Eq)]
pub struct RawAllocation {
    /// The first byte, aligned as asked.
    pub address: Address,
    /// What was asked for, rounded up as the driver does.
    pub layout: Layout,
    /// The kind asked for.
    pub kind: MemoryKind,
    /// Whether the driver has filled it with zeros.
    pub zeroed: bool,
}

/// How to split a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Partition {
    /// Parts of this many cores each; what is left over is unused.
    Equally(usize),
    /// One part for each number of cores.
    ByCounts(Vec<usize>),
}

/// A processor with its memory.
pub trait Device: Send + Sync {
    /// What it is and can do.
    fn info(&self) -> &DeviceInfo;

    /// Takes memory from the driver. Slow: pools stand between this and users.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] with what the system said.
    fn allocate(&self, kind: MemoryKind, layout: Layout) -> Result<RawAllocation, DeviceError>;

    /// Gives memory back.
    ///
    /// # Safety
    /// The memory came from this device, was not given back yet, and no submitted command or
    /// reference uses it any more.
    unsafe fn release(&self, allocation: RawAllocation);

    /// Makes an arena: memory that other processes can be given.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] for kinds that [`DeviceInfo::shareable`] doesn't have.
    fn create_arena(&self, kind: MemoryKind) -> Result<Arc<dyn Arena>, DeviceError> {
        arena::unsupported(&self.info().name, kind)
    }

    /// Opens the arena of a kind that a descriptor is of, made by another process.
    ///
    /// # Errors
    /// [`DeviceError::Handle`] for a descriptor of anything else than this arena;
    /// [`DeviceError::Unsupported`] for kinds that [`DeviceInfo::shareable`] doesn't have.
    fn open_arena(
        &self,
        kind: MemoryKind,
        id: ArenaId,
        descriptor: OwnedFd,
    ) -> Result<Arc<dyn Arena>, DeviceError> {
        let _ = (id, descriptor);
        arena::unsupported(&self.info().name, kind)
    }

    /// Makes a pool of the driver's own.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] for kinds that [`DeviceInfo::driver_pools`] doesn't have, and for
    /// pools that can't be shared, where that is asked for; what the driver refuses.
    fn create_driver_pool(
        &self,
        kind: MemoryKind,
        options: &DriverPoolOptions,
    ) -> Result<Arc<dyn DriverPool>, DeviceError> {
        let _ = options;
        driver_pool::unsupported(&self.info().label, kind)
    }

    /// The pool that the driver itself has for a kind, from the beginning and for the whole process:
    /// other libraries may use it too.
    ///
    /// # Errors
    /// As for [`Device::create_driver_pool`].
    fn default_driver_pool(&self, kind: MemoryKind) -> Result<Arc<dyn DriverPool>, DeviceError> {
        driver_pool::unsupported(&self.info().label, kind)
    }

    /// Makes a queue.
    ///
    /// # Errors
    /// Options that the device doesn't offer; a lost device.
    fn create_queue(&self, options: &QueueOptions) -> Result<Arc<dyn Queue>, DeviceError>;

    /// Splits the device into devices with cores of their own, which share its memory.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where it can't be split; [`DeviceError::Invalid`] for counts
    /// that don't fit.
    fn partition(&self, partition: &Partition) -> Result<Vec<Arc<dyn Device>>, DeviceError>;

    /// Loads a program: an image that a compiler made for the device, or a text that its driver compiles.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where there are no programs but the host's; [`DeviceError::Invalid`]
    /// with the driver's words for an image that it refuses; a lost device.
    ///
    /// # Safety
    /// It is such an image, or a text that ends before its first zero: drivers believe what it says of its
    /// own size.
    unsafe fn load(&self, image: &[u8]) -> Result<Arc<dyn Program>, DeviceError> {
        Err(DeviceError::Unsupported {
            device: self.info().label.clone(),
            what: format!("a program of {} bytes", image.len()),
        })
    }

    /// Bytes of memory that nobody has, where the driver tells.
    fn free_memory(&self) -> Option<usize> {
        None
    }

    /// A stream of the device's own for other libraries: they have it wait for work of theirs, or
    /// theirs for it. The same one for as long as the device is there; nothing is carried out on it.
    /// A stream is what the device's own interface calls it by.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where there are no streams; a lost device.
    fn stream(&self) -> Result<usize, DeviceError> {
        Err(DeviceError::Unsupported {
            device: self.info().label.clone(),
            what: "a stream of its own".to_owned(),
        })
    }

    /// The kind of the memory at an address, if it is memory that the device reaches and knows: also
    /// that of other libraries.
    ///
    /// # Errors
    /// A lost device.
    fn kind_at(&self, address: Address) -> Result<Option<MemoryKind>, DeviceError> {
        let _ = address;
        Ok(None)
    }

    /// Has a stream wait for points of queues of the driver: what it is given from now on comes after
    /// them, however they end. Answers those that the device hasn't got yet, as the host has to do
    /// something first: for them nobody but the host can wait.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where there are no such streams; a stream that the driver
    /// refuses, a lost device.
    ///
    /// # Safety
    /// The stream is one of the device, or one that other devices can wait on, and lives until this
    /// returns.
    unsafe fn hold_stream(
        &self,
        stream: usize,
        points: &[Point],
    ) -> Result<Vec<Point>, DeviceError> {
        let _ = points;
        Err(DeviceError::Unsupported {
            device: self.info().label.clone(),
            what: format!("stream {stream:#x}"),
        })
    }

    /// Whether [`Device::note`] does anything, so that pools needn't tell where nobody listens.
    fn listens(&self) -> bool {
        false
    }

    /// Hears of the life of memory that pools hand out. For layers that check.
    fn note(&self, life: &Life<'_>) {
        let _ = life;
    }

    /// Stops the device's threads once all submitted work is done; later calls answer
    /// [`DeviceError::Lost`]. Calling it again does nothing.
    fn shutdown(&self);
}
