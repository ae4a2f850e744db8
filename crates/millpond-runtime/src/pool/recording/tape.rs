//! Writing down what happens: the tape that a pool writes to, and whoever holds it.
//!
//! A tape keeps steps in memory, less than a hundred bytes each, or hands them to a writer as text,
//! about fifty bytes each, through one buffer: then its own memory doesn't grow, however long it
//! runs. It is locked for the time of one step. No line of a queue is locked meanwhile, so that a
//! slow writer holds up the pool's allocations and frees, and nothing else.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use millpond_hal::Point;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::lifecycle;
use crate::memory::{Allocation, Block};
use crate::pool::core::PoolCore;
use crate::pool::handle::Pool;
use crate::pool::recording::text::write_header;
use crate::pool::recording::{RecordedPoint, RecordedUse, Recording, Step};
use crate::pool::tag::Tag;
use crate::pool::wish::{Request, Wait};
use crate::queue::{QueueCore, interrupt_holds};
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::{Mutex, lock};

/// Bytes that are collected before a writer is called.
const BUFFER: usize = 64 << 10;

/// Writes a pool's steps down in memory until it is finished or dropped.
#[derive(Debug)]
#[must_use = "recording ends when it is dropped"]
pub struct Recorder(Session);

/// Writes a pool's steps to a file, or another writer, until it is finished or dropped.
#[derive(Debug)]
#[must_use = "recording ends when it is dropped"]
pub struct RecordingWriter(Session);

/// A tape that a pool writes to for as long as this lives.
#[derive(Debug)]
struct Session {
    pool: Arc<PoolCore>,
    tape: Arc<Tape>,
}

/// Steps that are being written down.
#[derive(Debug)]
pub(crate) struct Tape(Mutex<Reel>);

#[derive(Debug)]
struct Reel {
    sink: Sink,
    steps: usize,
    /// Memory that was freed in queue order and whose handle is about to go.
    freed: SmallVec<[usize; 4]>,
}

/// Where steps go.
enum Sink {
    Memory(Vec<Step>),
    Writer(Box<dyn Write + Send>),
    /// The first error of the writer, which gets nothing more.
    Failed(Error),
}

impl Tape {
    fn new(sink: Sink) -> Self {
        Self(Mutex::new(Reel {
            sink,
            steps: 0,
            freed: SmallVec::new(),
        }))
    }

    pub(crate) fn note(&self, step: Step) {
        lock(&self.0).note(step);
    }
}

impl Reel {
    fn note(&mut self, step: Step) {
        if let Step::Free { id, on, .. } = &step {
            if on.is_some() {
                self.freed.push(*id);
            } else if let Some(position) = self.freed.iter().position(|freed| freed == id) {
                self.freed.swap_remove(position);
                return;
            }
        }
        self.steps += 1;
        match &mut self.sink {
            Sink::Memory(steps) => steps.push(step),
            Sink::Writer(writer) => {
                if let Err(error) = writeln!(writer, "{step}") {
                    self.fail(&error);
                }
            }
            Sink::Failed(_) => {}
        }
    }

    fn fail(&mut self, error: &io::Error) {
        self.sink = Sink::Failed(Error::io("writing a recording", error));
    }
}

impl Session {
    fn begin(pool: &Pool, sink: Sink) -> Self {
        let core = pool.core();
        let tape = Arc::new(Tape::new(sink));
        core.set_tape(Some(Arc::clone(&tape)));
        for queue in core.site.queues() {
            let submitted = queue.look(|line| line.submitted);
            core.note(|| Step::Queue {
                at: queue.native().point(submitted).into(),
                in_order: queue.native().in_order,
            });
        }
        Self {
            pool: Arc::clone(core),
            tape,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.pool.end_tape(&self.tape);
    }
}

impl Pool {
    /// Begins to write down what the pool is asked for. A recorder that was begun before ends.
    pub fn record(&self) -> Recorder {
        Recorder(Session::begin(self, Sink::Memory(Vec::new())))
    }

    /// The same as text to a writer, which gets pieces of 64 KiB at a time: the memory that this
    /// takes doesn't grow. What the writer refuses ends the recording and is told by
    /// [`RecordingWriter::finish`]; the pool goes on.
    ///
    /// ```
    /// # use millpond_hal::{Driver, null::NullDriver};
    /// # use millpond_runtime::{Device, MemoryKind};
    /// # let device = Device::open(NullDriver::default().devices()?.remove(0));
    /// let pool = device.default_pool(MemoryKind::Device);
    /// let recorder = pool.record_to(std::io::sink())?;
    /// drop(device.default_queue()?.allocate_from(&pool, 1000)?);
    /// assert_eq!(recorder.finish()?, 3); // that there is a queue, an allocation, a free
    /// # Ok::<(), millpond_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] if not even the first line can be written.
    pub fn record_to(&self, writer: impl Write + Send + 'static) -> Result<RecordingWriter> {
        let mut writer = BufWriter::with_capacity(BUFFER, writer);
        write_header(&mut writer)
            .and_then(|()| writer.flush())
            .map_err(|error| Error::io("writing a recording", &error))?;
        let sink = Sink::Writer(Box::new(writer));
        Ok(RecordingWriter(Session::begin(self, sink)))
    }
}

impl Recorder {
    /// What was written down.
    pub fn finish(self) -> Recording {
        match &mut lock(&self.0.tape.0).sink {
            Sink::Memory(steps) => Recording(std::mem::take(steps)),
            Sink::Writer(_) | Sink::Failed(_) => Recording::default(),
        }
    }
}

impl RecordingWriter {
    /// Writes what is still in the buffer; the number of steps that were written in all.
    ///
    /// # Errors
    /// [`Error::Io`]: the first answer of the writer that was none.
    pub fn finish(self) -> Result<usize> {
        self.0.pool.end_tape(&self.0.tape);
        let mut reel = lock(&self.0.tape.0);
        if let Sink::Writer(writer) = &mut reel.sink
            && let Err(error) = writer.flush()
        {
            reel.fail(&error);
        }
        match &reel.sink {
            Sink::Failed(error) => Err(error.clone()),
            Sink::Memory(_) | Sink::Writer(_) => Ok(reel.steps),
        }
    }
}

impl PoolCore {
    /// Has what happens written down, or no longer.
    pub(crate) fn set_tape(&self, tape: Option<Arc<Tape>>) {
        interrupt_holds();
        let mut slot = lock(&self.tape);
        self.site.count_duty(tape.is_some(), slot.is_some());
        *slot = tape;
        self.choose_way_with(slot.is_some());
    }

