//! Finding the compiler, and saying what was looked for.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::Library;

use super::Compiler;
use super::library::{LoadedCompiler, check};
use super::table::{Nvrtc, Table};
use crate::tried::{Tried, reason_of};

/// The major versions of CUDA whose compiler is known, the newest first.
const MAJORS: [i32; 2] = [13, 12];

/// Where a vendor's Python packages have the library, in a folder of packages.
const PACKAGES: [&str; 3] = [
    "nvidia/cu13/lib",
    "nvidia/cuda_nvrtc/lib",
    "nvidia/cu12/lib",
];

/// Where systems have it that the loader doesn't know.
const FOLDERS: [&str; 1] = ["/usr/local/cuda/lib64"];

/// What a compiler loads by its name when it is first used, next to itself.
const COMPANION: &str = "libnvrtc-builtins.so";

/// Where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// The library, by the user's word; nothing else is looked at then.
    pub(crate) library: Option<PathBuf>,
    /// Folders of Python packages.
    pub(crate) packages: Vec<PathBuf>,
}

/// What was looked for, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Search {
    tried: Tried,
    /// The version that was found.
    version: Option<(i32, i32)>,
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tried)?;
        match self.version {
            Some((major, minor)) => write!(f, ", NVRTC {major}.{minor}"),
            None => Ok(()),
        }
    }
}

/// Loads a compiler that makes code which a driver of this version of CUDA (13000 is 13.0) takes.
pub(crate) fn search(places: &Places, driver: i32) -> (Search, Option<Arc<dyn Compiler>>) {
    let mut search = Search::default();
    for candidate in candidates(places, driver / 1000) {
        match load(&candidate, driver / 1000) {
            Ok((version, compiler)) => {
                search.tried.0.push((candidate, None));
                search.version = Some(version);
                return (search, Some(compiler));
            }
            Err(reason) => search.tried.0.push((candidate, Some(reason))),
        }
    }
    (search, None)
}

/// The libraries to try: names for the system's loader, and files that are there.
fn candidates(places: &Places, newest: i32) -> Vec<PathBuf> {
    if let Some(library) = &places.library {
        return vec![library.clone()];
    }
    let majors = MAJORS.iter().filter(|&&major| major <= newest);
    let names: Vec<String> = majors.map(|major| format!("libnvrtc.so.{major}")).collect();
    let mut candidates: Vec<PathBuf> = Vec::new();
    let packages = places.packages.iter();
    let packages = packages.flat_map(|folder| PACKAGES.iter().map(|package| folder.join(package)));
    let folders: Vec<PathBuf> = packages.chain(FOLDERS.iter().map(PathBuf::from)).collect();
    for name in &names {
        candidates.push(PathBuf::from(name));
        let files = folders.iter().map(|folder| folder.join(name));
        for file in files.filter(|file| file.exists()) {
            if !candidates.contains(&file) {
                candidates.push(file);
            }
        }
    }
    candidates
}

/// A compiler with its version.
type Loaded = ((i32, i32), Arc<dyn Compiler>);

fn load(path: &Path, newest: i32) -> Result<Loaded, String> {
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

    #[test]
    fn no_compiler_is_newer_than_the_driver() {
        let names = candidates(&Places::default(), 12);
        assert_eq!(names.first(), Some(&PathBuf::from("libnvrtc.so.12")));
        let names = candidates(&Places::default(), 13);
        assert_eq!(names.first(), Some(&PathBuf::from("libnvrtc.so.13")));
    }
}
