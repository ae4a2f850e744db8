//! The runtime's errors as the interface's codes, and the words behind the last one.

use std::cell::RefCell;
use std::ffi::{CStr, CString};

use millpond::MemoryKind;
use millpond::runtime::Error;

use crate::numbers::Code;

thread_local! {
    /// What `urAdapterGetLastError` tells on this thread. C has a pointer to the words, so that they
    /// stay until there are others.
    static LAST: RefCell<(CString, Code)> = RefCell::new((CString::default(), Code::SUCCESS));
}

/// Keeps the words of an error that has no code of its own; the code that refers to them.
pub(crate) fn tell(words: &str) -> Code {
    keep(words, Code::ADAPTER_SPECIFIC);
    Code::ADAPTER_SPECIFIC
}

fn keep(words: &str, code: Code) {
    let words = CString::new(words.replace('\0', " ")).unwrap_or_default();
    // What a program does at a thread's very end is answered without words: their place is gone.
    let _ = LAST.try_with(|last| last.replace((words, code)));
}

/// The last words of this thread, and the code that they were for.
pub(crate) fn last() -> (&'static CStr, Code) {
    let kept = LAST.try_with(|last| {
        let (words, code) = &*last.borrow();
        let words: *const CStr = words.as_c_str();
        // SAFETY: the words live until this thread has others or ends, which is what the interface
        // promises its callers.
        (unsafe { &*words }, *code)
    });
    kept.unwrap_or((c"", Code::SUCCESS))
}

/// The code of an error of the runtime, whose words are kept.
pub(crate) fn code(error: &Error) -> Code {
    let code = match error {
        Error::OutOfMemory(_) | Error::Budget { .. } => Code::OUT_OF_RESOURCES,
        Error::PoolClosed { .. } | Error::Closed { .. } | Error::Revoked { .. } => {
            Code::INVALID_OPERATION
        }
        Error::Shared { .. } | Error::OutputsHeld { .. } => Code::HANDLE_OBJECT_IN_USE,
        Error::ShutDown { .. } | Error::Forked { .. } => Code::UNINITIALIZED,
        Error::DeviceMismatch { .. } => Code::INVALID_DEVICE,
        Error::Bounds { .. } | Error::Overlap { .. } => Code::INVALID_SIZE,
        Error::Invalid { .. } => Code::INVALID_VALUE,
        Error::Failed(failure) if failure.kind() == millpond::FailureKind::Lost => {
            Code::DEVICE_LOST
        }
        _ => Code::ADAPTER_SPECIFIC,
    };
    keep(&error.to_string(), code);
    code
}

/// The same for a request of memory that blocks: the interface tells whose memory is short.
pub(crate) fn memory_code(error: &Error, kind: MemoryKind) -> Code {
    match code(error) {
        Code::OUT_OF_RESOURCES if kind == MemoryKind::Host => Code::OUT_OF_HOST_MEMORY,
        Code::OUT_OF_RESOURCES => Code::OUT_OF_DEVICE_MEMORY,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use super::{last, tell};
    use crate::numbers::Code;

    /// Fails when its thread has nothing left.
    struct Late(Sender<Code>);

    impl Drop for Late {
        fn drop(&mut self) {
            let code = tell("too late");
            assert_eq!(last(), (c"", Code::SUCCESS));
            let _ = self.0.send(code);
        }
    }

    thread_local! {
        static LATE: std::cell::OnceCell<Late> = const { std::cell::OnceCell::new() };
    }

    #[test]
    fn what_fails_at_the_very_end_of_a_thread_is_answered_too() {
        let (told, answers) = channel();
        let thread = thread::Builder::new().spawn(|| {
            // What is first used first goes last.
            LATE.with(|late| assert!(late.set(Late(told)).is_ok()));
            tell("in time");
            assert_eq!(last(), (c"in time", Code::ADAPTER_SPECIFIC));
        });
        thread.unwrap().join().unwrap();
        assert_eq!(answers.recv(), Ok(Code::ADAPTER_SPECIFIC));
    }
}
