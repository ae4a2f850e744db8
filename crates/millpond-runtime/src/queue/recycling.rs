//! What becomes of blocks that are freed on a queue: they wait in its caches, and what these have too
//! much of goes to the stores of their pools. Those of a pool of the driver's go back at once.

use std::sync::Arc;

use triomphe::UniqueArc;

use crate::memory::{Block, Source};
use crate::pool::{Cache, Class, LEAST_CACHE_LIMIT, Way};
use crate::queue::hold::interrupt;
use crate::queue::{Line, QueueCore};

/// Blocks that leave a queue's caches.
pub(super) struct Leaving<'a> {
    blocks: Vec<UniqueArc<Block>>,
    /// Begun while they were still where others find them.
    way: Way<'a>,
}

impl Line {
    /// The cache for a block that is freed, with its class, if it is of those that are freed all the
    /// time: there is room for it, and nobody to ask.
    #[inline]
    pub(super) fn room_for(&mut self, block: &Block) -> Option<(&mut Cache, u8)> {
        let Source::Pool { pool, class } = &block.source else {
            return None;
        };
        let Class::Small(index) = *class else {
            return None;
        };
        if !pool.is_plain() {
            return None;
        }
        let cache = self.cache_if_any(pool.slot.index())?;
        let has_room = cache.bytes().has_room(block.capacity, &LEAST_CACHE_LIMIT);
        has_room.then_some((cache, index))
    }
}

impl QueueCore {
    /// Takes back a block of a pool whose last handle was dropped.
    #[inline]
    pub(crate) fn recycle(&self, mut block: UniqueArc<Block>) {
        let parked = self.end(&mut block);
        let leaving = self.keep(&mut self.lock(), block, parked);
        if let Some(leaving) = leaving {
            self.give_up(leaving);
        }
    }

    /// Ends the life of a block that nobody else has; whether other queues may still be using it.
    #[inline]
    pub(super) fn end(&self, block: &mut Block) -> bool {
        let is_plain = matches!(&block.source, Source::Pool { pool, .. } if pool.is_plain());
        if !is_plain || block.tag.is_some() {
            self.tell_end(block);
        }
        block.forget_uses()
    }

    /// Tells all who want to know of it that a block's life ends.
    #[cold]
    fn tell_end(&self, block: &mut Block) {
        if let Some(tag) = block.tag.take() {
            tag.refund(block.capacity);
        }
        if let Source::Pool { pool, .. } = &block.source {
            pool.note_end(self, block);
            pool.tell_end(self, block);
        }
    }

    /// Puts a block whose life has ended into its cache, under the line; what has to leave the cache
    /// for it.
    #[inline]
    pub(super) fn keep(
        &self,
        line: &mut Line,
        mut block: UniqueArc<Block>,
        parked: bool,
    ) -> Option<Leaving<'_>> {
        if let Some(window) = &line.window {
            window.forget(&block);
        }
        let parked =
            parked && !self.is_behind_others(line, &mut block) && block.tracking.others_go_on();
        if !parked && let Some((cache, index)) = line.room_for(&block) {
            cache.put_small(block, index);
            return None;
        }
        self.keep_any(line, block, parked)
    }

    /// Whether the queue is ordered behind what other queues may still be doing with a block, and may
    /// have it again because of that (rule R2).
    fn is_behind_others(&self, line: &Line, block: &mut Block) -> bool {
        let follows = matches!(&block.source, Source::Pool { pool, .. }
            if pool.driven.is_none() && pool.reuse().follow_events);
        follows && self.native.in_order && block.tracking.others_are_known_before(&line.clock)
    }

    /// The same for any block.
    #[inline(never)]
    fn keep_any(
        &self,
        line: &mut Line,
        block: UniqueArc<Block>,
        parked: bool,
    ) -> Option<Leaving<'_>> {
        let Source::Pool { pool, class } = &block.source else {
            return None;
        };
        let (slot, class) = (pool.slot.index(), *class);
        let (limit, bulky) = (pool.cache_limit(), pool.bulky_limit());
        // Asked under the line: a pool that is closed after this finds the block in the cache.
        let stays = class != Class::Dedicated && !pool.is_closed();
        // There always is one: it counts its queue's live blocks.
        if let Some(cache) = line.cache_if_any(slot) {
            cache.live.count_out(block.capacity, block.bytes);
            if stays {
                cache.put(block, class, parked);
                if cache.is_full(limit) {
                    return Some(self.leaving(|| cache.evict(limit)));
                }
                let is_quiet = |block: &Block| block.tracking.is_quiet(&self.native);
                let is_bulky = cache.is_bulky(bulky);
                return is_bulky.then(|| self.leaving(|| cache.evict_bulky(bulky, is_quiet)));
            }
        }
        Some(self.leaving(|| vec![block]))
    }

    #[cold]
    fn leaving(&self, take: impl FnOnce() -> Vec<UniqueArc<Block>>) -> Leaving<'_> {
        let way = self.device.site().underway.begin();
        Leaving {
            blocks: take(),
            way,
        }
    }

    /// Hands blocks to the stores of their pools. The line may not be locked: a pool may end.
    #[cold]
    pub(super) fn give_up(&self, leaving: Leaving<'_>) {
        interrupt();
        let Leaving { blocks, mut way } = leaving;
        for block in blocks {
            if let Source::Pool { pool, .. } = &block.source {
                let pool = Arc::clone(pool);
                match &pool.driven {
                    Some(driven) => pool.give_to_driver(driven, self, &block, &mut way),
                    None => pool.absorb(vec![block], &self.native, &mut way),
                }
            }
        }
    }

    /// Empties all caches.
    pub(super) fn flush_caches(&self) {
        let mut caches = Vec::new();
        let leaving = self.leaving(|| {
            caches = self.lock().take_caches();
            let used = caches.iter_mut().flatten();
            used.flat_map(|cache| cache.clear()).collect()
        });
        self.give_up(leaving);
    }
}
