//! The compiler among CUDA's libraries.

use std::path::Path;
use std::sync::Arc;

use libloading::Library;

use super::Compiler;
use super::library::{LoadedCompiler, check};
use super::table::{Nvrtc, Table};
use crate::search::{Places, Search, Version, Wanted};
use crate::tried::reason_of;

const WANTED: Wanted = Wanted {
    name: "NVRTC",
    file: "libnvrtc.so",
    numbers: &[(13, 13), (12, 12)],
    package: "cuda_nvrtc",
};

/// What a compiler loads by its name when it is first used, next to itself.
const COMPANION: &str = "libnvrtc-builtins.so";

/// Loads a compiler that makes code which a driver of this version of CUDA (13000 is 13.0) takes.
pub(crate) fn search(places: &Places, driver: i32) -> (Search, Option<Arc<dyn Compiler>>) {
    WANTED.find(places, driver, |path| load(path, driver / 1000))
}

fn load(path: &Path, newest: i32) -> Result<(Version, Arc<dyn Compiler>), String> {
    // SAFETY: loading runs the initialisers of the library. The names are those of CUDA's
    // compiler; a path is the user's word that it is one.
    let library = unsafe { Library::new(path) }.map_err(|error| reason_of(&error))?;
    keep_companion(path);
    // SAFETY: as above.
    let (table, missing) = unsafe { Table::of(library) };
    if !missing.is_empty() {
        return Err(format!("it lacks {}", missing.join(", ")));
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both numbers are written to places of their type.
    let code = unsafe { table.version(&raw mut major, &raw mut minor) };
    check("nvrtcVersion", code)?;
    if major > newest {
        return Err(format!(
            "it is of CUDA {major}.{minor}, the driver of {newest}"
        ));
    }
    let version = (major, minor);
    let compiler = LoadedCompiler::new(Box::new(table), version)?;
    Ok((version, Arc::new(compiler)))
}

/// Loads what lies next to a library and will be asked for by its name alone, for good: a folder of
/// packages isn't one where the loader looks.
fn keep_companion(path: &Path) {
    let Some(entries) = path.parent().and_then(|folder| folder.read_dir().ok()) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(COMPANION) {
            // SAFETY: as for the library itself, whose part it is.
            if let Ok(companion) = unsafe { Library::new(entry.path()) } {
                std::mem::forget(companion);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn without_a_compiler_it_is_told_what_was_looked_for() {
        let places = Places {
            library: Some(PathBuf::from("/nowhere/libnvrtc.so.12")),
            packages: Vec::new(),
        };
        let (search, found) = search(&places, 13_000);
        assert!(found.is_none());
        let text = search.to_string();
        assert!(
            text.starts_with("not found: /nowhere/libnvrtc.so.12: ")
                && text.contains("No such file"),
            "{text}"
        );
    }

    #[test]
    fn a_library_that_is_no_compiler_is_told_by_what_it_lacks() {
        let places = Places {
            library: Some(PathBuf::from("libc.so.6")),
            packages: Vec::new(),
        };
        let (search, found) = search(&places, 13_000);
        assert!(found.is_none());
        assert!(
            search.to_string().contains("it lacks nvrtcVersion, "),
            "{search}"
        );
    }
}
