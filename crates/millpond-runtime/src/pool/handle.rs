//! Pools as programs hold them: what can be asked of one, and changed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use millpond_hal::Point;
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::Allocation;
use crate::pool::class;
use crate::pool::core::PoolCore;
use crate::pool::current::Scope;
use crate::pool::options::{PoolOptions, Reuse};
use crate::pool::statistics::Statistics;
use crate::sync::lock;

/// Handle to a pool: memory of one kind on one device. Clones are the same pool.
///
/// A pool made by [`Device::create_pool`] is closed when its last handle goes; its allocations
/// stay valid, and its memory goes with the last of them. `Send`, `Sync`.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Device, MemoryKind, PoolOptions};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// let options = PoolOptions { maximum_size: Some(64 << 20), ..PoolOptions::default() };
/// let pool = device.create_pool(MemoryKind::Device, options)?;
/// let queue = device.default_queue()?;
/// let memory = queue.allocate_from(&pool, 1000)?;
/// assert_eq!(pool.statistics().requested, 1000);
/// assert!(queue.allocate_from(&pool, 100 << 20).is_err());
/// drop(pool);
/// assert_eq!(memory.bytes(), 1000);
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Pool {
    core: Arc<PoolCore>,
    device: Device,
    /// Shared by the handles of a pool that isn't a default one.
    owner: Option<Arc<Owner>>,
}

/// A handle that doesn't hold the device, which would never end if it had one to its own pool.
#[derive(Clone)]
pub(crate) struct HeldPool {
    core: Arc<PoolCore>,
    owner: Option<Arc<Owner>>,
}

impl HeldPool {
    #[inline]
    pub(crate) fn core(&self) -> &Arc<PoolCore> {
        &self.core
    }

    /// The handle, for the pool's device.
    pub(crate) fn of(self, device: Device) -> Pool {
        Pool {
            core: self.core,
            device,
            owner: self.owner,
        }
    }
}

