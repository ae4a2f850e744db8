//! What a plain request finds before it looks further, all under the line of its queue.
//!
//! These are the first steps of [`PoolCore::find`], in its order: memory that the queue is ordered
//! behind (R2), the store, what other queues are done with (R3). The lines of other queues are
//! only tried, which needs no order among them. Where one is taken, or where there is anything that
//! takes more than a look, this answers nothing, and the general way decides from the beginning.

use std::sync::Arc;

use smallvec::SmallVec;

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
        let own = line.cache_if_any(slot)?;
        if own.has_parked() || own.has_exact(wish.exact().size) {
            return None;
        }
        let mut looked_at: SmallVec<[_; 4]> = SmallVec::new();
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
            looked_at.push((theirs, native));
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
        looked_at.iter_mut().find_map(|(theirs, native)| {
            let is_over = |block: &_| is_over(block, native);
            let cache = theirs.cache_if_any(slot)?;
            let block = cache.take_oldest(wish.class, wish.size, wish.most, is_over)?;
            Some(Found::of(block, native).weakened(Rule::Opportunistic))
        })
    }
}
