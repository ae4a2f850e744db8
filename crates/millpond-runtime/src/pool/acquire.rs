//! How a request finds its bytes: the steps of the reuse rules, in their order.

use std::sync::Arc;

use millpond_hal::{Address, Pattern};
use triomphe::UniqueArc;

use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::tracking::Tracking;
use crate::memory::{Allocation, Block, Lent, Source};
use crate::pool::cache::Cache;
use crate::pool::class::{self, Class};
use crate::pool::core::PoolCore;
use crate::pool::options::Zero;
use crate::pool::pressure::{Level, Pressure};
use crate::pool::store::{Conditions, Cut};
use crate::pool::tag::{Charge, Tag};
use crate::pool::wish::{Request, Wait, Wish};
use crate::queue::{Line, Native, Queue, QueueCore, interrupt_holds};
use crate::weaken::{Rule, is_broken};

/// What was found for a request.
pub(crate) enum Found {
    /// A block that another queue freed.
    Block(UniqueArc<Block>),
    /// Bytes that are no block yet.
    Extent(Extent),
}

/// Bytes of a pool's segment.
pub(crate) struct Extent {
    base: Address,
    capacity: usize,
    /// Who still uses them, if anyone may. Elsewhere, so that what is found is passed on by few moves.
    tracking: Option<Box<Tracking>>,
    class: Class,
    fresh: bool,
    zeroed: bool,
}

impl Found {
    pub(crate) fn cut(cut: Cut, wish: &Wish<'_>) -> Self {
        Self::Extent(Extent {
            base: cut.base,
            capacity: wish.size,
            tracking: None,
            class: wish.class,
            fresh: cut.fresh,
            zeroed: cut.zeroed,
        })
    }

    /// Bytes that the driver gave, whose uses come behind that.
    pub(crate) fn given(base: Address, tracking: Tracking, wish: &Wish<'_>) -> Self {
        Self::Extent(Extent {
            base,
            capacity: wish.size,
            tracking: Some(Box::new(tracking)),
            class: wish.class,
            fresh: true,
            zeroed: false,
        })
    }

    pub(crate) fn pending(base: Address, conditions: &Conditions, wish: &Wish<'_>) -> Self {
        Self::Extent(Extent {
            base,
            capacity: wish.size,
            tracking: Some(Box::new(Tracking::behind(conditions))),
            class: wish.class,
            fresh: false,
            zeroed: false,
        })
    }

    /// The oldest fitting block that `allow` accepts, from another queue's cache.
    #[inline]
    pub(crate) fn in_cache(
        cache: &mut Cache,
        wish: &Wish<'_>,
        allow: impl Fn(&Block, &Native) -> bool,
    ) -> Option<Self> {
        let mut block = cache.take_oldest(wish.class, wish.size, wish.most, allow)?;
        block.tracking.rehome(cache.home());
        Some(Self::Block(block))
    }

    /// Without what orders later commands, if a test has this rule broken.
    #[inline]
    pub(crate) fn weakened(mut self, rule: Rule) -> Self {
        if is_broken(rule) {
            match &mut self {
                Self::Block(block) => block.tracking = Tracking::default(),
                Self::Extent(extent) => extent.tracking = None,
            }
        }
        self
    }
}

impl PoolCore {
    /// Allocates on a queue: the address is known at once, the bytes are the queue's to use.
    #[inline]
    pub(crate) fn allocate(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        bytes: usize,
    ) -> Result<Allocation> {
        // Apart, so that what is there at once comes in a register.
        match self.allocate_at_once(queue, bytes) {
            Some(allocation) => Ok(allocation),
            None => self.allocate_generally(queue, bytes),
        }
    }

    fn allocate_at_once(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        bytes: usize,
    ) -> Option<Allocation> {
        let class = self.plain_class(queue, bytes)?;
        if !lifecycle::is_running() {
            return None;
        }
        let home = || Queue::of(Arc::clone(queue));
        self.allocate_plainly(queue, &mut queue.lock(), class, bytes, home)
    }

    /// The class and size of a request of which there is so much that it has a way of its own,
    /// which is the general one without what doesn't apply.
    #[inline]
    pub(crate) fn plain_class(&self, queue: &QueueCore, bytes: usize) -> Option<(Class, usize)> {
        if !self.is_plain_here() || !queue.native().in_order {
            return None;
        }
        class::of(bytes)
    }

    /// Whether requests of this thread may go the short way.
    #[inline]
    pub(crate) fn is_plain_here(&self) -> bool {
        self.is_plain() && !Tag::in_scope()
    }