    /// Ends a tape, if it is the one that is written.
    pub(crate) fn end_tape(&self, tape: &Arc<Tape>) {
        if !lifecycle::is_running() {
            // In a forked child nobody may be left to unlock the tape.
            return;
        }
        let is_this = lock(&self.tape)
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(own, tape));
        if is_this {
            self.set_tape(None);
        }
    }

    /// Whether what happens is written down.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorded.load(Relaxed)
    }

    /// Writes a step down, where that is asked for.
    #[inline]
    pub(crate) fn note(&self, step: impl FnOnce() -> Step) {
        if self.is_recorded() {
            interrupt_holds();
            if let Some(tape) = &*lock(&self.tape) {
                tape.note(step());
            }
        }
    }

    /// Writes down that memory was had, where that is asked for.
    #[inline]
    pub(crate) fn note_begin(
        &self,
        queue: &QueueCore,
        allocation: &Allocation,
        alignment: usize,
        after: &[&Event],
    ) {
        if !self.is_recorded() {
            return;
        }
        let submitted = queue.look(|line| line.submitted);
        let block = allocation.block();
        self.note(|| Step::Allocate {
            id: block.base.get(),
            at: queue.native().point(submitted).into(),
            bytes: block.bytes,
            alignment,
            after: RecordedPoint::of_events(after),
            tag: block.tag.as_ref().map(|tag| tag.name().into()),
        });
    }

    /// Writes down that memory was asked for and not had, where that is asked for.
    #[cold]
    pub(crate) fn note_refusal(
        &self,
        queue: &QueueCore,
        request: &Request,
        after: &[&Event],
        answer: &Error,
    ) {
        let is_refusal = matches!(answer, Error::OutOfMemory(_) | Error::TimedOut { .. });
        if !is_refusal || !self.is_recorded() {
            return;
        }
        let submitted = queue.look(|line| line.submitted);
        self.note(|| Step::Refuse {
            at: queue.native().point(submitted).into(),
            bytes: request.bytes,
            alignment: request.align,
            after: RecordedPoint::of_events(after),
            may_wait: request.wait != Wait::Never,
            tag: Tag::current().map(|tag| tag.name().into()),
        });
    }

    /// Writes down that the last handle went to a block that was at home on this queue.
    #[inline]
    pub(crate) fn note_end(&self, home: &QueueCore, block: &Block) {
        if self.is_recorded() {
            self.note_free_of(home, block);
        }
    }

    #[cold]
    fn note_free_of(&self, home: &QueueCore, block: &Block) {
        let uses = remembered(home, block);
        self.note(|| Step::Free {
            id: block.base.get(),
            on: None,
            after: Vec::new(),
            uses,
        });
    }
}

/// The uses of an allocation that is about to be freed in queue order, where its pool writes them
/// down.
pub(crate) fn uses_to_note(allocation: &Allocation) -> Option<Vec<RecordedUse>> {
    let block = allocation.block();
    let is_recorded = lifecycle::is_running() && block.pool()?.is_recorded();
    is_recorded.then(|| remembered(block.home(), block))
}

/// Writes down that an allocation was freed in queue order, where its uses were noted before.
pub(crate) fn note_free(
    allocation: &Allocation,
    event: &Event,
    after: &[&Event],
    uses: Option<Vec<RecordedUse>>,
) {
    let block = allocation.block();
    if let (Some(uses), Some(pool)) = (uses, block.pool()) {
        pool.note(|| Step::Free {
            id: block.base.get(),
            on: Some(event.point().into()),
            after: RecordedPoint::of_events(after),
            uses,
        });
    }
}

fn remembered(home: &QueueCore, block: &Block) -> Vec<RecordedUse> {
    let uses = home.look(|_| block.tracking.remembered(home.native()));
    let use_ = |(point, writes): (Point, bool)| RecordedUse {
        at: point.into(),
        writes: Some(writes),
    };
    uses.into_iter().map(use_).collect()
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory(_) => "memory",
            Self::Writer(_) => "writer",
            Self::Failed(_) => "failed",
        })
    }
}
