//! Pools: where allocations come from.
//!
//! Three tiers. Each queue keeps the blocks freed on it (`cache.rs`), by size class, and hands
//! them out again without looking at the device: about what pushing and popping a list costs. What
//! a queue has too much of goes to the pool's store (`store.rs`), which merges free neighbours.
//! Below are segments from the driver, of at least [`SEGMENT`] bytes, kept until
//! [`Pool::trim`], so that pages stay warm.
//!
//! An allocation is decided in this order: the queue's own class list (rule R1); its parked blocks
//! that have become quiet; the store (R3); the oldest blocks of other queues that this queue is
//! ordered behind (R2) or whose last use has completed (R3); growth from the driver (R4) while the
//! pool is below its limit; then waiting for pending frees, oldest first (R6), giving idle segments
//! back, growth beyond the limit, and at last a typed error that says what the pool holds (R8).
//! No driver is called under a lock.

mod cache;
mod class;
mod store;

use std::alloc::Layout;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use millpond_hal as hal;
use millpond_hal::{Address, DeviceError};
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::{Allocation, Block, Source, tracking::Tracking};
use crate::queue::{Native, Queue, QueueCore, stop_if_interrupted};
use crate::sync::lock;

pub(crate) use cache::Cache;
pub(crate) use class::Class;
use store::Store;

/// Smallest number of bytes that a pool asks a driver for.
pub const SEGMENT: usize = 32 << 20;

/// Segments are multiples of this many bytes, the size of a huge page.
const PAGE: usize = 2 << 20;

/// Handle to a pool: the memory of one kind on one device. Clones are the same pool.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Device, MemoryKind};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// let pool = device.pool(MemoryKind::Device);
/// let memory = device.default_queue()?.allocate(MemoryKind::Device, 1000)?;
/// assert_eq!(pool.statistics().requested, 1000);
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Pool {
    core: Arc<PoolCore>,
    device: Device,
}

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

impl Pool {
    pub(crate) fn new(core: Arc<PoolCore>, device: Device) -> Self {
        Self { core, device }
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kind of memory.
    pub fn kind(&self) -> MemoryKind {
        self.core.kind
    }

    /// What it holds now.
    pub fn statistics(&self) -> Statistics {
        let mut sum = Statistics::default();
        for queue in self.device.queues() {
            queue.with_line(|line| {
                let Some(cache) = line.cache_if_any(self.core.slot) else {
                    return;
                };
                sum.used += cache.used;
                sum.requested += cache.requested;
                sum.used_high += cache.used_high;
                sum.live += cache.live;
                for block in cache.blocks() {
                    if block.tracking.unfinished(queue.native()).is_empty() {
                        sum.cached += block.capacity;
                    } else {
                        sum.pending += block.capacity;
                    }
                }
            });
        }
        let mut store = lock(&self.core.store);
        store.poll(usize::MAX);
        sum.cached += store.free_bytes();
        sum.pending += store.pending_bytes();
        sum.reserved = store.reserved;
        sum.reserved_high = store.reserved_high;
        sum
    }

    /// Gives free memory back to the driver until at most `keep` bytes are reserved, or nothing
    /// more is free. Memory whose last use hasn't completed counts as in use; nothing waits.
    ///
    /// # Errors
    /// After shutdown or in a forked process.
    pub fn trim(&self, keep: usize) -> Result<()> {
        lifecycle::check("trim")?;
        self.core.collect(&self.device);
        self.core.release_idle(keep);
        Ok(())
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("device", &self.device)
            .field("kind", &self.core.kind)
            .finish_non_exhaustive()
    }
}

/// A pool's memory; lives as long as a handle or a block of it.
pub(crate) struct PoolCore {
    hal: Arc<dyn hal::Device>,
    device: String,
    kind: MemoryKind,
    /// Where queues keep their cache of this pool.
    pub(crate) slot: usize,
    /// Reserved bytes beyond which pending frees are waited for rather than growing.
    limit: usize,
    store: Mutex<Store>,
}

impl PoolCore {
    pub(crate) fn new(hal: Arc<dyn hal::Device>, device: String, kind: MemoryKind) -> Self {
        let limit = hal.info().memory / 5 * 4;
        Self {
            hal,
            device,
            kind,
            slot: kind as usize,
            limit,
            store: Mutex::default(),
        }
    }

