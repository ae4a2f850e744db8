//! Which generation of loaders this library was loaded by.
//!
//! Both say the same version of the interface, but their tables differ. A loader exports the getters
//! that it knows, and one of them is of the later generation only.

use std::ffi::{CStr, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use crate::argument::Answer;
use crate::error;
use crate::numbers::Code;

/// A layout of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    /// That of the loaders of 2025.
    Of2025,
    /// That of the loaders of 2026.
    Of2026,
}

/// What only loaders of the later generation export.
const LATER: &CStr = c"urGetDeviceExpProcAddrTable";

/// What loaders' files are called.
const LOADER: &str = "libur_loader.so";

/// The generation of the loader in this process; the later one where there is none.
///
/// # Errors
/// Loaders of both generations in one process: nobody can say which of them asks.
pub(crate) fn generation() -> Answer<Generation> {
    static FOUND: OnceLock<Answer<Generation>> = OnceLock::new();
    *FOUND.get_or_init(|| decide(&loaded().iter().map(|name| of(name)).collect::<Vec<_>>()))
}

fn decide(found: &[Generation]) -> Answer<Generation> {
    let [first, others @ ..] = found else {
        return Ok(Generation::Of2026);
    };
    if others.iter().all(|other| other == first) {
        return Ok(*first);
    }
    error::tell("two generations of libur_loader.so are loaded: their tables differ");
    Err(Code::UNSUPPORTED_VERSION)
}

/// The files of the loaders in this process.
fn loaded() -> Vec<std::ffi::CString> {
    extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the system calls this with a description of a loaded file.
        let name = unsafe { (*info).dlpi_name };
        if name.is_null() {
            return 0;
        }
        // SAFETY: the name of a loaded file ends with a zero.
        let name = unsafe { CStr::from_ptr(name) };
        let path = name.to_str().map(Path::new).ok();
        let file = path
            .and_then(Path::file_name)
            .and_then(|file| file.to_str());
        if file.is_some_and(|file| file.starts_with(LOADER)) {
            // SAFETY: what is passed below, borrowed for the time of the call only.
            let found = unsafe { &mut *found.cast::<Vec<std::ffi::CString>>() };
            found.push(name.to_owned());
        }
        0
    }
    let mut found: Vec<std::ffi::CString> = Vec::new();
    // SAFETY: the callback gets the list that it expects, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

/// The generation of a loader that is loaded.
fn of(file: &CStr) -> Generation {
    // SAFETY: the file is loaded, so that none of its code is run.
    let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return Generation::Of2026;
    }
    // SAFETY: the library was opened just now.
    let later = unsafe { libc::dlsym(library, LATER.as_ptr()) };
    // SAFETY: opened above, and closed once.
    unsafe { libc::dlclose(library) };
    if later.is_null() {
        Generation::Of2025
    } else {
        Generation::Of2026
    }
}

#[cfg(test)]
mod tests {
    use super::{Generation, decide};
    use crate::numbers::Code;

    #[test]
    fn loaders_of_one_generation_are_served_and_of_two_refused() {
        let (old, new) = (Generation::Of2025, Generation::Of2026);
        assert_eq!(decide(&[]), Ok(new));
        assert_eq!(decide(&[old, old]), Ok(old));
        assert_eq!(decide(&[old, new]), Err(Code::UNSUPPORTED_VERSION));
    }
}
