//! Values as C passes them. Declared anew, so that a mistake in the adapter's own isn't made twice.

use std::ffi::c_void;
use std::ptr;

pub(crate) type Handle = *mut c_void;

/// What every structure begins with.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) kind: u32,
    pub(crate) next: *const c_void,
}

impl Header {
    pub(crate) const fn new(kind: u32) -> Self {
        Self {
            kind,
            next: ptr::null(),
        }
    }

    pub(crate) fn before<T>(kind: u32, next: &T) -> Self {
        Self {
            kind,
            next: ptr::from_ref(next).cast(),
        }
    }
}

#[repr(C)]
pub(crate) struct Flags {
    pub(crate) header: Header,
    pub(crate) flags: u32,
}

#[repr(C)]
pub(crate) struct UsmDesc {
    pub(crate) header: Header,
    pub(crate) hints: u32,
    pub(crate) align: u32,
}

#[repr(C)]
pub(crate) struct Limits {
    pub(crate) header: Header,
    pub(crate) first: usize,
    pub(crate) second: usize,
}

#[repr(C)]
pub(crate) struct PoolBuffer {
    pub(crate) header: Header,
    pub(crate) memory: *mut c_void,
    pub(crate) size: usize,
    pub(crate) kind: u32,
    pub(crate) device: Handle,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Triple(pub(crate) u64, pub(crate) u64, pub(crate) u64);

#[repr(C)]
pub(crate) struct Partition {
    pub(crate) header: Header,
    pub(crate) properties: *const [u32; 2],
    pub(crate) count: usize,
}

#[repr(C)]
pub(crate) struct BufferProperties {
    pub(crate) header: Header,
    pub(crate) host: *mut c_void,
}

#[repr(C)]
pub(crate) struct Region {
    pub(crate) header: Header,
    pub(crate) origin: usize,
    pub(crate) size: usize,
}

#[repr(C)]
pub(crate) struct KernelArgument {
    pub(crate) header: Header,
    pub(crate) kind: u32,
    pub(crate) index: u32,
    pub(crate) size: usize,
    pub(crate) value: *const c_void,
    pub(crate) flags: u32,
}

pub(crate) const USM_DESC: u32 = 7;
pub(crate) const POOL_DESC: u32 = 10;
pub(crate) const LIMITS_DESC: u32 = 11;
pub(crate) const QUEUE_PROPERTIES: u32 = 14;
pub(crate) const POOL_BUFFER_DESC: u32 = 36;
pub(crate) const PHYSICAL_PROPERTIES: u32 = 37;
pub(crate) const ASYNC_PROPERTIES: u32 = 0x2050;
pub(crate) const KERNEL_ARGUMENT: u32 = 0x5000;
pub(crate) const EVENT_DESC: u32 = 0x8000;
