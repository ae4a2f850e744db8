//! Memory of the host that other processes can be given: a file in memory, behind one descriptor.
//!
//! Allocations lie one after the other in the file and are mapped where they are used, at the same
//! bytes in every process. The file only grows, by what was never used before, so the place of an
//! allocation never comes to mean another; what is released leaves a hole, which costs nothing.
//!
//! The file is sealed against becoming shorter, which is looked at when it is opened: so no process
//! can take pages from under another's feet. A place is checked against the length of the file.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use millpond_hal::arena::{Arena, ArenaId, HandleError, Place};
use millpond_hal::{Address, DeviceError, RawAllocation};
use millpond_types::MemoryKind;
use rustix::fs::{self, FallocateFlags, MemfdFlags, OFlags, SealFlags};
use rustix::io::{Errno, FdFlags};

use crate::memory::{self, Memory};

/// What `ps` and `/proc` call the files.
const FILE: &str = "millpond";

/// Kinds that can be shared. Device memory keeps its rule here as well: it is the process's own.
pub(crate) const KINDS: [MemoryKind; 2] = [MemoryKind::Shared, MemoryKind::Host];

/// A file of memory, by its owner or by a process that opened it.
#[derive(Debug)]
pub(crate) struct CpuArena {
    device: String,
    kind: MemoryKind,
    memory: Memory,
    file: OwnedFd,
    id: ArenaId,
    /// What the owner has allocated.
    owned: Option<Mutex<Owned>>,
}

/// The owner's side.
#[derive(Debug, Default)]
struct Owned {
    /// Where the file ends.
    end: u64,
    /// Where live allocations lie in the file, by their first address.
    begins: BTreeMap<usize, u64>,
}

impl CpuArena {
    /// An empty arena.
    pub(crate) fn create(
        device: &str,
        kind: MemoryKind,
        memory: Memory,
    ) -> Result<Self, DeviceError> {
        let refused = |errno: Errno| DeviceError::OutOfMemory {
            device: device.to_owned(),
            kind,
            bytes: 0,
            reason: format!("no file in memory: {errno}"),
        };
        let usual = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = match fs::memfd_create(FILE, usual | MemfdFlags::NOEXEC_SEAL) {
            // Kernels before 6.3 don't know the flag.
            Err(Errno::INVAL) => fs::memfd_create(FILE, usual),
            answer => answer,
        };
        let file = file.map_err(refused)?;
        fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::SEAL).map_err(refused)?;
        let (id, _) = look_at(&file).map_err(refused)?;
        Ok(Self {
            device: device.to_owned(),
            kind,
            memory,
            file,
            id,
            owned: Some(Mutex::default()),
        })
    }

    /// The arena that a descriptor is of, if it is this one.
    pub(crate) fn open(
        device: &str,
        kind: MemoryKind,
        memory: Memory,
        id: ArenaId,
        file: OwnedFd,
    ) -> Result<Self, DeviceError> {
        let descriptor = file.as_raw_fd();
        let no_arena = |reason: &str| HandleError::Descriptor {
            descriptor,
            reason: reason.to_owned(),
        };
        let seals =
            fs::fcntl_get_seals(&file).map_err(|_| no_arena("it isn't a file in memory"))?;
        if !seals.contains(SealFlags::SHRINK) {
            return Err(no_arena("the file isn't sealed against becoming shorter").into());
        }
        let flags = fs::fcntl_getfl(&file).map_err(|errno| no_arena(&errno.to_string()))?;
        if flags & OFlags::RWMODE != OFlags::RDWR {
            return Err(no_arena("it isn't open for reading and writing").into());
        }
        let (found, _) = look_at(&file).map_err(|errno| no_arena(&errno.to_string()))?;
        if found != id {
            return Err(HandleError::OtherArena { descriptor }.into());
        }
        rustix::io::fcntl_setfd(&file, FdFlags::CLOEXEC)
            .map_err(|errno| no_arena(&errno.to_string()))?;
        Ok(Self {
            device: device.to_owned(),
            kind,
            memory,
            file,
            id,
            owned: None,
        })
    }

    fn owned(&self, call: &str) -> Result<std::sync::MutexGuard<'_, Owned>, DeviceError> {
        let owned = self.owned.as_ref().ok_or_else(|| self.unsupported(call))?;
        Ok(owned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn unsupported(&self, call: &str) -> DeviceError {
        DeviceError::Unsupported {
            device: self.device.clone(),
            what: format!("{call} shared memory"),
        }
    }
}