/// Closes a pool with its last handle.
struct Owner(Arc<PoolCore>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Whether a request would find memory, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fit {
    /// At once, from what the pool has.
    Now,
    /// At once, if the driver has it: the pool's limit allows to ask.
    Growth,
    /// When these points are reached.
    After(Vec<Point>),
    /// Not before something that is in use is freed.
    Never,
}

impl Pool {
    /// The handle to a device's default pool.
    pub(crate) fn default_of(core: Arc<PoolCore>, device: Device) -> Self {
        Self {
            core,
            device,
            owner: None,
        }
    }

    /// The first handle to a new pool.
    pub(crate) fn new(core: PoolCore, device: Device) -> Self {
        let core = Arc::new(core);
        core.site.add_pool(&core);
        Self {
            owner: Some(Arc::new(Owner(Arc::clone(&core)))),
            core,
            device,
        }
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<PoolCore> {
        &self.core
    }

    /// The same without the device.
    pub(crate) fn held(&self) -> HeldPool {
        HeldPool {
            core: Arc::clone(&self.core),
            owner: self.owner.clone(),
        }
    }

    /// The device whose memory it is.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kind of memory.
    pub fn kind(&self) -> MemoryKind {
        self.core.kind
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// How it was made. Limits and reuse rules may have been changed since.
    pub fn options(&self) -> &PoolOptions {
        &self.core.options
    }

    /// Whether it is the device's or the driver's default pool of its kind, which is always there.
    pub fn is_default(&self) -> bool {
        self.owner.is_none()
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.core.is_closed()
    }

    /// Whether it is a pool of the driver's own.
    pub fn is_native(&self) -> bool {
        self.core.driven.is_some()
    }

    /// What the driver calls it by, of a pool of the driver's own: on NVIDIA's devices a `CUmemoryPool`,
    /// which lives as long as the pool.
    pub fn native_handle(&self) -> Option<usize> {
        let driven = self.core.driven.as_ref()?;
        Some(driven.pool.handle())
    }

    /// Whether its memory is a user's buffer.
    pub fn is_over_buffer(&self) -> bool {
        self.core.is_lent()
    }

    /// What it holds now; nothing in a forked process, which has no part in its parent's memory.
    pub fn statistics(&self) -> Statistics {
        if lifecycle::is_forked() {
            // Nobody may be left to unlock what the numbers are under.
            return Statistics::default();
        }
        self.core.statistics()
    }

    /// Has `used_high` and `reserved_high` count from what is used and reserved now. Does nothing in
    /// a forked process.
    pub fn reset_highs(&self) {
        self.reset_used_high();
        self.reset_reserved_high();
    }

    /// Has `used_high` count from what is used now. Does nothing in a forked process.
    pub fn reset_used_high(&self) {
        if !lifecycle::is_forked() {
            self.core.reset_used_high();
            if let Some(driven) = &self.core.driven {
                driven.reset_used_high();
            }
        }
    }

    /// Has `reserved_high` count from what is reserved now. Does nothing in a forked process.
    pub fn reset_reserved_high(&self) {
        if !lifecycle::is_forked() {
            self.core.budget.reset_high();
            if let Some(driven) = &self.core.driven {
                driven.reset_reserved_high();
            }
        }
    }

    /// The most that it may reserve, in bytes.
    pub fn maximum_size(&self) -> Option<usize> {
        self.core.budget.maximum.get()
    }

    /// Changes the most that it may reserve. Below what is reserved now it stops growth, and takes
    /// nothing back that is in use.
    pub fn set_maximum_size(&self, bytes: Option<usize>) {
        self.core.budget.maximum.set(bytes);
    }

    /// Bytes that it tries to keep at a wait.
    pub fn release_threshold(&self) -> Option<usize> {
        self.core.threshold().get()
    }

    /// Changes the bytes that it tries to keep, from the next wait on.
    pub fn set_release_threshold(&self, bytes: Option<usize>) {
        self.core.set_threshold(bytes);
    }

    /// How long memory may be unused before it goes back to the driver.
    pub fn idle_release(&self) -> Option<Duration> {
        self.core.idle.limit()
    }

    /// Changes how long memory may be unused.
    pub fn set_idle_release(&self, limit: Option<Duration>) {
        self.core.set_idle_release(limit);
    }

    /// The reuse rules that apply.
    pub fn reuse(&self) -> Reuse {
        self.core.reuse()
    }

    /// Changes the reuse rules.
    pub fn set_reuse(&self, reuse: Reuse) {
        self.core.set_reuse(reuse);
    }

    /// Gives free memory back to the driver until at most `keep` bytes are reserved, or nothing
    /// more is free. Memory whose last use hasn't completed counts as in use; nothing waits.
    ///
    /// # Errors
    /// After shutdown or in a forked process.
    pub fn trim(&self, keep: usize) -> Result<()> {
        lifecycle::check("trim")?;
        self.core.collect();
        self.core.release_dedicated();
        self.core.release_idle(keep, usize::MAX);
        Ok(())
    }

    /// Refuses new allocations from now on. Live ones stay valid, and pending frees are carried
    /// out; what is free goes back to the driver now, the rest when it is. A device whose current
    /// pool is closed goes back to its default pool.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a default pool.
    pub fn close(&self) -> Result<()> {
        if self.is_default() {
            return Err(Error::Invalid {
                what: "close",
                reason: format!("the {} can't be closed", self.name()),
            });
        }
        self.core.close();
        Ok(())
    }

    /// Whether a request would find memory, and when. The answer is of this moment: other threads
    /// may allocate and free. In a forked process nothing fits.
    pub fn fit(&self, bytes: usize) -> Fit {
        if class::of(bytes).is_none() || lifecycle::is_forked() {
            return Fit::Never;
        }
        if let Some(driven) = &self.core.driven {
            return self.core.fit_driven(driven, bytes);
        }
        let size = class::exact(bytes);
        self.core.collect();
        match self.core.what_makes_room(size) {
            Some(conditions) if conditions.is_empty() => Fit::Now,
            _ if self.core.has_room(size) => Fit::Growth,
            Some(conditions) => {
                let points = conditions.iter();
                Fit::After(points.map(|(queue, at)| queue.point(*at)).collect())
            }
            None => Fit::Never,
        }
    }

    /// Has allocations of this thread that name no pool come from this one, for as long as the
    /// answer lives.
    pub fn scope(&self) -> Scope {
        Scope::enter(self)
    }

    /// The largest request that the pool has in one free piece, in bytes; 0 in a forked process.
    pub fn largest_free(&self) -> usize {
        if lifecycle::is_forked() {
            return 0;
        }
        if self.core.driven.is_some() {
            // The driver makes one piece of many.
            return self.statistics().cached;
        }
        self.core.collect();
        lock(&self.core.store).largest_free()
    }
}

impl Allocation {
    /// Whether it is memory of this pool.
    pub fn is_from(&self, pool: &Pool) -> bool {
        self.block()
            .pool()
            .is_some_and(|core| Arc::ptr_eq(core, &pool.core))
    }
}

impl PartialEq for Pool {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }
}

impl Eq for Pool {}

impl std::hash::Hash for Pool {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.core).hash(state);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({})", self.name())
    }
}
