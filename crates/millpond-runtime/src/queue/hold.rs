//! A queue whose line one thread holds for several allocations and frees, so that each of them takes
//! no lock of its own.
//!
//! Holding promises speed and nothing else: whatever could need the line lets go of it first, and
//! the next call that is made of the hold takes it again. So a destructor or any other call on the
//! same thread finds the queue as if it weren't held, and a thread never waits while it holds a
//! line in this way: not for another line, a command, a driver, nor for memory. `interrupt` is
//! called wherever that begins.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use millpond_types::MemoryKind;

use crate::error::Result;
use crate::lifecycle;
use crate::memory::{Allocation, Source};
use crate::pool::{Pool, PoolCore};
use crate::queue::{Line, Queue};
use crate::sync::{MutexGuard, thread_local};

/// A line that is held, in the list of those that its thread holds.
struct Held<'q> {
    line: Cell<Option<MutexGuard<'q, Line>>>,
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
        drop(held.line.take());
        next = held.outer;
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
    /// A handle of the queue for the next allocation, left by the last free.
    spare: Cell<Option<Queue>>,
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
                outer: INNERMOST.with(Cell::get),
            },
            spare: Cell::new(None),
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
        if device.current_pools().is_default(default)
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

    /// What the queue freed itself, if the line is held and nothing else is to be asked.
    fn take(&self, pool: &PoolCore, bytes: usize) -> Option<Allocation> {
        let class = pool.plain_class(self.queue.core(), bytes)?;
        // SAFETY: to take a block out of a cache and to count a handle calls nobody else.
        let line = unsafe { self.at_hand()? };
        if line.closed || !lifecycle::is_running() {
            return None;
        }
        let home = || self.spare.take().unwrap_or_else(|| self.queue.clone());
        pool.take_own(line, class, bytes, home)
    }

    #[inline(never)]
    fn allocate_in(&self, pool: &Arc<PoolCore>, bytes: usize) -> Result<Allocation> {
        let core = self.queue.core();
        if let Some(class) = pool.plain_class(core, bytes)
            && lifecycle::is_running()
        {
            let mut line = self.line();
            let home = || self.queue.clone();
            let found = pool.allocate_plainly(core, &mut line, class, bytes, home);
            if let Some(allocation) = found {
                self.held.line.set(Some(line));
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

    /// Takes a block back that the queue keeps, if the line is held and nobody else is to be told.
    #[inline]
    fn put(&self, allocation: Allocation) -> std::result::Result<(), Allocation> {
        if !lifecycle::is_running() {
            return Err(allocation);
        }
        let mut block = allocation.try_into_unique()?;
        let is_ours = block.home.as_ref() == Some(self.queue);
        let concerns_others =
            block.tag.is_some() || block.tracking.has_others() || block.lent.is_to_stream();
        if is_ours
            && !concerns_others
            // SAFETY: to put a block into a cache calls nobody else.
            && let Some(line) = unsafe { self.at_hand() }
            && line.window.is_none()
            && let Some((cache, index)) = line.room_for(&block)
        {
            block.forget_uses();
            let home = block.home.take();
            cache.put_small(block, index);
            self.spare.set(home);
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
        let core = self.queue.core();
        let home = block.home.take();
        let parked = core.end(&mut block);
        let mut line = self.line();
        let leaving = core.keep(&mut line, block, parked);
        if let Some(leaving) = leaving {
            drop(line);
            core.give_up(leaving);
        } else {
            self.held.line.set(Some(line));
        }
        self.spare.set(home);
    }

    /// The line, if it is held.
    ///
    /// # Safety
    /// While the answer is used, no call is made of this hold, nor one that could interrupt it.
    #[inline]
    #[expect(
        clippy::mut_from_ref,
        reason = "the line lies in a cell, and the caller is its only user"
    )]
    unsafe fn at_hand(&self) -> Option<&mut Line> {
        // SAFETY: only this thread gets at the place, by calls that the caller doesn't make meanwhile.
        let held = unsafe { &mut *self.held.line.as_ptr() };
        held.as_deref_mut()
    }

    /// The line, as it was held or locked again.
    #[inline]
    fn line(&self) -> MutexGuard<'q, Line> {
        let line = self.held.line.take();
        line.unwrap_or_else(|| self.queue.core().lock())
    }
}

impl fmt::Debug for Hold<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hold({:?})", self.queue)
    }
}
