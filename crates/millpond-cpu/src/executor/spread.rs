//! One kernel execution that several threads share.
//!
//! The extent is cut into chunks that are claimed one by one. Nobody waits for anybody: whichever
//! thread finishes the last chunk concludes the command, the others have gone on by then. After a
//! chunk has failed the rest is skipped and `finish` isn't called.
//!
//! Chunks that follow one another make a span, one for each thread that may take part. Which span a
//! thread begins with is up to the core that it runs on, so that commands over the same memory find
//! it in that core's caches; a thread that is through with its own takes from the ends of others.

use std::cell::UnsafeCell;
use std::ops::Range;

use millpond_hal::QueueId;

use super::Crew;
use super::fault::Fault;
use super::launch::{Launch, Size};
use crate::queue::{Begun, CpuQueue, Role};
use crate::sync::{Apart, Arc, AtomicBool, AtomicUsize, Mutex, Ordering, lock, spin_loop};

/// Chunks for each thread that may take part: enough that one which joins late or is slow does
/// not hold the others up, few enough that claiming costs nothing.
const CHUNKS_PER_THREAD: usize = 8;

/// Bits of a bound of a [`Span`].
const BOUND: u32 = usize::BITS / 2;

/// Chunks that follow one another, some of which are claimed.
struct Span {
    /// Whether a thread began with it.
    is_begun: AtomicBool,
    /// Chunks that nobody has claimed: the number of the first, and above it that of the end.
    left: AtomicUsize,
}

impl Span {
    fn new(chunks: Range<usize>) -> Self {
        Self {
            is_begun: AtomicBool::new(false),
            left: AtomicUsize::new(chunks.start | chunks.end << BOUND),
        }
    }

    /// Claims a chunk: the first, or the last if it is somebody else's span.
    fn claim(&self, own: bool) -> Option<usize> {
        const LOW: usize = (1 << BOUND) - 1;
        let next = |left: usize| {
            let (begin, end) = (left & LOW, left >> BOUND);
            match (begin < end, own) {
                (false, _) => None,
                (true, true) => Some((begin + 1) | end << BOUND),
                (true, false) => Some(begin | (end - 1) << BOUND),
            }
        };
        // What a chunk holds is made known otherwise, so order doesn't matter.
        let claimed = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let left = claimed.ok()?;
        Some(if own { left & LOW } else { (left >> BOUND) - 1 })
    }
}

/// All chunks of a spread.
struct Chunks {
    spans: Box<[Apart<Span>]>,
    count: usize,
    /// Chunks that are claimed or about to be; goes past `count`.
    promised: Apart<AtomicUsize>,
}

impl Chunks {
    /// As many chunks, in as many spans of about the same length.
    fn new(count: usize, spans: usize) -> Self {
        let bound = |span| count * span / spans;
        Self {
            spans: (0..spans)
                .map(|span| Apart(Span::new(bound(span)..bound(span + 1))))
                .collect(),
            count,
            promised: Apart(AtomicUsize::new(0)),
        }
    }

    /// A span for a thread on the core of this number to begin with: the same each time, unless others are there.
    fn begin(&self, core: usize) -> usize {
        let spans = self.spans.len();
        let mut order = (0..spans).map(|step| (core + step) % spans);
        let free = order.find(|&span| !self.spans[span].0.is_begun.swap(true, Ordering::Relaxed));
        free.unwrap_or(core % spans)
    }

    /// Claims a chunk for a thread that began with this span, and tells if it is the last.
    fn claim(&self, begun: usize) -> Option<(usize, bool)> {
        let ticket = self.promised.0.fetch_add(1, Ordering::Relaxed);
        if ticket >= self.count {
            return None;
        }
        let (before, from) = self.spans.split_at(begun);
        let spans = from.iter().chain(before).enumerate();
        // There are at least as many chunks as tickets, so each finds one.
        let found = spans.map(|(step, span)| span.0.claim(step == 0));
        let chunk = found.flatten().next()?;
        Some((chunk, ticket + 1 == self.count))
    }

