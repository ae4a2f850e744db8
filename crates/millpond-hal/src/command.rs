//! What a queue can be asked to do, as data.

use std::fmt;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use crate::driver_pool::DriverPool;
use crate::error::Failure;
use crate::gate::Gate;
use crate::kernel::{Access, HostKernel, Traffic};
use crate::point::Point;
use crate::program::{Entry, Grid};
use crate::watch::Watch;

/// An address in the unified address space of host and devices.
///
/// Plain data: holding one gives no right to touch the memory. Code that dereferences it argues
/// why it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(usize);

impl Address {
    /// The address of a pointer, whose provenance is exposed.
    #[must_use]
    pub fn of<T: ?Sized>(pointer: *const T) -> Self {
        Self(pointer.cast::<u8>().expose_provenance())
    }

    /// An address given as a number, for instance by a driver.
    #[must_use]
    pub const fn new(number: usize) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }

    /// A pointer to the address, with the provenance that was exposed when the memory was had.
    #[must_use]
    pub fn as_ptr<T>(self) -> *mut T {
        std::ptr::with_exposed_provenance_mut(self.0)
    }

    /// The address `bytes` further on.
    #[must_use]
    pub const fn offset(self, bytes: usize) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A value of 1, 2, 4, 8 or 16 bytes that a fill repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    bytes: [u8; 16],
    len: u8,
}

impl Pattern {
    /// A pattern of these bytes; `None` unless their number is a power of two up to 16.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        if !bytes.len().is_power_of_two() || bytes.len() > 16 {
            return None;
        }
        let mut pattern = Self {
            bytes: [0; 16],
            len: bytes.len() as u8,
        };
        pattern.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(pattern)
    }

    /// The bytes that are repeated.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// A hint about the use of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// Mostly read.
    ReadMostly,
    /// Will be needed soon.
    WillNeed,
    /// Content may be discarded.
    DontNeed,
}

/// A closure that runs on a thread of the backend when the queue reaches it.
pub type HostTask = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// What a queue executes.
#[non_exhaustive]
pub enum Command {
    /// Copies `bytes` bytes; the ranges don't overlap.
    Copy {
        /// Where from.
        src: Address,
        /// Where to.
        dst: Address,
        /// How many.
        bytes: usize,
    },
    /// Repeats a pattern over `bytes` bytes, a multiple of the pattern's length.
    Fill {
        /// Where to.
        dst: Address,
        /// What.
        pattern: Pattern,
        /// How many bytes in all.
        bytes: usize,
    },
    /// Runs a host kernel over its whole extent.
    Launch {
        /// The kernel.
        kernel: Arc<dyn HostKernel>,
        /// One address for each operand.
        bases: SmallVec<[Address; 4]>,
    },
    /// Launches an entry of a program that the queue's device has loaded. What it uses isn't known.
    Run {
        /// The entry.
        entry: Arc<dyn Entry>,
        /// How it is launched.
        grid: Box<Grid>,
    },
    /// Runs a closure.
    Task {
        /// What messages call it.
        name: Arc<str>,
        /// The closure; its error is the command's failure.
        task: HostTask,
    },
    /// Completes when the gate opens, with the gate's outcome.
    Gate(Gate),
    /// Hints that a range will be used on the device.
    Prefetch {
        /// The first byte.
        address: Address,
        /// How many.
        bytes: usize,
    },
    /// Hints how a range is used.
    Advise {
        /// The first byte.
        address: Address,
        /// How many.
        bytes: usize,
        /// The hint.
        advice: Advice,
    },
    /// Memory of a pool of the driver's begins, which what follows the command may use. The driver is
    /// asked while the command is submitted: [`Queue::submit`](crate::Queue::submit) answers its
    /// refusal, or the address is there.
    Allocate {
        /// The pool, of the queue's device.
        pool: Arc<dyn DriverPool>,
        /// How many, a multiple of the pool's granule.
        bytes: usize,
        /// Where the address is put.
        place: Arc<OnceLock<Address>>,
    },
    /// Memory of a pool of the driver's ends, whose uses the command follows.
    Free {
        /// The pool.
        pool: Arc<dyn DriverPool>,
        /// The first byte, as the driver gave it.
        address: Address,
        /// How many.
        bytes: usize,
    },
    /// Completes when a stream of another library has done what it was given until the command was
    /// submitted. A stream is what the device's own interface calls it by.
    Stream(usize),
    /// Waits for everything before it on the queue, holds back everything after it.
    Barrier,
}

