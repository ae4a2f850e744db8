//! What the fake driver tells of codes, of devices and of addresses.

use std::ffi::CStr;

use super::world::{Kind, World};
use crate::api::{Code, Pointer, attribute, pointer};

/// The name of a code, or what it means.
pub(super) fn text_of(code: Code, name: bool) -> Option<&'static CStr> {
    Some(match (code, name) {
        (Code::OUT_OF_MEMORY, true) => c"CUDA_ERROR_OUT_OF_MEMORY",
        (Code::OUT_OF_MEMORY, false) => c"out of memory",
        (Code::ILLEGAL_ADDRESS, true) => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        (Code::ILLEGAL_ADDRESS, false) => c"an illegal memory access was encountered",
        (Code::NOT_FOUND, true) => c"CUDA_ERROR_NOT_FOUND",
        (Code::NOT_FOUND, false) => c"named symbol not found",
        (Code::NOT_SUPPORTED, true) => c"CUDA_ERROR_NOT_SUPPORTED",
        (Code::NOT_SUPPORTED, false) => c"operation not supported",
        _ => return None,
    })
}

impl World {
    /// An attribute of the devices.
    pub(super) fn attribute(&self, number: i32) -> i32 {
        if self.lacking.contains(&number) {
            return 0;
        }
        match number {
            attribute::MULTIPROCESSORS => 8,
            attribute::L2_BYTES => 1 << 20,
            attribute::SHARED_MEMORY | attribute::MOST_SHARED_MEMORY => 48 << 10,
            attribute::BLOCK => 1024,
            attribute::REGISTERS => 64 << 10,
            axis if (attribute::BLOCK_AXES..attribute::BLOCK_AXES + 3).contains(&axis) => 1024,
            axis if (attribute::GRID_AXES..attribute::GRID_AXES + 3).contains(&axis) => 65_535,
            attribute::WARP => 32,
            attribute::RESIDENT_THREADS => 2048,
            attribute::CAPABILITY_MAJOR => 9,
            attribute::UNIFIED_ADDRESSING
            | attribute::VIRTUAL_MEMORY
            | attribute::POOLS
            | attribute::POOL_HANDLE_TYPES
            | attribute::CONCURRENT_MANAGED
            | attribute::STREAM_VALUES => 1,
            _ => 0,
        }
    }

    /// An attribute of memory.
    pub(super) fn pointer_attribute(&self, address: Pointer, number: i32) -> u32 {
        match (number, self.kind_of(address)) {
            (pointer::IS_MANAGED, kind) => u32::from(kind == Some(Kind::Managed)),
            (pointer::MEMORY_TYPE, Some(Kind::Host)) => pointer::HOST,
            (pointer::MEMORY_TYPE, Some(_)) => pointer::DEVICE,
            (pointer::ORDINAL, Some(Kind::Device(device))) => device as u32,
            _ => 0,
        }
    }
}