impl Arena for CpuArena {
    fn id(&self) -> ArenaId {
        self.id
    }

    fn kind(&self) -> MemoryKind {
        self.kind
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    fn allocate(&self, layout: Layout) -> Result<RawAllocation, DeviceError> {
        let mut owned = self.owned("allocating from another process's")?;
        let layout = self.memory.mapped_layout(&self.device, self.kind, layout)?;
        let begin = owned.end.next_multiple_of(memory::HUGE_PAGE as u64);
        let out_of_memory = |errno: Errno| DeviceError::OutOfMemory {
            device: self.device.clone(),
            kind: self.kind,
            bytes: layout.size(),
            reason: errno.to_string(),
        };
        let end = begin
            .checked_add(layout.size() as u64)
            .ok_or_else(|| out_of_memory(Errno::FBIG))?;
        fs::ftruncate(&self.file, end).map_err(out_of_memory)?;
        owned.end = end;
        let first = self
            .memory
            .map_file(self.file.as_fd(), begin, layout)
            .map_err(out_of_memory)?;
        owned.begins.insert(first.get(), begin);
        Ok(RawAllocation {
            address: first,
            layout,
            kind: self.kind,
            zeroed: true,
        })
    }

    fn place(&self, first: Address) -> Result<Place, DeviceError> {
        let owned = self.owned("naming a place in another process's")?;
        let begin = owned.begins.get(&first.get()).ok_or_else(|| {
            let reason = format!("no allocation of the arena begins at {first}");
            DeviceError::Invalid {
                call: "place",
                reason,
            }
        })?;
        let mut place = [0; 64];
        place[..8].copy_from_slice(&begin.to_le_bytes());
        Ok(Place(place))
    }

    fn map(&self, place: &Place, bytes: usize) -> Result<RawAllocation, DeviceError> {
        if self.owned.is_some() {
            return Err(self.unsupported("mapping this process's own"));
        }
        let layout = Layout::from_size_align(bytes, memory::ALIGNMENT).map_err(|error| {
            DeviceError::Invalid {
                call: "map",
                reason: error.to_string(),
            }
        })?;
        let layout = self.memory.mapped_layout(&self.device, self.kind, layout)?;
        let out_of_memory = |errno: Errno| DeviceError::OutOfMemory {
            device: self.device.clone(),
            kind: self.kind,
            bytes,
            reason: errno.to_string(),
        };
        let mut begin = [0; 8];
        begin.copy_from_slice(&place.0[..8]);
        let begin = u64::from_le_bytes(begin);
        let (_, size) = look_at(&self.file).map_err(out_of_memory)?;
        let fits = begin.checked_add(layout.size() as u64);
        let aligned = begin.is_multiple_of(memory::HUGE_PAGE as u64);
        if !aligned || fits.is_none_or(|end| end > size) {
            let bytes = bytes as u64;
            return Err(HandleError::Range { begin, bytes, size }.into());
        }
        let address = self
            .memory
            .map_file(self.file.as_fd(), begin, layout)
            .map_err(out_of_memory)?;
        Ok(RawAllocation {
            address,
            layout,
            kind: self.kind,
            zeroed: false,
        })
    }

    unsafe fn release(&self, allocation: RawAllocation) {
        if let Ok(mut owned) = self.owned("releasing")
            && let Some(begin) = owned.begins.remove(&allocation.address.get())
        {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let bytes = allocation.layout.size() as u64;
            let answer = fs::fallocate(&self.file, hole, begin, bytes);
            // Every file in memory can have holes; else its pages stay until the file is closed.
            debug_assert!(answer.is_ok(), "no hole of {bytes} bytes: {answer:?}");
        }
        // SAFETY: the caller's promise; arenas only ever map.
        unsafe { memory::unmap_whole(&allocation) };
    }
}

/// Which file it is, and how long.
fn look_at(file: &OwnedFd) -> Result<(ArenaId, u64), Errno> {
    let status = fs::fstat(file)?;
    let mut id = [0; 16];
    id[..8].copy_from_slice(&status.st_dev.to_le_bytes());
    id[8..].copy_from_slice(&status.st_ino.to_le_bytes());
    Ok((ArenaId(id), u64::try_from(status.st_size).unwrap_or(0)))
}
