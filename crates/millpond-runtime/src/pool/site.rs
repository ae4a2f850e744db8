//! What the pools of a device share: its queues, and what is left to do for memory at a wait.
//!
//! Frees call no driver. Memory that should go back to it (beyond a release threshold, or of pools
//! that are gone) goes at the next wait for a queue, an event or the device, or at the next
//! allocation that looks further than its queue's cache; a few driver calls at a time.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use millpond_hal::{DeviceError, Point, QueueId};
use smallvec::SmallVec;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::Release;
use crate::pool::core::PoolCore;
use crate::pool::pressure::Reclaimers;
use crate::pool::recording::Step;
use crate::pool::slot::Slot;
use crate::pool::store::Store;
use crate::pool::supply::Supply;
use crate::pool::underway::Underway;
use crate::queue::{Gone, Native, QueueCore, Unsettled, as_task, in_task};
use crate::sharing::Imports;
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::{Mutex, lock};

/// Driver calls that one wait makes at most.
const CALLS: usize = 4;

/// Shared by a device and its pools.
#[derive(Default)]
pub(crate) struct Site {
    queues: Mutex<Vec<(QueueId, Weak<QueueCore>)>>,
    pub(crate) unsettled: Unsettled,
    pub(crate) gone: Gone,
    pools: Mutex<Vec<Weak<PoolCore>>>,
    /// Reasons to look at the pools after a wait: a limit that takes effect there, a recorder, a
    /// pool that is gone but not all of its memory.
    duties: AtomicUsize,
    remains: Mutex<Vec<Remains>>,
    /// The answer of the first call that told that the device is lost.
    lost: OnceLock<DeviceError>,
    pub(crate) reclaimers: Arc<Reclaimers>,
    pub(crate) underway: Underway,
    pub(crate) imports: Imports,
}

/// The memory of a pool that is gone.
pub(crate) struct Remains {
    pub(crate) supply: Supply,
    pub(crate) store: Store,
}

impl Site {
    pub(crate) fn add_queue(&self, queue: &Arc<QueueCore>) {
        let mut queues = lock(&self.queues);
        if queues.len() == queues.capacity() {
            queues.retain(|(_, queue)| queue.strong_count() > 0);
        }
        queues.push((queue.native().id(), Arc::downgrade(queue)));
        drop(queues);
        self.note(|| Step::Queue {
            at: queue.native().point(0).into(),
            in_order: queue.native().in_order,
        });
    }

    /// Forgets what a clock says of queues that are gone, whose memory is in no cache any more.
    pub(crate) fn forget_queues(&self, clock: &mut Clock) {
        let queues = lock(&self.queues);
        clock.forget(|point| {
            let is_alive = |(id, queue): &(QueueId, Weak<QueueCore>)| {
                *id == point.queue && queue.strong_count() > 0
            };
            !queues.iter().any(is_alive)
        });
    }

    /// Writes a step down in all pools that are recorded. No line may be locked.
    #[inline]
    pub(crate) fn note(&self, step: impl Fn() -> Step) {
        if self.has_duties() {
            for pool in self.pools() {
                pool.note(&step);
            }
        }
    }

    /// The queues that are alive.
    pub(crate) fn queues(&self) -> SmallVec<[Arc<QueueCore>; 4]> {
        lock(&self.queues)
            .iter()
            .filter_map(|(_, queue)| queue.upgrade())
            .collect()
    }

