//! Pools of the driver's that several processes share.
//!
//! The owner's pool is behind a descriptor, by which another process has a pool that it can only
//! map allocations of the owner's from. The driver doesn't say whose a descriptor is, so that one of
//! another pool is told by the place of an allocation that isn't there.

use std::alloc::Layout;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use millpond_hal::arena::{Arena, ArenaId, HandleError, Place};
use millpond_hal::{Address, DeviceError, RawAllocation};
use millpond_types::MemoryKind;

use super::{Origin, Place as Where, Record};
use crate::api::{FILE_DESCRIPTOR, Pointer, PoolHandle};
use crate::card::{Card, CudaError, Current};
use crate::device::System;

/// A pool behind a descriptor, as its owner has it or as another process opened it.
pub(crate) struct PoolArena {
    card: Arc<Card>,
    system: Arc<System>,
    id: ArenaId,
    descriptor: OwnedFd,
    pool: PoolHandle,
    /// Whether it is another's, and so is destroyed here.
    opened: bool,
}

impl PoolArena {
    /// That of a pool which was made to be shared.
    pub(super) fn of(
        current: &Current<'_>,
        card: &Arc<Card>,
        system: &Arc<System>,
        pool: PoolHandle,
    ) -> Result<Self, CudaError> {
        let mut descriptor = -1;
        // SAFETY: the descriptor is written to a place of its type; 0 is the only value of the flags.
        let code = unsafe {
            current
                .api()
                .pool_export(&raw mut descriptor, pool, FILE_DESCRIPTOR, 0)
        };
        current.check("cuMemPoolExportToShareableHandle", code)?;
        Ok(Self {
            card: Arc::clone(card),
            system: Arc::clone(system),
            id: new_id(),
            // SAFETY: the driver has opened it for whoever asks.
            descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) },
            pool,
            opened: false,
        })
    }

    /// That of another process's pool.
    pub(crate) fn open(
        card: &Arc<Card>,
        system: &Arc<System>,
        id: ArenaId,
        descriptor: OwnedFd,
    ) -> Result<Self, DeviceError> {
        let mut pool = PoolHandle(0);
        let mut open = || {
            let current = card.enter()?;
            let number = descriptor.as_raw_fd() as usize;
            // SAFETY: the handle is written to a place of its type; the driver is given the number of a
            // descriptor that is open.
            let code = unsafe {
                current
                    .api()
                    .pool_import(&raw mut pool, number, FILE_DESCRIPTOR, 0)
            };
            current.check("cuMemPoolImportFromShareableHandle", code)
        };
        open().map_err(|error: CudaError| match card.gone() {
            Some(gone) => gone,
            None => HandleError::Descriptor {
                descriptor: descriptor.as_raw_fd(),
                reason: error.to_string(),
            }
            .into(),
        })?;
        Ok(Self {
            card: Arc::clone(card),
            system: Arc::clone(system),
            id,
            descriptor,
            pool,
            opened: true,
        })
    }

    fn unsupported<T>(&self, what: &str) -> Result<T, DeviceError> {
        Err(DeviceError::Unsupported {
            device: self.card.label().to_owned(),
            what: what.to_owned(),
        })
    }
}

/// A number that no other arena of the machine has.
fn new_id() -> ArenaId {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let count = NEXT.fetch_add(1, Ordering::Relaxed) as u32;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos() as u64);
    let mut id = [0; 16];
    id[..8].copy_from_slice(&now.to_ne_bytes());
    id[8..12].copy_from_slice(&std::process::id().to_ne_bytes());
    id[12..].copy_from_slice(&count.to_ne_bytes());
    ArenaId(id)
}

impl Arena for PoolArena {
    fn id(&self) -> ArenaId {
        self.id
    }

    fn kind(&self) -> MemoryKind {
        MemoryKind::Device
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    fn allocate(&self, layout: Layout) -> Result<RawAllocation, DeviceError> {
        let bytes = layout.size();
        self.unsupported(&format!("{bytes} bytes of a shared pool without a queue"))
    }

    fn place(&self, first: Address) -> Result<Place, DeviceError> {
        let mut place = [0; 64];
        let mut export = || {
            let current = self.card.enter()?;
            // SAFETY: what is written is as long.
            let code = unsafe {
                current
                    .api()
                    .pool_export_pointer(&raw mut place, first.get() as Pointer)
            };
            current.check("cuMemPoolExportPointer", code)
        };
        export().map_err(|error| self.card.refusal("place", &error))?;
        Ok(Place(place))
    }

    fn map(&self, place: &Place, bytes: usize) -> Result<RawAllocation, DeviceError> {
        if !self.opened {
            return self.unsupported("mapping memory of its own pool");
        }
        let mut base = 0;
        let mut import = || {
            let current = self.card.enter()?;
            // SAFETY: the address is written to a place of its type; a place is as long as the driver's.
            let code = unsafe {
                current
                    .api()
                    .pool_import_pointer(&raw mut base, self.pool, &raw const place.0)
            };
            current.check("cuMemPoolImportPointer", code)
        };
        import().map_err(|error: CudaError| {
            self.card.gone().unwrap_or_else(|| DeviceError::Invalid {
                call: "map",
                reason: format!("{place:?}: {error}"),
            })
        })?;
        let record = Record {
            bytes,
            place: Where::Device(self.card.ordinal),
            base,
            origin: Origin::Plain,
        };
        self.system.places.insert(base, record);
        let layout = Layout::from_size_align(bytes, 1);
        Ok(RawAllocation {
            address: Address::new(base as usize),
            layout: layout.unwrap_or(Layout::new::<()>()),
            kind: MemoryKind::Device,
            zeroed: false,
        })
    }

    unsafe fn release(&self, allocation: RawAllocation) {
        // SAFETY: the caller's promise; an allocation that was mapped is given up like a plain one.
        unsafe { super::release(&self.card, &self.system, &allocation) };
    }
}

impl Drop for PoolArena {
    fn drop(&mut self) {
        if self.opened
            && let Ok(current) = self.card.enter_lost()
        {
            // SAFETY: opened by `open`, and nobody else has it.
            let code = unsafe { current.api().pool_destroy(self.pool) };
            let _ = current.check("cuMemPoolDestroy", code);
        }
    }
}

impl std::fmt::Debug for PoolArena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoolArena")
            .field("pool", &self.pool)
            .field("opened", &self.opened)
            .finish_non_exhaustive()
    }
}
