//! Records every call that changes something, as data that a test can compare.

use std::alloc::Layout;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use millpond_types::MemoryKind;

use super::wrap::{Layer, Site};
use crate::arena::{Arena, Place};
use crate::command::{Address, Advice, Command, Pattern, Submission};
use crate::device::{Device, Partition, RawAllocation};
use crate::error::DeviceError;
use crate::point::{Point, QueueId};
use crate::program::Grid;
use crate::queue::{Queue, QueueOptions, Wait};

/// A call and its answer. Devices are numbers in their driver's list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceEvent {
    /// Memory was asked for, of a device or of an arena.
    Allocate {
        /// Where.
        device: usize,
        /// Which kind.
        kind: MemoryKind,
        /// What for.
        layout: Layout,
        /// The answer.
        result: Result<Address, DeviceError>,
    },
    /// Memory of another process was asked for.
    Map {
        /// Where.
        device: usize,
        /// How many bytes.
        bytes: usize,
        /// The answer.
        result: Result<Address, DeviceError>,
    },
    /// Memory is given back.
    Release {
        /// Where.
        device: usize,
        /// The first byte.
        address: Address,
        /// The layout that the driver had given.
        layout: Layout,
    },
    /// A queue was asked for.
    CreateQueue {
        /// Where.
        device: usize,
        /// How.
        options: QueueOptions,
        /// The answer.
        result: Result<QueueId, DeviceError>,
    },
    /// A device was split.
    Partition {
        /// Which.
        device: usize,
        /// How.
        partition: Partition,
        /// The number of parts.
        result: Result<usize, DeviceError>,
    },
    /// A device is shut down.
    Shutdown {
        /// Which.
        device: usize,
    },
    /// A command was submitted.
    Submit {
        /// Where to.
        queue: QueueId,
        /// What.
        command: TraceCommand,
        /// The points whose failures it shares.
        after: Vec<Point>,
        /// The points that only order it.
        behind: Vec<Point>,
        /// The answer.
        result: Result<Point, DeviceError>,
    },
    /// A wait has ended.
    Wait {
        /// On which queue.
        queue: QueueId,
        /// For which command.
        sequence: u64,
        /// How.
        result: Wait,
    },
    /// The last handle of a queue goes.
    Close {
        /// Which.
        queue: QueueId,
    },
}

/// A command without what can't be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "variants and fields are those of `Command`")]
pub enum TraceCommand {
    Copy {
        src: Address,
        dst: Address,
        bytes: usize,
    },
    Fill {
        dst: Address,
        pattern: Pattern,
        bytes: usize,
    },
    Launch {
        /// What the kernel says of itself.
        description: String,
        bases: Vec<Address>,
    },
    Run {
        /// The entry's name.
        entry: String,
        grid: Grid,
    },
    Task {
        name: Arc<str>,
    },
    Gate,
    Prefetch {
        address: Address,
        bytes: usize,
    },
    Advise {
        address: Address,
        bytes: usize,
        advice: Advice,
    },
    Allocate {
        bytes: usize,
    },
    Free {
        address: Address,
        bytes: usize,
    },
    Stream(usize),
    Barrier,
}

impl From<&Command> for TraceCommand {
    fn from(command: &Command) -> Self {
        match *command {
            Command::Copy { src, dst, bytes } => Self::Copy { src, dst, bytes },
            Command::Fill {
                dst,
                pattern,
                bytes,
            } => Self::Fill {
                dst,
                pattern,
                bytes,
            },
            Command::Launch { ref bases, .. } => Self::Launch {
                description: command.to_string(),
                bases: bases.to_vec(),
            },
            Command::Run {
                ref entry,
                ref grid,
            } => Self::Run {
                entry: entry.info().name.clone(),
                grid: Grid::clone(grid),
            },
            Command::Task { ref name, .. } => Self::Task {
                name: Arc::clone(name),
            },
            Command::Gate(_) => Self::Gate,
            Command::Prefetch { address, bytes } => Self::Prefetch { address, bytes },
            Command::Advise {
                address,
                bytes,
                advice,
            } => Self::Advise {
                address,
                bytes,
                advice,
            },
            Command::Allocate { bytes, .. } => Self::Allocate { bytes },
            Command::Free { address, bytes, .. } => Self::Free { address, bytes },
            Command::Stream(stream) => Self::Stream(stream),
            Command::Barrier => Self::Barrier,
        }
    }
}

/// The layer that records.
///
/// An event is written when the call has returned from the driver below; releases, closes and
/// shutdowns, which have no answer, before they are passed on.
#[derive(Debug, Default)]
pub struct Trace {
    events: Mutex<Vec<TraceEvent>>,
}

