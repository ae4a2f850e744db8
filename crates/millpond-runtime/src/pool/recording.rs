//! What a pool was asked for, written down, and what another pool would have made of it.
//!
//! A [`Recorder`] notes the allocations and frees of a pool and the waits on its device, in the
//! order in which they happened. The [`Recording`] can be written as text, one step a line, and
//! replayed on a device without memory under other limits: how much would have been reserved, how
//! often the driver asked, what would have waited or been refused.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use millpond_hal::null::{NullDriver, NullOptions};
use millpond_hal::{Access, Driver, QueueOptions};
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::Allocation;
use crate::pool::acquire::Wait;
use crate::pool::core::PoolCore;
use crate::pool::handle::Pool;
use crate::pool::options::PoolOptions;
use crate::pool::ordered::AllocateOptions;
use crate::pool::tag::Tag;
use crate::queue::{Queue, Use};
use crate::registry::Registry;
use crate::sync::{Mutex, lock};

/// The first line of a recording's text.
const HEADER: &str = "millpond pool recording 1";

/// One thing that happened to a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Memory was had.
    Allocate {
        /// What it is called until it is freed: its address.
        id: usize,
        /// The number of the queue it was allocated on.
        queue: u64,
        /// Bytes asked for.
        bytes: usize,
    },
    /// Memory was freed.
    Free {
        /// What it was called.
        id: usize,
    },
    /// A queue was waited for.
    Wait {
        /// Its number.
        queue: u64,
    },
}

/// What happened to a pool, in order.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Device, MemoryKind, PoolOptions, Recording};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// let pool = device.default_pool(MemoryKind::Device);
/// let queue = device.default_queue()?;
/// let recorder = pool.record();
/// for _ in 0..3 {
///     drop(queue.allocate(MemoryKind::Device, 1 << 20)?);
/// }
/// let recording: Recording = recorder.finish().to_string().parse()?;
///
/// let small = PoolOptions { maximum_size: Some(1 << 20), ..PoolOptions::default() };
/// let replay = recording.replay(&small, 1 << 30)?;
/// assert_eq!((replay.allocations, replay.refused, replay.reserved_high), (3, 0, 1 << 20));
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording(Vec<Step>);

/// What a pool would have made of a recording. Sizes are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Requests that found memory.
    pub allocations: usize,
    /// Requests that were refused for want of memory.
    pub refused: usize,
    /// Requests that had to wait until pending work was done.
    pub waited: usize,
    /// The most that was used, as asked for.
    pub requested_high: usize,
    /// The most that was used, as granted.
    pub used_high: usize,
    /// The most that was reserved.
    pub reserved_high: usize,
    /// How often the driver was asked for memory.
    pub driver_allocations: usize,
}

/// Writes a pool's steps down until it is finished or dropped.
#[derive(Debug)]
#[must_use = "recording ends when it is dropped"]
pub struct Recorder {
    pool: Arc<PoolCore>,
    tape: Arc<Tape>,
}

/// Steps that are being written down.
#[derive(Debug, Default)]
pub(crate) struct Tape(Mutex<Vec<Step>>);

impl Tape {
    pub(crate) fn note(&self, step: Step) {
        lock(&self.0).push(step);
    }
}

impl Pool {
    /// Begins to write down what the pool is asked for. A recorder that was begun before ends.
    pub fn record(&self) -> Recorder {
        let tape = Arc::new(Tape::default());
        self.core().set_tape(Some(Arc::clone(&tape)));
        Recorder {
            pool: Arc::clone(self.core()),
            tape,
        }
    }
}

impl Recorder {
    /// What was written down.
    pub fn finish(self) -> Recording {
        Recording(std::mem::take(&mut lock(&self.tape.0)))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.pool.end_tape(&self.tape);
    }
}

impl Recording {
    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Asks a new pool on a device with so many bytes of memory for the same. Each allocation is
    /// used by a command of its queue, which is done when the queue is waited for, or when a
    /// request has to wait.
    ///
    /// # Errors
    /// Options that no pool can have; shutdown. Requests that are refused are counted.
    pub fn replay(&self, options: &PoolOptions, memory: usize) -> Result<Replay> {
        let driver = NullDriver::with(NullOptions {
            memory,
            manual: true,
            ..NullOptions::default()
        });
        let registry = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]);
        let device = registry.default_device()?;
        let pool = device.create_pool(MemoryKind::Device, options.clone())?;
        let mut stage = Stage {
            driver,
            device,
            pool,
            queues: HashMap::new(),
            live: HashMap::new(),
            replay: Replay::default(),
            requested: 0,
        };
        // No memory is had, so it is nobody's, whatever the caller is in.
        Tag::uncounted(|| self.0.iter().try_for_each(|&step| stage.play(step)))?;
        Ok(stage.end())
    }
}

