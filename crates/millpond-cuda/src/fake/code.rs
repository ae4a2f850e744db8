//! Code that the fake driver runs: closures of the tests, by the names of entries.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use super::world::{Kind, World, place};
use crate::api::{FunctionHandle, ModuleHandle, Ordinal, Pointer};

/// What an entry was launched with.
#[derive(Clone, Debug)]
pub(crate) struct Launched {
    /// The bytes of its parameters, each in whole words.
    pub(crate) arguments: Vec<u8>,
    /// Blocks along each axis, and threads of each.
    pub(crate) shape: [[u32; 3]; 2],
    /// Bytes that the threads of a block share.
    pub(crate) shared_memory: u32,
}

impl Launched {
    /// # Safety
    /// There is a pointer for each parameter of the entry, to as many bytes.
    pub(super) unsafe fn read(
        parameters: *const *mut c_void,
        entry: &Entry,
        shape: [[u32; 3]; 2],
        shared_memory: u32,
    ) -> Self {
        let mut arguments = Vec::new();
        for (index, &bytes) in entry.parameters.iter().enumerate() {
            // SAFETY: the caller's promise.
            let parameter = unsafe { parameters.wrapping_add(index).read() }.cast::<u8>();
            // SAFETY: as above.
            arguments.extend_from_slice(unsafe { std::slice::from_raw_parts(parameter, bytes) });
            arguments.resize(arguments.len().next_multiple_of(size_of::<u64>()), 0);
        }
        Self {
            arguments,
            shape,
            shared_memory,
        }
    }

    /// The number at this place among numbers of eight bytes.
    pub(crate) fn number(&self, index: usize) -> usize {
        let bytes = self.arguments[8 * index..8 * index + 8].try_into();
        u64::from_ne_bytes(bytes.expect("eight bytes")) as usize
    }

    /// The memory that a number is the address of.
    pub(crate) fn memory<T>(&self, index: usize) -> *mut T {
        place(self.number(index) as Pointer).cast()
    }
}

/// What runs in place of an entry.
#[derive(Clone)]
pub(super) struct Entry {
    /// The bytes of each parameter.
    pub(super) parameters: Vec<usize>,
    pub(super) body: Arc<dyn Fn(&Launched) + Send + Sync>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry of {:?} bytes", self.parameters)
    }
}

/// Whether a program has something of this name: its source has the word.
fn names(source: &str, name: &str) -> bool {
    let ends = |letter: char| !letter.is_alphanumeric() && letter != '_';
    source.split(ends).any(|word| word == name)
}

impl World {
    /// Loads a program: its source has the names of its entries and variables.
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
        names(source, name).then_some(())?;
        let handle = FunctionHandle(self.next());
        self.functions.insert(handle, name.to_owned());
        Some(handle)
    }

    /// The variable of a program: where it is, and its bytes.
    pub(super) fn find_variable(
        &mut self,
        device: Ordinal,
        module: ModuleHandle,
        name: &str,
    ) -> Option<(Pointer, usize)> {
        let source = self.modules.get(&module)?;
        let bytes = *self.variables.get(name)?;
        names(source, name).then_some(())?;
        let key = (module, name.to_owned());
        if let Some(known) = self.placed.get(&key) {
            return Some((*known, bytes));
        }
        let made = self.add(bytes, 256, Kind::Device(device))?;
        self.placed.insert(key, made);
        Some((made, bytes))
    }

    /// Unloads a program; whether it was there.
    pub(super) fn unload(&mut self, module: ModuleHandle) -> bool {
        let gone: Vec<_> = self.placed.extract_if(|(of, _), _| *of == module).collect();
        for (_, address) in gone {
            self.remove(address);
        }
        self.modules.remove(&module).is_some()
    }

    /// What runs in place of an entry.
    pub(super) fn entry(&self, function: FunctionHandle) -> Option<Entry> {
        self.entries.get(self.functions.get(&function)?).cloned()
    }
}
