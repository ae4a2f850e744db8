//! Requests to a pool of the driver's, and what is done where it refuses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond_hal::{Access, DeviceError};
use triomphe::UniqueArc;

use crate::error::{Error, Result};
use crate::memory::tracking::Tracking;
use crate::memory::{Allocation, Block};
use crate::pool::acquire::Found;
use crate::pool::class::Class;
use crate::pool::core::PoolCore;
use crate::pool::driven::Driven;
use crate::pool::growth::Refusal;
use crate::pool::handle::Fit;
use crate::pool::plan::remaining;
use crate::pool::pressure::Level;
use crate::pool::store::Conditions;
use crate::pool::underway::Way;
use crate::pool::wish::{Wait, Wish};
use crate::queue::{Native, QueueCore, interrupt_holds};

/// How long the free that is least work away is waited for before others are looked at again, and how
/// long at most once that took several turns.
const FIRST_SLICE: Duration = Duration::from_micros(200);
const LAST_SLICE: Duration = Duration::from_millis(20);

type Answer = std::result::Result<Allocation, Refusal>;

impl PoolCore {
    /// Allocates from the driver's pool; what others give up and what is waited for where it refuses.
    pub(super) fn allocate_driven(
        self: &Arc<Self>,
        driven: &Driven,
        wish: &Wish<'_>,
    ) -> Result<Allocation> {
        if wish.request.reuse != self.reuse() {
            return Err(Error::Invalid {
                what: "allocate",
                reason: format!(
                    "the {} has its rules of reuse for all allocations: set them on the pool",
                    self.name
                ),
            });
        }
        let underway = &self.site.underway;
        let mut seen = underway.seen();
        let mut answer = self.ask_driver(driven, wish)?;
        if answer.is_ok() {
            return answer.map_err(|refusal| self.no_memory(wish, &refusal));
        }
        if wish.size > self.budget.maximum.bytes().max(self.budget.reserved()) {
            return Err(self.no_memory(wish, &Refusal::Maximum));
        }
        if let Some(allocation) = self.ask_reclaimers(driven, wish, Level::Growth)? {
            return Ok(allocation);
        }
        if let Some(allocation) = self.wait_for_frees(driven, wish)? {
            return Ok(allocation);
        }
        self.have_others_give_back(driven);
        answer = self.ask_driver(driven, wish)?;
        if answer.is_err()
            && let Some(allocation) = self.ask_reclaimers(driven, wish, Level::Critical)?
        {
            return Ok(allocation);
        }
        while let Err(refusal) = &answer {
            if let Some(allocation) = self.wait_for_frees(driven, wish)? {
                return Ok(allocation);
            }
            let at_maximum = matches!(refusal, Refusal::Maximum);
            if !underway.wait(&seen, at_maximum, wish.request.wait)? {
                break;
            }
            seen = underway.seen();
            answer = self.ask_driver(driven, wish)?;
        }
        self.site.check_lost()?;
        answer.map_err(|refusal| self.no_memory(wish, &refusal))
    }

    fn no_memory(&self, wish: &Wish<'_>, refusal: &Refusal) -> Error {
        self.out_of_memory(wish.request.bytes, wish.size, &refusal.to_string())
    }

    /// Asks the driver, within the pool's maximum.
    fn ask_driver(self: &Arc<Self>, driven: &Driven, wish: &Wish<'_>) -> Result<Answer> {
        interrupt_holds();
        // Before others may wait for what is underway here.
        wish.queue.wait_for_room()?;
        let mut way = self.site.underway.begin();
        let Some(growth) = self.budget.reserve(wish.size) else {
            return Ok(Err(Refusal::Maximum));
        };
        way.has_reserved();
        let queue = wish.queue;
        let (first, sequence) = match queue.begin_of_driver(&driven.pool, wish.size) {
            Ok(begun) => begun,
            Err(Error::Device(refusal @ DeviceError::OutOfMemory { .. })) => {
                return Ok(Err(Refusal::Driver(refusal)));
            }
            Err(error) => return Err(error),
        };
        growth.keep();
        way.gains();
        let base = driven.begin(first, wish.size, wish.request.align);
        let native = queue.native();
        let tracking = Tracking::default();
        tracking.record(native, native, sequence, Access::Write);
        tracking.forget_content();
        let found = Found::given(base, tracking, wish);
        Ok(Ok(self.make(found, wish, &mut queue.lock()).0))
    }

