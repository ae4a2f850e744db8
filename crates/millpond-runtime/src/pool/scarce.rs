//! What a request does for memory that nobody has free: what others give up, and what is waited for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::pool::acquire::Found;
use crate::pool::class::Class;
use crate::pool::core::PoolCore;
use crate::pool::growth::Refusal;
use crate::pool::plan;
use crate::pool::pressure::Level;
use crate::pool::store::{Conditions, Cut};
use crate::pool::underway::Seen;
use crate::pool::wish::{Wait, Wish};
use crate::sync::lock;

/// How long the first command that is in the way of a request is waited for before others are
/// looked at again, and how long at most once that took several turns.
const FIRST_SLICE: Duration = Duration::from_micros(200);
const LAST_SLICE: Duration = Duration::from_millis(20);

/// What waiting for memory has found.
enum Waited {
    /// The memory.
    Cut(Cut),
    /// That enough can go back to the driver for the pool to grow.
    Room,
    /// That there is nothing to wait for.
    Nothing,
}

impl PoolCore {
    /// What costs nobody anything, what reclaimers give up (rule R7), what is waited for (R6), and
    /// what growing finds when all that is idle has gone back.
    pub(super) fn give_up_or_wait(&self, wish: &Wish<'_>) -> Result<Found> {
        // Nothing that others do or give up makes room for more than the pool may have. It has more
        // where the maximum was lowered.
        if wish.size > self.budget.maximum.bytes().max(self.reserved()) {
            let reason = Refusal::Maximum.to_string();
            return Err(self.out_of_memory(wish.request.bytes, wish.size, &reason));
        }
        let seen = self.site.underway.seen();
        if let Some(cut) = self.take_free(wish) {
            return Ok(Found::cut(cut, wish));
        }
        if let Some(refusal) = self.hopeless(wish, &seen) {
            self.site.check_lost()?;
            return Err(self.out_of_memory(wish.request.bytes, wish.size, &refusal.to_string()));
        }
        if let Some(cut) = self.find_at_no_cost(wish)? {
            return Ok(Found::cut(cut, wish));
        }
        if let Some(cut) = self.reclaim(wish, Level::Growth) {
            return Ok(Found::cut(cut, wish));
        }
        match self.wait_for_memory(wish, self.shortage(wish.size))? {
            Waited::Cut(cut) => Ok(Found::cut(cut, wish)),
            Waited::Room | Waited::Nothing => self.grow_at_last(wish),
        }
    }

    /// Why nothing of what follows can help a request that has found nothing free since then: the pool
    /// may not grow, nor has it anything to give back for that, nothing is pending or on its way, and
    /// there is nobody to ask for memory.
    fn hopeless(&self, wish: &Wish<'_>, since: &Seen) -> Option<Refusal> {
        let refusal = if self.is_lent() {
            Refusal::Lent
        } else {
            Refusal::Maximum
        };
        let short = self.shortage(wish.size);
        if short == 0 && !self.is_lent() {
            return None;
        }
        let store = lock(&self.store);
        let has_some = store.pending_bytes() > 0 || (short > 0 && store.unused_bytes() > 0);
        drop(store);
        let is_hopeless =
            !has_some && self.site.reclaimers.is_empty() && self.site.underway.is_still(since);
        is_hopeless.then_some(refusal)
    }

    /// What nobody has to give up anything for: segments that are idle already, if they are enough
    /// for the pool to grow by the request in their place, and memory that other threads are moving
    /// just now. That is waited for once: they may go on moving memory that is of no use here.
    fn find_at_no_cost(&self, wish: &Wish<'_>) -> Result<Option<Cut>> {
        let underway = &self.site.underway;
        let seen = underway.seen();
        let cut = self.take_free(wish).or_else(|| self.exchange_idle(wish));
        let at_maximum = self.shortage(wish.size) > 0;
        if cut.is_some() || !underway.wait(&seen, at_maximum, wish.request.wait)? {
            return Ok(cut);
        }
        let grow = || {
            let may_grow = self.has_room(wish.size) && self.is_comfortable_with(wish.size);
            may_grow.then(|| self.grow_for(wish).ok())?
        };
        let cut = self.take_free(wish).or_else(grow);
        Ok(cut.or_else(|| self.exchange_idle(wish)))
    }

    /// Growth at the maximum, if idle segments that go back make room for it.
    fn exchange_idle(&self, wish: &Wish<'_>) -> Option<Cut> {
        let short = self.shortage(wish.size);
        if short == 0 {
            return None;
        }
        let timeless = self.is_timeless();
        let conditions = plan::smallest_release(&lock(&self.store), short, timeless)?;
        if !conditions.is_empty() {
            return None;
        }
        self.release_idle(self.beside(wish.size), usize::MAX);
        self.grow_for(wish).ok()
    }

    /// Has reclaimers give memory up until the request fits.
    fn reclaim(&self, wish: &Wish<'_>, level: Level) -> Option<Cut> {
        let mut cut = None;
        let told = self.pressure(level, wish.size, None);
        let grows = wish.class == Class::Dedicated || level == Level::Critical;
        self.site.reclaimers.call(&told, || {
            self.collect();
            cut = self.take_free(wish);
            if cut.is_none() && grows {
                self.release_idle(self.beside(wish.size), usize::MAX);
                let has_room = self.has_room(wish.size);
                cut = has_room.then(|| self.grow_for(wish).ok()).flatten();
            }
            cut.is_some()
        });
        cut
    }

