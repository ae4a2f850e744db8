//! Where the functions come from: the stock loader, where it is installed, and else this package's own
//! tables.
//!
//! `UR_LOADER` names a loader; without it the one of the Python packages in `.venv` is taken.
//! `UR_ADAPTERS_FORCE_LOAD` names the adapter that is tested, as it does to the loader; without it this
//! package's own is.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};

use ur_adapter_millpond::tables;

type Look = Box<dyn Fn(&str) -> Option<*const ()>>;

/// What says which adapter is tested.
const ADAPTERS: &str = "UR_ADAPTERS_FORCE_LOAD";
/// What this package's own is called.
const OWN: &str = "libur_adapter_millpond.so";

#[allow(
    clippy::disallowed_methods,
    reason = "says what is tested, not how millpond runs"
)]
pub(crate) fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// Whether the adapter that is tested isn't this package's.
pub(crate) fn is_another() -> bool {
    variable(ADAPTERS).is_some_and(|path| !path.ends_with(OWN))
}

/// Finds functions by name.
pub(crate) fn adapter() -> Look {
    // SAFETY: this runs once, before anything of the interface, and tests read the environment by the
    // standard library only.
    unsafe { std::env::set_var("MILLPOND_THREADS", "4") };
    loader().unwrap_or_else(own)
}

/// The functions of this package.
pub(crate) fn own() -> Look {
    Box::new(|name| {
        let mut all = tables::functions_by_name();
        all.find(|(other, _)| *other == name)?.1
    })
}

fn loader() -> Option<Look> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let loader = variable("UR_LOADER").unwrap_or(project.join(".venv/lib/libur_loader.so.0"));
    // Beside the programs of the tests.
    let program = std::env::current_exe().ok()?;
    let own = program.parent()?.join(OWN);
    if !loader.exists() || !(own.exists() || variable(ADAPTERS).is_some()) {
        return None;
    }
    if variable(ADAPTERS).is_none() {
        // SAFETY: as above.
        unsafe { std::env::set_var(ADAPTERS, own) };
    }
    let path = CString::new(loader.to_str()?).ok()?;
    // SAFETY: the loader is a library like others.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null(), "{} can't be loaded", loader.display());
    let library = library as usize;
    let look = move |name: &str| {
        let name = CString::new(name).ok()?;
        // SAFETY: the library is never closed.
        let found = unsafe { libc::dlsym(library as *mut c_void, name.as_ptr()) };
        (!found.is_null()).then_some(found.cast_const().cast::<()>())
    };
    let begin = look("urLoaderInit").expect("a loader can be begun");
    // SAFETY: that function's arguments.
    let begin: extern "C" fn(u32, *const c_void) -> u32 = unsafe { std::mem::transmute(begin) };
    assert_eq!(begin(0, std::ptr::null()), 0);
    Some(Box::new(look))
}