    /// Allocates in that way, under the line. Nothing comes of it where there is more to do than
    /// can be done there, or something to complain of. `home` makes a handle of the queue.
    #[inline]
    pub(crate) fn allocate_plainly(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        line: &mut Line,
        (class, size): (Class, usize),
        bytes: usize,
        home: impl FnOnce() -> Queue,
    ) -> Option<Allocation> {
        if line.closed {
            return None;
        }
        let own = self.take_own(line, (class, size), bytes, home);
        if own.is_some() {
            return own;
        }
        let wish = Wish {
            queue,
            request: self.plain_request(bytes),
            class,
            size,
            most: class::most(size),
        };
        self.allocate_nearby(&wish, line)
    }

    /// The newest block that this line's queue freed itself (rule R1).
    #[inline]
    pub(crate) fn take_own(
        &self,
        line: &mut Line,
        (class, size): (Class, usize),
        bytes: usize,
        home: impl FnOnce() -> Queue,
    ) -> Option<Allocation> {
        let cache = line.cache_if_any(self.slot.index())?;
        let block = cache.take(class, size, class::most(size))?;
        Some(hand_out(own(block), cache, home(), bytes, false))
    }

    /// A request about which nothing was said but its size.
    fn plain_request(&self, bytes: usize) -> Request {
        Request {
            bytes,
            align: 1,
            reuse: self.reuse(),
            wait: Wait::Forever,
        }
    }

    /// The same as [`PoolCore::allocate`] whatever the pool does and the queue has.
    #[inline(never)]
    pub(crate) fn allocate_generally(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        bytes: usize,
    ) -> Result<Allocation> {
        let request = self.plain_request(bytes);
        let answer = self.allocate_as(queue, request);
        let allocation =
            answer.inspect_err(|error| self.note_refusal(queue, &request, &[], error))?;
        self.note_begin(queue, &allocation, request.align, &[]);
        self.tell_begin(queue, &allocation, None);
        Ok(allocation)
    }

    /// The same for any request; whoever asks notes and tells that the allocation begins.
    pub(crate) fn allocate_as(
        self: &Arc<Self>,
        queue: &Arc<QueueCore>,
        request: Request,
    ) -> Result<Allocation> {
        lifecycle::check("allocate")?;
        // There may be waits, drivers and reclaimers ahead.
        interrupt_holds();
        self.site.check_lost()?;
        if self.is_closed() {
            return Err(Error::PoolClosed {
                pool: self.name.clone(),
            });
        }
        let Some((class, size)) = class::of(request.bytes) else {
            let reason = "the size is larger than the address space";
            return Err(self.out_of_memory(request.bytes, usize::MAX, reason));
        };
        let mut wish = Wish {
            queue,
            request,
            class,
            size,
            most: class::most(size),
        };
        if request.bytes > self.options.max_poolable.unwrap_or(usize::MAX) {
            wish.class = Class::Dedicated;
            wish = wish.exact();
        }
        if let Some(driven) = &self.driven {
            wish = self.driven_wish(driven, wish)?;
        }
        let charge = match Tag::current() {
            None => None,
            Some(tag) => {
                let charge = self.charge(&tag, wish.size).or_else(|_| {
                    if self.driven.is_none() {
                        wish = wish.exact();
                    }
                    self.charge(&tag, wish.size)
                })?;
                // What is granted at most is what was charged.
                wish.most = wish.size;
                Some(charge)
            }
        };
        let (mut allocation, known_zero, fresh) = if let Some(driven) = &self.driven {
            // The driver doesn't say what it gives for the first time.
            (self.allocate_driven(driven, &wish)?, false, true)
        } else if let Some(allocation) = self.take_cached(&wish)? {
            (allocation, false, false)
        } else {
            self.allocate_slowly(&wish)?
        };
        if let Some(charge) = charge {
            let granted = allocation.block().capacity;
            allocation.set_tag(charge.keep(granted));
        }
        let fill = match self.options.zero {
            Zero::Never => false,
            Zero::Fresh => fresh && !known_zero,
            Zero::Always => !known_zero,
        };
        if fill && let Some(zero) = Pattern::new(&[0]) {
            Queue::of(Arc::clone(queue)).fill(&allocation, 0..request.bytes, zero)?;
        }
        Ok(allocation)
    }

    /// Counts an allocation under its tag, and tells of a soft budget that is exceeded.
    #[cold]
    pub(super) fn charge(&self, tag: &Tag, size: usize) -> Result<Charge> {
        let charge = tag.charge(size)?;
        if let Some(name) = tag.beyond_soft_budget() {
            let name = Some(name.to_owned());
            let told = self.pressure(Level::Soft, size, name);
            self.site
                .reclaimers
                .call(&told, || tag.beyond_soft_budget().is_none());
        }
        Ok(charge)
    }