impl Command {
    /// What a copy, a fill or a launch moves. Other commands don't say.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        match *self {
            Self::Copy { bytes, .. } => Traffic {
                operations: 1,
                read: bytes,
                written: bytes,
                spared: 0,
            },
            Self::Fill { bytes, .. } => Traffic {
                operations: 1,
                written: bytes,
                ..Traffic::default()
            },
            Self::Launch { ref kernel, .. } => kernel.traffic(),
            _ => Traffic::default(),
        }
    }

    /// The bytes that a copy, a fill, a launch or a free uses. Other commands don't say.
    ///
    /// Of a launch with the wrong number of bases, those that there are.
    #[must_use]
    pub fn touches(&self) -> SmallVec<[Touch; 4]> {
        let touch = |address, bytes, access| Touch {
            address,
            bytes,
            access,
        };
        match *self {
            Self::Copy { src, dst, bytes } => SmallVec::from_iter([
                touch(src, bytes, Access::Read),
                touch(dst, bytes, Access::Write),
            ]),
            Self::Fill { dst, bytes, .. }
            | Self::Free {
                address: dst,
                bytes,
                ..
            } => SmallVec::from_iter([touch(dst, bytes, Access::Write)]),
            Self::Launch {
                ref kernel,
                ref bases,
            } => {
                let bases = bases.iter().enumerate().take(kernel.operands());
                let touches = bases.map(|(operand, base)| {
                    let footprint = kernel.footprint(operand);
                    let bytes = footprint.bytes;
                    touch(base.offset(bytes.start), bytes.len(), footprint.access)
                });
                touches.collect()
            }
            _ => SmallVec::new(),
        }
    }

    /// A failure of this command.
    #[must_use]
    pub fn fail(
        &self,
        kind: crate::FailureKind,
        reason: impl Into<String>,
        origin: Option<Arc<str>>,
    ) -> Failure {
        Failure::with_origin(kind, self.to_string(), reason, origin)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy { bytes, .. } => write!(f, "copy of {bytes} bytes"),
            Self::Fill { bytes, .. } => write!(f, "fill of {bytes} bytes"),
            Self::Launch { kernel, .. } => kernel.describe(f),
            Self::Run { entry, .. } => write!(f, "launch of {}", entry.info().name),
            Self::Task { name, .. } => write!(f, "host task {name}"),
            Self::Gate(_) => f.write_str("gate"),
            Self::Prefetch { bytes, .. } => write!(f, "prefetch of {bytes} bytes"),
            Self::Advise { bytes, advice, .. } => write!(f, "advice {advice:?} on {bytes} bytes"),
            Self::Allocate { bytes, .. } => write!(f, "allocation of {bytes} bytes"),
            Self::Free { bytes, .. } => write!(f, "free of {bytes} bytes"),
            Self::Stream(stream) => write!(f, "wait for stream {stream:#x}"),
            Self::Barrier => f.write_str("barrier"),
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Bytes that a command uses which doesn't name them itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The first byte.
    pub address: Address,
    /// How many.
    pub bytes: usize,
    /// What it does there.
    pub access: Access,
}

/// A command on its way to a queue, with what it must follow.
#[derive(Debug)]
pub struct Submission<'a> {
    /// The command.
    pub command: Command,
    /// Points of queues of the same driver that it starts after, and whose failures it shares.
    pub after: &'a [Point],
    /// Points that it starts after whatever became of their commands: order without content.
    pub behind: &'a [Point],
    /// What host tasks and gates use, for layers that check.
    pub touches: &'a [Touch],
    /// What it uses by address alone: nothing but its queue and the points orders such uses, and
    /// nothing keeps the memory for them. For layers that check.
    pub claims: &'a [Touch],
    /// The source line it comes from, where lines are traced.
    pub origin: Option<Arc<str>>,
    /// Who is told when it is carried out.
    pub watch: Option<Arc<dyn Watch>>,
}

impl Submission<'_> {
    /// A command that follows nothing but its queue.
    #[must_use]
    pub const fn new(command: Command) -> Self {
        Self {
            command,
            after: &[],
            behind: &[],
            touches: &[],
            claims: &[],
            origin: None,
            watch: None,
        }
    }
}
