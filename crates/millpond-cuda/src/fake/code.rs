//! Code that the fake driver runs: closures of the tests, by the names of entries.

use std::fmt;
use std::sync::Arc;

use super::world::World;
use crate::api::{FunctionHandle, ModuleHandle};

/// What an entry was launched with.
#[derive(Clone, Debug)]
pub(crate) struct Launched {
    /// The bytes of its structure.
    pub(crate) arguments: Vec<u8>,
}

impl Launched {
    /// # Safety
    /// A structure of the entry's bytes lies there.
    pub(super) unsafe fn read(structure: *const u8, entry: &Entry) -> Self {
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(structure, entry.bytes) };
        Self {
            arguments: bytes.to_vec(),
        }
    }

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

impl World {
    /// Loads a program: its source is the names of its entries.
    pub(super) fn load(&mut self, source: &str) -> ModuleHandle {
        let handle = ModuleHandle(self.next());
        self.modules.insert(handle, source.to_owned());
        handle
    }

    /// The entry of a program.
    pub(super) fn find_entry(
        &mut self,
        module: ModuleHandle,
        name: &str,
    ) -> Option<FunctionHandle> {
        let source = self.modules.get(&module)?;
        names(source).find(|entry| *entry == name)?;
        let handle = FunctionHandle(self.next());
        self.functions.insert(handle, name.to_owned());
        Some(handle)
    }

    /// What runs in place of an entry.
    pub(super) fn entry(&self, function: FunctionHandle) -> Option<Entry> {
        self.entries.get(self.functions.get(&function)?).cloned()
    }
}

/// The names in a source.
fn names(source: &str) -> impl Iterator<Item = &str> {
    source.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}
