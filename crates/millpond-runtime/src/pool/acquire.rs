//! How a request finds its bytes: the steps of the reuse rules, in their order.

use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_hal::{Address, Pattern};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::tracking::Tracking;
use crate::memory::{Allocation, Block, Source};
use crate::pool::class::{self, Class};
use crate::pool::core::{PoolCore, Refusal};
use crate::pool::options::{Reuse, Zero};
use crate::pool::plan::{self, remaining};
use crate::pool::store::{Conditions, Cut};
use crate::queue::{Native, Queue, QueueCore};
use crate::sync::lock;

/// How long the first command that is in the way of a request is waited for before others are
/// looked at again, and how long at most once that took several turns.
const FIRST_SLICE: Duration = Duration::from_micros(200);
const LAST_SLICE: Duration = Duration::from_millis(20);

/// What is asked of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) bytes: usize,
    pub(crate) align: usize,
    /// Which reuse rules apply to this one.
    pub(crate) reuse: Reuse,
    pub(crate) wait: Wait,
}

/// How long a request may wait for memory that is about to be freed (rule R6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// As long as it takes.
    #[default]
    Forever,
    /// Until this moment.
    Until(Instant),
    /// Not at all.
    Never,
}

/// A request with the size it is granted.
#[derive(Clone, Copy)]
struct Wish<'a> {
    queue: &'a Arc<QueueCore>,
    request: Request,
    class: Class,
    size: usize,
}

impl Wish<'_> {
    /// Bytes that have the request in them wherever they begin.
    fn aligned_size(&self) -> usize {
        self.size + self.request.align.saturating_sub(class::GRANULE)
    }
}

/// Bytes that were found for a request.
struct Found {
    base: Address,
    capacity: usize,
    /// Who still uses them.
    tracking: Tracking,
    class: Class,
    fresh: bool,
    zeroed: bool,
}

impl Found {
    fn cut(cut: Cut, wish: &Wish<'_>) -> Self {
        Self {
            base: cut.base,
            capacity: wish.size,
            tracking: Tracking::default(),
            class: wish.class,
            fresh: cut.fresh,
            zeroed: cut.zeroed,
        }
    }

    fn pending(base: Address, conditions: &Conditions, wish: &Wish<'_>) -> Self {
        Self {
            base,
            capacity: wish.size,
            tracking: Tracking::behind(conditions),
            class: wish.class,
            fresh: false,
            zeroed: false,
        }
    }
}

impl PoolCore {
    /// Allocates on a queue: the address is known at once, the bytes are the queue's to use.
    #[inline]
    pub(crate) fn allocate(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        bytes: usize,
    ) -> Result<Allocation> {
        self.allocate_as(
            queue,
            Request {
                bytes,
                align: 1,
                reuse: self.reuse(),
                wait: Wait::Forever,
            },
        )
    }

    #[inline]
    pub(crate) fn allocate_as(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        request: Request,
    ) -> Result<Allocation> {
        lifecycle::check("allocate")?;
        if self.is_closed() {
            return Err(Error::PoolClosed {
                pool: self.name.clone(),
            });
        }
        let Some((class, size)) = class::of(request.bytes) else {
            let reason = "the size is larger than the address space";
            return Err(self.out_of_memory(queue, request.bytes, usize::MAX, reason));
        };
        let mut wish = Wish {
            queue,
            request,
            class,
            size,
        };
        if request.bytes > self.options.max_poolable.unwrap_or(usize::MAX) {
            wish.class = Class::Dedicated;
        }
        let (allocation, known_zero, fresh) = match self.take_cached(&wish)? {
            Some(allocation) => (allocation, false, false),
            None => self.allocate_slowly(&wish)?,
        };
        let fill = match self.options.zero {
            Zero::Never => false,
            Zero::Fresh => fresh && !known_zero,
            Zero::Always => !known_zero,
        };
        if fill && let Some(zero) = Pattern::new(&[0]) {
            Queue::of(Arc::clone(queue)).fill(&allocation, 0..request.bytes, zero)?;
        }
        Ok(allocation)
    }