    pub(crate) fn pressure(&self, level: Level, wanted: usize, tag: Option<String>) -> Pressure {
        Pressure {
            level,
            pool: self.name.clone(),
            kind: self.kind,
            wanted,
            tag,
        }
    }

    /// The newest block of the queue's own cache: rule R1. It is of the class, or exactly what was
    /// asked for.
    fn take_cached(&self, wish: &Wish<'_>) -> Result<Option<Allocation>> {
        let Wish { queue, request, .. } = *wish;
        let mut line = queue.lock();
        line.check_open(queue)?;
        let cache = self.cache_of(queue, &mut line);
        let native = queue.native();
        // What other queues use the pool has put here by rule R2, which may be off for this request.
        let follows = request.reuse.follow_events || !self.reuse().follow_events;
        let mut take = |wish: &Wish<'_>| {
            if native.in_order && follows && request.align <= class::GRANULE {
                return cache.take(wish.class, wish.size, wish.most);
            }
            cache.take_if(wish.class, wish.size, wish.most, |block| {
                let is_ours = native.in_order && (follows || !block.tracking.has_others());
                (is_ours || block.tracking.is_quiet(native))
                    && block.base.get().is_multiple_of(request.align)
            })
        };
        let taken = take(wish).or_else(|| take(&wish.exact()));
        let timeless = self.is_timeless();
        let home = || Queue::of(Arc::clone(queue));
        Ok(taken.map(|block| hand_out(own(block), cache, home(), request.bytes, timeless)))
    }

    /// The allocation, whether it is known to be zero, and whether it was never used before.
    #[cold]
    fn allocate_slowly(self: &Arc<Self>, wish: &Wish<'_>) -> Result<(Allocation, bool, bool)> {
        if self.unpark(wish)
            && let Some(allocation) = self.take_cached(wish)?
        {
            return Ok((allocation, false, false));
        }
        let found = self.find(wish)?;
        Ok(self.make(found, wish, &mut wish.queue.lock()))
    }

    /// Makes an allocation of what was found, on the queue of this line: with it, whether it is
    /// known to be zero, and whether it was never used before.
    pub(crate) fn make(
        self: &Arc<Self>,
        found: Found,
        wish: &Wish<'_>,
        line: &mut Line,
    ) -> (Allocation, bool, bool) {
        let Wish { queue, request, .. } = *wish;
        let cache = self.cache_of(queue, line);
        let (block, zeroed, fresh) = match found {
            Found::Block(block) => (block, false, false),
            Found::Extent(extent) => {
                let (zeroed, fresh) = (extent.zeroed, extent.fresh);
                (self.make_block(extent), zeroed, fresh)
            }
        };
        let timeless = self.is_timeless();
        let home = Queue::of(Arc::clone(queue));
        let allocation = hand_out(block, cache, home, request.bytes, timeless);
        (allocation, zeroed, fresh)
    }

    /// A block of bytes that were none.
    fn make_block(self: &Arc<Self>, extent: Extent) -> UniqueArc<Block> {
        UniqueArc::new(Block {
            base: extent.base,
            capacity: extent.capacity,
            bytes: 0,
            kind: self.kind,
            home: None,
            tracking: extent.tracking.map_or_else(Tracking::default, |own| *own),
            source: Source::Pool {
                pool: Arc::clone(self),
                class: extent.class,
            },
            tag: None,
            lent: Lent::default(),
        })
    }
}

/// The newest block of a class, by its number, in the cache of the queue that is asked (rule R1).
#[inline]
pub(crate) fn take_handy(
    cache: &mut Cache,
    (index, size): (usize, usize),
    bytes: usize,
    home: impl FnOnce() -> Queue,
) -> Option<Allocation> {
    let block = cache.take_handy(index, size)?;
    Some(hand_out(own(block), cache, home(), bytes, false))
}

/// A block of the queue's own cache, without what orders others if a test has rule R1 broken.
#[inline]
fn own(mut block: UniqueArc<Block>) -> UniqueArc<Block> {
    if is_broken(Rule::SameQueue) {
        block.tracking = Tracking::default();
    }
    block
}

/// Makes an allocation of a block that is in no cache.
#[inline]
pub(crate) fn hand_out(
    mut block: UniqueArc<Block>,
    cache: &mut Cache,
    home: Queue,
    bytes: usize,
    timeless: bool,
) -> Allocation {
    cache.live.count_in(block.capacity, bytes);
    block.bytes = bytes;
    block.tracking.set_timeless(timeless);
    let before = block.home.replace(home);
    debug_assert!(before.is_none(), "a block in a cache has no home");
    std::mem::forget(before);
    Allocation::new(block.shareable())
}
