//! A pool's memory and limits: what handles, blocks and queues share of it.
//!
//! No driver is called under the lock of the store. How a pool grows is in `growth.rs`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use millpond_hal::{Address, RawAllocation};
use millpond_types::MemoryKind;
use smallvec::SmallVec;
use triomphe::UniqueArc;

use crate::lifecycle;
use crate::memory::{Allocation, Block};
use crate::pool::budget::Budget;
use crate::pool::cache::Cache;
use crate::pool::driven::{Driven, driver_reuse};
use crate::pool::idle::Idle;
use crate::pool::keepers::Keepers;
use crate::pool::limit::Limit;
use crate::pool::options::{PoolOptions, Reuse, Zero};
use crate::pool::recording::Tape;
use crate::pool::site::{Remains, Site};
use crate::pool::slot::Slot;
use crate::pool::store::{Conditions, Stock, Store};
use crate::pool::supply::Supply;
use crate::pool::tally::Tally;
use crate::pool::telling::tell_lent;
use crate::pool::underway::Way;
use crate::queue::{Line, Native, QueueCore, interrupt_holds};
use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::Relaxed};
use crate::sync::{Mutex, lock};

/// Bytes that a queue may keep of any pool.
pub(crate) const LEAST_CACHE_LIMIT: Tally = Tally::new(56 << 20, 8 << 20);

/// A pool's memory; lives as long as a handle or a block of it.
pub(crate) struct PoolCore {
    pub(crate) supply: Supply,
    /// The driver's pool that stands behind it, if it is one of the driver's.
    pub(crate) driven: Option<Driven>,
    pub(crate) device: String,
    pub(crate) kind: MemoryKind,
    pub(crate) name: String,
    pub(crate) options: PoolOptions,
    /// Where queues keep their cache of this pool.
    pub(crate) slot: Slot,
    /// What the pools of a device share.
    pub(crate) site: Arc<Site>,
    /// Whose memory this is, if it isn't the driver's.
    lender: Option<Allocation>,
    closed: AtomicBool,
    /// Whether a layer over the driver wants to hear of its allocations.
    listened_to: bool,
    /// Whether nothing about it needs more than the way of plain allocations: it is open, promises
    /// no zeros, pools every size, has rule R3 on, nobody records it or listens, and its device
    /// isn't lost.
    plain: AtomicBool,
    pub(crate) budget: Budget,
    threshold: Limit,
    reuse: AtomicU8,
    pub(crate) idle: Idle,
    /// Reserved bytes beyond which pending frees are waited for rather than growing.
    pub(crate) comfortable: usize,
    pub(super) driver_allocations: AtomicUsize,
    pub(super) recorded: AtomicBool,
    pub(super) tape: Mutex<Option<Arc<Tape>>>,
    pub(crate) store: Mutex<Store>,
    /// What there is in the store, to be read without its lock.
    pub(crate) stock: Arc<Stock>,
    /// The queues that have a cache of it.
    pub(crate) keepers: Keepers,
}

/// Who a new pool belongs to.
pub(crate) struct Identity {
    pub(crate) supply: Supply,
    pub(crate) device: String,
    pub(crate) kind: MemoryKind,
    pub(crate) site: Arc<Site>,
    pub(crate) is_default: bool,
    pub(crate) driven: Option<Driven>,
}

