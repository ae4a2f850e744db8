//! What a process has of others: arenas that it opened, and the segments that it mapped of them.
//!
//! A device knows which it has, so that the blocks of one segment share one mapping, and the
//! segments of one arena one descriptor. Neither is kept without a user.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, Weak};

use millpond_hal as hal;
use millpond_hal::{Arena, ArenaId, HandleError, Place, RawAllocation};
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::{Allocation, Release};
use crate::queue::Queue;
use crate::sharing::{MemoryHandle, PoolHandle};
use crate::sync::{Mutex, lock};

/// The arenas that a device has opened and that somebody uses.
#[derive(Default)]
pub(crate) struct Imports(Mutex<HashMap<(ArenaId, MemoryKind), Weak<Opened>>>);

/// An arena of another process.
struct Opened {
    arena: Arc<dyn Arena>,
    /// By place and length.
    mappings: Mutex<HashMap<(Place, u64), Weak<Mapping>>>,
}

/// A segment of another process, which is given up with its last user.
struct Mapping {
    opened: Arc<Opened>,
    raw: Option<RawAllocation>,
}

impl Imports {
    /// The arena that a descriptor is of.
    fn open(
        &self,
        device: &Arc<dyn hal::Device>,
        handle: &PoolHandle,
        descriptor: BorrowedFd<'_>,
    ) -> Result<Arc<Opened>> {
        handle.check_backend(device.info().backend)?;
        let own = descriptor.try_clone_to_owned();
        let own = own.map_err(|error| HandleError::Descriptor {
            descriptor: descriptor.as_raw_fd(),
            reason: error.to_string(),
        })?;
        // Opened each time, since that checks the descriptor.
        let arena = device.open_arena(handle.kind, handle.arena, own)?;
        let mut known = lock(&self.0);
        let key = (handle.arena, handle.kind);
        if let Some(opened) = known.get(&key).and_then(Weak::upgrade) {
            return Ok(opened);
        }
        known.retain(|_, opened| opened.strong_count() > 0);
        let opened = Arc::new(Opened {
            arena,
            mappings: Mutex::default(),
        });
        known.insert(key, Arc::downgrade(&opened));
        Ok(opened)
    }
}

impl Opened {
    /// The mapping of the segment that a handle is about, made if there is none.
    fn mapping(self: &Arc<Self>, handle: &MemoryHandle) -> Result<Arc<Mapping>> {
        let key = (handle.place, handle.segment);
        let mut mappings = lock(&self.mappings);
        if let Some(mapping) = mappings.get(&key).and_then(Weak::upgrade) {
            return Ok(mapping);
        }
        mappings.retain(|_, mapping| mapping.strong_count() > 0);
        let mapping = Arc::new(Mapping {
            opened: Arc::clone(self),
            raw: Some(self.arena.map(&handle.place, handle.segment as usize)?),
        });
        mappings.insert(key, Arc::downgrade(&mapping));
        Ok(mapping)
    }

    /// The memory that a handle is about.
    ///
    /// # Safety
    /// As for [`Queue::import_memory`].
    unsafe fn import(self: &Arc<Self>, queue: &Queue, handle: &MemoryHandle) -> Result<Allocation> {
        let mapping = self.mapping(handle)?;
        let raw = mapping.raw.as_ref().expect("taken by the destructor only");
        let address = raw.address.offset(handle.begin as usize);
        let release = Release::anywhere(move || drop(mapping));
        // SAFETY: a handle is to bytes within the segment, of whose length the mapping is, which stays
        // until the release is called. Fresh pages of a file hold zeros, so all bytes are
        // initialised. The caller promises that nobody uses them meanwhile who isn't ordered.
        unsafe { queue.import(handle.kind(), address, handle.bytes(), release) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take()
            && lifecycle::is_running()
        {
            // SAFETY: it was mapped from this arena and is given back once. Its users are
            // allocations, which let go of it after their last use.
            unsafe { self.opened.arena.release(raw) };
        }
    }
}

/// A pool of another process. It can't be allocated from; memory that the owner allocated there
/// and exported can be opened by its handle alone. `Send`, `Sync`.
#[derive(Clone)]
pub struct ImportedPool {
    opened: Arc<Opened>,
    handle: PoolHandle,
    device: Device,
}

impl ImportedPool {
    /// The kind of memory.
    pub fn kind(&self) -> MemoryKind {
        self.handle.kind
    }

    /// The device that reaches the memory here.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Opens memory of the pool, for a queue.
    ///
    /// # Errors
    /// [`Error::Handle`] for a handle to memory of another pool, or to bytes that aren't there;
    /// [`Error::DeviceMismatch`]; a closed queue.
    ///
    /// # Safety
    /// As for [`Queue::import_memory`].
    pub unsafe fn import_memory(&self, queue: &Queue, handle: &MemoryHandle) -> Result<Allocation> {
        lifecycle::check(IMPORTING)?;
        if *queue.device() != self.device {
            return Err(Error::DeviceMismatch {
                operation: IMPORTING.to_owned(),
                operand: 0,
                found: self.device.name().to_owned(),
                expected: queue.device().name().to_owned(),
            });
        }
        if handle.pool != self.handle {
            return Err(HandleError::Object {
                expected: "memory of the imported pool",
                found: "memory of another pool".to_owned(),
            }
            .into());
        }
        // SAFETY: the caller's promise.
        unsafe { self.opened.import(queue, handle) }
    }
}

impl fmt::Debug for ImportedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImportedPool")
            .field("handle", &self.handle)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Imports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Imports")
    }
}

const IMPORTING: &str = "importing memory";

impl Device {
    /// Opens a pool of another process, by its handle and descriptor. The descriptor isn't needed
    /// any longer afterwards.
    ///
    /// # Errors
    /// [`Error::Handle`] if handle and descriptor don't belong together, or are of another backend;
    /// [`Error::Device`] where the device has no such memory.
    pub fn import_pool(
        &self,
        handle: &PoolHandle,
        descriptor: BorrowedFd<'_>,
    ) -> Result<ImportedPool> {
        lifecycle::check("importing a pool")?;
        Ok(ImportedPool {
            opened: self.site().imports.open(self.hal(), handle, descriptor)?,
            handle: *handle,
            device: self.clone(),
        })
    }
}

impl Queue {
    /// Opens memory of another process, by its handle and the descriptor of its pool. The
    /// descriptor isn't needed any longer afterwards.
    ///
    /// The answer is an allocation like any other, which counts as shared with the host: see
    /// [`Allocation::share_with_host`]. It stays valid whatever becomes of the other process.
    ///
    /// # Errors
    /// [`Error::Handle`] if handle and descriptor don't belong together, are of another backend, or
    /// of bytes that aren't there; [`Error::Device`] where the device has no such memory; a closed
    /// queue.
    ///
    /// # Safety
    /// Until the last use of the memory here, no other process touches bytes that are being
    /// written: the processes take turns, by messages or by what else they have.
    pub unsafe fn import_memory(
        &self,
        handle: &MemoryHandle,
        descriptor: BorrowedFd<'_>,
    ) -> Result<Allocation> {
        lifecycle::check(IMPORTING)?;
        let device = self.device();
        let imports = &device.site().imports;
        let opened = imports.open(device.hal(), &handle.pool, descriptor)?;
        // SAFETY: the caller's promise.
        unsafe { opened.import(self, handle) }
    }
}