    /// The newest block of the queue's own cache: rule R1.
    #[inline]
    fn take_cached(&self, wish: &Wish<'_>) -> Result<Option<Allocation>> {
        let Wish { queue, request, .. } = *wish;
        let mut line = queue.lock();
        line.check_open(queue)?;
        let cache = line.cache(self.slot.index());
        let native = queue.native();
        let taken = if native.in_order && request.align <= class::GRANULE {
            cache.take(wish.class, wish.size)
        } else {
            cache.take_if(wish.class, wish.size, |block| {
                (native.in_order || block.tracking.is_quiet(native))
                    && block.base.get().is_multiple_of(request.align)
            })
        };
        let Some(mut block) = taken else {
            return Ok(None);
        };
        let owned = Arc::get_mut(&mut block).expect("a cached block has no other handle");
        cache.count_in(owned.capacity, request.bytes);
        owned.bytes = request.bytes;
        owned.home = Some(Queue::of(Arc::clone(queue)));
        owned.tracking.forget_content();
        Ok(Some(Allocation::new(block)))
    }

    /// The allocation, whether it is known to be zero, and whether it was never used before.
    #[cold]
    fn allocate_slowly(self: &Arc<Self>, wish: &Wish<'_>) -> Result<(Allocation, bool, bool)> {
        let Wish { queue, request, .. } = *wish;
        self.unpark(wish);
        if let Some(allocation) = self.take_cached(wish)? {
            return Ok((allocation, false, false));
        }
        let found = self.find(wish)?;
        queue
            .lock()
            .cache(self.slot.index())
            .count_in(found.capacity, request.bytes);
        let block = Block {
            base: found.base,
            capacity: found.capacity,
            bytes: request.bytes,
            kind: self.kind,
            home: Some(Queue::of(Arc::clone(queue))),
            tracking: found.tracking,
            source: Source::Pool {
                pool: Arc::clone(self),
                class: found.class,
            },
            host_shared: AtomicBool::new(false),
        };
        let allocation = Allocation::new(Arc::new(block));
        Ok((allocation, found.zeroed, found.fresh))
    }

    /// Every rule but R1, in order.
    fn find(&self, wish: &Wish<'_>) -> Result<Found> {
        if wish.class == Class::Dedicated {
            return self.find_dedicated(wish);
        }
        let Request { align, reuse, .. } = wish.request;
        let clock = wish.queue.lock().clock.clone();
        if reuse.follow_events
            && let Some(found) = self.find_behind(wish, &clock)
        {
            return Ok(found);
        }
        self.poll();
        if let Some(cut) = lock(&self.store).take(wish.size, align) {
            return Ok(Found::cut(cut, wish));
        }
        if reuse.opportunistic
            && let Some(found) = self.steal(wish, |block, home| block.tracking.is_quiet(home))
        {
            return Ok(found);
        }
        let room = self.reserved().saturating_add(wish.size) <= self.comfortable;
        if room && let Ok(cut) = self.grow(wish.size, align, false, true) {
            return Ok(Found::cut(cut, wish));
        }
        self.find_without_growth(wish, &clock)
    }

    /// R2: memory whose last use the queue is ordered behind.
    fn find_behind(&self, wish: &Wish<'_>, clock: &Clock) -> Option<Found> {
        let behind = |queue: &Native, sequence: u64| {
            queue.in_order && sequence <= clock.of(queue.id())
        };
        let found = self.steal(wish, |block, home| block.tracking.is_before(home, clock));
        if found.is_some() {
            return found;
        }
        let mut store = lock(&self.store);
        if store.pending_bytes() < wish.size {
            return None;
        }
        let (base, conditions) = store.take_pending(wish.size, wish.request.align, |conditions| {
            let known = |(queue, sequence): &(Arc<Native>, u64)| behind(queue, *sequence);
            conditions.iter().all(known).then_some(0)
        })?;
        Some(Found::pending(base, &conditions, wish))
    }

    /// When growing is no longer comfortable, or the driver refused.
    #[cold]
    fn find_without_growth(&self, wish: &Wish<'_>, clock: &Clock) -> Result<Found> {
        let Wish { request, size, .. } = *wish;
        self.collect();
        if let Some(cut) = lock(&self.store).take(size, request.align) {
            return Ok(Found::cut(cut, wish));
        }
        if request.reuse.follow_events
            && let Some(found) = self.find_behind(wish, clock)
        {
            return Ok(found);
        }
        if request.reuse.internal_dependencies {
            let least = lock(&self.store)
                .take_pending(size, request.align, |conditions| Some(remaining(conditions)));
            if let Some((base, conditions)) = least {
                let mut line = wish.queue.lock();
                for (queue, sequence) in &conditions {
                    line.waits.behind.push((Arc::clone(queue), *sequence));
                }
                return Ok(Found::pending(base, &conditions, wish));
            }
        }
        if let Some(cut) = self.wait_for_memory(wish)? {
            return Ok(Found::cut(cut, wish));
        }
        self.grow_at_last(wish)
    }

