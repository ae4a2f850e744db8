//! What a plain request finds before it looks further, all under the line of its queue.
//!
//! These are the first steps of [`PoolCore::find`], in its order: memory that the queue is ordered
//! behind (R2), the store, what other queues are done with (R3). The lines of other queues are
//! only tried, which needs no order among them. Where one is taken, or where there is anything that
//! takes more than a look, this answers nothing, and the general way decides from the beginning.

use std::sync::Arc;

use crate::memory::Allocation;
use crate::pool::acquire::{Found, Wish};
use crate::pool::core::PoolCore;
use crate::pool::find::{is_before, is_over};
use crate::pool::weaken::Rule;
use crate::queue::{Line, QueueCore};
use crate::sync::{MutexGuard, lock};

impl PoolCore {
    /// An allocation for a request of a plain pool, whose queue has this line and nothing of the
    /// class.
    #[inline(never)]
    pub(crate) fn allocate_nearby(
        self: &Arc<Self>,
        wish: &Wish<'_>,
        line: MutexGuard<'_, Line>,
    ) -> Option<Allocation> {
        let others = self.keepers.others(wish.queue, wish.class);
        // Unlocked before the queues are let go of, whose end this may be.
        let mut line = line;
        let found = self.find_nearby(wish, &mut line, &others)?;
        Some(self.make(found, wish, &mut line).0)
    }

    fn find_nearby(
        &self,
        wish: &Wish<'_>,
        line: &mut Line,
        others: &[Arc<QueueCore>],
    ) -> Option<Found> {
        let slot = self.slot.index();
        let (own, exact) = (line.cache_if_any(slot)?, wish.exact());
        if own.has_parked() || own.has_oldest(exact.class, exact.size, exact.most, |_| true) {
            return None;
        }
        let mut done = None;
        for other in others {
            let native = other.native();
            let mut theirs = other.try_lock()?;
            let Some(cache) = theirs.cache_if_any(slot) else {
                continue;
            };
            let is_before = |block: &_| is_before(block, native, &line.clock);
            if wish.request.reuse.follow_events
                && let Some(block) = cache.take_oldest(wish.class, wish.size, wish.most, is_before)
            {
                return Some(Found::of(block, native).weakened(Rule::FollowEvents));
            }
            if done.is_none()
                && cache.has_oldest(wish.class, wish.size, wish.most, |block| {
                    is_over(block, native)
                })
            {
                done = Some((theirs, native));
            }
        }
        let has_free = {
            let store = lock(&self.store);
            if store.pending_bytes() > 0 {
                return None;
            }
            store.free_bytes() >= wish.size
        };
        if has_free && let Some(found) = self.take_extent(wish) {
            return Some(found);
        }
        let (mut theirs, native) = done?;
        let block =
            theirs
                .cache_if_any(slot)?
                .take_oldest(wish.class, wish.size, wish.most, |block| {
                    is_over(block, native)
                })?;
        Some(Found::of(block, native).weakened(Rule::Opportunistic))
    }
}
