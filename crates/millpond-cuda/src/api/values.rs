//! The driver's handles, structures and numbers.

use std::ffi::c_void;

/// A device by the driver's number.
pub(crate) type Ordinal = i32;

/// A context; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct ContextHandle(pub(crate) usize);

/// A stream; 0 is the default stream, which is never used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct StreamHandle(pub(crate) usize);

impl StreamHandle {
    /// The stream that every context has.
    pub(crate) const DEFAULT: Self = Self(0);
}

/// A mark in a stream whose time the device notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct EventHandle(pub(crate) usize);

/// Code that was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct ModuleHandle(pub(crate) usize);

/// An entry of loaded code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct FunctionHandle(pub(crate) usize);

/// Physical memory that can be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct PhysicalHandle(pub(crate) u64);

/// A pool of the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct PoolHandle(pub(crate) usize);

/// An address of unified addressing.
pub(crate) type Pointer = u64;

/// `CUmemLocation`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Location {
    kind: i32,
    id: i32,
}

impl Location {
    /// The memory of a device.
    pub(crate) const fn device(ordinal: Ordinal) -> Self {
        Self {
            kind: 1,
            id: ordinal,
        }
    }
}

/// `CUmemAccessDesc`: who may read and write.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct AccessDescription {
    location: Location,
    flags: i32,
}

impl AccessDescription {
    /// A device reads and writes.
    pub(crate) const fn both(ordinal: Ordinal) -> Self {
        Self {
            location: Location::device(ordinal),
            flags: 3,
        }
    }
}

/// `CUmemAllocationProp`: physical memory of a device.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct PhysicalProperties {
    kind: i32,
    handle_types: i32,
    location: Location,
    windows: *mut c_void,
    flags: [u8; 8],
}

impl PhysicalProperties {
    /// Memory of a device.
    pub(crate) const fn device(ordinal: Ordinal) -> Self {
        Self {
            kind: 1,
            handle_types: 0,
            location: Location::device(ordinal),
            windows: std::ptr::null_mut(),
            flags: [0; 8],
        }
    }
}

/// `CUmemPoolProps`: a pool of a device's memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct PoolProperties {
    kind: i32,
    pub(crate) handle_types: i32,
    location: Location,
    windows: *mut c_void,
    pub(crate) maximum: usize,
    usage: u16,
    reserved: [u8; 54],
}

impl PoolProperties {
    /// Memory of a device, at most so much; 0 is as much as there is.
    pub(crate) const fn device(ordinal: Ordinal, maximum: usize, handle_types: i32) -> Self {
        Self {
            kind: 1,
            handle_types,
            location: Location::device(ordinal),
            windows: std::ptr::null_mut(),
            maximum,
            usage: 0,
            reserved: [0; 54],
        }
    }
}

/// `CUmemPoolPtrExportData`: where in a pool an allocation lies, for other processes.
pub(crate) type PoolPlace = [u8; 64];

/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
pub(crate) const FILE_DESCRIPTOR: i32 = 1;

/// `CU_STREAM_NON_BLOCKING`: the stream knows nothing of the default stream.
pub(crate) const NON_BLOCKING: u32 = 1;

/// `CU_STREAM_WAIT_VALUE_GEQ`.
pub(crate) const AT_LEAST: u32 = 0;

/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`: all devices reach it.
pub(crate) const PORTABLE: u32 = 3;

/// `CU_MEM_ATTACH_GLOBAL`: managed memory that all streams reach.
pub(crate) const ATTACH_GLOBAL: u32 = 1;

/// `CU_MEM_ADVISE_SET_READ_MOSTLY`.
pub(crate) const READ_MOSTLY: i32 = 1;

/// Attributes of devices (`CUdevice_attribute`).
pub(crate) mod attribute {
    pub(crate) const BLOCK: i32 = 1;
    /// The first of three, as the next.
    pub(crate) const BLOCK_AXES: i32 = 2;
    pub(crate) const GRID_AXES: i32 = 5;
    pub(crate) const SHARED_MEMORY: i32 = 8;
    pub(crate) const WARP: i32 = 10;
    pub(crate) const REGISTERS: i32 = 12;
    pub(crate) const CLOCK: i32 = 13;
    pub(crate) const MULTIPROCESSORS: i32 = 16;
    pub(crate) const INTEGRATED: i32 = 18;
    pub(crate) const CORRECTS: i32 = 32;
    pub(crate) const MEMORY_CLOCK: i32 = 36;
    pub(crate) const MEMORY_BUS: i32 = 37;
    pub(crate) const L2_BYTES: i32 = 38;
    pub(crate) const RESIDENT_THREADS: i32 = 39;
    pub(crate) const UNIFIED_ADDRESSING: i32 = 41;
    pub(crate) const CAPABILITY_MAJOR: i32 = 75;
    pub(crate) const CAPABILITY_MINOR: i32 = 76;
    pub(crate) const CONCURRENT_MANAGED: i32 = 89;
    pub(crate) const MOST_SHARED_MEMORY: i32 = 97;
    pub(crate) const VIRTUAL_MEMORY: i32 = 102;
    pub(crate) const POOLS: i32 = 115;
    pub(crate) const POOL_HANDLE_TYPES: i32 = 119;
    pub(crate) const STREAM_VALUES: i32 = 122;
}

/// Attributes of pools (`CUmemPool_attribute`).
pub(crate) mod pool {
    pub(crate) const FOLLOW_EVENTS: i32 = 1;
    pub(crate) const OPPORTUNISTIC: i32 = 2;
    pub(crate) const INTERNAL_DEPENDENCIES: i32 = 3;
    pub(crate) const RELEASE_THRESHOLD: i32 = 4;
    pub(crate) const RESERVED: i32 = 5;
    pub(crate) const RESERVED_HIGH: i32 = 6;
    pub(crate) const USED: i32 = 7;
    pub(crate) const USED_HIGH: i32 = 8;
}

/// Attributes of addresses (`CUpointer_attribute`).
pub(crate) mod pointer {
    pub(crate) const MEMORY_TYPE: i32 = 2;
    pub(crate) const IS_MANAGED: i32 = 8;
    pub(crate) const ORDINAL: i32 = 9;
    /// The memory type of the host.
    pub(crate) const HOST: u32 = 1;
    /// The memory type of a device.
    pub(crate) const DEVICE: u32 = 2;
}

/// Attributes of entries (`CUfunction_attribute`).
pub(crate) mod function {
    pub(crate) const BLOCK: i32 = 0;
    pub(crate) const SHARED_MEMORY: i32 = 1;
    pub(crate) const PRIVATE_MEMORY: i32 = 3;
    pub(crate) const REGISTERS: i32 = 4;
    pub(crate) const MOST_SHARED_MEMORY: i32 = 8;
}

/// What a program is loaded with (`CUjit_option`).
pub(crate) mod loading {
    pub(crate) const ERRORS: i32 = 5;
    pub(crate) const ERRORS_BYTES: i32 = 6;
}
