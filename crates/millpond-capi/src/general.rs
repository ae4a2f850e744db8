//! Versions, messages, handles, the end.

use std::ffi::c_char;

use crate::data::{Out, Text};
use crate::describe::functions;
use crate::handle;
use crate::status::{self, Problem, Status};
use crate::table::{Table, VERSION};

functions! {
    /// The version of the interface; it grows, and what there is stays as it is.
    fn mp_version() -> u32 {
        VERSION
    }

    /// What went wrong in this thread's last call that failed; an empty text if none did. It stays until the thread's
    /// next call that fails.
    fn mp_error_message() -> *const c_char {
        status::message()
    }

    /// Sets this thread's message: what a task says of its failure before it returns another status than MP_OK.
    fn mp_error_set(message: Text) {
        status::keep(Problem::Told(message.get()?));
        Ok(())
    }

    /// The name of a status, such as "MP_OK".
    fn mp_status_name(status: i32) -> *const c_char {
        Status::name(status).as_ptr()
    }

    /// The number of handles of all types that were given and not released: for tests.
    fn mp_handle_count(count: Out<usize>) {
        count.put(handle::live())
    }

    /// Finishes all work and stops all threads; every later call answers MP_SHUT_DOWN. For programs, at their end;
    /// Python does it by itself.
    fn mp_shutdown() {
        millpond::shutdown();
        Ok(())
    }
}

/// The functions as a table, for programs that look symbols up; null if they are of an older version than asked for.
///
/// # Safety
/// None of the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mp_functions(version: u32) -> *const Table {
    if version <= VERSION {
        Table::get()
    } else {
        std::ptr::null()
    }
}
