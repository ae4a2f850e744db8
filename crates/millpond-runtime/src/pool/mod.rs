//! Pools: where allocations come from.
//!
//! Three tiers. Each queue keeps the blocks freed on it (`cache.rs`), by size class, and hands
//! them out again without looking at the device: about what pushing and popping a list costs. What
//! a queue has too much of goes to the pool's store (`store.rs`), which merges free neighbours.
//! Below are segments from the driver, of at least [`SEGMENT`] bytes unless told otherwise, kept
//! until [`Pool::trim`] or a release threshold says so, because touching fresh pages costs more
//! than most of what is done with them.
//!
//! A request is decided in this order (`acquire.rs`):
//!
//! 1. the queue's own newest block of the class (R1), then its parked blocks that became quiet;
//! 2. blocks whose last use the queue is ordered behind (R2);
//! 3. what has completed: the store, then the oldest blocks of other queues (R3);
//! 4. growth from the driver, while that is comfortable and within the maximum (R4);
//! 5. everything the queues have cached, merged;
//! 6. pending memory that the queue is made to wait for, the least work away (R5);
//! 7. waiting on the host for the smallest sufficient set of frees (R6);
//! 8. giving idle segments back, of this pool and then of the device's others, and growing then;
//! 9. an error that says what the pool holds and what would make room (R8).
//!
//! No driver is called under a pool's lock, and no free calls one: memory that should go back to
//! the driver goes at the next wait, or when a request looks further than its queue's cache.

mod acquire;
mod cache;
mod class;
mod core;
mod current;
mod options;
mod plan;
mod report;
mod site;
mod slot;
mod statistics;
mod store;

use std::alloc::Layout;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use millpond_hal::{Point, RawAllocation};
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::lifecycle;
use crate::memory::Allocation;
use crate::queue::Queue;
use crate::sync::lock;

pub(crate) use self::acquire::Request;
pub use self::acquire::Wait;
pub(crate) use self::cache::Cache;
pub(crate) use self::class::Class;
pub(crate) use self::core::{Identity, PoolCore};
pub(crate) use self::current::Current;
pub use self::current::Scope;
pub use self::options::{PoolOptions, Reuse, SEGMENT, Zero};
pub use self::report::OutOfMemory;
pub(crate) use self::site::Site;
pub use self::statistics::Statistics;

use self::core::{UNLIMITED, usable};

/// The largest alignment that can be asked for, in bytes: a huge page.
pub const LARGEST_ALIGNMENT: usize = 2 << 20;

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

/// How memory is asked for by [`Queue::allocate_with`].
#[derive(Clone, Copy, Debug)]
pub struct AllocateOptions<'a> {
    /// The bytes may be used once these events are complete.
    pub after: &'a [&'a Event],
    /// Alignment in bytes: a power of two, at most [`LARGEST_ALIGNMENT`]. Never less than 256.
    pub alignment: usize,
    /// Which reuse rules apply, if not the pool's.
    pub reuse: Option<Reuse>,
    /// How long to wait for memory that is about to be freed.
    pub wait: Wait,
}

