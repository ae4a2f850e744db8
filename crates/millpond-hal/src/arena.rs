//! Memory that other processes can be given.
//!
//! An [`Arena`] is memory of one kind behind one file descriptor. Its owner allocates from it; who
//! has the descriptor opens it in another process and maps what the owner allocated there, named by
//! a [`Place`]. Both are handed over as plain data and a descriptor, by whatever way the processes
//! have. That is how CUDA shares its pools: `cuMemPoolExportToShareableHandle` is the descriptor,
//! `cuMemPoolExportPointer` a place.
//!
//! Memory stays valid for as long as it is mapped, whatever becomes of the process that allocated
//! it. What the bytes hold is another matter: once the owner releases them, nobody keeps them.

use std::alloc::Layout;
use std::fmt;
use std::os::fd::{BorrowedFd, RawFd};

use millpond_types::MemoryKind;

use crate::command::Address;
use crate::device::RawAllocation;
use crate::error::DeviceError;

/// Which arena it is, in all processes of the machine. Plain data of the backend's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArenaId(pub [u8; 16]);

/// Where in an arena an allocation lies. Plain data of the backend's own, as long as CUDA's.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place(pub [u8; 64]);

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Place(")?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// Memory of one kind behind one descriptor, as its owner has it or as another process opened it.
pub trait Arena: Send + Sync {
    /// Which arena it is.
    fn id(&self) -> ArenaId;

    /// The kind of its memory.
    fn kind(&self) -> MemoryKind;

    /// What other processes open it by. Whoever has it reaches all memory of the arena.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// Takes memory from the arena, which grows.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`]; [`DeviceError::Unsupported`] for an arena that was opened.
    fn allocate(&self, layout: Layout) -> Result<RawAllocation, DeviceError>;

    /// The place of memory that was allocated here.
    ///
    /// # Errors
    /// [`DeviceError::Invalid`] for an address where no allocation of this arena begins.
    fn place(&self, first: Address) -> Result<Place, DeviceError>;

    /// Maps an allocation of the owner's, of so many bytes.
    ///
    /// # Errors
    /// [`DeviceError::Handle`] for a place that isn't in the arena; [`DeviceError::OutOfMemory`];
    /// [`DeviceError::Unsupported`] for the owner's own arena, where all is mapped.
    fn map(&self, place: &Place, bytes: usize) -> Result<RawAllocation, DeviceError>;

    /// Gives memory back that was allocated or mapped here. What was allocated is empty from now
    /// on for everybody who has it mapped, and stays valid to read and write.
    ///
    /// # Safety
    /// The memory came from this arena, was not given back yet, and no submitted command or
    /// reference of this process uses it any more.
    unsafe fn release(&self, allocation: RawAllocation);
}

/// A handle to the memory of another process that is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// It doesn't begin as a handle does.
    #[error("{bytes} bytes that don't begin as a handle does")]
    Magic {
        /// How many bytes it has.
        bytes: usize,
    },
    /// It is too short or too long.
    #[error("a handle of {found} bytes, where {expected} are expected")]
    Length {
        /// What such a handle has.
        expected: usize,
        /// What this one has.
        found: usize,
    },
    /// Another version of millpond wrote it.
    #[error("a handle of format {found}, where {expected} is expected")]
    Version {
        /// What is read here.
        expected: u16,
        /// What it says.
        found: u16,
    },
    /// It is a handle to something else.
    #[error("a handle to {found}, where one to {expected} is expected")]
    Object {
        /// What is asked for.
        expected: &'static str,
        /// What it says.
        found: String,
    },
    /// It names a kind of memory that isn't expected, or that there isn't.
    #[error("a handle to memory of kind {found}, where {expected} is expected")]
    Kind {
        /// What is asked for.
        expected: String,
        /// What it says.
        found: String,
    },
    /// It comes from a device of another backend.
    #[error("a handle from backend '{found}', where '{expected}' is expected")]
    Backend {
        /// The backend of the device that should open it.
        expected: String,
        /// What it says.
        found: String,
    },
    /// It names bytes that aren't there.
    #[error("a handle to bytes {begin}..+{bytes}, of which only {size} are there")]
    Range {
        /// The first byte.
        begin: u64,
        /// How many bytes.
        bytes: u64,
        /// How many there are.
        size: u64,
    },
    /// The descriptor that came with it is not of memory that can be shared.
    #[error("file descriptor {descriptor} is not an arena's: {reason}")]
    Descriptor {
        /// Its number.
        descriptor: RawFd,
        /// What is wrong with it.
        reason: String,
    },
    /// The descriptor is of another arena than the handle.
    #[error("file descriptor {descriptor} is of other memory than the handle")]
    OtherArena {
        /// Its number.
        descriptor: RawFd,
    },
}

/// What a device without arenas answers.
pub(crate) fn unsupported<T>(device: &str, kind: MemoryKind) -> Result<T, DeviceError> {
    Err(DeviceError::Unsupported {
        device: device.to_owned(),
        what: format!("sharing {kind} memory with other processes"),
    })
}
