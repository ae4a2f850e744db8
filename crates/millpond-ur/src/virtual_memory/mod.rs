//! Addresses that are reserved, and physical memory that is mapped there, on devices which are the host.
//!
//! Addresses are the process's: a reservation is a part of its address space that nobody may touch, and
//! mapping puts pages of a file in memory there. A program may take mappings away at any time; that
//! waits for what was enqueued in the context so far, as commands name addresses only.

mod entries;
mod ipc;
mod physical;
mod space;

pub(crate) use entries::{
    urVirtualMemFree, urVirtualMemGetInfo, urVirtualMemGranularityGetInfo, urVirtualMemMap,
    urVirtualMemReserve, urVirtualMemSetAccess, urVirtualMemUnmap,
};
pub(crate) use ipc::{
    urIPCClosePhysMemHandleExp, urIPCGetPhysMemHandleExp, urIPCOpenPhysMemHandleExp,
    urIPCPutPhysMemHandleExp,
};
pub(crate) use physical::{
    urPhysicalMemCreate, urPhysicalMemGetInfo, urPhysicalMemRelease, urPhysicalMemRetain,
};
pub(crate) use space::check;