    /// Whether no queue has anything to wait for or to tell, nor one that is gone, as far as a look
    /// without a lock can say: `false` may be too much said.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        // A queue that goes is added there before it counts no more here.
        self.unsettled.is_empty() && self.gone.is_empty() && !self.has_duties()
    }

    pub(crate) fn add_pool(&self, pool: &Arc<PoolCore>) {
        let mut pools = lock(&self.pools);
        if pools.len() == pools.capacity() {
            pools.retain(|pool| pool.strong_count() > 0);
        }
        pools.push(Arc::downgrade(pool));
        drop(pools);
        pool.choose_way();
    }

    /// The pools that are alive.
    pub(crate) fn pools(&self) -> Vec<Arc<PoolCore>> {
        lock(&self.pools).iter().filter_map(Weak::upgrade).collect()
    }

    /// Takes note of a driver's answer: once it is that the device is lost, no pool allocates any
    /// more, not even what it has. No line may be locked.
    pub(crate) fn note_refusal(&self, answer: &DeviceError) {
        if matches!(answer, DeviceError::Lost { .. }) && self.lost.set(answer.clone()).is_ok() {
            for pool in self.pools() {
                pool.choose_way();
            }
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Fails once the device is known to be lost.
    pub(crate) fn check_lost(&self) -> Result<()> {
        let lost = self.lost.get().cloned();
        lost.map_or(Ok(()), |lost| Err(Error::Device(lost)))
    }

    /// Counts something to look after at waits that is there now and, or, was there before.
    pub(crate) fn count_duty(&self, now: bool, before: bool) {
        if now && !before {
            self.duties.fetch_add(1, Relaxed);
        }
        if before && !now {
            self.duties.fetch_sub(1, Relaxed);
        }
    }

    /// Removes what queues have of a pool that is gone.
    pub(crate) fn forget(&self, slot: &Slot) {
        for queue in self.queues() {
            queue.lock().forget_cache(slot.index());
        }
    }

    /// Takes the memory of a pool that is gone.
    pub(crate) fn bury(&self, remains: Remains) {
        lock(&self.remains).push(remains);
        self.duties.fetch_add(1, Relaxed);
    }

    /// Called after every wait: gives back what is due, with few driver calls.
    #[inline]
    pub(crate) fn after_wait(&self, at: Point) {
        if self.has_duties() && lifecycle::is_running() {
            self.release_due(at);
        }
    }

    /// Whether there may be something to do after a wait.
    #[inline]
    pub(crate) fn has_duties(&self) -> bool {
        self.duties.load(Relaxed) != 0
    }

    #[cold]
    fn release_due(&self, at: Point) {
        for pool in self.pools() {
            pool.note(|| Step::Wait { at: at.into() });
            let threshold = pool.threshold().bytes();
            if pool.reserved() > threshold {
                pool.collect();
                pool.release_idle(threshold, CALLS);
            }
            pool.release_dedicated();
            pool.release_aged(CALLS);
        }
        self.sweep();
    }

    /// Gives back what has become free of pools that are gone.
    pub(crate) fn sweep(&self) {
        let mut way = self.underway.begin();
        let mut graves = std::mem::take(&mut *lock(&self.remains));
        let before = graves.len();
        graves.retain_mut(|remains| {
            if remains.release_idle() {
                way.gains();
            }
            !remains.store.is_empty()
        });
        self.duties.fetch_sub(before - graves.len(), Relaxed);
        if !graves.is_empty() {
            lock(&self.remains).append(&mut graves);
        }
    }
}

impl Remains {
    /// Gives back what is free; whether there was any.
    fn release_idle(&mut self) -> bool {
        self.store.poll(Native::reached);
        let segments = self.store.idle_segments(0, usize::MAX);
        let any = !segments.is_empty();
        for segment in segments {
            // SAFETY: the segment came from this supply and left the store, so it is given back
            // once; all of it was free: every point recorded on its extents was reached.
            unsafe { self.supply.release(segment) };
        }
        any
    }

    /// Gives everything back, once what still uses it has completed.
    fn finish(mut self) {
        loop {
            self.release_idle();
            if self.store.is_empty() {
                return;
            }
            let pending = self.store.witnesses();
            if pending.is_empty() {
                break;
            }
            if in_task() {
                // What is waited for may be the very task that ends here.
                let rest = Release::anywhere(|| as_task(|| self.finish_if_running()));
                return rest.after(&pending);
            }
            for (queue, sequence) in &pending {
                let _ = queue.wait(*sequence);
            }
        }
        // Some bytes are neither free nor pending, and there is nothing to wait for: a fault of this
        // crate. Their segments are leaked, as whoever has the bytes may use them.
        debug_assert!(
            std::thread::panicking(),
            "bytes of a pool that is gone are missing"
        );
    }

    /// The same, or nothing where threads and drivers that would be needed may be gone.
    fn finish_if_running(self) {
        if lifecycle::is_running() {
            self.finish();
        } else {
            std::mem::forget(self);
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        for remains in std::mem::take(&mut *lock(&self.remains)) {
            remains.finish_if_running();
        }
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Site")
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use millpond_hal::Driver;
    use millpond_hal::null::NullDriver;
    use millpond_testkit::watchdog::watched;
    use millpond_types::MemoryKind;

    use super::*;

    /// With the driver's bytes, of which one segment is whole and one lacks a piece.
    fn site() -> (NullDriver, Site) {
        let driver = NullDriver::default();
        let supply = Supply {
            device: driver.devices().unwrap().remove(0),
            arena: None,
        };
        let mut store = Store::default();
        for _ in 0..2 {
            let layout = Layout::from_size_align(4096, 4096).unwrap();
            let segment = supply.allocate(MemoryKind::Device, layout).unwrap();
            store.add_segment(segment, false);
        }
        store.take(256, 1).unwrap();
        let site = Site::default();
        site.bury(Remains { supply, store });
        (driver, site)
    }

    #[test]
    fn bytes_that_are_missing_are_leaked_and_nobody_waits_for_them() {
        let (driver, panicked) = watched(|| {
            let (driver, site) = site();
            let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(site)));
            (driver, end.is_err())
        });
        assert_eq!(driver.null_devices()[0].allocated_bytes(), 4096);
        assert_eq!(
            panicked,
            cfg!(debug_assertions),
            "told where that is wanted"
        );
    }
}
