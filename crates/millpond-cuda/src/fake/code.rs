//! Code that the fake driver runs: closures of the tests, by the names of entries.

use std::fmt;
use std::sync::Arc;

/// What an entry was launched with.
#[derive(Clone, Debug)]
pub(crate) struct Launched {
    /// The bytes of its structure.
    pub(crate) arguments: Vec<u8>,
}

impl Launched {
    /// The number at this place among numbers of eight bytes.
    pub(crate) fn number(&self, index: usize) -> usize {
        let bytes = self.arguments[8 * index..8 * index + 8].try_into();
        u64::from_ne_bytes(bytes.expect("eight bytes")) as usize
    }
}

/// What runs in place of an entry.
#[derive(Clone)]
pub(super) struct Entry {
    /// Bytes of its structure.
    pub(super) bytes: usize,
    pub(super) body: Arc<dyn Fn(&Launched) + Send + Sync>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry of {} bytes", self.bytes)
    }
}
