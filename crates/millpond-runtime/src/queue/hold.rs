//! A queue whose line one thread holds for several allocations and frees, so that each of them takes
//! no lock of its own.
//!
//! Holding promises speed and nothing else: whatever could need the line lets go of it first, and
//! the next call that is made of the hold takes it again. So a destructor or any other call on the
//! same thread finds the queue as if it weren't held, and a thread never waits while it holds a
//! line in this way: not for another line, a command, a driver, nor for memory. `interrupt` is
//! called wherever that begins.
//!
//! What most calls ask for is decided once, when the line is taken, and remembered as a *shelf*: the
//! cache of the pool that was used last, on a queue that is open and in order. As nobody else gets at
//! any of that while the line is held, a call compares the pool with that of the shelf, and is done by
//! popping or pushing a block.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use millpond_types::MemoryKind;

use crate::error::Result;
use crate::lifecycle;
use crate::memory::{Allocation, Source};
use crate::pool::{Cache, Class, Pool, PoolCore, handy_class, take_handy};
use crate::queue::{Line, Queue};
use crate::sync::{MutexGuard, thread_local};

/// A line that is held, in the list of those that its thread holds.
struct Held<'q> {
    line: Cell<Option<MutexGuard<'q, Line>>>,
    /// Empty while the line isn't held.
    shelf: Cell<Shelf>,
    /// The one that was begun before, and ends after.
    outer: Option<NonNull<Held<'static>>>,
}

thread_local! {
    /// The innermost.
    static INNERMOST: Cell<Option<NonNull<Held<'static>>>> = const { Cell::new(None) };
}

/// Lets go of every line that this thread holds, until the next call that is made of its hold.
#[inline]
pub(crate) fn interrupt() {
    if let Some(innermost) = INNERMOST.with(Cell::get) {
        interrupt_all(innermost);
    }
}

#[cold]
fn interrupt_all(innermost: NonNull<Held<'static>>) {
    let mut next = Some(innermost);
    while let Some(held) = next {
        // SAFETY: what is in the list of this thread lives in a call of `Queue::hold` that hasn't
        // returned, which takes it out before it does; only this thread refers to it, and never
        // mutably.
        let held = unsafe { held.as_ref() };
        held.shelf.set(Shelf::EMPTY);
        drop(held.line.take());
        next = held.outer;
    }
}

/// A cache behind a line that is held. Its pool's blocks hold the pool, and who lets go of a cache
/// needs the line.
#[derive(Clone, Copy)]
struct Shelf {
    /// The pool whose requests it serves.
    gives: *const PoolCore,
    /// The same, unless there is a window, which is told of each block that is freed.
    takes: *const PoolCore,
    cache: *mut Cache,
}

impl Shelf {
    /// No pool's.
    const EMPTY: Self = Self {
        gives: ptr::null(),
        takes: ptr::null(),
        cache: ptr::null_mut(),
    };

    /// What a line has of a pool, by its slot.
    fn of(line: &mut Line, pool: *const PoolCore, slot: usize) -> Self {
        if line.closed {
            return Self::EMPTY;
        }
        let has_window = line.window.is_some();
        let Some(cache) = line.cache_if_any(slot) else {
            return Self::EMPTY;
        };
        Self {
            gives: pool,
            takes: if has_window { ptr::null() } else { pool },
            cache,
        }
    }
}

/// Counted references to a queue that are nobody's: frees leave them to the allocations that come
/// next, so that neither changes the count.
struct Spares<'q> {
    queue: &'q Queue,
    count: Cell<usize>,
}

impl Spares<'_> {
    #[inline]
    fn take(&self) -> Queue {
        let count = self.count.get();
        if count == 0 {
            return self.queue.clone();
        }
        self.count.set(count - 1);
        // SAFETY: `put` left a reference to this very queue, which from here on is the handle's.
        Queue::of(unsafe { Arc::from_raw(Arc::as_ptr(self.queue.core())) })
    }

    /// Keeps the reference of a handle of this queue.
    #[inline]
    fn put(&self, handle: Queue) {
        let handle = ManuallyDrop::new(handle);
        debug_assert!(*handle == *self.queue);
        self.count.set(self.count.get() + 1);
    }
}

