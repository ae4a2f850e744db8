//! Finding the driver's library, and saying what was looked for.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::Library;

use super::table::Table;
use super::{Api, Code};
use crate::tried::{Tried, reason_of};

/// The driver as the loader finds it: by the name that every version of it has.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// The oldest version of CUDA that a driver must offer.
const OLDEST: i32 = 12_000;

/// Hints, and what is told of entries: a driver that lacks them works as well.
const OPTIONAL: [&str; 3] = ["cuMemPrefetchAsync", "cuMemAdvise", "cuFuncGetParamInfo"];

/// What was looked for, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Search {
    pub(crate) tried: Tried,
    /// What stands in the way although a library was found.
    pub(crate) obstacle: Option<String>,
    /// The version of CUDA that the driver offers: 13000 is 13.0.
    pub(crate) version: Option<i32>,
}

/// A driver that works.
pub(crate) type Found = Arc<dyn Api>;

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tried)?;
        if let Some(version) = self.version {
            write!(f, ", CUDA {}.{}", version / 1000, version % 1000 / 10)?;
        }
        match &self.obstacle {
            Some(obstacle) => write!(f, ": {obstacle}"),
            None => Ok(()),
        }
    }
}

/// Loads the driver: the library of this path, or where the system's loader finds one.
pub(crate) fn search(path: Option<&Path>) -> (Search, Option<Found>) {
    let candidates: Vec<PathBuf> = match path {
        Some(path) => vec![path.to_owned()],
        None => NAMES.map(PathBuf::from).to_vec(),
    };
    let mut search = Search::default();
    for candidate in candidates {
        // SAFETY: loading runs the initialisers of the library. The names are those of CUDA's
        // driver; a path is the user's word that it is one.
        match unsafe { Library::new(&candidate) } {
            Ok(library) => {
                search.tried.0.push((candidate, None));
                // SAFETY: as above.
                let (table, missing) = unsafe { Table::of(library) };
                let found = check(&mut search, Arc::new(table), &missing);
                return (search, found);
            }
            Err(error) => search.tried.0.push((candidate, Some(reason_of(&error)))),
        }
    }
    (search, None)
}

/// Starts the driver, unless it lacks something.
fn check(search: &mut Search, api: Found, missing: &[&str]) -> Option<Found> {
    let mut version = 0;
    // SAFETY: the version is written to a place of its type.
    let code = unsafe { api.driver_version(&raw mut version) };
    if code == Code::SUCCESS {
        search.version = Some(version);
    }
    let needed: Vec<&str> = missing
        .iter()
        .filter(|name| !OPTIONAL.contains(name))
        .copied()
        .collect();
    if code == Code::SUCCESS && version < OLDEST {
        search.obstacle = Some(format!("CUDA {}.0 is needed", OLDEST / 1000));
    } else if !needed.is_empty() {
        search.obstacle = Some(format!("it lacks {}", needed.join(", ")));
    } else {
        return start(search, api);
    }
    None
}

/// Initialises a driver. Without a device it has nothing to offer, which is no error.
pub(crate) fn start(search: &mut Search, api: Found) -> Option<Found> {
    // SAFETY: 0 is the only value of the flags.
    match unsafe { api.init(0) } {
        Code::SUCCESS => return Some(api),
        Code::NO_DEVICE => search.obstacle = Some("it finds no device".to_owned()),
        code => search.obstacle = Some(format!("it can't be initialised: {code}")),
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_driver_says_what_was_looked_for() {
        let path = Path::new("/nowhere/libcuda.so.1");
        let (search, found) = search(Some(path));
        assert!(found.is_none());
        assert_eq!(search.tried.0.len(), 1);
        let text = search.to_string();
        assert!(
            text.starts_with("not found: /nowhere/libcuda.so.1: ") && text.contains("No such file"),
            "{text}"
        );
    }

    #[test]
    fn a_library_that_is_no_driver_is_told_by_what_it_lacks() {
        // The C library is everywhere and has none of the functions.
        let (search, found) = search(Some(Path::new("libc.so.6")));
        assert!(found.is_none());
        let text = search.to_string();
        assert!(
            text.starts_with("libc.so.6 was loaded: it lacks cuInit, "),
            "{text}"
        );
        assert!(!text.contains("cuMemAdvise"), "hints aren't needed: {text}");
    }
}
