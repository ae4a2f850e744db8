//! What becomes of blocks that are freed on a queue: they wait in its caches, and what these have too
//! much of goes to the stores of their pools.

use std::sync::Arc;

use smallvec::SmallVec;
use triomphe::UniqueArc;

use crate::memory::{Block, Source};
use crate::pool::{Class, Way};
use crate::queue::{Line, QueueCore};

/// Blocks that leave a queue's caches, and what says that they are underway.
type Left<'a> = (Vec<UniqueArc<Block>>, Way<'a>);

impl QueueCore {
    /// Takes back a block whose last handle was dropped.
    #[inline]
    pub(crate) fn recycle(&self, mut block: UniqueArc<Block>) {
        let parked = self.end_uses(&mut block);
        let mut line = self.lock();
        let left = self.put_back(&mut line, block, parked);
        drop(line);
        self.give_up(left);
    }

    /// The same of several, under one lock.
    pub(crate) fn recycle_all(&self, blocks: &mut dyn Iterator<Item = UniqueArc<Block>>) {
        let with_parked = |mut block: UniqueArc<Block>| {
            let parked = self.end_uses(&mut block);
            (block, parked)
        };
        let blocks: SmallVec<[_; 16]> = blocks.map(with_parked).collect();
        let mut left: SmallVec<[_; 4]> = SmallVec::new();
        let mut line = self.lock();
        for (block, parked) in blocks {
            left.extend(self.put_back(&mut line, block, parked));
        }
        drop(line);
        left.into_iter().for_each(|left| self.give_up(Some(left)));
    }

    /// What of a block's end needs no lock; whether other queues may still be using it.
    #[inline]
    fn end_uses(&self, block: &mut UniqueArc<Block>) -> bool {
        let owned = &mut **block;
        *owned.host_shared.get_mut() = false;
        owned.tracking.forget_content();
        if let Some(tag) = owned.tag.take() {
            tag.refund(owned.capacity);
        }
        if let Source::Pool { pool, .. } = &owned.source {
            pool.note_end(self, owned);
            pool.tell_end(self, owned);
        }
        owned.tracking.has_others() && !owned.tracking.is_quiet(&self.native)
    }

    /// Puts a block into its cache; what doesn't stay there is to be given up without the line.
    #[inline]
    fn put_back(&self, line: &mut Line, block: UniqueArc<Block>, parked: bool) -> Option<Left<'_>> {
        let Source::Pool { pool, class } = &block.source else {
            return None;
        };
        let (slot, class, limit) = (pool.slot.index(), *class, pool.cache_limit());
        // Asked under the line: a pool that is closed after this finds the block in the cache.
        let stays = class != Class::Dedicated && !pool.is_closed();
        let begin = || self.device.site().underway.begin();
        // There always is one: it counts its queue's live blocks.
        if let Some(cache) = line.cache_if_any(slot) {
            cache.count_out(block.capacity, block.bytes);
            if stays {
                cache.put(block, class, parked);
                return cache.is_full(limit).then(|| {
                    let way = begin();
                    (cache.evict(limit), way)
                });
            }
        }
        Some((vec![block], begin()))
    }

    /// Hands blocks to the stores of their pools.
    fn give_up(&self, left: Option<Left<'_>>) {
        let Some((blocks, mut way)) = left else {
            return;
        };
        for block in blocks {
            if let Source::Pool { pool, .. } = &block.source {
                let pool = Arc::clone(pool);
                pool.absorb(vec![block], &self.native, &mut way);
            }
        }
    }

    /// Empties all caches.
    pub(super) fn flush_caches(&self) {
        let way = self.device.site().underway.begin();
        let blocks: Vec<_> = self.with_line(|line| {
            let mut caches = line.take_caches();
            let used = caches.iter_mut().flatten();
            used.flat_map(|cache| cache.clear()).collect()
        });
        self.give_up(Some((blocks, way)));
    }
}
