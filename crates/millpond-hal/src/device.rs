//! A processor with its memory.

use std::alloc::Layout;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use millpond_types::MemoryKind;

use crate::arena::{self, Arena, ArenaId};
use crate::command::Address;
use crate::error::DeviceError;
use crate::info::DeviceInfo;
use crate::life::Life;
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

    /// Waits until a stream of another library on the device has done what it was given so far, for
    /// memory that the library hands over. A stream is what the device's own interface calls it by.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] where there are no such streams; a stream that the driver
    /// refuses, a lost device.
    ///
    /// # Safety
    /// The stream lives until this returns.
    unsafe fn wait_for_stream(&self, stream: usize) -> Result<(), DeviceError> {
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
