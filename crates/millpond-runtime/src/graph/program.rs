//! What was recorded: steps over numbered memory, without addresses.

use std::fmt;
use std::sync::Arc;

use millpond_hal::{Access, Address, Command, HostKernel, Pattern};
use smallvec::SmallVec;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::graph::operand::GraphMemory;
use crate::graph::plan::Life;
use crate::memory::Allocation;
use crate::queue::as_task;
use crate::queue::work::TaskResult;

/// A recording. Builders and graphs share it; recording on changes a copy.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// A number that no other recording of the process has.
    pub(super) recording: u64,
    pub(super) name: Arc<str>,
    pub(super) auto_free: bool,
    pub(super) device: Device,
    /// Of the graph's memory, by number.
    pub(super) lives: Vec<Life>,
    /// Memory from outside, by number.
    pub(super) held: Vec<Allocation>,
    pub(super) steps: Vec<Step>,
}

/// One step. Frees need none: they end a life.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The memory with this number begins its life.
    Begin(usize),
    /// A command, with its operands in the order in which it takes them.
    Command {
        operands: SmallVec<[(Place, Access); 4]>,
        work: Work,
    },
}

/// Memory, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Of the graph.
    Memory(usize),
    /// From outside.
    Held(usize),
}

/// A host task that can be run again. It gets the addresses of its operands.
pub(super) type RepeatableTask = dyn Fn(&[Address]) -> TaskResult + Send + Sync;

/// A command that can be made again and again.
#[derive(Clone)]
pub(super) enum Work {
    Copy {
        offsets: [usize; 2],
        bytes: usize,
    },
    Fill {
        offset: usize,
        pattern: Pattern,
        bytes: usize,
    },
    Launch(Arc<dyn HostKernel>),
    Task {
        name: Arc<str>,
        body: Arc<RepeatableTask>,
    },
}

impl Work {
    /// The command on operands at these addresses.
    pub(super) fn command(&self, bases: SmallVec<[Address; 4]>) -> Command {
        match self {
            Self::Copy {
                offsets: [src, dst],
                bytes,
            } => Command::Copy {
                src: bases[0].offset(*src),
                dst: bases[1].offset(*dst),
                bytes: *bytes,
            },
            Self::Fill {
                offset,
                pattern,
                bytes,
            } => Command::Fill {
                dst: bases[0].offset(*offset),
                pattern: *pattern,
                bytes: *bytes,
            },
            Self::Launch(kernel) => Command::Launch {
                kernel: Arc::clone(kernel),
                bases,
            },
            Self::Task { name, body } => {
                let body = Arc::clone(body);
                Command::Task {
                    name: Arc::clone(name),
                    task: Box::new(move || as_task(move || body(&bases))),
                }
            }
        }
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copy { .. } => "Copy",
            Self::Fill { .. } => "Fill",
            Self::Launch(_) => "Launch",
            Self::Task { .. } => "Task",
        })
    }
}

impl Program {
    /// Holds memory from outside; its number.
    pub(super) fn hold(&mut self, memory: &Allocation) -> usize {
        let known = self.held.iter().position(|held| held.same_as(memory));
        known.unwrap_or_else(|| {
            self.held.push(memory.clone());
            self.held.len() - 1
        })
    }

    /// The number of memory of this recording.
    pub(super) fn index_of(&self, what: &'static str, memory: GraphMemory) -> Result<usize> {
        if memory.recording == self.recording && memory.index < self.lives.len() {
            return Ok(memory.index);
        }
        let reason = format!("the memory is not of graph '{}'", self.name);
        Err(Error::Invalid { what, reason })
    }

    /// The same, of memory that is alive where the recording ends.
    pub(super) fn index_of_live(&self, what: &'static str, memory: GraphMemory) -> Result<usize> {
        let index = self.index_of(what, memory)?;
        let Some(end) = self.lives[index].end else {
            return Ok(index);
        };
        let reason = format!(
            "memory {index} of graph '{}' was freed before step {end}",
            self.name
        );
        Err(Error::Invalid { what, reason })
    }
}
