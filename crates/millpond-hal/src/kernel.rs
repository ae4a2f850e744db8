//! Code that a device which shares the host's memory and instructions can run.
//!
//! A kernel is a body over the index range `0..extent`, split in any way among threads. It knows
//! layouts and dtypes but no addresses: these come with each run, so a kernel is plain data that
//! can be checked, described and kept.

use std::any::Any;
use std::fmt;
use std::ops::Range;

use crate::code::DeviceCode;
use crate::command::{Address, Touch};
use crate::error::FailureKind;
use crate::library::LibraryWork;

/// What a command does with an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only reads it.
    Read,
    /// Overwrites every byte of the footprint, reads none.
    Write,
    /// Reads and writes.
    Update,
}

impl Access {
    /// Whether the operand is changed.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Whether the operand's former content matters.
    #[must_use]
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Write)
    }
}

/// The bytes of one operand that a kernel may touch, relative to the operand's base address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// First byte and one past the last.
    pub bytes: Range<usize>,
    /// What it does there.
    pub access: Access,
}

impl Footprint {
    /// The footprint of an output of which `filled` bytes are overwritten: what lies in gaps stays,
    /// so with gaps the former content matters.
    #[must_use]
    pub fn filled(bytes: Range<usize>, filled: usize) -> Self {
        let access = if bytes.len() == filled {
            Access::Write
        } else {
            Access::Update
        };
        Self { bytes, access }
    }
}

/// What an execution moves between memory and the processor: bytes from the first to the last of
/// each operand, each counted once however often it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Operations that it carries out.
    pub operations: usize,
    /// Bytes that it reads.
    pub read: usize,
    /// Bytes that it writes.
    pub written: usize,
    /// Bytes that its operations would have moved besides, each by itself.
    pub spared: usize,
}

impl Traffic {
    /// Bytes read and written.
    #[must_use]
    pub const fn moved(&self) -> usize {
        self.read + self.written
    }
}

/// An error that a kernel found while running.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct KernelError {
    /// What sort of error it is.
    pub kind: FailureKind,
    /// What was found, with the values.
    pub reason: String,
}

impl KernelError {
    /// An error of a kind.
    #[must_use]
    pub fn new(kind: FailureKind, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { kind, reason }
    }
}

impl From<String> for KernelError {
    fn from(reason: String) -> Self {
        Self::new(FailureKind::Command, reason)
    }
}

/// A body over an index range.
///
/// # Safety
/// `run` and `finish` touch no memory but the kernel's own and, of operand `i`, the bytes
/// `bases[i] + footprint(i).bytes`, in the way that the access says. `run` on disjoint ranges of
/// one execution may happen on several threads at once.
pub unsafe trait HostKernel: Send + Sync {
    /// How many operands (base addresses) it takes.
    fn operands(&self) -> usize;

    /// What it touches of an operand.
    fn footprint(&self, operand: usize) -> Footprint;

    /// What an execution moves; of a kernel that may grow, once it has begun.
    fn traffic(&self) -> Traffic {
        let mut traffic = Traffic {
            operations: 1,
            ..Traffic::default()
        };
        for operand in 0..self.operands() {
            let Footprint { bytes, access } = self.footprint(operand);
            traffic.read += if access.reads() { bytes.len() } else { 0 };
            traffic.written += if access.writes() { bytes.len() } else { 0 };
        }
        traffic
    }

    /// Called by the backend when a command is about to start, before it asks for anything else:
    /// a kernel that could be given more to do takes no more from here on. It may take a moment,
    /// and may be called again.
    fn begin(&self) {}

    /// The number of pieces of work, each of about the same cost.
    fn extent(&self) -> usize;

    /// The smallest number of pieces worth handing to another thread.
    fn grain(&self) -> usize;

    /// Does the pieces of the range.
    ///
    /// # Errors
    /// What the body found, for instance an index out of range.
    ///
    /// # Safety
    /// `bases` holds one address for each operand, whose footprint is allocated, initialised where
    /// it is read, and touched by nobody else in a conflicting way until this returns. The range
    /// lies within `0..extent()` and is disjoint from those of other calls of this execution.
    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError>;

    /// Called once, after every piece was run; combines partial results.
    ///
    /// # Errors
    /// As for `run`.
    ///
    /// # Safety
    /// As for `run`; no call of `run` of this execution is going on.
    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        let _ = bases;
        Ok(())
    }

    /// Whether it may still be given more to do, so that [`HostKernel::begin`] would wait for it: a
    /// device without threads of its own lets it be until somebody wants it to begin.
    fn grows(&self) -> bool {
        false
    }

    /// What it touches by addresses of its own, once it has begun: the memory of work that was joined
    /// to it. Where there is any, the footprints of operands don't count, and who carries the kernel
    /// out with bytes that lie elsewhere asks for [`HostKernel::elsewhere`].
    fn touches(&self) -> Vec<Touch> {
        Vec::new()
    }

    /// The same work on the bytes that it [touches](HostKernel::touches) after they were moved; its
    /// operands are none.
    fn elsewhere(&self, moves: Moves) -> Option<Box<dyn HostKernel + '_>> {
        let _ = moves;
        None
    }

    /// What devices run instead that don't execute the host's code; `None` leaves the kernel to the
    /// host. Of a kernel that may grow, asked after [`begin`](HostKernel::begin).
    fn device_code(&self) -> Option<&dyn DeviceCode> {
        None
    }

    /// What it is to the libraries that a device's vendor has, if it is something that they know. Of
    /// a kernel that may grow, asked after [`begin`](HostKernel::begin).
    fn library_work(&self) -> Option<LibraryWork> {
        None
    }

    /// Writes the operation with its shapes and dtypes, for messages and traces.
    ///
    /// # Errors
    /// Those of the formatter.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Bytes that lie elsewhere than at their addresses.
#[derive(Clone, Debug, Default)]
pub struct Moves(Vec<(Range<usize>, Address)>);

impl Moves {
    /// The bytes of a range lie at `to` instead. Ranges don't overlap.
    pub fn add(&mut self, from: Range<usize>, to: Address) {
        self.0.push((from, to));
    }

    /// Where the bytes of an address lie: at another, if they were moved.
    ///
    /// ```
    /// use millpond_hal::{Address, Moves};
    ///
    /// let mut moves = Moves::default();
    /// moves.add(100..200, Address::new(5000));
    /// assert_eq!(moves.place(Address::new(110)), Address::new(5010));
    /// assert_eq!(moves.place(Address::new(200)), Address::new(200));
    /// ```
    #[must_use]
    pub fn place(&self, address: Address) -> Address {
        let moved = self
            .0
            .iter()
            .find(|(from, _)| from.contains(&address.get()));
        moved.map_or(address, |(from, to)| to.offset(address.get() - from.start))
    }
}

/// A kernel that more work can be joined to until it begins ([`HostKernel::begin`]).
pub trait Growing: HostKernel + Any {
    /// Takes no more work, and begins without waiting for any.
    fn seal(&self);

    /// Nobody will read these addresses any more: what the kernel writes there need not be written.
    fn forget(&self, addresses: &Range<usize>);
}
