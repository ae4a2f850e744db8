//! The libraries that there are, each looked for when it is first wanted.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use libloading::Library;

use super::Status;
use super::blas::{self, Blas};
use super::fft::{self, Fft};
use super::solver::{self, Solver};
use crate::search::{Places, Search, Version};
use crate::tried::reason_of;

/// What looking for a library came to.
type Outcome<T> = (Search, Option<Arc<T>>);

/// What is known of a library.
pub(crate) enum Known<'a, T: ?Sized> {
    There(&'a Arc<T>),
    Missing,
    /// Nobody has looked for it.
    NotYet,
}

/// A library, or the place where it will be.
pub(crate) struct Shelf<T: ?Sized> {
    /// What people call it.
    name: &'static str,
    look: Box<dyn Fn() -> Outcome<T> + Send + Sync>,
    found: OnceLock<Outcome<T>>,
}

impl<T: ?Sized> Shelf<T> {
    pub(crate) fn new(
        name: &'static str,
        look: impl Fn() -> Outcome<T> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            look: Box::new(look),
            found: OnceLock::new(),
        }
    }

    fn outcome(&self) -> &Outcome<T> {
        self.found.get_or_init(&self.look)
    }

    /// The library, which is loaded if need be; that takes a while.
    pub(crate) fn library(&self) -> Option<&Arc<T>> {
        self.outcome().1.as_ref()
    }

    /// The library, as far as it is known whether there is one.
    pub(crate) fn known(&self) -> Known<'_, T> {
        match self.found.get() {
            Some((_, Some(library))) => Known::There(library),
            Some((_, None)) => Known::Missing,
            None => Known::NotYet,
        }
    }

    /// Its name, and what was looked for and what became of it.
    pub(crate) fn report(&self) -> (&'static str, String) {
        (self.name, self.outcome().0.to_string())
    }
}

/// The libraries.
pub(crate) struct Libraries {
    pub(crate) blas: Shelf<dyn Blas>,
    pub(crate) fft: Shelf<dyn Fft>,
    pub(crate) solver: Shelf<dyn Solver>,
}

impl Libraries {
    /// Those for a driver of a version of CUDA, in folders of packages or where the user says, for each
    /// of them in this order.
    pub(crate) fn new(users: [Option<PathBuf>; 3], packages: &[PathBuf], driver: i32) -> Self {
        let [blas, fft, solver] = users.map(|library| Places {
            library,
            packages: packages.to_vec(),
        });
        Self {
            blas: Shelf::new(blas::NAME, move || blas::search(&blas, driver)),
            fft: Shelf::new(fft::NAME, move || fft::search(&fft, driver)),
            solver: Shelf::new(solver::NAME, move || solver::search(&solver, driver)),
        }
    }

    /// No libraries.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self::of(None, None, None)
    }

    /// Libraries that are there.
    #[cfg(test)]
    pub(crate) fn of(
        blas: Option<Arc<dyn Blas>>,
        fft: Option<Arc<dyn Fft>>,
        solver: Option<Arc<dyn Solver>>,
    ) -> Self {
        Self {
            blas: Shelf::new(blas::NAME, move || (Search::default(), blas.clone())),
            fft: Shelf::new(fft::NAME, move || (Search::default(), fft.clone())),
            solver: Shelf::new(solver::NAME, move || (Search::default(), solver.clone())),
        }
    }

    /// What was looked for and what became of it, for each.
    pub(crate) fn reports(&self) -> Vec<(&'static str, String)> {
        vec![self.blas.report(), self.fft.report(), self.solver.report()]
    }
}

/// Loads the library of a path, fills the table of its functions, and asks for its version by the
/// function that tells the parts of it.
pub(super) fn load<T>(
    path: &Path,
    fill: unsafe fn(Library) -> (T, Vec<&'static str>),
    property: unsafe fn(&T, i32, *mut i32) -> Status,
) -> Result<(Version, T), String> {
    // SAFETY: loading runs the initialisers of the library. The names are those of CUDA's
    // libraries; a path is the user's word that it is one.
    let library = unsafe { Library::new(path) }.map_err(|error| reason_of(&error))?;
    // SAFETY: as above.
    let (table, missing) = unsafe { fill(library) };
    if !missing.is_empty() {
        return Err(format!("it lacks {}", missing.join(", ")));
    }
    let mut parts = [0; 2];
    for (part, number) in parts.iter_mut().enumerate() {
        // SAFETY: the number is written to a place of its type.
        let status = unsafe { property(&table, part as i32, number) };
        if status != Status::SUCCESS {
            return Err(format!("it doesn't tell its version: {status}"));
        }
    }
    Ok(((parts[0], parts[1]), table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_something_else_is_told_by_what_it_lacks() {
        let libc = || Some(PathBuf::from("libc.so.6"));
        let libraries = Libraries::new([libc(), libc(), libc()], &[], 13_000);
        assert!(matches!(libraries.blas.known(), Known::NotYet));
        let reports = libraries.reports();
        assert!(matches!(libraries.blas.known(), Known::Missing));
        for ((name, report), (wanted, lacks)) in reports.iter().zip([
            (blas::NAME, "cublasGetProperty"),
            (fft::NAME, "cufftGetProperty"),
            (solver::NAME, "cusolverGetProperty"),
        ]) {
            assert_eq!(*name, wanted);
            assert!(
                report.starts_with(&format!("not found: libc.so.6: it lacks {lacks}, ")),
                "{report}"
            );
        }
    }
}
