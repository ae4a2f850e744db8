//! The driver's own pools of device memory.
//!
//! A pool is what `cuMemPoolCreate` makes, open to every device that can reach it. Memory comes and
//! goes in the order of a stream, as `queue/early.rs` and `queue/issue.rs` ask for; here is what is
//! asked of the pool itself. The driver looks at its threshold only where somebody waits by its
//! functions, which nobody does here: whoever wants memory back trims.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use millpond_hal::{
    Arena, DeviceError, DriverPool, DriverPoolOptions, DriverPoolState, DriverReuse,
};
use millpond_types::MemoryKind;

use super::pool_arena::PoolArena;
use crate::api::{
    AccessDescription, Code, FILE_DESCRIPTOR, PoolHandle, PoolProperties, StreamHandle, attribute,
    pool,
};
use crate::card::{Card, CudaError, Current};
use crate::device::System;

/// The kinds of memory of which the driver has pools here.
pub(crate) const KINDS: [MemoryKind; 1] = [MemoryKind::Device];

/// What the driver's pools hand out is a multiple of this many bytes.
const GRANULE: usize = 512;

/// How often the driver is asked whether a stream is idle.
const LOOKS: usize = 64;

/// The first version of the driver whose pools have a maximum.
const WITH_MAXIMUM: i32 = 12_020;

/// On which streams memory of pools was freed since the driver was made to look at them.
#[derive(Debug, Default)]
pub(crate) struct Frees(Mutex<HashMap<PoolHandle, BTreeSet<StreamHandle>>>);

impl Frees {
    /// Notes a free.
    pub(crate) fn note(&self, pool: PoolHandle, stream: StreamHandle) {
        let mut frees = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frees.entry(pool).or_default().insert(stream);
    }

    fn take(&self, pool: PoolHandle) -> BTreeSet<StreamHandle> {
        let mut frees = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frees.remove(&pool).unwrap_or_default()
    }
}

/// A pool of the driver's.
pub(crate) struct CudaPool {
    card: Arc<Card>,
    system: Arc<System>,
    handle: PoolHandle,
    /// Whether it was made here, rather than being there for the process.
    owned: bool,
    arena: Option<Arc<PoolArena>>,
}

impl CudaPool {
    /// Makes a pool.
    pub(crate) fn create(
        card: &Arc<Card>,
        system: &Arc<System>,
        options: &DriverPoolOptions,
    ) -> Result<Self, DeviceError> {
        if options.shareable {
            let types = card.ask(attribute::POOL_HANDLE_TYPES).unwrap_or(0);
            if types & FILE_DESCRIPTOR == 0 {
                return Err(DeviceError::Unsupported {
                    device: card.label().to_owned(),
                    what: "sharing memory of a pool of the driver's".to_owned(),
                });
            }
        }
        let refused = |error: CudaError| card.refusal("create_driver_pool", &error);
        let current = card.enter().map_err(refused)?;
        let api = current.api();
        let mut version = 0;
        // SAFETY: the number is written to a place of its type.
        let code = unsafe { api.driver_version(&raw mut version) };
        current.check("cuDriverGetVersion", code).map_err(refused)?;
        let maximum = options.maximum_size.filter(|_| version >= WITH_MAXIMUM);
        let types = if options.shareable {
            FILE_DESCRIPTOR
        } else {
            0
        };
        let properties = PoolProperties::device(card.ordinal, maximum.unwrap_or(0), types);
        let mut handle = PoolHandle(0);
        // SAFETY: the handle is written to a place of its type; the properties are whole.
        let code = unsafe { api.pool_create(&raw mut handle, &raw const properties) };
        current.check("cuMemPoolCreate", code).map_err(refused)?;
        // From here on its end destroys it.
        let mut made = Self {
            card: Arc::clone(card),
            system: Arc::clone(system),
            handle,
            owned: true,
            arena: None,
        };
        made.let_in(&current, system).map_err(refused)?;
        made.set_reuse(options.reuse)?;
        made.set_release_threshold(options.release_threshold)?;
        if options.shareable {
            let arena = PoolArena::of(&current, card, system, handle).map_err(refused)?;
            made.arena = Some(Arc::new(arena));
        }
        Ok(made)
    }

    /// The pool that is there for the whole process.
    pub(crate) fn of_process(card: &Arc<Card>, system: &Arc<System>) -> Result<Self, DeviceError> {
        let refused = |error: CudaError| card.refusal("default_driver_pool", &error);
        let current = card.enter().map_err(refused)?;
        let mut handle = PoolHandle(0);
        // SAFETY: the handle is written to a place of its type.
        let code = unsafe { current.api().pool_default(&raw mut handle, card.ordinal) };
        current
            .check("cuDeviceGetDefaultMemPool", code)
            .map_err(refused)?;
        Ok(Self {
            card: Arc::clone(card),
            system: Arc::clone(system),
            handle,
            owned: false,
            arena: None,
        })
    }

    /// Lets the other devices use its memory that can reach it.
    fn let_in(&self, current: &Current<'_>, system: &System) -> Result<(), CudaError> {
        let others = system.cards.iter();
        let others =
            others.filter(|other| other.ordinal != self.card.ordinal && other.reaches(&self.card));
        let who: Vec<_> = others
            .map(|other| AccessDescription::both(other.ordinal))
            .collect();
        if who.is_empty() {
            return Ok(());
        }
        // SAFETY: the pool lives, and the descriptions are as many.
        let code = unsafe {
            current
                .api()
                .pool_set_access(self.handle, who.as_ptr(), who.len())
        };
        current.check("cuMemPoolSetAccess", code)
    }

