//! The reuse rules beyond the queue's own cache: where a request's bytes are looked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::memory::{Block, Source};
use crate::pool::acquire::{Found, Request, Wait, Wish};
use crate::pool::class::Class;
use crate::pool::core::PoolCore;
use crate::pool::growth::Refusal;
use crate::pool::plan::{self, remaining};
use crate::pool::pressure::Level;
use crate::pool::store::{Conditions, Cut};
use crate::pool::weaken::{Rule, is_broken};
use crate::queue::Native;
use crate::sync::lock;

/// How long the first command that is in the way of a request is waited for before others are
/// looked at again, and how long at most once that took several turns.
const FIRST_SLICE: Duration = Duration::from_micros(200);
const LAST_SLICE: Duration = Duration::from_millis(20);

impl PoolCore {
    /// Every rule but R1, in order.
    pub(crate) fn find(&self, wish: &Wish<'_>) -> Result<Found> {
        if wish.class == Class::Dedicated {
            return self.find_dedicated(wish);
        }
        let Request { align, reuse, .. } = wish.request;
        let clock = wish.queue.lock().clock.clone();
        if reuse.follow_events
            && let Some(found) = self.find_behind(wish, &clock)
        {
            return Ok(found.weakened(Rule::FollowEvents));
        }
        if reuse.opportunistic || self.is_timeless() {
            self.poll();
        }
        if let Some(cut) = lock(&self.store).take(wish.size, align) {
            return Ok(Found::cut(cut, wish));
        }
        if reuse.opportunistic
            && let Some(found) = self.steal(wish, |block, home| {
                block.tracking.is_idle(home) || is_broken(Rule::Opportunistic)
            })
        {
            return Ok(found.weakened(Rule::Opportunistic));
        }
        let room = self.reserved().saturating_add(wish.size) <= self.comfortable;
        if room && let Ok(cut) = self.grow(wish.size, align, false, true) {
            return Ok(Found::cut(cut, wish));
        }
        self.find_without_growth(wish, &clock)
    }

    /// R2: memory whose last use the queue is ordered behind.
    fn find_behind(&self, wish: &Wish<'_>, clock: &Clock) -> Option<Found> {
        let found = self.steal(wish, |block, home| {
            block.tracking.is_before(home, clock) || is_broken(Rule::FollowEvents)
        });
        if found.is_some() {
            return found;
        }
        let mut store = lock(&self.store);
        if store.pending_bytes() < wish.size {
            return None;
        }
        let (base, conditions) =
            store.take_pending(wish.size, wish.request.align, |conditions| {
                let is_known = |(queue, sequence): &(Arc<Native>, u64)| {
                    queue.in_order && clock.is_after(queue.point(*sequence))
                };
                conditions.iter().all(is_known).then_some(0)
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
            let least = lock(&self.store).take_pending(size, request.align, |conditions| {
                Some(remaining(conditions, self.is_timeless()))
            });
            if let Some((base, conditions)) = least {
                let mut line = wish.queue.lock();
                for (queue, sequence) in &conditions {
                    line.waits.behind.push((Arc::clone(queue), *sequence));
                }
                if is_broken(Rule::InternalDependencies) {
                    line.waits.behind.clear();
                }
                let found = Found::pending(base, &conditions, wish);
                return Ok(found.weakened(Rule::InternalDependencies));
            }
        }
        if let Some(cut) = self.reclaim_or_wait(wish, Level::Growth)? {
            return Ok(Found::cut(cut, wish));
        }
        self.grow_at_last(wish)
    }

    /// What reclaimers give up at once, or what is waited for, that which they freed included.
    fn reclaim_or_wait(&self, wish: &Wish<'_>, level: Level) -> Result<Option<Cut>> {
        match self.reclaim(wish, level) {
            None => self.wait_for_memory(wish),
            found => Ok(found),
        }
    }

    /// Has reclaimers give memory up until the request fits (rule R7).
    fn reclaim(&self, wish: &Wish<'_>, level: Level) -> Option<Cut> {
        let mut cut = None;
        let told = self.pressure(level, wish.size, None);
        self.site.reclaimers.call(&told, || {
            self.collect();
            cut = lock(&self.store).take(wish.size, wish.request.align);
            cut.is_some()
        });
        cut
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
                plan::smallest_sufficient(&store, wish.aligned_size(), self.is_timeless())
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
            let reached = native.wait_some(sequence, end, "a wait for memory")?;
            slice = (slice * 2).min(LAST_SLICE);
            self.collect();
            if reached {
                self.poll_knowing(&Conditions::from_iter([(native, sequence)]));
            }
        }
    }

    /// Makes room by giving back what is idle, first of this pool, then of the others.
    fn grow_at_last(&self, wish: &Wish<'_>) -> Result<Found> {
        let Wish { request, size, .. } = *wish;
        let grow = || self.grow(size, request.align, false, false);
        let mut answer = grow();
        if answer.is_err() {
            self.release_idle(0, usize::MAX);
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
        if answer.is_err()
            && let Some(cut) = self.reclaim_or_wait(wish, Level::Critical)?
        {
            return Ok(Found::cut(cut, wish));
        }
        self.found_or_refused(answer, wish)
    }

    fn found_or_refused(
        &self,
        answer: std::result::Result<Cut, Refusal>,
        wish: &Wish<'_>,
    ) -> Result<Found> {
        answer.map(|cut| Found::cut(cut, wish)).map_err(|refusal| {
            let reason = refusal.to_string();
            self.out_of_memory(wish.request.bytes, wish.size, &reason)
        })
    }

    fn find_dedicated(&self, wish: &Wish<'_>) -> Result<Found> {
        self.release_dedicated();
        let grow = || self.grow(wish.size, wish.request.align, true, false);
        let mut answer = grow();
        if answer.is_err() {
            self.collect();
            self.release_idle(0, usize::MAX);
            answer = grow();
        }
        self.found_or_refused(answer, wish)
    }

    /// Puts parked blocks that have become quiet back into their class lists.
    pub(crate) fn unpark(&self, wish: &Wish<'_>) {
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
