//! What a plain request finds before it looks further, all under the line of its queue.
//!
//! These are the first steps of [`PoolCore::find`], in its order: memory that the queue is ordered
//! behind (R2), the store, what other queues are done with (R3). The lines of other queues are
//! only tried, which needs no order among them. Where one is taken, or where there is anything that
//! takes more than a look, this answers nothing, and the general way decides from the beginning.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::memory::Allocation;
use crate::pool::acquire::{Found, hand_out};
use crate::pool::core::PoolCore;
use crate::pool::find::{is_before, is_over};
use crate::pool::wish::Wish;
use crate::queue::{Line, Queue};
use crate::weaken::Rule;

impl PoolCore {
    /// An allocation for a request of a plain pool, whose queue has this line and nothing of the
    /// class.
    #[inline(never)]
    pub(crate) fn allocate_nearby(
        self: &Arc<Self>,
        wish: &Wish<'_>,
        line: &mut Line,
    ) -> Option<Allocation> {
        Some(match self.find_nearby(wish, line)? {
            Found::Block(block) => {
                let cache = self.cache_of(wish.queue, line);
                let home = Queue::of(Arc::clone(wish.queue));
                hand_out(block, cache, home, wish.request.bytes, false)
            }
            found @ Found::Extent(_) => self.make(found, wish, line).0,
        })
    }

    fn find_nearby(&self, wish: &Wish<'_>, line: &mut Line) -> Option<Found> {
        let slot = self.slot.index();
        let own = line.cache_if_any(slot)?;
        if own.has_parked() || own.has_exact(wish.exact().size) {
            return None;
        }
        own.look_around(&self.keepers);
        let (own, clock) = line.cache_and_clock(slot)?;
        let mut looked_at: SmallVec<[_; 4]> = SmallVec::new();
        for other in own.others(wish.class) {
            let mut theirs = other.line.try_lock()?;
            let Some(cache) = theirs.cache_if_any(slot) else {
                continue;
            };
            if wish.request.reuse.follow_events
                && let Some(found) =
                    Found::in_cache(cache, wish, |block, home| is_before(block, home, clock))
            {
                return Some(found.weakened(Rule::FollowEvents));
            }
            looked_at.push(theirs);
        }
        if self.stock.pending() > 0 {
            return None;
        }
        if self.stock.free() >= wish.size
            && let Some(found) = self.take_extent(wish)
        {
            return Some(found);
        }
        looked_at.iter_mut().find_map(|theirs| {
            let found = Found::in_cache(theirs.cache_if_any(slot)?, wish, is_over)?;
            Some(found.weakened(Rule::Opportunistic))
        })
    }
}
