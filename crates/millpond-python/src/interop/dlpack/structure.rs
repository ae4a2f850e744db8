//! The structures of DLPack, as `dlpack.h` 1.3 declares them.

use std::ffi::{c_char, c_int, c_void};

use pyo3::ffi::PyObject;

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
pub(super) const VERSION: Version = Version { major: 1, minor: 3 };

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

/// What all versions of the table of functions begin with.
#[derive(Debug)]
#[repr(C)]
pub(super) struct ExchangeHeader {
    pub(super) version: Version,
    /// A table of an older version; null without one.
    pub(super) previous: *const Self,
}

/// Told of an error by a function that must not call Python: the name of an exception, and its message.
pub(super) type TellError = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);

/// The functions by which extensions exchange arrays of a class. They answer 0, or -1 with an exception set.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Exchange {
    pub(super) header: ExchangeHeader,
    /// Makes an array like a prototype, without the interpreter lock.
    pub(super) allocate: unsafe extern "C" fn(
        prototype: *const Array,
        out: *mut *mut Versioned,
        context: *mut c_void,
        tell: TellError,
    ) -> c_int,
    /// The structure of an object.
    pub(super) export:
        unsafe extern "C" fn(object: *mut PyObject, out: *mut *mut Versioned) -> c_int,
    /// The object of a structure.
    pub(super) import:
        unsafe extern "C" fn(managed: *mut Versioned, out: *mut *mut PyObject) -> c_int,
    /// The array of an object, while the caller keeps that and until it gives control back.
    pub(super) lend: unsafe extern "C" fn(object: *mut PyObject, out: *mut Array) -> c_int,
    /// The stream that work on a device is given to.
    pub(super) stream:
        unsafe extern "C" fn(device_type: i32, device_id: i32, out: *mut *mut c_void) -> c_int,
}
