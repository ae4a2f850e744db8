//! The reuse rules beyond the queue's own cache: where a request's bytes are looked for.

use std::sync::Arc;

use crate::clock::Clock;
use crate::error::Result;
use crate::memory::{Block, Source};
use crate::pool::acquire::Found;
use crate::pool::class::Class;
use crate::pool::core::PoolCore;
use crate::pool::growth::Refusal;
use crate::pool::plan::remaining;
use crate::pool::wish::Wish;
use crate::queue::{Native, QueueCore};
use crate::sync::lock;
use crate::weaken::{Rule, is_broken};

impl PoolCore {
    /// Every rule but R1, in order.
    pub(crate) fn find(&self, wish: &Wish<'_>) -> Result<Found> {
        if wish.class == Class::Dedicated {
            return self.find_dedicated(wish);
        }
        let reuse = wish.request.reuse;
        let clock = wish.queue.look(|line| line.clock.clone());
        if reuse.follow_events
            && let Some(found) = self.find_behind(wish, &clock)
        {
            return Ok(found.weakened(Rule::FollowEvents));
        }
        if reuse.opportunistic || self.is_timeless() {
            self.poll();
        }
        if let Some(found) = self.take_extent(wish) {
            return Ok(found);
        }
        if reuse.opportunistic
            && let Some(found) = self.steal(wish, is_over)
        {
            return Ok(found.weakened(Rule::Opportunistic));
        }
        if reuse.opportunistic && self.is_hoarding(wish.size) {
            self.collect_quiet();
            if let Some(found) = self.take_extent(wish) {
                return Ok(found);
            }
            // Better less than its class has than growth for that.
            let exact = wish.exact();
            if let Some(cut) = self.take_free(&exact) {
                return Ok(Found::cut(cut, &exact));
            }
        }
        if self.is_comfortable_with(wish.size)
            && let Some(found) = self.grow_with_spare(wish)
        {
            return Ok(found);
        }
        self.site.check_lost()?;
        self.find_without_growth(wish, &clock)
    }

    /// Cuts the request from what is free: rounded up to its class unless memory is scarce.
    pub(crate) fn take_extent(&self, wish: &Wish<'_>) -> Option<Found> {
        let mut store = lock(&self.store);
        let wish = if store.is_scarce() {
            wish.exact()
        } else {
            *wish
        };
        let cut = store.take(wish.size, wish.request.align)?;
        drop(store);
        Some(Found::cut(cut, &wish))
    }

    /// Grows by as much as the pool usually does, and where the maximum doesn't allow that by less:
    /// down to what was asked for.
    fn grow_with_spare(&self, wish: &Wish<'_>) -> Option<Found> {
        let align = wish.request.align;
        self.replace_unused(wish.size);
        match self.grow(wish.size, align, false, true) {
            Ok(cut) => Some(Found::cut(cut, wish)),
            Err(Refusal::Maximum) => {
                let wish = wish.exact();
                let cut = self.grow(wish.size, align, false, false).ok()?;
                Some(Found::cut(cut, &wish))
            }
            Err(_) => None,
        }
    }

    /// Whether queues have cached what should be merged before the pool grows: enough for the request,
    /// with what is free already.
    fn is_hoarding(&self, size: usize) -> bool {
        let cached = |queue: &Arc<QueueCore>| {
            queue.look(|line| {
                let cache = line.cache_if_any(self.slot.index());
                cache.map_or(0, |cache| cache.bytes().all())
            })
        };
        let cached: usize = self.site.queues().iter().map(cached).sum();
        cached > 0 && cached + lock(&self.store).free_bytes() >= size
    }

    /// Moves to the store what queues have cached and nobody uses any more. The rest stays where the
    /// queue that freed it finds it.
    fn collect_quiet(&self) {
        let mut way = self.site.underway.begin();
        for queue in self.site.queues() {
            let native = queue.native();
            let blocks = queue.look(|line| {
                let cache = line.cache_if_any(self.slot.index());
                cache.map(|cache| cache.take_quiet(|block| block.tracking.is_quiet(native)))
            });
            self.absorb(blocks.unwrap_or_default(), native, &mut way);
        }
    }