impl Trace {
    /// What was recorded so far.
    pub fn events(&self) -> Vec<TraceEvent> {
        self.log(|events| events.clone())
    }

    /// Takes what was recorded so far out of the record.
    pub fn take(&self) -> Vec<TraceEvent> {
        self.log(std::mem::take)
    }

    fn log<T>(&self, act: impl FnOnce(&mut Vec<TraceEvent>) -> T) -> T {
        act(&mut self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, event: TraceEvent) {
        self.log(|events| events.push(event));
    }

    fn push_allocate(&self, site: &Site, kind: MemoryKind, layout: Layout, answer: &Answer) {
        self.push(TraceEvent::Allocate {
            device: site.number,
            kind,
            layout,
            result: address(answer),
        });
    }

    fn push_release(&self, site: &Site, allocation: &RawAllocation) {
        self.push(TraceEvent::Release {
            device: site.number,
            address: allocation.address,
            layout: allocation.layout,
        });
    }
}

type Answer = Result<RawAllocation, DeviceError>;

/// An answer without what can't be copied.
fn address(answer: &Answer) -> Result<Address, DeviceError> {
    match answer {
        Ok(allocation) => Ok(allocation.address),
        Err(error) => Err(error.clone()),
    }
}

impl Layer for Trace {
    fn allocate(
        &self,
        site: &Site,
        kind: MemoryKind,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        let answer = site.device.allocate(kind, layout);
        self.push_allocate(site, kind, layout, &answer);
        answer
    }

    unsafe fn release(&self, site: &Site, allocation: RawAllocation) {
        self.push_release(site, &allocation);
        // SAFETY: the caller promises what the device asks for.
        unsafe { site.device.release(allocation) }
    }

    fn allocate_in(
        &self,
        site: &Site,
        arena: &Arc<dyn Arena>,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        let answer = arena.allocate(layout);
        self.push_allocate(site, arena.kind(), layout, &answer);
        answer
    }

    fn map(
        &self,
        site: &Site,
        arena: &Arc<dyn Arena>,
        place: &Place,
        bytes: usize,
    ) -> Result<RawAllocation, DeviceError> {
        let answer = arena.map(place, bytes);
        self.push(TraceEvent::Map {
            device: site.number,
            bytes,
            result: address(&answer),
        });
        answer
    }

    unsafe fn release_in(&self, site: &Site, arena: &Arc<dyn Arena>, allocation: RawAllocation) {
        self.push_release(site, &allocation);
        // SAFETY: the caller promises what the arena asks for.
        unsafe { arena.release(allocation) }
    }

    fn create_queue(
        &self,
        site: &Site,
        options: &QueueOptions,
    ) -> Result<Arc<dyn Queue>, DeviceError> {
        let answer = site.device.create_queue(options);
        self.push(TraceEvent::CreateQueue {
            device: site.number,
            options: options.clone(),
            result: match &answer {
                Ok(queue) => Ok(queue.id()),
                Err(error) => Err(error.clone()),
            },
        });
        answer
    }

    fn partition(
        &self,
        site: &Site,
        partition: &Partition,
    ) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
        let answer = site.device.partition(partition);
        self.push(TraceEvent::Partition {
            device: site.number,
            partition: partition.clone(),
            result: match &answer {
                Ok(parts) => Ok(parts.len()),
                Err(error) => Err(error.clone()),
            },
        });
        answer
    }

    fn shutdown(&self, site: &Site) {
        self.push(TraceEvent::Shutdown {
            device: site.number,
        });
        site.device.shutdown();
    }

    unsafe fn submit(
        &self,
        _site: &Site,
        queue: &Arc<dyn Queue>,
        submission: Submission<'_>,
    ) -> Result<Point, DeviceError> {
        let command = TraceCommand::from(&submission.command);
        let (after, behind) = (submission.after.to_vec(), submission.behind.to_vec());
        // SAFETY: the caller promises what the queue asks for.
        let answer = unsafe { queue.submit(submission) };
        self.push(TraceEvent::Submit {
            queue: queue.id(),
            command,
            after,
            behind,
            result: answer.clone(),
        });
        answer
    }

    fn wait(&self, queue: &Arc<dyn Queue>, sequence: u64, deadline: Option<Instant>) -> Wait {
        let result = queue.wait(sequence, deadline);
        self.push(TraceEvent::Wait {
            queue: queue.id(),
            sequence,
            result,
        });
        result
    }

    fn close(&self, queue: &Arc<dyn Queue>) {
        self.push(TraceEvent::Close { queue: queue.id() });
    }
}
