//! How calls end: a status, and for each thread what went wrong in its last call that failed.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

use millpond::runtime::{DeviceError, Error as RuntimeError};
use millpond::tensor::{Error as TensorError, ErrorClass};

use crate::describe::CType;
use crate::number::{Constant, Enumeration};

macro_rules! statuses {
    ($($(#[doc = $doc:literal])+ $variant:ident = $constant:literal $number:literal,)+) => {
        /// How a call ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        pub enum Status {
            $( $(#[doc = $doc])+ $variant = $number, )+
        }

        impl Enumeration for Status {
            const NAME: &'static str = "mp_status";
            const DOC: &'static str = "How a call ended.";

            fn number(self) -> i32 {
                self as i32
            }

            fn of_number(number: i32) -> Option<Self> {
                match number {
                    $( $number => Some(Self::$variant), )+
                    _ => None,
                }
            }

            fn constants() -> Vec<Constant> {
                vec![$(($constant.to_owned(), $number, concat!($($doc),+))),+]
            }
        }

        impl Status {
            /// The name of the constant of a number.
            pub(crate) const fn name(number: i32) -> &'static CStr {
                match number {
                    $( $number => {
                        match CStr::from_bytes_with_nul(concat!($constant, "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => c"",
                        }
                    } )+
                    _ => c"an unknown status",
                }
            }
        }
    };
}

statuses! {
    /// It did what was asked.
    Ok = "MP_OK" 0,
    /// An argument that can't be.
    Invalid = "MP_INVALID" 1,
    /// No memory, even after waiting for what is about to be freed.
    OutOfMemory = "MP_OUT_OF_MEMORY" 2,
    /// Work that was submitted earlier failed.
    Failed = "MP_FAILED" 3,
    /// The time was over.
    TimedOut = "MP_TIMED_OUT" 4,
    /// The queue or the pool was closed.
    Closed = "MP_CLOSED" 5,
    /// The runtime was shut down.
    ShutDown = "MP_SHUT_DOWN" 6,
    /// The process is a forked child, which has no devices.
    Forked = "MP_FORKED" 7,
    /// A driver refused.
    Device = "MP_DEVICE" 8,
    /// There is no such device.
    UnknownDevice = "MP_UNKNOWN_DEVICE" 9,
    /// The host can't reach the memory.
    HostAccess = "MP_HOST_ACCESS" 10,
    /// A range or an index outside of what there is.
    Bounds = "MP_BOUNDS" 11,
    /// Others hold what can only be had alone.
    InUse = "MP_IN_USE" 12,
    /// The user interrupted a wait.
    Interrupted = "MP_INTERRUPTED" 13,
    /// Not offered.
    Unsupported = "MP_UNSUPPORTED" 14,
    /// A task of the program's own says that it failed.
    Task = "MP_TASK" 15,
    /// A fault in millpond; please report it.
    Panic = "MP_PANIC" 16,
    /// Something else; the message says what.
    Other = "MP_OTHER" 17,
}

impl CType for Status {
    fn declare(name: &str) -> String {
        crate::describe::join(Self::NAME, name)
    }
}

/// What went wrong.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The runtime refused, or work failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// Arrays that can't be.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// A pointer is null that must not be.
    #[error("{what} is null")]
    Null {
        /// What it should point to.
        what: &'static str,
    },
    /// A number that names nothing.
    #[error("{number} is no {name}")]
    Number {
        /// The number.
        number: i32,
        /// The enumeration.
        name: &'static str,
    },
    /// An argument that can't be.
    #[error("{what}: {reason}")]
    Argument {
        /// The argument or the call.
        what: &'static str,
        /// What is wrong, with the values.
        reason: String,
    },
    /// What the program said by `mp_error_set`.
    #[error("{0}")]
    Told(String),
    /// A panic, which doesn't cross the border.
    #[error("a fault in millpond: {0}")]
    Panic(String),
}

/// What calls answer on this side of the border.
pub type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    /// The status that C gets.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Runtime(error) | Self::Tensor(TensorError::Runtime(error)) => of_runtime(error),
            Self::Tensor(error) => match error.class() {
                ErrorClass::Memory => Status::OutOfMemory,
                ErrorClass::Index => Status::Bounds,
                ErrorClass::Buffer => Status::HostAccess,
                ErrorClass::NotImplemented => Status::Unsupported,
                _ => Status::Invalid,
            },
            Self::Null { .. } | Self::Number { .. } | Self::Argument { .. } => Status::Invalid,
            Self::Told(_) => Status::Task,
            Self::Panic(_) => Status::Panic,
        }
    }
}