    /// R6: waits for the smallest sufficient set of frees, or until segments of `short` bytes in
    /// sum can go back.
    ///
    /// Nobody can know which command ends first, so the wait is made in slices, after each of
    /// which whatever has completed is looked at: a stuck queue delays nobody that another serves.
    fn wait_for_memory(&self, wish: &Wish<'_>, short: usize) -> Result<Waited> {
        let begin = Instant::now();
        let deadline = match wish.request.wait {
            Wait::Never => return Ok(Waited::Nothing),
            Wait::Until(deadline) => Some(deadline),
            Wait::Forever => None,
        };
        let mut slice = FIRST_SLICE;
        loop {
            if let Some(cut) = self.take_free(wish) {
                return Ok(Waited::Cut(cut));
            }
            let Some(mut conditions) = self.worth_waiting_for(wish, short) else {
                return Ok(Waited::Nothing);
            };
            let Some((native, sequence)) = conditions.pop() else {
                return Ok(Waited::Room);
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

    /// Free memory of the pool for a request that may have some.
    pub(super) fn take_free(&self, wish: &Wish<'_>) -> Option<Cut> {
        let is_shared = wish.class != Class::Dedicated;
        is_shared.then(|| lock(&self.store).take(wish.size, wish.request.align))?
    }

    /// Points after which the request fits, or after which enough can go back for the pool to grow.
    fn worth_waiting_for(&self, wish: &Wish<'_>, short: usize) -> Option<Conditions> {
        let timeless = self.is_timeless();
        let store = lock(&self.store);
        let is_shared = wish.class != Class::Dedicated;
        is_shared
            .then(|| plan::smallest_sufficient(&store, wish.aligned_size(), timeless))
            .flatten()
            .or_else(|| (short > 0).then(|| plan::smallest_release(&store, short, timeless))?)
    }

    /// Whether growing by this much leaves the device room.
    pub(super) fn is_comfortable_with(&self, size: usize) -> bool {
        self.reserved().saturating_add(size) <= self.comfortable
    }

    /// What may stay reserved beside a request of this size.
    fn beside(&self, size: usize) -> usize {
        self.budget.maximum.bytes().saturating_sub(size)
    }

    /// Grows by what a request needs.
    pub(super) fn grow_for(&self, wish: &Wish<'_>) -> std::result::Result<Cut, Refusal> {
        let dedicated = wish.class == Class::Dedicated;
        self.grow(wish.size, wish.request.align, dedicated, false)
    }

    /// Makes room by giving back what is idle, first of this pool, then of the others.
    fn grow_instead_of_idle(&self, wish: &Wish<'_>) -> Result<std::result::Result<Cut, Refusal>> {
        let mut answer = self.grow_for(wish);
        if answer.is_err() {
            // What the pool's maximum needs, and everything if the driver has too little.
            let at_maximum = matches!(answer, Err(Refusal::Maximum));
            let keep = if at_maximum {
                self.beside(wish.size)
            } else {
                0
            };
            self.release_idle(keep, usize::MAX);
            answer = self.grow_for(wish);
        }
        if matches!(answer, Err(Refusal::Driver(_))) {
            self.site.check_lost()?;
            self.site.sweep();
            for other in self.site.pools() {
                if !std::ptr::eq(Arc::as_ptr(&other), self) {
                    other.collect();
                    other.release_idle(0, usize::MAX);
                }
            }
            answer = self.grow_for(wish);
        }
        Ok(answer)
    }

    /// Grows in place of what is idle, waits for more of that where it is short, and for what other
    /// threads are moving just now.
    fn grow_at_last(&self, wish: &Wish<'_>) -> Result<Found> {
        let underway = &self.site.underway;
        let mut seen = underway.seen();
        let mut answer = self.grow_instead_of_idle(wish)?;
        if answer.is_err()
            && let Some(cut) = self.reclaim(wish, Level::Critical)
        {
            return Ok(Found::cut(cut, wish));
        }
        while let Err(refusal) = &answer {
            let short = match refusal {
                Refusal::Maximum => self.shortage(wish.size),
                // How much the driver is short of, or gives, only it can say.
                Refusal::Driver(_) | Refusal::Excess => 1,
                Refusal::Lent => 0,
            };
            match self.wait_for_memory(wish, short)? {
                Waited::Cut(cut) => return Ok(Found::cut(cut, wish)),
                Waited::Room => {
                    self.release_idle(0, usize::MAX);
                    answer = self.grow_for(wish);
                }
                Waited::Nothing => {
                    let at_maximum = matches!(refusal, Refusal::Maximum);
                    if !underway.wait(&seen, at_maximum, wish.request.wait)? {
                        break;
                    }
                    seen = underway.seen();
                    if let Some(cut) = self.take_free(wish) {
                        return Ok(Found::cut(cut, wish));
                    }
                    answer = self.grow_instead_of_idle(wish)?;
                }
            }
        }
        self.site.check_lost()?;
        answer.map(|cut| Found::cut(cut, wish)).map_err(|refusal| {
            let reason = refusal.to_string();
            self.out_of_memory(wish.request.bytes, wish.size, &reason)
        })
    }
}
