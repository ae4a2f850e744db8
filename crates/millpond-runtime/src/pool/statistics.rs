//! What a pool holds.

use std::sync::Arc;

use crate::pool::core::PoolCore;
use crate::sync::lock;

/// What a pool holds, in bytes, at one moment.
///
/// `reserved = used + pending + cached` whenever no call is in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Live allocations, as granted.
    pub used: usize,
    /// Live allocations, as asked for.
    pub requested: usize,
    /// Freed, but the last use hasn't completed.
    pub pending: usize,
    /// Free.
    pub cached: usize,
    /// Had from the driver.
    pub reserved: usize,
    /// The most that `used` has been: exact with one queue, else the sum of each queue's most.
    pub used_high: usize,
    /// The most that `reserved` has been.
    pub reserved_high: usize,
    /// Number of live allocations.
    pub live: usize,
}

impl PoolCore {
    pub(crate) fn statistics(&self) -> Statistics {
        let mut sum = Statistics::default();
        for queue in self.site.queues() {
            queue.look(|line| {
                let Some(cache) = line.cache_if_any(self.slot.index()) else {
                    return;
                };
                sum.used += cache.live.used();
                sum.requested += cache.live.requested();
                sum.used_high += cache.live.used_high();
                sum.live += cache.live.count();
                for block in cache.blocks() {
                    if block.tracking.unfinished(queue.native()).is_empty() {
                        sum.cached += block.capacity;
                    } else {
                        sum.pending += block.capacity;
                    }
                }
            });
        }
        if let Some(driven) = &self.driven {
            driven.complete(&mut sum);
            return sum;
        }
        self.poll();
        let store = lock(&self.store);
        sum.cached += store.free_bytes();
        sum.pending += store.pending_bytes();
        drop(store);
        sum.reserved = self.reserved();
        sum.reserved_high = self.budget.high();
        sum
    }

    /// The most that was used counts from now on.
    pub(crate) fn reset_used_high(&self) {
        for queue in self.site.queues() {
            queue.look(|line| {
                if let Some(cache) = line.cache_if_any(self.slot.index()) {
                    cache.live.reset_high();
                }
            });
        }
    }

    /// Pending bytes by queue: its number, and how many.
    pub(crate) fn pending_by_queue(&self) -> Vec<(u64, usize)> {
        let mut sums: Vec<(u64, usize)> = Vec::new();
        let mut add = |queue: u64, bytes: usize| match sums.iter_mut().find(|sum| sum.0 == queue) {
            Some(sum) => sum.1 += bytes,
            None => sums.push((queue, bytes)),
        };
        for queue in self.site.queues() {
            queue.look(|line| {
                let Some(cache) = line.cache_if_any(self.slot.index()) else {
                    return;
                };
                for block in cache.blocks() {
                    if let Some((native, _)) = block.tracking.unfinished(queue.native()).first() {
                        add(native.id().get(), block.capacity);
                    }
                }
            });
        }
        if let Some(driven) = &self.driven {
            for (bytes, (native, _)) in driven.pending() {
                add(native.id().get(), bytes);
            }
        }
        let store = lock(&self.store);
        for (len, conditions) in store.pending() {
            if let Some((native, _)) = conditions.first() {
                add(native.id().get(), len);
            }
        }
        drop(store);
        sums.sort_by_key(|&(_, bytes)| std::cmp::Reverse(bytes));
        sums
    }

    /// What the other pools of the device have reserved, by name.
    pub(crate) fn neighbours(&self) -> Vec<(String, usize)> {
        let pools = self.site.pools().into_iter();
        pools
            .filter(|pool| !std::ptr::eq(Arc::as_ptr(pool), self) && pool.reserved() > 0)
            .map(|pool| (pool.name.clone(), pool.reserved()))
            .collect()
    }
}