    /// Bytes that one queue may keep of this pool.
    pub(crate) fn cache_limit(&self) -> usize {
        (self.limit / 8).max(64 << 20)
    }

    /// Allocates on a queue: the address is known at once, the bytes are the queue's to use.
    #[inline]
    pub(crate) fn allocate(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        bytes: usize,
    ) -> Result<Allocation> {
        lifecycle::check("allocate")?;
        let Some((class, size)) = class::of(bytes) else {
            return Err(self.out_of_memory(queue, bytes, "larger than the address space"));
        };
        match self.take_cached(queue, class, size, bytes)? {
            Some(allocation) => Ok(allocation),
            None => self.allocate_slowly(queue, class, size, bytes),
        }
    }

    #[inline]
    fn take_cached(
        &self,
        queue: &Arc<QueueCore>,
        class: Class,
        size: usize,
        bytes: usize,
    ) -> Result<Option<Allocation>> {
        let mut line = queue.lock();
        line.check_open(queue)?;
        let cache = line.cache(self.slot);
        let Some(mut block) = cache.take(class, size) else {
            return Ok(None);
        };
        let owned = Arc::get_mut(&mut block).expect("a cached block has no other handle");
        cache.count_in(owned.capacity, bytes);
        owned.bytes = bytes;
        owned.home = Some(Queue::of(Arc::clone(queue)));
        Ok(Some(Allocation::new(block)))
    }

    #[cold]
    fn allocate_slowly(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        class: Class,
        size: usize,
        bytes: usize,
    ) -> Result<Allocation> {
        self.unpark(queue);
        if let Some(allocation) = self.take_cached(queue, class, size, bytes)? {
            return Ok(allocation);
        }
        let stored = {
            let mut store = lock(&self.store);
            store.poll(32);
            store.take(size)
        };
        let found = stored.map(|base| (base, size, Tracking::default()));
        let (base, capacity, tracking) = match found.or_else(|| self.steal(queue, class, size)) {
            Some(found) => found,
            None => (
                self.grow_or_wait(queue, size, bytes)?,
                size,
                Tracking::default(),
            ),
        };
        queue.lock().cache(self.slot).count_in(capacity, bytes);
        Ok(Allocation::new(Arc::new(Block {
            base,
            capacity,
            bytes,
            kind: self.kind,
            home: Some(Queue::of(Arc::clone(queue))),
            tracking,
            source: Source::Pool {
                pool: Arc::clone(self),
                class,
            },
            host_shared: AtomicBool::new(false),
        })))
    }

    /// Puts parked blocks that have become quiet back into their class lists.
    fn unpark(&self, queue: &QueueCore) {
        let mut line = queue.lock();
        let cache = line.cache(self.slot);
        for block in cache.unpark(|block| block.tracking.is_quiet(queue.native())) {
            if let Source::Pool { class, .. } = block.source {
                cache.put(block, class, false);
            }
        }
    }

    /// The oldest fitting block of another queue that this one is ordered behind, or that is done.
    fn steal(
        &self,
        queue: &Arc<QueueCore>,
        class: Class,
        size: usize,
    ) -> Option<(Address, usize, Tracking)> {
        let clock = queue.lock().clock.clone();
        for other in queue.device().queues() {
            if Arc::ptr_eq(&other, queue) {
                continue;
            }
            let native = other.native();
            let mut line = other.lock();
            let taken = line.cache(self.slot).take_oldest(class, size, |block| {
                block.tracking.is_before(native, &clock) || block.tracking.is_quiet(native)
            });
            drop(line);
            if let Some(mut block) = taken {
                let owned = Arc::get_mut(&mut block).expect("a cached block has no other handle");
                return Some((owned.base, owned.capacity, owned.tracking.rehome(native)));
            }
        }
        None
    }

