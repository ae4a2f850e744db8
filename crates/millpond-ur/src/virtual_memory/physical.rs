//! Physical memory: a file in memory, of which pages are mapped at addresses.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{self, MemfdFlags, SealFlags};
use rustix::io::Errno;

use crate::argument::{Answer, In, Out};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{Code, PhysicalMemFlags, PhysicalMemInfo, StructureType};
use crate::property::Property;
use crate::structures::PhysicalMemProperties;
use crate::virtual_memory::space::page;

/// What `ps` and `/proc` call the files.
const FILE: &str = "millpond-physical";

/// Physical memory.
#[derive(Debug)]
pub(crate) struct Physical {
    place: Place<Physical>,
    context: Arc<Context>,
    device: Arc<Device>,
    size: usize,
    flags: PhysicalMemFlags,
    file: OwnedFd,
}

kinds! { Physical: INVALID_MEM_OBJECT }

impl Physical {
    /// Memory that a file holds.
    pub(super) fn of(
        context: Arc<Context>,
        device: Arc<Device>,
        size: usize,
        flags: PhysicalMemFlags,
        file: OwnedFd,
    ) -> Answer<Arc<Self>> {
        create(|place| Self {
            place,
            context,
            device,
            size,
            flags,
            file,
        })
    }

    pub(super) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether other processes may be given it.
    pub(super) fn is_shareable(&self) -> bool {
        self.flags.has(PhysicalMemFlags::ENABLE_IPC)
    }
}

/// A file in memory. Its pages take room once they are written. It is sealed against becoming shorter,
/// so that no process can take pages from under another's feet.
fn file(size: usize) -> Answer<OwnedFd> {
    let make = || {
        let usual = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = match fs::memfd_create(FILE, usual | MemfdFlags::NOEXEC_SEAL) {
            // Kernels before 6.3 don't know the flag.
            Err(Errno::INVAL) => fs::memfd_create(FILE, usual),
            answer => answer,
        }?;
        fs::ftruncate(&file, size as u64)?;
        fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::SEAL)?;
        Ok(file)
    };
    make().map_err(|_: Errno| Code::OUT_OF_RESOURCES)
}

/// Whether a file can't become shorter.
pub(super) fn is_sealed(file: &OwnedFd) -> bool {
    fs::fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
}

/// A device whose memory is the host's.
pub(super) fn host(context: &Arc<Context>, device: Handle<Device>) -> Answer<Arc<Device>> {
    let device = context.device(device)?;
    if !device.is_host() {
        return Err(Code::UNSUPPORTED_FEATURE);
    }
    Ok(device)
}

entry! {
    fn urPhysicalMemCreate(
        context: Handle<Context>,
        device: Handle<Device>,
        size: usize,
        properties: In<PhysicalMemProperties>,
        physical: Out<Handle<Physical>>,
    ) {
        let context = context.get()?;
        let device = host(&context, device)?;
        let physical = physical.required()?;
        let flags = properties.value().map_or(Ok(PhysicalMemFlags::default()), |properties| {
            properties.flags.check()
        })?;
        let largest = device.runtime().info().max_allocation;
        if size == 0 || size > largest || !size.is_multiple_of(page()) {
            return Err(Code::INVALID_SIZE);
        }
        let made = Physical::of(context, device, size, flags, file(size)?)?;
        physical.set(made.handle());
        Ok(())
    }

    fn urPhysicalMemRetain(physical: Handle<Physical>) {
        physical.retain()
    }

    /// Gives a reference back. The memory goes when it is mapped nowhere any more.
    fn urPhysicalMemRelease(physical: Handle<Physical>) {
        physical.release().map(drop)
    }

    fn urPhysicalMemGetInfo(
        physical: Handle<Physical>,
        what: PhysicalMemInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let physical = physical.get()?;
        let property: Property = match what {
            PhysicalMemInfo::CONTEXT => physical.context.handle().into(),
            PhysicalMemInfo::DEVICE => physical.device.handle().into(),
            PhysicalMemInfo::SIZE => physical.size.into(),
            PhysicalMemInfo::PROPERTIES => properties(physical.flags),
            PhysicalMemInfo::REFERENCE_COUNT => physical.place.references().into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }
}

/// The structure that physical memory is made with: its type, the end of a chain, the flags.
fn properties(flags: PhysicalMemFlags) -> Property {
    let mut bytes = [0; size_of::<PhysicalMemProperties>()];
    let fields = [
        (0, StructureType::PHYSICAL_MEM_PROPERTIES.0),
        (std::mem::offset_of!(PhysicalMemProperties, flags), flags.0),
    ];
    for (at, value) in fields {
        bytes[at..][..4].copy_from_slice(&value.to_ne_bytes());
    }
    Property::of_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    use rustix::fs;

    use super::{file, is_sealed};

    #[test]
    fn memory_that_processes_share_does_not_become_shorter() {
        let file = file(8192).unwrap();
        assert!(is_sealed(&file));
        assert!(fs::ftruncate(&file, 4096).is_err());
        let other = fs::memfd_create("other", fs::MemfdFlags::CLOEXEC).unwrap();
        assert!(!is_sealed(&other));
    }
}