    /// Has reclaimers give memory up until the driver has enough.
    fn ask_reclaimers(
        self: &Arc<Self>,
        driven: &Driven,
        wish: &Wish<'_>,
        level: Level,
    ) -> Result<Option<Allocation>> {
        let mut answer = Ok(None);
        let told = self.pressure(level, wish.size, None);
        self.site.reclaimers.call(&told, || {
            answer = self.ask_driver(driven, wish).map(std::result::Result::ok);
            !matches!(answer, Ok(None))
        });
        answer
    }

    /// R6: waits for frees, the least work away first, until the driver has enough; nothing, if there
    /// is none to wait for.
    fn wait_for_frees(
        self: &Arc<Self>,
        driven: &Driven,
        wish: &Wish<'_>,
    ) -> Result<Option<Allocation>> {
        let begin = Instant::now();
        let deadline = match wish.request.wait {
            Wait::Never => return Ok(None),
            Wait::Until(deadline) => Some(deadline),
            Wait::Forever => None,
        };
        let mut slice = FIRST_SLICE;
        loop {
            let mut pending = driven.pending();
            let work = |at: &(Arc<Native>, u64)| {
                let conditions = Conditions::from_iter([at.clone()]);
                remaining(&conditions, self.is_timeless())
            };
            pending.sort_by_cached_key(|(_, at)| work(at));
            let Some((_, (native, sequence))) = pending.into_iter().next() else {
                return Ok(None);
            };
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Err(Error::TimedOut {
                    waited: begin.elapsed(),
                });
            }
            let end = deadline.map_or(now + slice, |deadline| deadline.min(now + slice));
            slice = (slice * 2).min(LAST_SLICE);
            // How that command ends doesn't matter to the memory it frees.
            if native.wait_some(sequence, end, "a wait for memory")? {
                driven.poll();
                if let Ok(allocation) = self.ask_driver(driven, wish)? {
                    return Ok(Some(allocation));
                }
            }
        }
    }

    /// Gives back what is free of the device: of this pool, and of the others.
    fn have_others_give_back(&self, driven: &Driven) {
        interrupt_holds();
        // A refusal is that of a lost device, which the next call tells of.
        let _ = driven.pool.trim(0);
        self.site.sweep();
        for other in self.site.pools() {
            if !std::ptr::eq(Arc::as_ptr(&other), self) {
                other.collect();
                other.release_idle(0, usize::MAX);
            }
        }
    }

    /// Gives a block back that nobody has any more, in the order of its queue.
    pub(crate) fn give_to_driver(
        &self,
        driven: &Driven,
        home: &QueueCore,
        block: &UniqueArc<Block>,
        way: &mut Way<'_>,
    ) {
        way.gains();
        let bytes = block.capacity;
        let (number, first) = driven.begin_free(block.base, bytes);
        let freed = home.end_of_driver(&driven.pool, &block.tracking, first, bytes);
        // On a device that takes no more commands the memory goes with the device.
        driven.end_free(number, freed.ok().as_ref());
        self.budget.give_back(bytes);
    }

    /// Whether a request would find memory, as far as the driver tells.
    pub(super) fn fit_driven(&self, driven: &Driven, bytes: usize) -> Fit {
        let Some(size) = driven.granted(bytes, 1) else {
            return Fit::Never;
        };
        driven.poll();
        let maximum = self.budget.maximum.bytes();
        if size > maximum.saturating_sub(self.budget.reserved()) {
            return Fit::Never;
        }
        let mut pending = driven.pending();
        let held: usize = pending.iter().map(|(bytes, _)| bytes).sum();
        let free = driven
            .state()
            .reserved
            .saturating_sub(self.budget.reserved());
        if size <= free.saturating_sub(held) {
            return Fit::Now;
        }
        let mut short = (self.budget.reserved() + held + size).saturating_sub(maximum);
        if short == 0 {
            return Fit::Growth;
        }
        let work = |at: &(Arc<Native>, u64)| {
            let conditions = Conditions::from_iter([at.clone()]);
            remaining(&conditions, self.is_timeless())
        };
        pending.sort_by_cached_key(|(_, at)| work(at));
        let mut points = Vec::new();
        for (bytes, (queue, sequence)) in pending {
            if short == 0 {
                break;
            }
            short = short.saturating_sub(bytes);
            points.push(queue.point(sequence));
        }
        Fit::After(points)
    }

    /// A wish as the driver grants it.
    pub(super) fn driven_wish<'a>(&self, driven: &Driven, wish: Wish<'a>) -> Result<Wish<'a>> {
        let request = wish.request;
        let size = driven
            .granted(request.bytes, request.align)
            .ok_or_else(|| {
                let reason = "the size is larger than the address space";
                self.out_of_memory(request.bytes, usize::MAX, reason)
            })?;
        Ok(Wish {
            class: Class::Dedicated,
            size,
            most: size,
            ..wish
        })
    }
}