    /// Has the driver see which frees are over: it gives back only what it has seen, and sees it where
    /// somebody waits by its functions. For a stream that is idle such a wait is none.
    fn observe(&self, current: &Current<'_>) -> Result<(), CudaError> {
        let api = current.api();
        for stream in self.system.frees.take(self.handle) {
            // SAFETY: the stream is a lane's; it ends with the device's station only.
            let query = || unsafe { api.stream_query(stream) };
            // What a lane has told of by its counter the driver knows a moment later.
            let mut looks = (0..LOOKS).map(|_| query());
            let Some(code) = looks.find(|code| *code != Code::NOT_READY) else {
                self.system.frees.note(self.handle, stream);
                continue;
            };
            current.check("cuStreamQuery", code)?;
            // SAFETY: as above.
            let code = unsafe { api.stream_synchronize(stream) };
            current.check("cuStreamSynchronize", code)?;
        }
        Ok(())
    }

    /// Calls the driver about the pool.
    fn call(
        &self,
        call: &'static str,
        body: impl FnOnce(&Current<'_>) -> Result<(), CudaError>,
    ) -> Result<(), DeviceError> {
        let made = self.card.enter().and_then(|current| body(&current));
        made.map_err(|error| self.card.refusal(call, &error))
    }

    /// Changes an attribute: a number of 64 bits, or of 32 which are its lower half.
    fn set(&self, current: &Current<'_>, attribute: i32, value: u64) -> Result<(), CudaError> {
        let mut value = value;
        // SAFETY: the pool lives; the place is as long as any attribute, and machines of CUDA begin
        // numbers with their lower half.
        let code = unsafe {
            current
                .api()
                .pool_set_attribute(self.handle, attribute, (&raw mut value).cast())
        };
        current.check("cuMemPoolSetAttribute", code)
    }

    fn read(&self, current: &Current<'_>, attribute: i32) -> Result<usize, CudaError> {
        let mut value = 0_u64;
        // SAFETY: the pool lives; what is asked for is a number of 64 bits.
        let code = unsafe {
            current
                .api()
                .pool_attribute(self.handle, attribute, (&raw mut value).cast())
        };
        current.check("cuMemPoolGetAttribute", code)?;
        Ok(value as usize)
    }
}

impl DriverPool for CudaPool {
    fn kind(&self) -> MemoryKind {
        MemoryKind::Device
    }

    fn handle(&self) -> usize {
        self.handle.0
    }

    fn granule(&self) -> usize {
        GRANULE
    }

    fn state(&self) -> Result<DriverPoolState, DeviceError> {
        let mut state = DriverPoolState::default();
        self.call("state", |current| {
            state = DriverPoolState {
                reserved: self.read(current, pool::RESERVED)?,
                reserved_high: self.read(current, pool::RESERVED_HIGH)?,
                used: self.read(current, pool::USED)?,
                used_high: self.read(current, pool::USED_HIGH)?,
            };
            Ok(())
        })?;
        Ok(state)
    }

    fn reset_reserved_high(&self) -> Result<(), DeviceError> {
        self.call("reset_reserved_high", |current| {
            self.set(current, pool::RESERVED_HIGH, 0)
        })
    }

    fn reset_used_high(&self) -> Result<(), DeviceError> {
        self.call("reset_used_high", |current| {
            self.set(current, pool::USED_HIGH, 0)
        })
    }

    fn set_release_threshold(&self, bytes: Option<usize>) -> Result<(), DeviceError> {
        let bytes = bytes.map_or(u64::MAX, |bytes| bytes as u64);
        self.call("set_release_threshold", |current| {
            self.set(current, pool::RELEASE_THRESHOLD, bytes)
        })
    }

    fn set_reuse(&self, reuse: DriverReuse) -> Result<(), DeviceError> {
        self.call("set_reuse", |current| {
            let switches = [
                (pool::FOLLOW_EVENTS, reuse.follow_events),
                (pool::OPPORTUNISTIC, reuse.opportunistic),
                (pool::INTERNAL_DEPENDENCIES, reuse.internal_dependencies),
            ];
            let mut switches = switches.into_iter();
            switches.try_for_each(|(attribute, on)| self.set(current, attribute, u64::from(on)))
        })
    }

    fn trim(&self, keep: usize) -> Result<(), DeviceError> {
        self.call("trim", |current| {
            self.observe(current)?;
            // SAFETY: the pool lives.
            let code = unsafe { current.api().pool_trim(self.handle, keep) };
            current.check("cuMemPoolTrimTo", code)
        })
    }

    fn arena(&self) -> Option<Arc<dyn Arena>> {
        let arena = self.arena.as_ref()?;
        Some(Arc::clone(arena) as Arc<dyn Arena>)
    }
}

impl Drop for CudaPool {
    fn drop(&mut self) {
        self.system.frees.take(self.handle);
        if self.owned
            && let Ok(current) = self.card.enter_lost()
        {
            // SAFETY: made by `create`, and nobody else has it; the driver keeps what it needs of it
            // until the last allocation has gone.
            let code = unsafe { current.api().pool_destroy(self.handle) };
            let _ = current.check("cuMemPoolDestroy", code);
        }
    }
}

impl fmt::Debug for CudaPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaPool")
            .field("device", &self.card.label())
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}
