//! What makes code of a device from source.
//!
//! The library is NVRTC, CUDA's compiler for use at run time. It is found by `search`, and what is
//! compiled is kept by the programs of a device.

mod library;
mod search;
mod table;

use std::fmt;

pub(crate) use search::search;

/// Code as the driver loads it, with a zero behind it.
pub(crate) type Image = Vec<u8>;

/// What makes code from source.
pub(crate) trait Compiler: Send + Sync {
    /// What images depend on besides the source and the architecture: whoever compiles, and how.
    fn identity(&self) -> &str;

    /// Compiles a source for an architecture, ten times the major number of a compute capability and
    /// the minor.
    ///
    /// # Errors
    /// What the compiler says.
    fn compile(&self, source: &str, architecture: i32) -> Result<Image, CompileError>;
}

/// Why there is no image: the compiler's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompileError(pub(crate) String);

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