const fn of_runtime(error: &RuntimeError) -> Status {
    match error {
        RuntimeError::Failed(_) => Status::Failed,
        RuntimeError::OutOfMemory(_) | RuntimeError::Budget { .. } => Status::OutOfMemory,
        RuntimeError::TimedOut { .. } => Status::TimedOut,
        RuntimeError::Closed { .. } | RuntimeError::PoolClosed { .. } => Status::Closed,
        RuntimeError::ShutDown { .. } => Status::ShutDown,
        RuntimeError::Forked { .. } => Status::Forked,
        RuntimeError::Device(DeviceError::Unsupported { .. }) => Status::Unsupported,
        RuntimeError::Device(_) => Status::Device,
        RuntimeError::UnknownDevice { .. } => Status::UnknownDevice,
        RuntimeError::HostAccess { .. } => Status::HostAccess,
        RuntimeError::Bounds { .. } => Status::Bounds,
        RuntimeError::Shared { .. } | RuntimeError::OutputsHeld { .. } => Status::InUse,
        RuntimeError::Interrupted { .. } => Status::Interrupted,
        RuntimeError::NotShareable { .. } => Status::Unsupported,
        RuntimeError::DeviceMismatch { .. }
        | RuntimeError::Overlap { .. }
        | RuntimeError::OperandCount { .. }
        | RuntimeError::Invalid { .. } => Status::Invalid,
        _ => Status::Other,
    }
}

struct Last {
    problem: Problem,
    message: CString,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// Keeps a problem as the thread's last; its status.
pub(crate) fn keep(problem: Problem) -> Status {
    let status = problem.status();
    let text = problem.to_string().replace('\0', "\u{fffd}");
    // It has no zero byte any more.
    let message = CString::new(text).unwrap_or_default();
    // A thread that ends has nobody to tell.
    let _ = LAST.try_with(|last| last.replace(Some(Last { problem, message })));
    status
}

/// The thread's last problem.
pub fn last() -> Option<Problem> {
    let last = LAST.try_with(|last| last.borrow().as_ref().map(|last| last.problem.clone()));
    last.ok().flatten()
}

/// Forgets the thread's last problem.
pub(crate) fn forget() {
    let _ = LAST.try_with(RefCell::take);
}

/// Its text, which stays until the thread's next problem.
pub(crate) fn message() -> *const c_char {
    let message = LAST.try_with(|last| last.borrow().as_ref().map(|last| last.message.as_ptr()));
    message.ok().flatten().unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_and_have_names() {
        for (expected, (name, number, _)) in (0..).zip(Status::constants()) {
            assert_eq!(number, expected, "{name}");
            assert_eq!(Status::of_number(number).unwrap() as i32, number);
            assert_eq!(Status::name(number).to_str(), Ok(&*name));
        }
        assert_eq!(Status::name(-5), c"an unknown status");
    }

    #[test]
    fn each_thread_has_its_own_last_problem() {
        assert_eq!(keep(Problem::Told("one\0two".to_owned())), Status::Task);
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(last().is_none()));
        });
        // SAFETY: the text stays until this thread's next problem.
        let text = unsafe { CStr::from_ptr(message()) };
        assert_eq!(text.to_str(), Ok("one\u{fffd}two"));
        forget();
        assert!(last().is_none());
    }
}
