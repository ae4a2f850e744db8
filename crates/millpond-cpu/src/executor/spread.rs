//! One kernel execution that several threads share.
//!
//! The extent is cut into chunks that are claimed one by one. Nobody waits for anybody: whichever
//! thread finishes the last chunk concludes the command, the others have gone on by then. After a
//! chunk has failed the rest is skipped and `finish` isn't called.

use std::cell::UnsafeCell;

use millpond_hal::QueueId;

use super::fault::Fault;
use super::launch::{Launch, Size};
use crate::queue::{Begun, CpuQueue, Role};
use crate::sync::{Apart, Arc, AtomicUsize, Mutex, Ordering, lock, spin_loop};

/// Chunks for each thread that may take part: enough that one which joins late or is slow does
/// not hold the others up, few enough that claiming costs nothing.
const CHUNKS_PER_THREAD: usize = 8;

/// What the concluding thread takes out.
struct Content {
    queue: Arc<CpuQueue>,
    launch: Launch,
    origin: Option<Arc<str>>,
}

/// A kernel execution in progress.
pub(crate) struct Spread {
    id: QueueId,
    sequence: u64,
    extent: usize,
    chunk: usize,
    chunks: usize,
    /// The next chunk to claim; goes past `chunks`.
    next: Apart<AtomicUsize>,
    /// Chunks that are not finished.
    left: Apart<AtomicUsize>,
    fault: Mutex<Option<Fault>>,
    /// `Some` until every chunk is finished. Read by threads that hold an unfinished chunk,
    /// taken out by the one that finishes the last.
    content: UnsafeCell<Option<Content>>,
}

// SAFETY: `content` is the only part that isn't `Sync` by itself; what it holds may be used from
// any thread (`HostKernel: Send + Sync`, the queue is `Sync`). It is read only by a thread that
// claimed a chunk and hasn't counted it finished, and written only after all were counted, with
// the counter's acquire-release order in between: no access conflicts with a write.
unsafe impl Sync for Spread {}

impl Spread {
    /// Cuts a launch into chunks for `threads` threads, or gives it back if it should stay whole.
    pub(crate) fn new(
        queue: &Arc<CpuQueue>,
        sequence: u64,
        launch: Launch,
        size: Size,
        origin: Option<Arc<str>>,
        threads: usize,
    ) -> Result<Arc<Self>, (Launch, Option<Arc<str>>)> {
        let Size { extent, grain } = size;
        if threads < 2 || extent <= grain {
            return Err((launch, origin));
        }
        let even = extent.div_ceil(threads.saturating_mul(CHUNKS_PER_THREAD));
        let chunk = even.div_ceil(grain).saturating_mul(grain);
        let chunks = extent.div_ceil(chunk);
        if chunks < 2 {
            return Err((launch, origin));
        }
        Ok(Arc::new(Self {
            id: queue.identity(),
            sequence,
            extent,
            chunk,
            chunks,
            next: Apart(AtomicUsize::new(0)),
            left: Apart(AtomicUsize::new(chunks)),
            fault: Mutex::new(None),
            content: UnsafeCell::new(Some(Content {
                queue: Arc::clone(queue),
                launch,
                origin,
            })),
        }))
    }

    /// The queue that it belongs to.
    pub(crate) fn queue(&self) -> QueueId {
        self.id
    }

    /// Whether one more thread than the caller would find a chunk.
    pub(crate) fn is_wide(&self) -> bool {
        self.next.0.load(Ordering::Relaxed) + 1 < self.chunks
    }

    /// Runs chunks until none is left or the role is fulfilled. If this thread finished the last one it
    /// concludes the command, and answers with the next of its queue that `role` lets it run.
    pub(crate) fn participate(self: &Arc<Self>, role: &Role<'_>) -> Option<(Arc<CpuQueue>, Begun)> {
        while !role.is_fulfilled() {
            let index = self.next.0.fetch_add(1, Ordering::Relaxed);
            if index >= self.chunks {
                // Whoever took the last piece is about to take the command off the board.
                spin_loop();
                return None;
            }
            self.run_chunk(index);
            // Release: the effects of this chunk come before its being counted. Acquire: whoever
            // counts the last chunk sees the effects of all.
            if self.left.0.fetch_sub(1, Ordering::AcqRel) == 1 {
                return self.conclude(role);
            }
        }
        None
    }

    fn run_chunk(self: &Arc<Self>, index: usize) {
        // SAFETY: this thread has claimed a chunk and not counted it yet, so `content` is not
        // taken out before this function returns.
        let content = unsafe { &*self.content.get() };
        let Some(content) = content else { return };
        let crew = content.queue.crew();
        if index + 1 == self.chunks {
            crew.board.remove_share(self);
        } else if self.is_wide() && crew.board.has_recruits() {
            crew.answer(crew.board.recruit());
        }
        if lock(&self.fault).is_some() {
            return;
        }
        let start = index * self.chunk;
        let range = start..(start + self.chunk).min(self.extent);
        // SAFETY: the submitter promised the kernel's rules for the whole command; chunks of
        // different indices are disjoint and each index is claimed once.
        if let Err(fault) = unsafe { content.launch.run(range) } {
            lock(&self.fault).get_or_insert(fault);
        }
    }

    fn conclude(&self, role: &Role<'_>) -> Option<(Arc<CpuQueue>, Begun)> {
        // SAFETY: every chunk was claimed and counted finished, and this thread counted the last
        // one: no other thread reads `content` any more, none will.
        let content = unsafe { &mut *self.content.get() };
        let Content {
            queue,
            launch,
            origin,
        } = content.take()?;
        let outcome = match lock(&self.fault).take() {
            Some(fault) => Err(fault),
            // SAFETY: as in `run_chunk`; every call of `run` has returned.
            None => unsafe { launch.finish() },
        };
        let failure = launch.end(outcome, origin);
        let begun = queue.conclude(self.sequence, failure.as_ref(), role);
        begun.map(|begun| (queue, begun))
    }
}