    /// Whether one more thread than the caller would find a chunk.
    fn are_several(&self) -> bool {
        self.promised.0.load(Ordering::Relaxed) + 1 < self.count
    }
}

/// What the concluding thread takes out.
struct Content {
    queue: Arc<CpuQueue>,
    launch: Launch,
    origin: Option<Arc<str>>,
}

/// A kernel execution in progress.
pub(crate) struct Spread {
    crew: Arc<Crew>,
    id: QueueId,
    sequence: u64,
    extent: usize,
    /// Elements of the extent in a chunk.
    chunk: usize,
    chunks: Chunks,
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
        let count = extent.div_ceil(chunk);
        if count < 2 || count >> BOUND != 0 {
            return Err((launch, origin));
        }
        Ok(Arc::new(Self {
            crew: Arc::clone(queue.crew()),
            id: queue.identity(),
            sequence,
            extent,
            chunk,
            chunks: Chunks::new(count, threads.min(count)),
            left: Apart(AtomicUsize::new(count)),
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
        self.chunks.are_several()
    }

    /// Runs chunks until none is left or the role is fulfilled. If this thread finished the last one it
    /// concludes the command, and answers with the next of its queue that `role` lets it run.
    pub(crate) fn participate(self: &Arc<Self>, role: &Role<'_>) -> Option<(Arc<CpuQueue>, Begun)> {
        let begun = self.chunks.begin(self.crew.own_core());
        while !role.is_fulfilled() {
            let Some((index, is_last)) = self.chunks.claim(begun) else {
                // Whoever took the last piece is about to take the command off the board.
                spin_loop();
                return None;
            };
            self.run_chunk(index, is_last);
            // Release: the effects of this chunk come before its being counted. Acquire: whoever
            // counts the last chunk sees the effects of all.
            if self.left.0.fetch_sub(1, Ordering::AcqRel) == 1 {
                return self.conclude(role);
            }
        }
        None
    }

    fn run_chunk(self: &Arc<Self>, index: usize, is_last: bool) {
        // SAFETY: this thread has claimed a chunk and not counted it yet, so `content` is not
        // taken out before this function returns.
        let content = unsafe { &*self.content.get() };
        let Some(content) = content else { return };
        let crew = content.queue.crew();
        if is_last {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(chunks: &Chunks, begun: usize, most: usize) -> Vec<usize> {
        let claims = std::iter::from_fn(|| chunks.claim(begun));
        claims.take(most).map(|(chunk, _)| chunk).collect()
    }

    #[test]
    fn a_thread_takes_its_span_in_order_and_then_the_ends_of_others() {
        let chunks = Chunks::new(9, 3);
        assert_eq!(
            (chunks.begin(4), chunks.begin(1), chunks.begin(0)),
            (1, 2, 0)
        );
        assert_eq!(chunks.begin(5), 2, "somebody is there, as everywhere");
        assert_eq!(claimed(&chunks, 0, 1), [0]);
        assert_eq!(claimed(&chunks, 1, 5), [3, 4, 5, 8, 7]);
        assert!(chunks.are_several());
        assert_eq!(claimed(&chunks, 2, 3), [6, 2, 1]);
        assert!(!chunks.are_several());
        assert_eq!(claimed(&chunks, 0, 9), []);
    }

    #[test]
    fn spans_without_chunks_hold_nobody_up() {
        let chunks = Chunks::new(2, 5);
        let mut all: Vec<_> = (0..5).flat_map(|span| claimed(&chunks, span, 1)).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    }

    #[test]
    fn threads_claim_each_chunk_once_and_one_is_told_the_last() {
        let chunks = &Chunks::new(1000, 3);
        let claims: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|core| {
                    scope.spawn(move || {
                        let begun = chunks.begin(core);
                        std::iter::from_fn(|| chunks.claim(begun)).collect::<Vec<_>>()
                    })
                })
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!(claims.iter().filter(|(_, is_last)| *is_last).count(), 1);
        let mut numbers: Vec<_> = claims.iter().map(|(chunk, _)| *chunk).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..1000));
    }
}
