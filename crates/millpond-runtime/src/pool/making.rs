//! Making pools, and which one a device uses.

use std::alloc::Layout;
use std::ops::Range;
use std::sync::Arc;

use millpond_hal::RawAllocation;
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::Allocation;
use crate::pool::class;
use crate::pool::core::{Identity, PoolCore, usable};
use crate::pool::driven::{Driven, driver_options};
use crate::pool::handle::Pool;
use crate::pool::options::{PoolOptions, SEGMENT};
use crate::pool::pressure::{Pressure, Reclaimer};
use crate::queue::fit::check_range;

impl Device {
    /// Makes a pool.
    ///
    /// # Errors
    /// [`Error::Invalid`] for options that contradict each other, or that the device doesn't offer;
    /// [`Error::Device`] if memory of the kind can't be shared, or the driver has no pool for it, where
    /// that is asked for.
    pub fn create_pool(&self, kind: MemoryKind, options: PoolOptions) -> Result<Pool> {
        lifecycle::check("creating a pool")?;
        check_options(&options)?;
        let (mut arena, mut driven) = (None, None);
        if options.native {
            let made = self
                .hal()
                .create_driver_pool(kind, &driver_options(&options))?;
            arena = made.arena();
            driven = Some(Driven::new(made));
        } else if options.shareable {
            arena = Some(self.hal().create_arena(kind)?);
        }
        let identity = Identity {
            driven,
            ..self.pool_identity(kind, arena)
        };
        let core = PoolCore::new(identity, options, None);
        Ok(Pool::new(core, self.clone()))
    }

    /// The pool that the device's driver has for a kind itself, always the same one: other libraries
    /// of the process may use it too, and what it has reserved is theirs as well. It can't be closed;
    /// what was set of it by others stays until it is set here.
    ///
    /// # Errors
    /// [`Error::Device`] where the driver has none.
    pub fn driver_pool(&self, kind: MemoryKind) -> Result<Pool> {
        lifecycle::check("asking for the driver's pool")?;
        let core = self.pool_of_driver(kind, || {
            let pool = self.hal().default_driver_pool(kind)?;
            let options = PoolOptions {
                name: Some(format!("driver's pool of {kind} memory on {}", self.name())),
                native: true,
                ..PoolOptions::default()
            };
            let identity = Identity {
                driven: Some(Driven::new(pool)),
                ..self.pool_identity(kind, None)
            };
            Ok(PoolCore::new(identity, options, None))
        })?;
        Ok(Pool::default_of(core, self.clone()))
    }