impl PoolCore {
    pub(crate) fn new(of: Identity, options: PoolOptions, lender: Option<Allocation>) -> Self {
        let comfortable = of.supply.device.info().memory / 5 * 4;
        let listened_to = of.supply.device.listens();
        let Identity {
            supply,
            device,
            kind,
            site,
            is_default,
            driven,
        } = of;
        let store = Store::default();
        let name = options.name.clone().unwrap_or_else(|| {
            let which = if is_default { "default pool" } else { "pool" };
            format!("{which} of {kind} memory on {device}")
        });
        site.count_duty(options.release_threshold.is_some(), false);
        site.count_duty(options.idle_release.is_some(), false);
        site.count_duty(options.max_poolable.is_some(), false);
        Self {
            supply,
            driven,
            device,
            kind,
            name,
            slot: Slot::take(),
            site,
            lender,
            closed: AtomicBool::new(false),
            // Chosen when the device knows of the pool.
            plain: AtomicBool::new(false),
            listened_to,
            budget: Budget::new(options.maximum_size),
            threshold: Limit::new(options.release_threshold),
            reuse: AtomicU8::new(bits(options.reuse)),
            idle: Idle::new(options.idle_release),
            comfortable,
            driver_allocations: AtomicUsize::new(0),
            recorded: AtomicBool::new(false),
            tape: Mutex::default(),
            stock: Arc::clone(store.stock()),
            store: Mutex::new(store),
            keepers: Keepers::default(),
            options,
        }
    }

