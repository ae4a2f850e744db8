//! Physical memory that several processes have.
//!
//! A process hands out a ticket, some bytes that say where its file is found; another opens the file by
//! that, as the system lets it, and looks whether it is the one that was meant. While the ticket isn't put
//! back, the file is there.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{self, Mode, OFlags};

use crate::argument::{Answer, In, Out, Pointer};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, PhysicalMemFlags};
use crate::virtual_memory::physical::{Physical, host, is_sealed};

/// Where a file is found, and which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Ticket {
    magic: u64,
    process: u32,
    descriptor: i32,
    device: u64,
    file: u64,
    size: u64,
}

/// What tickets begin with.
const MAGIC: u64 = u64::from_be_bytes(*b"millpond");

/// The tickets that are out, by where their bytes are.
type Handed = BTreeMap<usize, (Box<Ticket>, OwnedFd)>;

fn tickets() -> MutexGuard<'static, Handed> {
    static TICKETS: Mutex<Handed> = Mutex::new(BTreeMap::new());
    TICKETS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ticket {
    /// What a ticket for a file of this process says.
    fn of(file: &OwnedFd) -> Answer<Self> {
        let found = fs::fstat(file).map_err(|_| Code::OUT_OF_RESOURCES)?;
        Ok(Self {
            magic: MAGIC,
            process: std::process::id(),
            descriptor: file.as_raw_fd(),
            device: found.st_dev,
            file: found.st_ino,
            size: found.st_size.cast_unsigned(),
        })
    }

    /// The file that is meant.
    fn open(&self) -> Answer<OwnedFd> {
        if self.magic != MAGIC {
            return Err(Code::INVALID_VALUE);
        }
        let path = format!("/proc/{}/fd/{}", self.process, self.descriptor);
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let file = fs::open(path, flags, Mode::empty()).map_err(|_| Code::INVALID_VALUE)?;
        let found = Self::of(&file)?;
        if !is_sealed(&file) {
            return Err(Code::INVALID_VALUE);
        }
        let is_meant =
            (found.device, found.file, found.size) == (self.device, self.file, self.size);
        if is_meant {
            Ok(file)
        } else {
            Err(Code::INVALID_VALUE)
        }
    }
}

entry! {
    fn urIPCGetPhysMemHandleExp(
        context: Handle<Context>,
        physical: Handle<Physical>,
        ticket: Out<Pointer>,
        size: Out<usize>,
    ) {
        context.get()?;
        let physical = physical.get()?;
        let (place, size) = (ticket.required()?, size.required()?);
        if !physical.is_shareable() {
            return Err(Code::INVALID_ARGUMENT);
        }
        let file = rustix::io::fcntl_dupfd_cloexec(physical.file().as_fd(), 0);
        let file = file.map_err(|_| Code::OUT_OF_RESOURCES)?;
        let ticket = Box::new(Ticket::of(&file)?);
        let address = (&raw const *ticket).expose_provenance();
        tickets().insert(address, (ticket, file));
        place.set(Pointer::to(address));
        size.set(size_of::<Ticket>());
        Ok(())
    }

    /// Puts a ticket back. Who has opened the memory keeps it.
    fn urIPCPutPhysMemHandleExp(context: Handle<Context>, ticket: Pointer) {
        context.get()?;
        let ticket = ticket.required()?;
        if broken(Rule::Ticket) && tickets().contains_key(&ticket) {
            return Ok(());
        }
        let removed = tickets().remove(&ticket);
        removed.map(drop).ok_or(Code::INVALID_VALUE)
    }

    fn urIPCOpenPhysMemHandleExp(
        context: Handle<Context>,
        device: Handle<Device>,
        ticket: In<Ticket>,
        size: usize,
        physical: Out<Handle<Physical>>,
    ) {
        let context = context.get()?;
        let device = host(&context, device)?;
        let place = physical.required()?;
        if ticket.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if size != size_of::<Ticket>() {
            return Err(Code::INVALID_VALUE);
        }
        let ticket = ticket.unaligned()?;
        let file = ticket.open()?;
        let flags = PhysicalMemFlags::ENABLE_IPC;
        let size = usize::try_from(ticket.size).map_err(|_| Code::INVALID_VALUE)?;
        place.set(Physical::of(context, device, size, flags, file)?.handle());
        Ok(())
    }

    fn urIPCClosePhysMemHandleExp(context: Handle<Context>, physical: Handle<Physical>) {
        context.get()?;
        physical.release().map(drop)
    }
}