impl Drop for Spares<'_> {
    fn drop(&mut self) {
        while self.count.get() > 0 {
            drop(self.take());
        }
    }
}

/// Takes a line out of the list of its thread.
struct End<'h, 'q>(&'h Held<'q>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        INNERMOST.with(|innermost| innermost.set(self.0.outer));
    }
}

/// A queue, inside of [`Queue::hold`].
pub struct Hold<'q> {
    queue: &'q Queue,
    held: Held<'q>,
    spares: Spares<'q>,
    /// Lines are unlocked on the thread that locked them.
    thread: PhantomData<*const ()>,
}

impl Queue {
    /// Has the body allocate and free on this queue without a lock for each call: the first of them
    /// takes the queue's own, which is held until the body returns.
    ///
    /// Other threads that use the queue wait meanwhile, so the body should be short, and take no
    /// lock that such a thread may have. It may do anything else: what has to wait, calls a driver or
    /// uses this queue in another way, such as dropping an allocation, gives the lock up, and the
    /// next call of the [`Hold`] takes it again.
    ///
    /// ```
    /// # use millpond_hal::{Driver, null::NullDriver};
    /// # use millpond_runtime::{Device, MemoryKind};
    /// # let device = Device::open(NullDriver::default().devices()?.remove(0));
    /// let queue = device.default_queue()?;
    /// let result = queue.hold(|queue| {
    ///     let temporary = queue.allocate(MemoryKind::Device, 1000)?;
    ///     let result = queue.allocate(MemoryKind::Device, 500)?;
    ///     queue.free(temporary);
    ///     Ok::<_, millpond_runtime::Error>(result)
    /// })?;
    /// assert_eq!(result.bytes(), 500);
    /// # Ok::<(), millpond_runtime::Error>(())
    /// ```
    pub fn hold<R>(&self, body: impl FnOnce(&Hold<'_>) -> R) -> R {
        let hold = Hold {
            queue: self,
            held: Held {
                line: Cell::new(None),
                shelf: Cell::new(Shelf::EMPTY),
                outer: INNERMOST.with(Cell::get),
            },
            spares: Spares {
                queue: self,
                count: Cell::new(0),
            },
            thread: PhantomData,
        };
        let _end = End(&hold.held);
        INNERMOST.with(|innermost| innermost.set(Some(NonNull::from(&hold.held).cast())));
        body(&hold)
    }
}

impl<'q> Hold<'q> {
    /// The queue.
    pub fn queue(&self) -> &Queue {
        self.queue
    }

    /// The same as [`Queue::allocate`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn allocate(&self, kind: MemoryKind, bytes: usize) -> Result<Allocation> {
        let device = self.queue.device();
        let default = device.default_pool_core(kind);
        // What is there at once comes in a register.
        if device.current_pools().is_default(kind)
            && let Some(allocation) = self.take(default, bytes)
        {
            return Ok(allocation);
        }
        self.allocate_otherwise(kind, bytes)
    }

    #[inline(never)]
    fn allocate_otherwise(&self, kind: MemoryKind, bytes: usize) -> Result<Allocation> {
        let device = self.queue.device();
        let default = device.default_pool_core(kind);
        match device.current_pools().get(default) {
            None => self.allocate_in(default, bytes),
            Some(pool) => self.allocate_in(&pool, bytes),
        }
    }

