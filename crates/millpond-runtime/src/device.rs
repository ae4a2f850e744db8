//! Devices: processors with their memory, as programs see them.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use millpond_hal as hal;
use millpond_hal::{DeviceInfo, HostKernel, Partition, Program, QueueOptions};
use millpond_types::MemoryKind;
use smallvec::SmallVec;

use crate::error::Result;
use crate::lifecycle;
use crate::memory::Allocation;
use crate::pool::{Current, Identity, Pool, PoolCore, PoolOptions, Site, Supply};
use crate::queue::{Queue, QueueCore, interrupt_holds};
use crate::sync::{Mutex, lock};

/// Handle to a device. Clones are the same device, and only they compare equal. `Send`, `Sync`.
#[derive(Clone)]
pub struct Device(Arc<DeviceCore>);

struct DeviceCore {
    hal: Arc<dyn hal::Device>,
    /// Whose points its queues can follow.
    driver: u64,
    pools: [Arc<PoolCore>; 3],
    default_queue: Mutex<Slot>,
    /// Out of order, for copies that host code waits for.
    host_queue: Mutex<Slot>,
    current: Current,
    /// The driver's default pools, as far as they were asked for.
    of_driver: Mutex<[Option<Arc<PoolCore>>; 3]>,
    site: Arc<Site>,
}

/// A queue that a device makes when it is first asked for.
enum Slot {
    /// Kept until shutdown.
    Kept(Option<Queue>),
    /// Kept by whoever uses it: the device lives no longer than its users.
    Lent(Weak<QueueCore>),
}

impl Slot {
    fn queue(&self) -> Option<Queue> {
        match self {
            Self::Kept(queue) => queue.clone(),
            Self::Lent(queue) => queue.upgrade().map(Queue::of),
        }
    }

    fn set(&mut self, queue: &Queue) {
        match self {
            Self::Kept(kept) => *kept = Some(queue.clone()),
            Self::Lent(lent) => *lent = Arc::downgrade(queue.core()),
        }
    }

    fn clear(&mut self) -> Option<Queue> {
        match self {
            Self::Kept(queue) => queue.take(),
            Self::Lent(_) => None,
        }
    }
}

impl Device {
    /// Opens a driver's device.
    pub fn open(hal: Arc<dyn hal::Device>) -> Self {
        Self::of_driver(hal, new_driver(), true)
    }

    /// Opens a device; `driver` is the same for devices whose queues can follow each other. A device
    /// that isn't kept gives all it has back with its last handle.
    pub(crate) fn of_driver(hal: Arc<dyn hal::Device>, driver: u64, kept: bool) -> Self {
        let slot = || {
            Mutex::new(if kept {
                Slot::Kept(None)
            } else {
                Slot::Lent(Weak::new())
            })
        };
        lifecycle::watch_forks();
        let site = Arc::new(Site::default());
        let pools = MemoryKind::ALL.map(|kind| {
            let identity = Identity {
                supply: Supply {
                    device: Arc::clone(&hal),
                    arena: None,
                },
                device: hal.info().label.clone(),
                kind,
                site: Arc::clone(&site),
                is_default: true,
                driven: None,
            };
            let pool = Arc::new(PoolCore::new(identity, PoolOptions::default(), None));
            site.add_pool(&pool);
            pool
        });
        Self(Arc::new(DeviceCore {
            hal,
            driver,
            pools,
            default_queue: slot(),
            host_queue: slot(),
            current: Current::default(),
            of_driver: Mutex::default(),
            site,
        }))
    }

    /// What it is and can do.
    pub fn info(&self) -> &DeviceInfo {
        self.0.hal.info()
    }

    /// Whose points its queues can follow.
    pub(crate) fn driver(&self) -> u64 {
        self.0.driver
    }

    /// Whether its queues and another's can follow each other, and copy from each other's memory.
    pub(crate) fn shares_driver(&self, other: &Self) -> bool {
        self.0.driver == other.0.driver
    }

    /// Its name, for instance `cpu` or `cuda:0`, also in messages of its driver.
    pub fn name(&self) -> &str {
        let info = self.info();
        &info.label
    }

    /// The in-order queue that work goes to unless told otherwise; made at the first call.
    ///
    /// # Errors
    /// As for [`Device::create_queue`].
    pub fn default_queue(&self) -> Result<Queue> {
        lifecycle::check("using a device")?;
        self.made_once(&self.0.default_queue, &QueueOptions::default())
    }

    /// The out-of-order queue for what the host looks at: commands on it wait for the memory that
    /// they use and for nothing else (rule O5). Copies to and from buffers of the host run there.
    ///
    /// # Errors
    /// As for [`Device::create_queue`].
    pub fn host_queue(&self) -> Result<Queue> {
        let options = QueueOptions {
            out_of_order: true,
            ..QueueOptions::default()
        };
        self.made_once(&self.0.host_queue, &options)
    }

