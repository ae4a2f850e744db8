//! The part of the interface that knows objects of Python: its types. The extension of Python has
//! the functions.

use std::ffi::c_void;

use millpond::tensor::Tensor;
use millpond::{Event, Gate, Pool, Queue};

use crate::describe::{CType, Function};
use crate::device::NamedDevice;
use crate::handle::{Given, Keep};
use crate::memory::Memory;
use crate::table::Table;

/// The name of the capsule that holds the table, and where it is.
pub const CAPSULE: &str = "millpond._millpond._C_API";

/// An object of Python that stays the caller's.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Object(*mut c_void);

/// A new reference to an object of Python, or null with an exception.
#[derive(Debug)]
#[repr(transparent)]
pub struct Reference(*mut c_void);

impl Object {
    /// The pointer.
    #[must_use]
    pub const fn pointer(self) -> *mut c_void {
        self.0
    }
}

impl Reference {
    /// The reference at a pointer.
    #[must_use]
    pub const fn new(pointer: *mut c_void) -> Self {
        Self(pointer)
    }
}

impl CType for Object {
    fn declare(name: &str) -> String {
        format!("MP_KEEP PyObject *{name}")
    }
}

impl CType for Reference {
    fn declare(name: &str) -> String {
        format!("PyObject *{name}")
    }
}

macro_rules! table {
    ($version:literal { $( $(#[doc = $doc:literal])+ fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty; )+ }) => {
        /// The newest version.
        pub const VERSION: u32 = $version;

        /// The functions, in the order of their addition. The interpreter lock is held in all of them.
        #[repr(C)]
        #[derive(Debug)]
        pub struct PythonTable {
            /// The version.
            pub version: u32,
            /// The size of this table.
            pub bytes: u32,
            /// The functions that know nothing of Python.
            pub functions: &'static Table,
            $( $(#[doc = $doc])+ pub $name: unsafe extern "C" fn($($type),*) -> $answer, )+
        }

        /// The functions' descriptions.
        pub fn functions() -> Vec<Function> {
            vec![$(Function {
                name: stringify!($name),
                doc: &[$($doc),+],
                arguments: vec![$((stringify!($argument), <$type as CType>::declare(stringify!($argument)))),*],
                answer: <$answer as CType>::declare(""),
            }),+]
        }
    };
}

// Append only: a new version is a higher number.
table! {
    1 {
        /// Raises the exception for this thread's last call that failed, and answers null.
        fn mp_error_raise() -> Reference;
        /// Whether an object is an array.
        fn mp_array_check(object: Object) -> i32;
        /// A handle of an array as it is now, to be released; null with an exception for other objects.
        fn mp_array_from_python(object: Object) -> Given<Tensor>;
        /// An object of an array; null with an exception.
        fn mp_array_to_python(array: Keep<Tensor>) -> Reference;
        /// Whether an object is memory.
        fn mp_memory_check(object: Object) -> i32;
        /// A handle of memory, to be released; null with an exception for other objects.
        fn mp_memory_from_python(object: Object) -> Given<Memory>;
        /// An object of memory; null with an exception.
        fn mp_memory_to_python(memory: Keep<Memory>) -> Reference;
        /// Whether an object is a queue.
        fn mp_queue_check(object: Object) -> i32;
        /// A handle of a queue, to be released; null with an exception for other objects.
        fn mp_queue_from_python(object: Object) -> Given<Queue>;
        /// An object of a queue; null with an exception.
        fn mp_queue_to_python(queue: Keep<Queue>) -> Reference;
        /// Whether an object is an event.
        fn mp_event_check(object: Object) -> i32;
        /// A handle of an event, to be released; null with an exception for other objects.
        fn mp_event_from_python(object: Object) -> Given<Event>;
        /// An object of an event; null with an exception.
        fn mp_event_to_python(event: Keep<Event>) -> Reference;
        /// Whether an object is a gate.
        fn mp_gate_check(object: Object) -> i32;
        /// A handle of a gate, to be released; null with an exception for other objects.
        fn mp_gate_from_python(object: Object) -> Given<Gate>;
        /// An object of a gate; null with an exception.
        fn mp_gate_to_python(gate: Keep<Gate>) -> Reference;
        /// Whether an object is a device.
        fn mp_device_check(object: Object) -> i32;
        /// A handle of a device, to be released; null with an exception for other objects.
        fn mp_device_from_python(object: Object) -> Given<NamedDevice>;
        /// An object of a device; null with an exception.
        fn mp_device_to_python(device: Keep<NamedDevice>) -> Reference;
        /// Whether an object is a pool.
        fn mp_pool_check(object: Object) -> i32;
        /// A handle of a pool, to be released; null with an exception for other objects.
        fn mp_pool_from_python(object: Object) -> Given<Pool>;
        /// An object of a pool; null with an exception.
        fn mp_pool_to_python(pool: Keep<Pool>) -> Reference;
    }
}
