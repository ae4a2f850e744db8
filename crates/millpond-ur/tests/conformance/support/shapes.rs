//! Values as C passes them. Declared anew, so that a mistake in the adapter's own isn't made twice.

use std::ffi::{c_char, c_void};
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

#[repr(C)]
pub(crate) struct Binary {
    pub(crate) header: Header,
    pub(crate) target: *const c_char,
}

#[repr(C)]
pub(crate) struct ListDesc {
    pub(crate) header: Header,
    pub(crate) is_updatable: bool,
    pub(crate) is_in_order: bool,
    pub(crate) is_profiling: bool,
}

#[repr(C)]
pub(crate) struct Update {
    pub(crate) header: Header,
    pub(crate) command: Handle,
    pub(crate) kernel: Handle,
    pub(crate) buffer_count: u32,
    pub(crate) pointer_count: u32,
    pub(crate) value_count: u32,
    pub(crate) dimensions: u32,
    pub(crate) buffers: *const c_void,
    pub(crate) pointers: *const UpdatePointer,
    pub(crate) values: *const UpdateValue,
    pub(crate) offset: *const usize,
    pub(crate) global: *const usize,
    pub(crate) local: *const usize,
}

#[repr(C)]
pub(crate) struct UpdatePointer {
    pub(crate) header: Header,
    pub(crate) index: u32,
    pub(crate) properties: *const c_void,
    pub(crate) pointer: *const c_void,
}

#[repr(C)]
pub(crate) struct UpdateValue {
    pub(crate) header: Header,
    pub(crate) index: u32,
    pub(crate) size: usize,
    pub(crate) properties: *const c_void,
    pub(crate) value: *const c_void,
}

pub(crate) const LIST_DESC: u32 = 0x1000;
pub(crate) const UPDATE_LAUNCH: u32 = 0x1001;
pub(crate) const UPDATE_POINTER: u32 = 0x1003;
pub(crate) const UPDATE_VALUE: u32 = 0x1004;
pub(crate) const USM_DESC: u32 = 7;
pub(crate) const POOL_DESC: u32 = 10;
pub(crate) const LIMITS_DESC: u32 = 11;
pub(crate) const QUEUE_PROPERTIES: u32 = 14;
pub(crate) const POOL_BUFFER_DESC: u32 = 36;
pub(crate) const PHYSICAL_PROPERTIES: u32 = 37;
pub(crate) const ASYNC_PROPERTIES: u32 = 0x2050;
pub(crate) const KERNEL_ARGUMENT: u32 = 0x5000;
pub(crate) const EVENT_DESC: u32 = 0x8000;