/// A replay that is going on.
struct Stage {
    driver: NullDriver,
    device: Device,
    pool: Pool,
    queues: HashMap<u64, Queue>,
    live: HashMap<usize, Allocation>,
    replay: Replay,
    requested: usize,
}

impl Stage {
    fn play(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Allocate { id, queue, bytes } => self.allocate(id, queue, bytes),
            Step::Free { id } => {
                if let Some(memory) = self.live.remove(&id) {
                    self.requested -= memory.bytes();
                }
                Ok(())
            }
            Step::Wait { queue } => {
                let queue = self.queue(queue)?;
                let id = queue.core().native().id();
                while self.driver.step(id).is_some() {}
                queue.wait()
            }
        }
    }

    fn queue(&mut self, number: u64) -> Result<Queue> {
        if let Some(queue) = self.queues.get(&number) {
            return Ok(queue.clone());
        }
        let queue = self.device.create_queue(&QueueOptions::default())?;
        self.queues.insert(number, queue.clone());
        Ok(queue)
    }

    fn allocate(&mut self, id: usize, queue: u64, bytes: usize) -> Result<()> {
        let queue = self.queue(queue)?;
        let options = AllocateOptions {
            wait: Wait::Never,
            ..AllocateOptions::default()
        };
        let ask = || queue.allocate_with(&self.pool, bytes, &options);
        let mut answer = ask();
        if matches!(answer, Err(Error::OutOfMemory(_))) && self.driver.run_all() > 0 {
            answer = ask();
            self.replay.waited += usize::from(answer.is_ok());
        }
        let memory = match answer {
            Ok((memory, _)) => memory,
            Err(Error::OutOfMemory(_)) => {
                self.replay.refused += 1;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let uses = [Use {
            allocation: &memory,
            access: Access::Write,
        }];
        queue.task("use", &uses, || Ok(()))?;
        self.requested += bytes;
        self.replay.allocations += 1;
        self.replay.requested_high = self.replay.requested_high.max(self.requested);
        self.live.insert(id, memory);
        Ok(())
    }

    fn end(mut self) -> Replay {
        self.driver.run_all();
        let held = self.pool.statistics();
        self.replay.used_high = held.used_high;
        self.replay.reserved_high = held.reserved_high;
        self.replay.driver_allocations = self.pool.core().driver_allocations();
        self.replay
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        for step in &self.0 {
            match step {
                Step::Allocate { id, queue, bytes } => {
                    writeln!(f, "allocate {id:x} {queue} {bytes}")?;
                }
                Step::Free { id } => writeln!(f, "free {id:x}")?,
                Step::Wait { queue } => writeln!(f, "wait {queue}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Recording {
    type Err = Error;

    /// # Errors
    /// [`Error::Invalid`] with the line that can't be read.
    fn from_str(text: &str) -> Result<Self> {
        let invalid = |number: usize, line: &str| Error::Invalid {
            what: "reading a recording",
            reason: format!("line {}: '{line}'", number + 1),
        };
        let mut lines = text.lines().enumerate();
        match lines.next() {
            Some((_, HEADER)) => {}
            first => return Err(invalid(0, first.map_or("", |(_, line)| line))),
        }
        let steps = lines.map(|(number, line)| parse(line).ok_or_else(|| invalid(number, line)));
        steps.collect::<Result<Vec<Step>>>().map(Self)
    }
}

fn parse(line: &str) -> Option<Step> {
    let mut words = line.split(' ');
    let verb = words.next()?;
    let step = match verb {
        "allocate" => Step::Allocate {
            id: usize::from_str_radix(words.next()?, 16).ok()?,
            queue: words.next()?.parse().ok()?,
            bytes: words.next()?.parse().ok()?,
        },
        "free" => Step::Free {
            id: usize::from_str_radix(words.next()?, 16).ok()?,
        },
        "wait" => Step::Wait {
            queue: words.next()?.parse().ok()?,
        },
        _ => return None,
    };
    words.next().is_none().then_some(step)
}
