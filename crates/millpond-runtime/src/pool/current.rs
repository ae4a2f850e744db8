//! Which pool an allocation comes from that names none.
//!
//! The innermost [`Scope`] of the calling thread for that device and kind; else the device's
//! current pool, which is its default pool until another is set. A pool that was closed counts as
//! not set.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use millpond_types::MemoryKind;

use crate::pool::Pool;
use crate::pool::core::PoolCore;
use crate::pool::handle::HeldPool;
use crate::pool::scope;
use crate::sync::atomic::{AtomicU8, Ordering::Relaxed};
use crate::sync::{Mutex, lock};

/// The pools that were set as a device's current ones.
#[derive(Default)]
pub(crate) struct Current {
    /// One bit for each kind that has one.
    set: AtomicU8,
    pools: Mutex<[Option<HeldPool>; 3]>,
}

thread_local! {
    /// How many scopes the thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static SCOPES: scope::Stack<HeldPool> = const { scope::Stack::new() };
}

impl Current {
    /// Whether nothing else was chosen in place of the default pool of a kind.
    #[inline]
    pub(crate) fn is_default(&self, kind: MemoryKind) -> bool {
        DEPTH.get() == 0 && self.set.load(Relaxed) & bit(kind) == 0
    }

    /// The current pool, where it isn't the default pool.
    #[inline]
    pub(crate) fn get(&self, default: &Arc<PoolCore>) -> Option<Arc<PoolCore>> {
        if self.is_default(default.kind) {
            return None;
        }
        self.find(default).map(|pool| Arc::clone(pool.core()))
    }

    /// The same, as what makes a handle.
    #[cold]
    pub(crate) fn find(&self, default: &Arc<PoolCore>) -> Option<HeldPool> {
        let is_meant = |pool: &HeldPool| {
            let core = pool.core();
            core.kind == default.kind && Arc::ptr_eq(&core.site, &default.site) && !core.is_closed()
        };
        scope::innermost(&SCOPES, is_meant).or_else(|| {
            let pools = lock(&self.pools);
            pools[default.kind as usize].clone().filter(is_meant)
        })
    }

    /// Sets the current pool, or goes back to the default.
    pub(crate) fn set(&self, kind: MemoryKind, pool: Option<HeldPool>) {
        let mut pools = lock(&self.pools);
        if pool.is_some() {
            self.set.fetch_or(bit(kind), Relaxed);
        } else {
            self.set.fetch_and(!bit(kind), Relaxed);
        }
        let old = std::mem::replace(&mut pools[kind as usize], pool);
        drop(pools);
        // The last handle of a pool gives memory back.
        drop(old);
    }
}

#[inline]
fn bit(kind: MemoryKind) -> u8 {
    1 << kind as u8
}

/// While it lives, allocations of this thread that name no pool come from one pool, where device
/// and kind are the pool's.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Device, MemoryKind, PoolOptions};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// let pool = device.create_pool(MemoryKind::Device, PoolOptions::default())?;
/// let queue = device.default_queue()?;
/// let memory = {
///     let _scope = pool.scope();
///     queue.allocate(MemoryKind::Device, 100)?
/// };
/// assert!(memory.is_from(&pool));
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
#[must_use = "the scope ends when it is dropped"]
pub struct Scope {
    number: u64,
    /// Ends on the thread on which it began.
    thread: PhantomData<*const ()>,
}

impl Scope {
    pub(crate) fn enter(pool: &Pool) -> Self {
        Self {
            number: scope::enter(&SCOPES, &DEPTH, pool.held()),
            thread: PhantomData,
        }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        scope::leave(&SCOPES, &DEPTH, self.number);
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({})", self.number)
    }
}