    /// Runs a kernel whose result the host is about to read: behind the last uses of its operands,
    /// and behind nothing else of the queues that they are at home on.
    ///
    /// `cost` estimates the work in nanoseconds on one thread. Small work on memory that nobody
    /// uses runs before this returns, and its error is this call's; other errors surface where the
    /// result is read.
    ///
    /// # Errors
    /// Operands that don't fit the kernel or the device.
    pub fn observe<K: HostKernel + 'static>(
        &self,
        kernel: K,
        operands: &[&Allocation],
        cost: u32,
    ) -> Result<()> {
        self.host_queue()?.core().observe(kernel, operands, cost)
    }

    /// Loads a program that was compiled elsewhere: an image for the device, or a text that its driver
    /// compiles. [`Queue::run_at`] launches its entries.
    ///
    /// ```
    /// # use millpond_hal::{Driver, null::NullDriver};
    /// # use millpond_runtime::Device;
    /// # let device = Device::open(NullDriver::default().devices()?.remove(0));
    /// // SAFETY: this device has no programs, and looks at none.
    /// let refused = unsafe { device.load(b".version 7.0") };
    /// assert!(refused.is_err());
    /// # Ok::<(), millpond_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// A device that runs the host's code; an image that the driver refuses, with its words; a lost device.
    ///
    /// # Safety
    /// It is such an image, or a text that ends before its first zero: drivers believe what it says of its
    /// own size.
    pub unsafe fn load(&self, image: &[u8]) -> Result<Arc<dyn Program>> {
        lifecycle::check("loading a program")?;
        // SAFETY: the caller's promise.
        Ok(unsafe { self.0.hal.load(image) }?)
    }

    /// Bytes of its memory that nobody has, where its driver tells.
    pub fn free_memory(&self) -> Option<usize> {
        lifecycle::check("asking for free memory").ok()?;
        self.0.hal.free_memory()
    }

    fn made_once(&self, slot: &Mutex<Slot>, options: &QueueOptions) -> Result<Queue> {
        let mut slot = lock(slot);
        if let Some(queue) = slot.queue() {
            return Ok(queue);
        }
        let queue = self.create_queue(options)?;
        slot.set(&queue);
        Ok(queue)
    }

    /// Makes a queue.
    ///
    /// # Errors
    /// Options that the device doesn't offer; a lost device; shutdown or a forked process.
    pub fn create_queue(&self, options: &QueueOptions) -> Result<Queue> {
        lifecycle::check("creating a queue")?;
        interrupt_holds();
        let native = self.0.hal.create_queue(options);
        let native = native.inspect_err(|error| self.0.site.note_refusal(error))?;
        let core = Arc::new(QueueCore::new(self.clone(), native, self.0.driver, options));
        self.0.site.add_queue(&core);
        Ok(Queue::of(core))
    }

    /// The pool that allocations of this kind come from unless told otherwise: the same as
    /// [`Device::current_pool`].
    pub fn pool(&self, kind: MemoryKind) -> Pool {
        self.current_pool(kind)
    }

    /// Number of live allocations, of all pools that it has or had.
    pub fn live(&self) -> usize {
        let pools = self.0.site.pools();
        pools.iter().map(|pool| pool.statistics().live).sum()
    }

    #[inline]
    pub(crate) fn default_pool_core(&self, kind: MemoryKind) -> &Arc<PoolCore> {
        &self.0.pools[kind as usize]
    }

    #[inline]
    pub(crate) fn current_pools(&self) -> &Current {
        &self.0.current
    }

    #[inline]
    pub(crate) fn site(&self) -> &Arc<Site> {
        &self.0.site
    }

    /// The pool that stands for a kind just now, in this thread, if that is the default one.
    #[inline]
    pub(crate) fn default_pool_if_current(&self, kind: MemoryKind) -> Option<&Arc<PoolCore>> {
        let default = self.default_pool_core(kind);
        self.0.current.get(default).is_none().then_some(default)
    }

    /// Allocates from the pool that stands for a kind just now, in this thread.
    #[inline]
    pub(crate) fn allocate(
        &self,
        queue: &Arc<QueueCore>,
        kind: MemoryKind,
        bytes: usize,
    ) -> Result<Allocation> {
        let default = self.default_pool_core(kind);
        match self.0.current.get(default) {
            None => default.allocate(queue, bytes),
            Some(pool) => pool.allocate(queue, bytes),
        }
    }

    /// The driver's default pool of a kind, which `make` makes if nobody asked for it before.
    pub(crate) fn pool_of_driver(
        &self,
        kind: MemoryKind,
        make: impl FnOnce() -> Result<PoolCore>,
    ) -> Result<Arc<PoolCore>> {
        let mut pools = lock(&self.0.of_driver);
        let place = &mut pools[kind as usize];
        if let Some(pool) = place {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(make()?);
        *place = Some(Arc::clone(&pool));
        drop(pools);
        self.site().add_pool(&pool);
        Ok(pool)
    }

    pub(crate) fn hal(&self) -> &Arc<dyn hal::Device> {
        &self.0.hal
    }

    /// Who a pool of this device belongs to that isn't a default one.
    pub(crate) fn pool_identity(
        &self,
        kind: MemoryKind,
        arena: Option<Arc<dyn hal::Arena>>,
    ) -> Identity {
        Identity {
            supply: Supply {
                device: Arc::clone(&self.0.hal),
                arena,
            },
            device: self.name().to_owned(),
            kind,
            site: Arc::clone(&self.0.site),
            is_default: false,
            driven: None,
        }
    }

    /// Splits it into devices with cores of their own.
    ///
    /// # Errors
    /// Where the device can't be split, or not so.
    pub fn partition(&self, partition: &Partition) -> Result<Vec<Self>> {
        lifecycle::check("partitioning a device")?;
        let parts = self.0.hal.partition(partition)?;
        let part = |part| Self::of_driver(part, self.0.driver, false);
        Ok(parts.into_iter().map(part).collect())
    }

    /// Waits for everything submitted to every queue of the device, those without handles
    /// included.
    ///
    /// # Errors
    /// The first failure that hasn't surfaced yet. Of queues without handles 64 failures are kept
    /// until there is a wait; how many more there were is told behind the last of them.
    pub fn wait(&self) -> Result<()> {
        lifecycle::check("waiting")?;
        let queues: SmallVec<[Queue; 4]> = self.queues().into_iter().map(Queue::of).collect();
        for queue in &queues {
            queue.finish(None)?;
        }
        self.finish_dropped(None)?;
        // One failure is told at a time; the others wait for the next call.
        for queue in &queues {
            queue.check()?;
        }
        self.check_dropped()
    }

    /// Waits for what was submitted to queues whose last handle was dropped since, or until the
    /// deadline. Tells of no failure, so that a wait can be made in slices.
    ///
    /// # Errors
    /// [`Error::TimedOut`](crate::Error::TimedOut).
    pub fn finish_dropped(&self, deadline: Option<Instant>) -> Result<()> {
        lifecycle::check("waiting")?;
        self.0.site.gone.finish(deadline)
    }

    /// Whether something failed on a queue that was dropped, and no wait has told it.
    ///
    /// # Errors
    /// The first such failure, which then counts as told (rule O7).
    pub fn check_dropped(&self) -> Result<()> {
        self.0.site.gone.check()
    }

    /// Whether a wait would return at once and have nothing to tell, on every queue. Never after
    /// shutdown or in a forked process. To ask is not to wait: see [`Queue::is_settled`].
    pub fn is_settled(&self) -> bool {
        lifecycle::is_running() && (self.0.site.is_settled() || self.are_queues_settled())
    }

    /// Waits for every queue, if the wait would return at once and have nothing to tell; whether it
    /// did.
    #[inline]
    pub fn try_wait(&self) -> bool {
        lifecycle::is_running()
            && (self.0.site.is_settled()
                || (self.are_queues_settled() && self.open_queues().iter().all(Queue::try_wait)))
    }

    /// Asks every queue.
    #[cold]
    fn are_queues_settled(&self) -> bool {
        self.open_queues().iter().all(Queue::is_settled) && self.0.site.gone.is_settled()
    }

    /// Handles to the queues that are alive.
    pub fn open_queues(&self) -> Vec<Queue> {
        self.queues().into_iter().map(Queue::of).collect()
    }

    /// The queues that are alive.
    pub(crate) fn queues(&self) -> SmallVec<[Arc<QueueCore>; 4]> {
        self.0.site.queues()
    }

    /// Finishes all work and stops the device's threads; every later call on it fails.
    pub fn shutdown(&self) {
        for slot in [&self.0.default_queue, &self.0.host_queue] {
            drop(lock(slot).clear());
        }
        interrupt_holds();
        self.0.hal.shutdown();
        self.0.site.note_refusal(&hal::DeviceError::Lost {
            device: self.name().to_owned(),
            reason: "it was shut down".to_owned(),
        });
    }
}

/// A number for a driver: its devices' queues can follow each other.
pub(crate) fn new_driver() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}
