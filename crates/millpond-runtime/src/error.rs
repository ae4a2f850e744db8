//! What can go wrong in the runtime, each with the values that explain it.

use std::time::Duration;

use millpond_hal::{Address, DeviceError, Failure, HandleError};
use millpond_types::MemoryKind;

use crate::pool::OutOfMemory;

/// An error of the runtime. Nothing was changed by the call that answers one, except where a
/// variant says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A driver refused the call.
    #[error(transparent)]
    Device(DeviceError),
    /// Work submitted earlier failed; told by the wait that met it (rule O7).
    #[error(transparent)]
    Failed(#[from] Failure),
    /// No memory, even after waiting for what is about to be freed.
    #[error(transparent)]
    OutOfMemory(Box<OutOfMemory>),
    /// The pool was closed.
    #[error("the {pool} was closed")]
    PoolClosed {
        /// The pool.
        pool: String,
    },
    /// Memory can't be freed while others have handles to it.
    #[error("{what}: {handles} other handles share the allocation")]
    Shared {
        /// The call.
        what: &'static str,
        /// How many others there are.
        handles: usize,
    },
    /// A graph freed its memory when it was launched again, and a handle was used after that.
    #[error("{bytes} bytes of memory at {address} were freed by a later launch of their graph")]
    Revoked {
        /// The first byte.
        address: Address,
        /// How many.
        bytes: usize,
    },
    /// A graph was to be launched while memory that its last launch left is in use.
    #[error(
        "launch of graph '{graph}': {held} of the {outputs} allocations that its last launch left \
         are still held: drop them, or have the graph free them with auto_free"
    )]
    OutputsHeld {
        /// The graph.
        graph: String,
        /// How many are held.
        held: usize,
        /// How many there are.
        outputs: usize,
    },
    /// A tag's budget doesn't allow the allocation.
    #[error(
        "the budget of tag '{tag}' is {budget} bytes, of which {used} are used: {requested} more \
         were asked for"
    )]
    Budget {
        /// The tag.
        tag: String,
        /// Bytes that the allocation would be granted.
        requested: usize,
        /// Bytes of the tag's live allocations.
        used: usize,
        /// The most that they may be.
        budget: usize,
    },
    /// The memory can't be given to other processes.
    #[error("{what} can't be shared with other processes: make a pool with `shareable`")]
    NotShareable {
        /// Whose memory it is.
        what: String,
    },
    /// A handle to another process's memory is of no use.
    #[error(transparent)]
    Handle(#[from] HandleError),
    /// The queue was closed.
    #[error("{queue} was closed")]
    Closed {
        /// The queue.
        queue: String,
    },
    /// The runtime was shut down, for instance at exit.
    #[error("millpond was shut down: {what} is no longer possible")]
    ShutDown {
        /// The call.
        what: &'static str,
    },
    /// The call was made in a forked child (rule O10).
    #[error(
        "{what} in a forked process: devices are not inherited by fork; start the child with \
         'spawn' or 'forkserver', or use millpond only in it"
    )]
    Forked {
        /// The call.
        what: &'static str,
    },
    /// An operand belongs to another device.
    #[error("{operation}: operand {operand} is on {found}, the queue is on {expected}")]
    DeviceMismatch {
        /// The operation.
        operation: String,
        /// Which operand, from 0.
        operand: usize,
        /// Its device.
        found: String,
        /// The queue's device.
        expected: String,
    },
    /// A range reaches outside of an allocation.
    #[error("{operation}: bytes {begin}..{end} reach outside of an allocation of {size} bytes")]
    Bounds {
        /// The operation.
        operation: String,
        /// First byte.
        begin: usize,
        /// One past the last byte.
        end: usize,
        /// Size of the allocation.
        size: usize,
    },
    /// Ranges of one copy overlap.
    #[error("copy: source {src}..+{bytes} and destination {dst}..+{bytes} overlap")]
    Overlap {
        /// Where from, in bytes.
        src: usize,
        /// Where to, in bytes.
        dst: usize,
        /// How many bytes.
        bytes: usize,
    },
    /// A launch with the wrong number of operands.
    #[error("{operation} takes {expected} operands, {found} were given")]
    OperandCount {
        /// The operation.
        operation: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// The host can't reach this memory.
    #[error("{kind} memory of {device} cannot be accessed by the host; copy it")]
    HostAccess {
        /// The kind.
        kind: MemoryKind,
        /// The device.
        device: String,
    },
    /// No such device.
    #[error("unknown device '{name}'; there are: {known}")]
    UnknownDevice {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The queue doesn't offer this.
    #[error("{what}: {reason}")]
    Invalid {
        /// The call.
        what: &'static str,
        /// What is wrong, with the values.
        reason: String,
    },
    /// The system refused to read or write.
    #[error("{what}: {reason}")]
    Io {
        /// The call.
        what: &'static str,
        /// What kind of refusal it is.
        kind: std::io::ErrorKind,
        /// The system's words.
        reason: String,
    },
    /// The surface gave up a wait, for instance because the user interrupted the program. What was
    /// submitted before stays submitted.
    #[error("{what} was interrupted")]
    Interrupted {
        /// The wait.
        what: &'static str,
    },
    /// A wait's deadline passed.
    #[error("the wait timed out after {} ms", waited.as_millis())]
    TimedOut {
        /// How long was waited.
        waited: Duration,
    },
}

/// Result of a call on the runtime.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn io(what: &'static str, error: &std::io::Error) -> Self {
        Self::Io {
            what,
            kind: error.kind(),
            reason: error.to_string(),
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::Handle(error) => Self::Handle(error),
            error => Self::Device(error),
        }
    }
}