    /// R6: waits for the smallest sufficient set of frees; none if even all of them don't help.
    ///
    /// Nobody can know which command ends first, so the wait is made in slices, after each of
    /// which whatever has completed is looked at: a stuck queue delays nobody that another serves.
    fn wait_for_memory(&self, wish: &Wish<'_>) -> Result<Option<Cut>> {
        let begin = Instant::now();
        let deadline = match wish.request.wait {
            Wait::Never => return Ok(None),
            Wait::Until(deadline) => Some(deadline),
            Wait::Forever => None,
        };
        let mut slice = FIRST_SLICE;
        loop {
            let conditions = {
                let mut store = lock(&self.store);
                if let Some(cut) = store.take(wish.size, wish.request.align) {
                    return Ok(Some(cut));
                }
                plan::smallest_sufficient(&store, wish.aligned_size())
            };
            let Some((native, sequence)) = conditions.and_then(|mut found| found.pop()) else {
                return Ok(None);
            };
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Err(Error::TimedOut {
                    waited: begin.elapsed(),
                });
            }
            let end = deadline.map_or(now + slice, |deadline| deadline.min(now + slice));
            // How that command ends doesn't matter to the memory it uses.
            native.wait_some(sequence, end, "a wait for memory")?;
            slice = (slice * 2).min(LAST_SLICE);
            self.collect();
        }
    }

    /// Makes room by giving back what is idle, first of this pool, then of the others.
    fn grow_at_last(&self, wish: &Wish<'_>) -> Result<Found> {
        let Wish { request, size, .. } = *wish;
        let grow = || self.grow(size, request.align, false, false);
        let mut answer = grow();
        if answer.is_err() {
            self.release_idle(0, usize::MAX);
            self.release_dedicated();
            answer = grow();
        }
        if matches!(answer, Err(Refusal::Driver(_))) {
            self.site.sweep();
            for other in self.site.pools() {
                if !std::ptr::eq(Arc::as_ptr(&other), self) {
                    other.collect();
                    other.release_idle(0, usize::MAX);
                }
            }
            answer = grow();
        }
        match answer {
            Ok(cut) => Ok(Found::cut(cut, wish)),
            Err(refusal) => {
                let reason = refusal.to_string();
                Err(self.out_of_memory(wish.queue, request.bytes, size, &reason))
            }
        }
    }

    fn find_dedicated(&self, wish: &Wish<'_>) -> Result<Found> {
        self.poll();
        self.release_dedicated();
        let Request { align, bytes, .. } = wish.request;
        let mut answer = self.grow(wish.size, align, true, false);
        if answer.is_err() {
            self.collect();
            self.release_idle(0, usize::MAX);
            answer = self.grow(wish.size, align, true, false);
        }
        match answer {
            Ok(cut) => Ok(Found::cut(cut, wish)),
            Err(refusal) => {
                let reason = refusal.to_string();
                Err(self.out_of_memory(wish.queue, bytes, wish.size, &reason))
            }
        }
    }

    /// Puts parked blocks that have become quiet back into their class lists.
    fn unpark(&self, wish: &Wish<'_>) {
        let mut line = wish.queue.lock();
        let native = wish.queue.native();
        let cache = line.cache(self.slot.index());
        for block in cache.unpark(|block| block.tracking.is_quiet(native)) {
            if let Source::Pool { class, .. } = block.source {
                cache.put(block, class, false);
            }
        }
    }

    /// The oldest fitting block of another queue that `allow` accepts.
    fn steal(&self, wish: &Wish<'_>, allow: impl Fn(&Block, &Native) -> bool) -> Option<Found> {
        for other in self.site.queues() {
            if Arc::ptr_eq(&other, wish.queue) {
                continue;
            }
            let native = other.native();
            let taken = other
                .lock()
                .cache_if_any(self.slot.index())
                .and_then(|cache| {
                    cache.take_oldest(wish.class, wish.size, |block| {
                        allow(block, native) && block.base.get().is_multiple_of(wish.request.align)
                    })
                });
            if let Some(mut block) = taken {
                let owned = Arc::get_mut(&mut block).expect("a cached block has no other handle");
                return Some(Found {
                    base: owned.base,
                    capacity: owned.capacity,
                    tracking: owned.tracking.rehome(native),
                    class: wish.class,
                    fresh: false,
                    zeroed: false,
                });
            }
        }
        None
    }
}