    fn grow_or_wait(&self, queue: &QueueCore, size: usize, bytes: usize) -> Result<Address> {
        let reserved = lock(&self.store).reserved;
        if reserved.saturating_add(size.max(SEGMENT)) <= self.limit
            && self.grow(size.max(SEGMENT)).is_ok()
            && let Some(base) = lock(&self.store).take(size)
        {
            return Ok(base);
        }
        self.collect(queue.device());
        loop {
            let conditions = {
                let mut store = lock(&self.store);
                store.poll(usize::MAX);
                if let Some(base) = store.take(size) {
                    return Ok(base);
                }
                store.oldest_conditions()
            };
            let Some(conditions) = conditions else { break };
            for (native, sequence) in conditions {
                // How that command ended doesn't matter to the memory it used.
                stop_if_interrupted(native.wait_or_stop(sequence, "a wait for memory"))?;
            }
        }
        let mut answer = self.grow(size);
        if answer.is_err() {
            self.release_idle(0);
            answer = self.grow(size);
        }
        match answer {
            Ok(()) => lock(&self.store)
                .take(size)
                .ok_or_else(|| self.out_of_memory(queue, bytes, "taken by another thread")),
            Err(error) => Err(self.out_of_memory(queue, bytes, &error.to_string())),
        }
    }

    /// Adds a segment of at least `bytes` bytes.
    fn grow(&self, bytes: usize) -> std::result::Result<(), DeviceError> {
        let refuse = || DeviceError::Invalid {
            call: "allocate",
            reason: format!("{bytes} bytes are more than the address space"),
        };
        let size = bytes.checked_next_multiple_of(PAGE).ok_or_else(refuse)?;
        let layout = Layout::from_size_align(size, PAGE).map_err(|_| refuse())?;
        let segment = self.hal.allocate(self.kind, layout)?;
        lock(&self.store).add_segment(segment);
        Ok(())
    }

    /// Moves what the queues of the device have cached to the store.
    fn collect(&self, device: &Device) {
        for queue in device.queues() {
            let blocks = queue.lock().cache(self.slot).clear();
            self.absorb(blocks, queue.native());
        }
        lock(&self.store).poll(usize::MAX);
    }

    /// Takes blocks out of circulation; their bytes are free when their last use has completed.
    pub(crate) fn absorb(&self, blocks: Vec<Arc<Block>>, home: &Arc<Native>) {
        let mut store = lock(&self.store);
        for block in blocks {
            store.put(block.base, block.capacity, block.tracking.unfinished(home));
        }
    }

    fn release_idle(&self, keep: usize) {
        let idle = lock(&self.store).idle_segments(keep);
        for segment in idle {
            // SAFETY: the segment came from this device and left the store, so it is given back
            // once; all of it was free, and extents become free only when every point recorded on
            // them was reached.
            unsafe { self.hal.release(segment) };
        }
    }

    #[cold]
    fn out_of_memory(&self, queue: &QueueCore, requested: usize, reason: &str) -> Error {
        let mut used = 0;
        for queue in queue.device().queues() {
            used += queue.lock().cache(self.slot).used;
        }
        let store = lock(&self.store);
        Error::OutOfMemory {
            device: self.device.clone(),
            kind: self.kind,
            requested,
            used,
            pending: store.pending_bytes(),
            cached: store.free_bytes(),
            reason: reason.to_owned(),
        }
    }
}

impl Drop for PoolCore {
    fn drop(&mut self) {
        if !lifecycle::is_running() {
            return;
        }
        // Blocks hold the pool, so nothing is in use; what is pending is waited for.
        loop {
            let conditions = lock(&self.store).oldest_conditions();
            let Some(conditions) = conditions else { break };
            for (native, sequence) in conditions {
                let _ = native.wait(sequence);
            }
            lock(&self.store).poll(usize::MAX);
        }
        self.release_idle(0);
    }
}

impl fmt::Debug for PoolCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pool of {} memory on {}", self.kind, self.device)
    }
}