    /// Makes a pool of a part of memory that is there already. The pool holds the memory, never
    /// grows and gives nothing back before it ends; nobody else should use that part meanwhile.
    /// What was submitted on it before comes first, and what is submitted on it once the pool and its
    /// allocations are gone comes behind their uses.
    ///
    /// While the memory is shared with the host so are the pool's allocations: see
    /// [`Allocation::share_with_host`]. To share it is not to wait for commands on them that were
    /// submitted before, which the memory's own record doesn't know of.
    ///
    /// # Errors
    /// [`Error::Bounds`]; [`Error::DeviceMismatch`]; [`Error::Revoked`] for memory that a graph took
    /// back; [`Error::Invalid`] for a part without a whole
    /// granule of 256 bytes, to be shared with other processes, or with a maximum size or threshold,
    /// which the part's size is.
    pub fn create_pool_over(
        &self,
        memory: &Allocation,
        part: Range<usize>,
        options: PoolOptions,
    ) -> Result<Pool> {
        lifecycle::check("creating a pool")?;
        check_options(&options)?;
        check_range("pool over memory", memory.bytes(), part.start, part.len())?;
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
        if options.native {
            return Err(invalid(
                "it can't be the driver's, as the memory is there already".to_owned(),
            ));
        }
        if options.shareable {
            return Err(invalid(
                "it can't be shared with other processes, as the memory is there already"
                    .to_owned(),
            ));
        }
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
        let unfinished = home.with_line(|_| {
            memory.block().check_valid()?;
            memory.count_pool(true);
            Ok::<_, Error>(memory.block().tracking.unfinished(home.native()))
        })?;
        let options = PoolOptions {
            maximum_size: Some(bytes),
            release_threshold: Some(bytes),
            ..options
        };
        let kind = memory.kind();
        let core = PoolCore::new(
            self.pool_identity(kind, None),
            options,
            Some(memory.clone()),
        );
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

    /// Registers a reclaimer: a callback that is asked to give memory up when it becomes short. It
    /// may free, allocate and wait. It is called until the answer is dropped. If it panics so does the
    /// request, which then counts for no tag.
    ///
    /// ```
    /// # use std::sync::Mutex;
    /// # use std::sync::Arc;
    /// # use millpond_hal::{Driver, null::NullDriver};
    /// # use millpond_runtime::{Device, MemoryKind, PoolOptions};
    /// # let device = Device::open(NullDriver::default().devices()?.remove(0));
    /// # let queue = device.default_queue()?;
    /// let options = PoolOptions { maximum_size: Some(1 << 20), ..PoolOptions::default() };
    /// let pool = device.create_pool(MemoryKind::Device, options)?;
    /// let cache = Arc::new(Mutex::new(vec![queue.allocate_from(&pool, 1 << 20)?]));
    /// let held = Arc::clone(&cache);
    /// let _reclaimer = device.add_reclaimer(move |_| held.lock().unwrap().clear());
    /// queue.allocate_from(&pool, 1 << 20)?;
    /// assert!(cache.lock().unwrap().is_empty());
    /// # Ok::<(), millpond_runtime::Error>(())
    /// ```
    pub fn add_reclaimer(&self, callback: impl Fn(&Pressure) + Send + Sync + 'static) -> Reclaimer {
        self.site().reclaimers.add(Arc::new(callback))
    }

    /// The default pool of a kind: always the same one, which can't be closed.
    pub fn default_pool(&self, kind: MemoryKind) -> Pool {
        Pool::default_of(Arc::clone(self.default_pool_core(kind)), self.clone())
    }

    /// The pool that this thread's allocations come from that name none: that of its innermost
    /// [`Scope`](crate::pool::Scope), else the one that was set, else the default pool. Pools that
    /// were closed don't count.
    pub fn current_pool(&self, kind: MemoryKind) -> Pool {
        let chosen = self.current_pools().find(self.default_pool_core(kind));
        chosen.map_or_else(|| self.default_pool(kind), |pool| pool.of(self.clone()))
    }

    /// Sets the current pool of the pool's kind.
    ///
    /// # Errors
    /// [`Error::DeviceMismatch`]; [`Error::PoolClosed`]; shutdown or a forked process.
    pub fn set_current_pool(&self, pool: &Pool) -> Result<()> {
        lifecycle::check("setting the current pool")?;
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
        let default = self.default_pool_core(pool.kind());
        let handle = (!Arc::ptr_eq(pool.core(), default)).then(|| pool.held());
        self.current_pools().set(pool.kind(), handle);
        Ok(())
    }
}

fn check_options(options: &PoolOptions) -> Result<()> {
    let invalid = |reason: String| Error::Invalid {
        what: "creating a pool",
        reason,
    };
    if options.native {
        let unknown = [
            (options.idle_release.is_some(), "idle_release"),
            (options.max_poolable.is_some(), "max_poolable"),
            (options.min_driver_alloc != SEGMENT, "min_driver_alloc"),
        ];
        if let Some((_, name)) = unknown.iter().find(|(is_set, _)| *is_set) {
            return Err(invalid(format!(
                "a pool of the driver's has no `{name}`: it decides by itself"
            )));
        }
    }
    if options
        .maximum_size
        .is_some_and(|size| size < class::GRANULE)
    {
        return Err(invalid(format!(
            "a maximum size of {} bytes holds no allocation; the smallest takes {} bytes",
            options.maximum_size.unwrap_or_default(),
            class::GRANULE
        )));
    }
    Ok(())
}