    /// The same as [`Queue::allocate_from`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn allocate_from(&self, pool: &Pool, bytes: usize) -> Result<Allocation> {
        self.queue.check_pool(pool)?;
        if let Some(allocation) = self.take(pool.core(), bytes) {
            return Ok(allocation);
        }
        self.allocate_in(pool.core(), bytes)
    }

    /// What the queue freed itself, if it lies on the shelf and nothing else is to be asked.
    #[inline]
    fn take(&self, pool: &PoolCore, bytes: usize) -> Option<Allocation> {
        let shelf = self.held.shelf.get();
        if !ptr::eq(shelf.gives, pool) || !pool.is_plain_here() || !lifecycle::is_running() {
            return None;
        }
        let class = handy_class(bytes)?;
        // SAFETY: the shelf has a pool, so the line is held, and what is done with the cache calls
        // nobody else.
        let cache = unsafe { &mut *shelf.cache };
        take_handy(cache, class, bytes, || self.spares.take())
    }

    #[inline(never)]
    fn allocate_in(&self, pool: &Arc<PoolCore>, bytes: usize) -> Result<Allocation> {
        let core = self.queue.core();
        if let Some(class) = pool.plain_class(core, bytes)
            && lifecycle::is_running()
        {
            let mut line = self.line();
            let home = || self.spares.take();
            let found = pool.allocate_plainly(core, &mut line, class, bytes, home);
            if let Some(allocation) = found {
                self.hold_on(line, Arc::as_ptr(pool), pool.slot.index());
                return Ok(allocation);
            }
        }
        pool.allocate_generally(core, bytes)
    }

    /// The same as dropping the allocation, which may be any.
    #[inline]
    pub fn free(&self, allocation: Allocation) {
        if let Err(allocation) = self.put(allocation) {
            self.free_otherwise(allocation);
        }
    }

    /// Puts a block back on the shelf, if that is its place and nobody else is to be told.
    #[inline]
    fn put(&self, allocation: Allocation) -> std::result::Result<(), Allocation> {
        let shelf = self.held.shelf.get();
        if !lifecycle::is_running() {
            return Err(allocation);
        }
        let mut block = allocation.try_into_unique()?;
        if let Source::Pool { pool, class } = &block.source
            && let Class::Small(index) = *class
            && ptr::eq(Arc::as_ptr(pool), shelf.takes)
            && pool.is_plain()
            && block.home.as_ref() == Some(self.queue)
            && block.tag.is_none()
            && !block.tracking.has_others()
            && !block.lent.is_to_stream()
            // SAFETY: the shelf has a pool, so the line is held, and what is done with the cache
            // calls nobody else.
            && let Some(place) = unsafe { &mut *shelf.cache }.place_for(&block, index)
        {
            block.forget_uses();
            if let Some(home) = block.home.take() {
                self.spares.put(home);
            }
            place.put(block);
            return Ok(());
        }
        Err(Allocation::new(block.shareable()))
    }

    #[inline(never)]
    fn free_otherwise(&self, allocation: Allocation) {
        if !lifecycle::is_running() {
            return drop(allocation);
        }
        let mut block = match allocation.try_into_unique() {
            Ok(block) => block,
            Err(shared) => return drop(shared),
        };
        let is_at_home = block.home.as_ref() == Some(self.queue);
        let is_plain = matches!(block.source, Source::Pool { .. }) && !block.lent.is_to_stream();
        if !is_at_home || !is_plain {
            return drop(Allocation::new(block.shareable()));
        }
        let Source::Pool { pool, .. } = &block.source else {
            return drop(Allocation::new(block.shareable()));
        };
        let (pool, slot) = (Arc::as_ptr(pool), pool.slot.index());
        let core = self.queue.core();
        if let Some(home) = block.home.take() {
            self.spares.put(home);
        }
        let parked = core.end(&mut block);
        let mut line = self.line();
        let leaving = core.keep(&mut line, block, parked);
        if let Some(leaving) = leaving {
            drop(line);
            core.give_up(leaving);
        } else {
            // The block lies in the cache, and holds the pool.
            self.hold_on(line, pool, slot);
        }
    }

    /// Holds the line from here on, with what it has of a pool on the shelf.
    fn hold_on(&self, mut line: MutexGuard<'q, Line>, pool: *const PoolCore, slot: usize) {
        if self.queue.is_in_order() {
            self.held.shelf.set(Shelf::of(&mut line, pool, slot));
        }
        self.held.line.set(Some(line));
    }

    /// The line, as it was held or locked again.
    #[inline]
    fn line(&self) -> MutexGuard<'q, Line> {
        self.held.shelf.set(Shelf::EMPTY);
        let line = self.held.line.take();
        line.unwrap_or_else(|| self.queue.core().lock())
    }
}

impl fmt::Debug for Hold<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hold({:?})", self.queue)
    }
}
