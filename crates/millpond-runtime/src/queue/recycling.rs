//! What becomes of blocks that are freed on a queue: they wait in its caches, and what these have too
//! much of goes to the stores of their pools.

use std::sync::Arc;

use triomphe::UniqueArc;

use crate::memory::{Block, Source};
use crate::pool::{Class, Way};
use crate::queue::QueueCore;

impl QueueCore {
    /// Takes back a block whose last handle was dropped.
    #[inline]
    pub(crate) fn recycle(&self, mut block: UniqueArc<Block>) {
        let owned = &mut *block;
        *owned.host_shared.get_mut() = false;
        owned.tracking.forget_content();
        if let Some(tag) = owned.tag.take() {
            tag.refund(owned.capacity);
        }
        let Source::Pool { pool, class } = &owned.source else {
            return;
        };
        pool.note_end(self, owned);
        pool.tell_end(self, owned);
        let (slot, class, limit) = (pool.slot.index(), *class, pool.cache_limit());
        let parked = owned.tracking.has_others() && !owned.tracking.is_quiet(&self.native);
        let mut line = self.lock();
        // Asked under the line: a pool that is closed after this finds the block in the cache.
        let stays = class != Class::Dedicated && !pool.is_closed();
        // There always is one: it counts its queue's live blocks.
        if let Some(cache) = line.cache_if_any(slot) {
            cache.count_out(block.capacity, block.bytes);
            if stays {
                cache.put(block, class, parked);
                if cache.is_full(limit) {
                    let mut way = self.device.site().underway.begin();
                    let evicted = cache.evict(limit);
                    drop(line);
                    self.give_up(evicted, &mut way);
                }
                return;
            }
        }
        drop(line);
        self.give_up(vec![block], &mut self.device.site().underway.begin());
    }

    /// Hands blocks to the stores of their pools.
    fn give_up(&self, blocks: Vec<UniqueArc<Block>>, way: &mut Way<'_>) {
        for block in blocks {
            if let Source::Pool { pool, .. } = &block.source {
                let pool = Arc::clone(pool);
                pool.absorb(vec![block], &self.native, way);
            }
        }
    }

    /// Empties all caches.
    pub(super) fn flush_caches(&self) {
        let mut way = self.device.site().underway.begin();
        let blocks: Vec<_> = self.with_line(|line| {
            let mut caches = line.take_caches();
            let used = caches.iter_mut().flatten();
            used.flat_map(|cache| cache.clear()).collect()
        });
        self.give_up(blocks, &mut way);
    }
}
