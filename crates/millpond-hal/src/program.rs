//! Programs that were compiled elsewhere: images that a device loads, and their entries, which can be
//! launched.
//!
//! [`DeviceCode`](crate::DeviceCode) is for kernels of this project, which a device compiles itself. What
//! is here is for programs that bring code of their own, of which nothing is known but what the driver
//! tells: where an entry reads and writes is its caller's business.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::command::Address;
use crate::error::DeviceError;

/// Code that a device has loaded. It stays loaded while somebody holds it, one of its entries, or has
/// submitted one.
pub trait Program: Send + Sync {
    /// The entry of a name.
    ///
    /// # Errors
    /// [`DeviceError::Invalid`] for a name that the program doesn't have; a lost device.
    fn entry(&self, name: &str) -> Result<Arc<dyn Entry>, DeviceError>;

    /// Where a variable of the program is, and how many bytes it has.
    ///
    /// # Errors
    /// As for [`Program::entry`].
    fn variable(&self, name: &str) -> Result<(Address, usize), DeviceError>;
}

/// A function of a program that can be launched on the device that loaded it.
pub trait Entry: Any + Send + Sync {
    /// What the driver knows of it.
    fn info(&self) -> &EntryInfo;

    /// How many blocks of so many threads, with so many bytes of shared memory beyond those of the entry
    /// itself, one multiprocessor holds at a time.
    ///
    /// # Errors
    /// A shape that the device refuses; a lost device.
    fn resident_blocks(&self, threads: u32, shared_memory: u32) -> Result<u32, DeviceError>;
}

/// What a driver knows of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryInfo {
    /// Its name in the program.
    pub name: String,
    /// Threads of a block, at most.
    pub block: u32,
    /// Bytes that the threads of a block share by its own declarations.
    pub shared_memory: u32,
    /// Bytes of each thread's own that aren't in registers.
    pub private_memory: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// The bytes of each parameter, where the driver tells.
    pub parameters: Option<Vec<usize>>,
}

/// How an entry is launched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Blocks along each axis, none of them zero.
    pub blocks: [u32; 3],
    /// Threads of a block along each axis, none of them zero.
    pub threads: [u32; 3],
    /// Bytes that the threads of a block share, beyond what the entry declares.
    pub shared_memory: u32,
    /// The bytes of each parameter.
    pub arguments: Vec<SmallVec<[u8; 16]>>,
}

impl fmt::Debug for dyn Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("program")
    }
}

impl fmt::Debug for dyn Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {}", self.info().name)
    }
}