    /// What a queue keeps of this pool.
    #[inline]
    pub(crate) fn cache_of<'l>(&self, queue: &Arc<QueueCore>, line: &'l mut Line) -> &'l mut Cache {
        line.cache(self.slot.index(), || {
            Cache::new(queue.native(), self.keepers.add(queue))
        })
    }

    /// Bytes that one queue may keep of this pool.
    #[inline]
    pub(crate) fn cache_limit(&self) -> usize {
        (self.comfortable.min(self.budget.maximum.bytes()) / 8).max(LEAST_CACHE_LIMIT.all())
    }

    /// Bytes of bulky blocks, of which nobody uses any, that one queue may keep of this pool.
    #[inline]
    pub(crate) fn bulky_limit(&self) -> usize {
        (self.reserved() / 32).max(LEAST_CACHE_LIMIT.bulky())
    }

    /// Whether allocations may go the short way.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain.load(Relaxed)
    }

    /// Whether anyone wants to hear of its allocations.
    #[inline]
    pub(crate) fn is_listened_to(&self) -> bool {
        self.listened_to
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// How often the driver was asked for memory and had it.
    pub(crate) fn driver_allocations(&self) -> usize {
        self.driver_allocations.load(Relaxed)
    }

    /// Says again which way allocations go.
    pub(crate) fn choose_way(&self) {
        interrupt_holds();
        let tape = lock(&self.tape);
        self.choose_way_with(tape.is_some());
    }

    /// The tape is locked, so that whoever changes something last says it last.
    pub(super) fn choose_way_with(&self, recorded: bool) {
        self.recorded.store(recorded, Relaxed);
        let is_usable = !self.is_closed() && !self.site.is_lost();
        let is_plain = is_plain(&self.options) && !self.is_timeless() && self.driven.is_none();
        let is_quiet = !recorded && !self.listened_to;
        self.plain.store(is_plain && is_quiet && is_usable, Relaxed);
    }

    /// What is kept at a wait.
    pub(crate) fn threshold(&self) -> &Limit {
        &self.threshold
    }

    /// Takes effect at the next wait.
    pub(crate) fn set_threshold(&self, threshold: Option<usize>) {
        if let Some(driven) = &self.driven {
            interrupt_holds();
            // A refusal is that of a lost device, which keeps nothing.
            let _ = driven.pool.set_release_threshold(threshold);
        }
        let before = self.threshold.set(threshold);
        self.site.count_duty(threshold.is_some(), before.is_some());
    }

    /// Counts from now on.
    pub(crate) fn set_idle_release(&self, limit: Option<Duration>) {
        let before = self.idle.set(limit);
        self.site.count_duty(limit.is_some(), before);
    }

    pub(crate) fn reuse(&self) -> Reuse {
        let bits = self.reuse.load(Relaxed);
        Reuse {
            follow_events: bits & 1 != 0,
            opportunistic: bits & 2 != 0,
            internal_dependencies: bits & 4 != 0,
        }
    }

    pub(crate) fn set_reuse(&self, reuse: Reuse) {
        if let Some(driven) = &self.driven {
            interrupt_holds();
            let _ = driven.pool.set_reuse(driver_reuse(reuse));
        }
        self.reuse.store(bits(reuse), Relaxed);
        self.choose_way();
    }

    /// Whether what has completed counts only once the host has waited for it, so that nothing
    /// that the pool decides depends on timing: rule R3 is off.
    pub(crate) fn is_timeless(&self) -> bool {
        !self.reuse().opportunistic
    }

    /// Had from the driver, by whoever counts it.
    pub(crate) fn reserved(&self) -> usize {
        let driven = self.driven.as_ref();
        driven.map_or_else(|| self.budget.reserved(), |driven| driven.state().reserved)
    }

    /// Whether the memory is a user's buffer.
    pub(crate) fn is_lent(&self) -> bool {
        self.lender.is_some()
    }

    /// That buffer.
    #[inline]
    pub(crate) fn lender(&self) -> Option<&Allocation> {
        self.lender.as_ref()
    }

    /// Puts a user's memory into the pool, free once its earlier uses are over.
    pub(crate) fn lend(&self, memory: RawAllocation, conditions: Conditions) {
        let (begin, size) = (memory.address, memory.layout.size());
        tell_lent(
            &*self.supply.device,
            &(begin.get()..begin.get() + size),
            true,
        );
        self.budget.fix(size);
        let mut store = lock(&self.store);
        store.add_segment(memory, false);
        if store.take(size, 1).is_some() {
            store.put(begin, size, conditions);
        }
    }

    /// Ends the loan of a user's memory, which comes behind whatever still uses it.
    fn give_back_to(&self, lender: &Allocation, store: &Store) {
        let home = lender.home().core();
        let pending = store.pending().map(|(_, conditions)| conditions);
        home.with_line(|_| {
            let tracking = &lender.block().tracking;
            pending.for_each(|points| tracking.follow(Some(home.native()), points));
            lender.count_pool(false);
        });
        if let Some(part) = store.first_segment() {
            tell_lent(&*self.supply.device, &part, false);
        }
    }

    /// Moves what the queues of the device have cached to the store.
    pub(crate) fn collect(&self) {
        let mut way = self.site.underway.begin();
        for queue in self.site.queues() {
            let blocks = queue.with_line(|line| {
                let cache = line.cache_if_any(self.slot.index());
                cache.map(Cache::clear)
            });
            self.absorb(blocks.unwrap_or_default(), queue.native(), &mut way);
        }
        drop(way);
        self.poll();
    }

    /// Frees what is over, after asking the drivers.
    pub(crate) fn poll(&self) {
        let timeless = self.is_timeless();
        let mut reached = Conditions::new();
        {
            let store = lock(&self.store);
            if store.pending_bytes() == 0 {
                return;
            }
            if !timeless {
                reached = store.witnesses();
            }
        }
        if !timeless {
            // Asking may make a driver look, and publish a longer finished prefix.
            reached.retain(|(queue, sequence)| queue.reached(*sequence));
        }
        self.poll_knowing(&reached);
    }

    /// Frees what is over, these points among it.
    pub(crate) fn poll_knowing(&self, reached: &Conditions) {
        let timeless = self.is_timeless();
        lock(&self.store).poll(|queue, sequence| {
            let is_this =
                |(other, at): &(Arc<Native>, u64)| other.id() == queue.id() && *at == sequence;
            sequence <= queue.known(timeless) || reached.iter().any(is_this)
        });
    }

    /// Takes blocks out of circulation; their bytes are free when their last use has completed.
    pub(crate) fn absorb(
        &self,
        mut blocks: Vec<UniqueArc<Block>>,
        home: &Arc<Native>,
        way: &mut Way<'_>,
    ) {
        if blocks.is_empty() {
            return;
        }
        way.gains();
        if blocks.len() > 1 {
            blocks.sort_by_cached_key(|block| block.base);
        }
        // What is unfinished the drivers are asked, which is nothing to do under the lock.
        let extents = blocks.iter().map(|block| {
            let unfinished = block.tracking.unfinished(home);
            (block.base, block.capacity, unfinished)
        });
        let extents: SmallVec<[_; 1]> = extents.collect();
        lock(&self.store).put_all(extents.into_iter());
        // With a block may end a queue of a driver, which is nothing to do under the lock.
        drop(blocks);
    }

    /// Gives idle segments back, at most so many, until the store has at most `keep`
    /// bytes. That is counted under its lock: what another thread is giving back counts no more.
    pub(crate) fn release_idle(&self, keep: usize, most: usize) {
        if self.is_lent() {
            return;
        }
        if let Some(driven) = &self.driven {
            interrupt_holds();
            let _ = driven.pool.trim(keep);
            return;
        }
        self.release(|store| store.idle_segments(keep, most));
    }

    /// Gives back segments that served one request which is over.
    pub(crate) fn release_dedicated(&self) {
        if self.options.max_poolable.is_none() {
            return;
        }
        self.poll();
        self.release(Store::idle_dedicated);
    }

    /// Gives segments back that the store lets go of.
    pub(crate) fn release(&self, take: impl FnOnce(&mut Store) -> Vec<RawAllocation>) {
        let mut way = self.site.underway.begin();
        let segments = take(&mut lock(&self.store));
        for segment in segments {
            let bytes = segment.layout.size();
            // SAFETY: the segment came from this supply and left the store, so it is given back
            // once; all of it was free, and extents become free only when every point recorded on
            // them was reached.
            unsafe { self.supply.release(segment) };
            self.budget.give_back(bytes);
            way.gains();
        }
    }

    /// Refuses new allocations; what is free goes back to the driver now, the rest when it is.
    pub(crate) fn close(&self) {
        let was_closed = self.closed.swap(true, Relaxed);
        if was_closed || !lifecycle::is_running() {
            return;
        }
        self.choose_way();
        // Handles may keep it after the last allocation: what becomes free goes back at a wait.
        self.set_threshold(Some(0));
        self.collect();
        self.release_idle(0, usize::MAX);
    }
}

