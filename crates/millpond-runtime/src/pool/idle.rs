//! Giving back what nobody has used for a while.
//!
//! Time is looked at in ticks of half the time that memory may be idle. A queue's cache that wasn't
//! touched between two ticks goes to the store; a segment that was wholly free at two ticks goes to
//! the driver. So memory is idle for between once and one and a half times that time.

use std::time::{Duration, Instant};

use crate::pool::core::PoolCore;
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// When a pool looks for idle memory; times are in microseconds.
#[derive(Debug)]
pub(crate) struct Idle {
    begin: Instant,
    /// How long memory may be idle; 0 for ever.
    limit: AtomicU64,
    last_tick: AtomicU64,
}

impl Idle {
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        let idle = Self {
            begin: Instant::now(),
            limit: AtomicU64::new(0),
            last_tick: AtomicU64::new(0),
        };
        idle.set(limit);
        idle
    }

    pub(crate) fn limit(&self) -> Option<Duration> {
        let limit = self.limit.load(Relaxed);
        (limit != 0).then(|| Duration::from_micros(limit))
    }

    /// Whether there was a limit before.
    pub(crate) fn set(&self, limit: Option<Duration>) -> bool {
        let micros = limit.map_or(0, |limit| limit.as_micros().max(1) as u64);
        self.limit.swap(micros, Relaxed) != 0
    }

    /// Whether the caller is the one to look now.
    fn is_tick(&self) -> bool {
        let limit = self.limit.load(Relaxed);
        if limit == 0 {
            return false;
        }
        let now = self.begin.elapsed().as_micros() as u64;
        let last = self.last_tick.load(Relaxed);
        now - last.min(now) >= limit / 2
            && self
                .last_tick
                .compare_exchange(last, now, Relaxed, Relaxed)
                .is_ok()
    }
}

impl PoolCore {
    /// Gives back, with at most so many driver calls, what has been idle for long enough.
    pub(crate) fn release_aged(&self, most: usize) {
        if !self.idle.is_tick() {
            return;
        }
        let mut way = self.site.underway.begin();
        for queue in self.site.queues() {
            let blocks = queue.look(|line| {
                let cache = line.cache_if_any(self.slot.index())?;
                (!cache.live.take_touched()).then(|| cache.clear())
            });
            self.absorb(blocks.unwrap_or_default(), queue.native(), &mut way);
        }
        drop(way);
        self.poll();
        self.release(|store| store.aged_segments(most));
    }
}