    /// R2: memory whose last use the queue is ordered behind.
    fn find_behind(&self, wish: &Wish<'_>, clock: &Clock) -> Option<Found> {
        let found = self.steal(wish, |block, home| is_before(block, home, clock));
        if found.is_some() {
            return found;
        }
        let mut store = lock(&self.store);
        if store.pending_bytes() < wish.size {
            return None;
        }
        let (base, conditions) =
            store.take_pending(wish.size, wish.request.align, |conditions| {
                // What the queue itself has submitted it is behind as well (R1).
                let is_known = |(queue, sequence): &(Arc<Native>, u64)| {
                    let own = Arc::ptr_eq(queue, wish.queue.native());
                    queue.in_order && (own || clock.is_after(queue.point(*sequence)))
                };
                conditions.iter().all(is_known).then_some(0)
            })?;
        Some(Found::pending(base, &conditions, wish))
    }

    /// When growing is no longer comfortable, or the driver refused. From here on no request gets
    /// more than it asked for, unless there is plenty after all.
    #[cold]
    fn find_without_growth(&self, wish: &Wish<'_>, clock: &Clock) -> Result<Found> {
        self.collect();
        lock(&self.store).note_scarcity();
        if let Some(found) = self.take_extent(wish) {
            return Ok(found);
        }
        let wish = &wish.exact();
        let Wish { request, size, .. } = *wish;
        if let Some(cut) = self.take_free(wish) {
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
        self.give_up_or_wait(wish)
    }

    /// Memory that isn't shared with other requests.
    fn find_dedicated(&self, wish: &Wish<'_>) -> Result<Found> {
        self.release_dedicated();
        if let Ok(cut) = self.grow_for(wish) {
            return Ok(Found::cut(cut, wish));
        }
        self.site.check_lost()?;
        self.collect();
        self.give_up_or_wait(wish)
    }

    /// Puts parked blocks back into their class lists that have become quiet, or that the queue is
    /// ordered behind all uses of; whether there were any.
    pub(crate) fn unpark(&self, wish: &Wish<'_>) -> bool {
        let mut line = wish.queue.lock();
        let cache = line.cache_if_any(self.slot.index());
        if cache.is_none_or(|cache| !cache.has_parked()) {
            return false;
        }
        let native = wish.queue.native();
        let follows = native.in_order && wish.request.reuse.follow_events;
        let clock = follows.then(|| line.clock.clone());
        let cache = self.cache_of(wish.queue, &mut line);
        let ready = cache.unpark(|block| {
            let tracking = &block.tracking;
            let is_behind = |clock| tracking.others_are_before(clock);
            tracking.is_quiet(native) || clock.as_ref().is_some_and(is_behind)
        });
        let any = !ready.is_empty();
        for block in ready {
            if let Source::Pool { class, .. } = block.source {
                cache.put(block, class, false);
            }
        }
        any
    }

    /// The oldest fitting block of another queue that `allow` accepts.
    fn steal(&self, wish: &Wish<'_>, allow: impl Fn(&Block, &Native) -> bool) -> Option<Found> {
        let own = wish.queue.line_lock();
        let keepers = self.keepers.all();
        let others = keepers
            .iter()
            .filter(|other| other.kept.may_have(wish.class) && !Arc::ptr_eq(&other.line, own));
        for other in others {
            let mut line = other.line.lock();
            let found = line.cache_if_any(self.slot.index()).and_then(|cache| {
                Found::in_cache(cache, wish, |block, home| {
                    allow(block, home) && block.base.get().is_multiple_of(wish.request.align)
                })
            });
            drop(line);
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// Whether everything that a clock doesn't know of a block's uses is over (rule R2).
#[inline]
pub(crate) fn is_before(block: &Block, home: &Native, clock: &Clock) -> bool {
    block.tracking.is_before(home, clock) || is_broken(Rule::FollowEvents)
}

/// Whether everything is (rule R3).
#[inline]
pub(crate) fn is_over(block: &Block, home: &Native) -> bool {
    block.tracking.is_idle(home) || is_broken(Rule::Opportunistic)
}