impl Default for AllocateOptions<'_> {
    fn default() -> Self {
        Self {
            after: &[],
            alignment: 1,
            reuse: None,
            wait: Wait::Forever,
        }
    }
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

    /// Whether it is the device's default pool of its kind, which is always there.
    pub fn is_default(&self) -> bool {
        self.owner.is_none()
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.core.is_closed()
    }

    /// Whether its memory is a user's buffer.
    pub fn is_over_buffer(&self) -> bool {
        self.core.is_lent()
    }

    /// What it holds now.
    pub fn statistics(&self) -> Statistics {
        self.core.statistics()
    }

    /// Has `used_high` and `reserved_high` count from what is used and reserved now.
    pub fn reset_highs(&self) {
        self.core.reset_highs();
    }

    /// The most that it may reserve, in bytes.
    pub fn maximum_size(&self) -> Option<usize> {
        limit(self.core.maximum())
    }

    /// Changes the most that it may reserve. Below what is reserved now it stops growth, and takes
    /// nothing back that is in use.
    pub fn set_maximum_size(&self, bytes: Option<usize>) {
        self.core.set_maximum(bytes.unwrap_or(UNLIMITED));
    }

    /// Bytes that it tries to keep at a wait.
    pub fn release_threshold(&self) -> Option<usize> {
        limit(self.core.threshold())
    }

    /// Changes the bytes that it tries to keep, from the next wait on.
    pub fn set_release_threshold(&self, bytes: Option<usize>) {
        self.core.set_threshold(bytes.unwrap_or(UNLIMITED));
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
    /// may allocate and free.
    pub fn fit(&self, bytes: usize) -> Fit {
        let Some((_, size)) = class::of(bytes) else {
            return Fit::Never;
        };
        self.core.collect();
        let conditions = plan::smallest_sufficient(&lock(&self.core.store), size);
        match conditions {
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
        Scope::enter(self.clone())
    }

    /// The largest request that the pool has in one free piece, in bytes.
    pub fn largest_free(&self) -> usize {
        self.core.collect();
        lock(&self.core.store).largest_free()
    }
}

impl Device {
    /// Makes a pool.
    ///
    /// # Errors
    /// [`Error::Invalid`] for options that contradict each other, or that the device doesn't offer.
    pub fn create_pool(&self, kind: MemoryKind, options: PoolOptions) -> Result<Pool> {
        lifecycle::check("creating a pool")?;
        check_options(self, &options)?;
        let core = PoolCore::new(self.pool_identity(kind), options, None);
        Ok(Pool::new(core, self.clone()))
    }

    /// Makes a pool of a part of memory that is there already. The pool holds the memory, never
    /// grows and gives nothing back before it ends; nobody else should use that part meanwhile.
    /// What was submitted on it before comes first.
    ///
    /// # Errors
    /// [`Error::Bounds`]; [`Error::DeviceMismatch`]; [`Error::Invalid`] for a part without a whole
    /// granule of 256 bytes, or with a maximum size or threshold, which the part's size is.
    pub fn create_pool_over(
        &self,
        memory: &Allocation,
        part: Range<usize>,
        options: PoolOptions,
    ) -> Result<Pool> {
        lifecycle::check("creating a pool")?;
        check_options(self, &options)?;
        crate::queue::work::check_range("pool over memory", memory, part.start, part.len())?;
        if memory.device() != *self {
            return Err(Error::DeviceMismatch {
                operation: "pool over memory".to_owned(),
                operand: 0,
                found: memory.device().name().to_owned(),
                expected: self.name().to_owned(),
            });
        }
        let invalid = |reason: String| Error::Invalid {
            what: "pool over memory",
            reason,
        };
        if options.maximum_size.is_some() || options.release_threshold.is_some() {
            return Err(invalid(
                "its maximum size and release threshold are the size of the memory".to_owned(),
            ));
        }
        let begin = memory.address().offset(part.start);
        let (begin, bytes) = usable(begin, part.len(), class::GRANULE).ok_or_else(|| {
            invalid(format!(
                "bytes {part:?} hold no aligned granule of {} bytes",
                class::GRANULE
            ))
        })?;
        let layout = Layout::from_size_align(bytes, class::GRANULE)
            .map_err(|error| invalid(error.to_string()))?;
        let home = memory.home().core();
        let unfinished = home.with_line(|_| memory.block().tracking.unfinished(home.native()));
        let options = PoolOptions {
            maximum_size: Some(bytes),
            release_threshold: Some(bytes),
            ..options
        };
        let kind = memory.kind();
        let core = PoolCore::new(self.pool_identity(kind), options, Some(memory.clone()));
        core.lend(
            RawAllocation {
                address: begin,
                layout,
                kind,
                zeroed: false,
            },
            unfinished,
        );
        Ok(Pool::new(core, self.clone()))
    }

    /// The default pool of a kind: always the same one, which can't be closed.
    pub fn default_pool(&self, kind: MemoryKind) -> Pool {
        Pool::default_of(Arc::clone(self.default_pool_core(kind)), self.clone())
    }

    /// The pool that allocations come from that name none: the default pool, unless another was
    /// set and is still open. A thread's [`Scope`] goes before it.
    pub fn current_pool(&self, kind: MemoryKind) -> Pool {
        let set = self.current_pools().handle(kind);
        set.unwrap_or_else(|| self.default_pool(kind))
    }

    /// Sets the current pool of the pool's kind.
    ///
    /// # Errors
    /// [`Error::DeviceMismatch`]; [`Error::PoolClosed`].
    pub fn set_current_pool(&self, pool: &Pool) -> Result<()> {
        if pool.device() != self {
            return Err(Error::DeviceMismatch {
                operation: "setting the current pool".to_owned(),
                operand: 0,
                found: pool.device().name().to_owned(),
                expected: self.name().to_owned(),
            });
        }
        if pool.is_closed() {
            return Err(Error::PoolClosed {
                pool: pool.name().to_owned(),
            });
        }
        let handle = (!pool.is_default()).then(|| pool.clone());
        self.current_pools().set(pool.kind(), handle);
        Ok(())
    }
}

impl Queue {
    /// Allocates from a pool. The address is known at once, and the bytes may be used by
    /// everything submitted to this queue from now on, and by every command that names them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::PoolClosed`]; [`Error::DeviceMismatch`]; a closed queue.
    pub fn allocate_from(&self, pool: &Pool, bytes: usize) -> Result<Allocation> {
        self.check_pool(pool)?;
        pool.core.allocate(self.core(), bytes)
    }

    /// Allocates from a pool in queue order: an allocation whose bytes may be used once the event
    /// is complete, by whoever is ordered behind it. Commands that name the allocation are.
    ///
    /// # Errors
    /// As for [`Queue::allocate_from`]; [`Error::Invalid`] for an alignment that isn't a power of
    /// two or too large; [`Error::TimedOut`] where waiting for memory has an end.
    pub fn allocate_with(
        &self,
        pool: &Pool,
        bytes: usize,
        options: &AllocateOptions<'_>,
    ) -> Result<(Allocation, Event)> {
        self.check_pool(pool)?;
        let align = options.alignment;
        if !align.is_power_of_two() || align > LARGEST_ALIGNMENT {
            return Err(Error::Invalid {
                what: "allocate",
                reason: format!(
                    "an alignment of {align} bytes is not a power of two of at most \
                     {LARGEST_ALIGNMENT}"
                ),
            });
        }
        let request = Request {
            bytes,
            align,
            reuse: options.reuse.unwrap_or_else(|| pool.reuse()),
            wait: options.wait,
        };
        let allocation = pool.core.allocate_as(self.core(), request)?;
        let event = self.core().begin_life(&allocation, options.after)?;
        Ok((allocation, event))
    }

    /// Frees an allocation in queue order: behind everything submitted to this queue so far, every
    /// command that names the allocation, and the events. Returns the free's event; nothing waits.
    ///
    /// Dropping the last handle frees as well, behind the commands that name it. This is for
    /// memory that was used through its address.
    ///
    /// # Errors
    /// The allocation comes back with the error: [`Error::Shared`] if other handles are alive; a
    /// closed queue; another device's queue.
    pub fn free(
        &self,
        allocation: Allocation,
        after: &[&Event],
    ) -> std::result::Result<Event, (Error, Allocation)> {
        match self.core().end_life(&allocation, after) {
            Ok(event) => Ok(event),
            Err(error) => Err((error, allocation)),
        }
    }

    fn check_pool(&self, pool: &Pool) -> Result<()> {
        if Arc::ptr_eq(&pool.core.site, self.device().site()) {
            return Ok(());
        }
        Err(Error::DeviceMismatch {
            operation: format!("allocating from the {}", pool.name()),
            operand: 0,
            found: pool.device().name().to_owned(),
            expected: self.device().name().to_owned(),
        })
    }
}

impl Allocation {
    /// Whether it is memory of this pool.
    pub fn is_from(&self, pool: &Pool) -> bool {
        self.block().pool().is_some_and(|core| Arc::ptr_eq(core, &pool.core))
    }
}

fn check_options(device: &Device, options: &PoolOptions) -> Result<()> {
    let invalid = |reason: String| Error::Invalid {
        what: "creating a pool",
        reason,
    };
    if options.native {
        return Err(invalid(format!("{} has no driver pools", device.name())));
    }
    if options.maximum_size.is_some_and(|size| size < class::GRANULE) {
        return Err(invalid(format!(
            "a maximum size of {} bytes holds no allocation; the smallest takes {} bytes",
            options.maximum_size.unwrap_or_default(),
            class::GRANULE
        )));
    }
    Ok(())
}

fn limit(bytes: usize) -> Option<usize> {
    (bytes != UNLIMITED).then_some(bytes)
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
