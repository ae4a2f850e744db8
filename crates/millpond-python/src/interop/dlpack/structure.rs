//! The structures of DLPack, as `dlpack.h` 1.1 declares them.

use std::ffi::c_void;

/// Where memory is: a type of device and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Device {
    pub(super) device_type: i32,
    pub(super) device_id: i32,
}

/// The type of elements: a code, the bits of a lane, the number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct DataType {
    pub(super) code: u8,
    pub(super) bits: u8,
    pub(super) lanes: u16,
}

/// An array, without its owner.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Array {
    pub(super) data: *mut c_void,
    pub(super) device: Device,
    pub(super) ndim: i32,
    pub(super) dtype: DataType,
    pub(super) shape: *mut i64,
    /// In elements; null for row-major order.
    pub(super) strides: *mut i64,
    pub(super) byte_offset: u64,
}

/// An array with its owner, before version 1.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Legacy {
    pub(super) array: Array,
    pub(super) manager: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut Legacy)>,
}

/// A version of the structures: another major version has another layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Version {
    pub(super) major: u32,
    pub(super) minor: u32,
}

/// The version that this is.
pub(super) const VERSION: Version = Version { major: 1, minor: 1 };

/// The array must not be written.
pub(super) const READ_ONLY: u64 = 1;

/// The array is a copy made for the consumer.
pub(super) const IS_COPIED: u64 = 2;

/// An array with its owner.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Versioned {
    pub(super) version: Version,
    pub(super) manager: *mut c_void,
    pub(super) deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    pub(super) flags: u64,
    pub(super) array: Array,
}