fn is_plain(options: &PoolOptions) -> bool {
    options.zero == Zero::Never && options.max_poolable.is_none()
}

fn bits(reuse: Reuse) -> u8 {
    u8::from(reuse.follow_events)
        | u8::from(reuse.opportunistic) << 1
        | u8::from(reuse.internal_dependencies) << 2
}

impl Drop for PoolCore {
    fn drop(&mut self) {
        let had_threshold = self.threshold.set(None).is_some();
        self.site.count_duty(false, had_threshold);
        self.set_idle_release(None);
        self.set_tape(None);
        self.site
            .count_duty(false, self.options.max_poolable.is_some());
        if !lifecycle::is_running() {
            std::mem::forget(self.lender.take());
            return;
        }
        // Blocks hold the pool, so nothing is in use. What is pending is left to the device: this
        // may be the end of a free, which neither waits nor calls a driver.
        self.site.forget(&self.slot);
        let mut way = self.site.underway.begin();
        let store = std::mem::take(&mut *lock(&self.store));
        if let Some(lender) = self.lender.take() {
            self.give_back_to(&lender, &store);
        } else if !store.is_empty() {
            let supply = self.supply.clone();
            self.site.bury(Remains { supply, store });
            way.gains();
        }
    }
}

impl fmt::Debug for PoolCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The first byte and length of a range within memory that a pool can use of it.
pub(crate) fn usable(begin: Address, bytes: usize, granule: usize) -> Option<(Address, usize)> {
    let first = begin.get().checked_next_multiple_of(granule)?;
    let lost = first - begin.get();
    let len = bytes.checked_sub(lost)? / granule * granule;
    (len > 0).then_some((Address::new(first), len))
}
