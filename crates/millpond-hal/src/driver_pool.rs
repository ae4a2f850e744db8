//! Pools of a driver's own.
//!
//! A [`DriverPool`] is memory that the driver itself hands out and takes back in the order of a
//! queue: [`Command::Allocate`](crate::Command::Allocate) and [`Command::Free`](crate::Command::Free)
//! name the pool. Which freed bytes serve an allocation is the driver's to decide, by the rules that
//! it is told; what is asked of it, and what is done where it refuses, is decided above.

use std::fmt;
use std::sync::Arc;

use millpond_types::MemoryKind;

use crate::arena::Arena;
use crate::error::DeviceError;

/// When a driver's pool may use freed memory again, beyond the queue that freed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverReuse {
    /// Where the driver knows that the queue is ordered behind the free.
    pub follow_events: bool,
    /// Where the free has completed.
    pub opportunistic: bool,
    /// By making the queue wait for the free.
    pub internal_dependencies: bool,
}

/// How a driver's pool is made. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriverPoolOptions {
    /// The most that it reserves, which the driver may round up.
    pub maximum_size: Option<usize>,
    /// What it keeps when the driver looks at it; `None` keeps everything.
    pub release_threshold: Option<usize>,
    /// When freed memory is used again.
    pub reuse: DriverReuse,
    /// Whether other processes can be given its memory.
    pub shareable: bool,
}

/// What a driver's pool has, in bytes, by the driver's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverPoolState {
    /// Had from the device.
    pub reserved: usize,
    /// The most that this has been.
    pub reserved_high: usize,
    /// Of it in use.
    pub used: usize,
    /// The most that this has been.
    pub used_high: usize,
}

/// A pool of a driver's own, of memory of one kind on one device. It goes with its last handle, and
/// its memory with the last allocation.
pub trait DriverPool: Send + Sync + fmt::Debug {
    /// The kind of its memory.
    fn kind(&self) -> MemoryKind;

    /// What the driver calls it by.
    fn handle(&self) -> usize;

    /// What every allocation is a multiple of, and aligned to.
    fn granule(&self) -> usize;

    /// What it has.
    ///
    /// # Errors
    /// A lost device.
    fn state(&self) -> Result<DriverPoolState, DeviceError>;

    /// Has the most that was reserved count from now.
    ///
    /// # Errors
    /// A lost device.
    fn reset_reserved_high(&self) -> Result<(), DeviceError>;

    /// Has the most that was used count from now.
    ///
    /// # Errors
    /// A lost device.
    fn reset_used_high(&self) -> Result<(), DeviceError>;

    /// Changes what it keeps.
    ///
    /// # Errors
    /// A lost device.
    fn set_release_threshold(&self, bytes: Option<usize>) -> Result<(), DeviceError>;

    /// Changes when freed memory is used again.
    ///
    /// # Errors
    /// A lost device.
    fn set_reuse(&self, reuse: DriverReuse) -> Result<(), DeviceError>;

    /// Gives free memory back to the device until it has at most `keep` bytes, or nothing more is
    /// free.
    ///
    /// # Errors
    /// A lost device.
    fn trim(&self, keep: usize) -> Result<(), DeviceError>;

    /// By which other processes are given its memory, if it was made for that.
    fn arena(&self) -> Option<Arc<dyn Arena>>;
}

/// What a device without such pools answers.
pub(crate) fn unsupported<T>(device: &str, kind: MemoryKind) -> Result<T, DeviceError> {
    Err(DeviceError::Unsupported {
        device: device.to_owned(),
        what: format!("a pool of the driver's own for {kind} memory (`native`)"),
    })
}
