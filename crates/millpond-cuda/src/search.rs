//! Finding a library of CUDA's toolkit, and saying what was looked for.
//!
//! The driver comes with the system; what else is used of CUDA may lie in many places. One list of them
//! serves all: where the system's loader looks, the vendor's Python packages, where the toolkit is
//! installed by itself. The user's word goes before all of them.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::tried::Tried;

/// Where systems have the toolkit that the loader doesn't know.
const FOLDER: &str = "/usr/local/cuda/lib64";

/// A library that is looked for.
pub(crate) struct Wanted {
    /// What people call it.
    pub(crate) name: &'static str,
    /// Its file's name, up to the number.
    pub(crate) file: &'static str,
    /// The numbers of its files, the newest first, each with the major version of CUDA that it is of.
    pub(crate) numbers: &'static [(i32, i32)],
    /// The folder that the vendor's Python package for it alone has.
    pub(crate) package: &'static str,
}

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
    /// What was found: its name and version.
    found: Option<(&'static str, Version)>,
}

/// The major and the minor number of a library.
pub(crate) type Version = (i32, i32);

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tried)?;
        match self.found {
            Some((name, (major, minor))) => write!(f, ", {name} {major}.{minor}"),
            None => Ok(()),
        }
    }
}

impl Wanted {
    /// The first library of those that a driver of this version of CUDA (13000 is 13.0) can serve, and
    /// that `load` takes.
    pub(crate) fn find<T>(
        &self,
        places: &Places,
        driver: i32,
        load: impl Fn(&Path) -> Result<(Version, T), String>,
    ) -> (Search, Option<T>) {
        let mut search = Search::default();
        for candidate in self.candidates(places, driver / 1000) {
            match load(&candidate) {
                Ok((version, loaded)) => {
                    search.tried.0.push((candidate, None));
                    search.found = Some((self.name, version));
                    return (search, Some(loaded));
                }
                Err(reason) => search.tried.0.push((candidate, Some(reason))),
            }
        }
        (search, None)
    }

    /// The libraries to try: names for the system's loader, and files that are there.
    fn candidates(&self, places: &Places, newest: i32) -> Vec<PathBuf> {
        if let Some(library) = &places.library {
            return vec![library.clone()];
        }
        let within = |folder: &PathBuf| {
            ["cu13", self.package, "cu12"]
                .map(|package| folder.join("nvidia").join(package).join("lib"))
        };
        let packages = places.packages.iter().flat_map(within);
        let folders: Vec<PathBuf> = packages.chain([PathBuf::from(FOLDER)]).collect();
        let mut candidates: Vec<PathBuf> = Vec::new();
        for (_, number) in self.numbers.iter().filter(|(cuda, _)| *cuda <= newest) {
            let name = format!("{}.{number}", self.file);
            candidates.push(PathBuf::from(&name));
            let files = folders.iter().map(|folder| folder.join(&name));
            for file in files.filter(|file| file.exists()) {
                if !candidates.contains(&file) {
                    candidates.push(file);
                }
            }
        }
        candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted {
        name: "Abacus",
        file: "libabacus.so",
        numbers: &[(13, 12), (12, 11)],
        package: "abacus",
    };

    #[test]
    fn no_library_is_newer_than_the_driver() {
        let names = |newest| WANTED.candidates(&Places::default(), newest);
        assert_eq!(names(12), [PathBuf::from("libabacus.so.11")]);
        assert_eq!(
            names(13),
            ["libabacus.so.12", "libabacus.so.11"].map(PathBuf::from)
        );
    }

    #[test]
    fn packages_of_the_vendor_are_searched_and_the_first_that_loads_is_taken() {
        let folder = std::env::temp_dir().join(format!("millpond-search-{}", std::process::id()));
        let library = folder.join("nvidia/abacus/lib/libabacus.so.11");
        std::fs::create_dir_all(library.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&library, "").expect("it can be written");
        let places = Places {
            library: None,
            packages: vec![folder.clone()],
        };
        let (search, found) = WANTED.find(&places, 13_000, |path| {
            if path == library {
                Ok(((11, 4), path.to_owned()))
            } else {
                Err("it isn't there".to_owned())
            }
        });
        std::fs::remove_dir_all(&folder).expect("it was made");
        assert_eq!(found.as_ref(), Some(&library));
        let wanted = format!(
            "libabacus.so.12: it isn't there; libabacus.so.11: it isn't there; {} was loaded, \
             Abacus 11.4",
            library.display()
        );
        assert_eq!(search.to_string(), wanted);
    }

    #[test]
    fn the_users_word_goes_before_all() {
        let places = Places {
            library: Some(PathBuf::from("/nowhere/libabacus.so")),
            packages: vec![PathBuf::from("/")],
        };
        let none = |_: &Path| Err::<(Version, ()), _>("it isn't there".to_owned());
        let (search, found) = WANTED.find(&places, 13_000, none);
        assert_eq!(found, None);
        let wanted = "not found: /nowhere/libabacus.so: it isn't there";
        assert_eq!(search.to_string(), wanted);
    }
}
