//! What can go wrong in a command, and how it is told.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of a step.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line could not be understood.
    Usage(String),
    /// A program could not be started.
    Start { program: String, source: io::Error },
    /// A program ran and reported failure.
    Program { line: String, status: String },
    /// A file could not be read or written.
    File { path: PathBuf, source: io::Error },
    /// Something that this machine should have is missing.
    Missing(String),
    /// A check found faults; they have been printed.
    Check(String),
}

impl Failure {
    /// Makes the failure of reading or writing `path`.
    pub(crate) fn file(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::File { path, source }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => write!(out, "{what}; `cargo xtask help` lists the commands"),
            Self::Start { program, source } => write!(out, "cannot start {program}: {source}"),
            Self::Program { line, status } => write!(out, "`{line}` failed: {status}"),
            Self::File { path, source } => write!(out, "{}: {source}", path.display()),
            Self::Missing(what) | Self::Check(what) => write!(out, "{what}"),
        }
    }
}

impl std::error::Error for Failure {}
