//! The programs of a device: what the source of kernels became.
//!
//! A program is found by the key of its kernel, without an allocation where it is there already.
//! Whoever doesn't find it has it made: from the images on disk, or by the compiler. A source that
//! doesn't compile is remembered as well, so that its kernels are the host's from then on. What is made
//! while others do its work is *ordered*.

mod loaded;
mod store;

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use millpond_hal::DeviceCode;

pub(crate) use loaded::{LoadedEntry, Retired, load};
pub(crate) use store::Store;

use crate::api::{FunctionHandle, ModuleHandle};
use crate::card::{CudaError, Current};
use crate::compiler::{Compiler, Image};
use crate::crew::guard;
use store::Origin;

/// What makes programs: a compiler, and perhaps a folder where images are kept.
pub(crate) struct Workshop {
    pub(crate) compiler: Arc<dyn Compiler>,
    pub(crate) store: Option<Store>,
    /// What went wrong, each a message: sources that don't compile, what a library doesn't take.
    complaints: Mutex<Vec<String>>,
}

/// How many complaints are kept: one source that doesn't compile is seldom the only one.
const COMPLAINTS: usize = 16;

/// Code that was loaded.
pub(crate) struct Program {
    module: ModuleHandle,
    /// The entries that were asked for.
    entries: RwLock<Vec<(&'static str, FunctionHandle)>>,
}

/// A program, or none where there is no image that can be loaded.
type Made = Option<Arc<Program>>;

/// Where the program of a key is, or will be.
#[derive(Default)]
struct Slot {
    made: OnceLock<Made>,
    /// Whether somebody will make it.
    is_ordered: AtomicBool,
    /// Held by who makes it.
    making: Mutex<()>,
}

/// The programs of a device by the keys of their kernels.
#[derive(Default)]
pub(crate) struct Programs(RwLock<HashMap<Box<[u8]>, Arc<Slot>>>);

/// What the programs of code are found by.
pub(crate) fn key(code: &dyn DeviceCode) -> Vec<u8> {
    let mut key = Vec::new();
    code.key(&mut key);
    key
}

impl Workshop {
    pub(crate) fn new(compiler: Arc<dyn Compiler>, store: Option<Store>) -> Self {
        Self {
            compiler,
            store,
            complaints: Mutex::default(),
        }
    }

    pub(crate) fn complain(&self, complaint: String) {
        let mut complaints = self
            .complaints
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if complaints.len() < COMPLAINTS {
            complaints.push(complaint);
        }
    }

    /// What went wrong so far, each a message.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let complaints = self
            .complaints
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        complaints.clone()
    }

    fn origin<'a>(&'a self, source: &'a str, architecture: i32) -> Origin<'a> {
        Origin {
            compiler: self.compiler.identity(),
            architecture,
            source,
        }
    }

    /// The image that is kept of a source.
    fn kept(&self, source: &str, architecture: i32) -> Option<Image> {
        self.store.as_ref()?.load(self.origin(source, architecture))
    }

    /// The image of a source that none is kept of.
    fn compile(&self, source: &str, architecture: i32) -> Option<Image> {
        let origin = self.origin(source, architecture);
        match self.compiler.compile(source, architecture) {
            Ok(image) => {
                if let Some(store) = &self.store {
                    store.keep(origin, &image);
                }
                Some(image)
            }
            Err(error) => {
                self.complain(format!("a kernel doesn't compile: {error}"));
                None
            }
        }
    }
}

impl Programs {
    /// What a key's source became, if that is known.
    pub(crate) fn find(&self, key: &[u8]) -> Option<Made> {
        let programs = self.0.read().unwrap_or_else(PoisonError::into_inner);
        programs.get(key)?.made.get().cloned()
    }

    /// Where the program of a key is, or will be.
    fn slot(&self, key: &[u8]) -> Arc<Slot> {
        let programs = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = programs.get(key) {
            return Arc::clone(slot);
        }
        drop(programs);
        let mut programs = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(programs.entry(key.into()).or_default())
    }

    /// Notes that somebody will make the program of a key; whether nobody would have.
    pub(crate) fn order(&self, key: &[u8]) -> bool {
        !self.slot(key).is_ordered.swap(true, Ordering::Relaxed)
    }

    /// The program of a key, which is made if need be. Without `compiles` it is made of an image that is
    /// kept, which is quick; `None` if there is none, or another thread is making it.
    pub(crate) fn make(
        &self,
        current: &Current<'_>,
        workshop: &Workshop,
        key: &[u8],
        code: &dyn DeviceCode,
        compiles: bool,
    ) -> Option<Made> {
        let slot = self.slot(key);
        slot.is_ordered.fetch_or(compiles, Ordering::Relaxed);
        let _making = if compiles {
            slot.making.lock().unwrap_or_else(PoisonError::into_inner)
        } else {
            // Somebody else may be compiling it.
            slot.making.try_lock().ok()?
        };
        if let Some(made) = slot.made.get() {
            return Some(made.clone());
        }
        let made = match guard(|| Ok(code.source())) {
            Err((_, reason)) => {
                workshop.complain(reason);
                None
            }
            Ok(source) => {
                let architecture = current.architecture();
                let image = match workshop.kept(&source, architecture) {
                    None if compiles => workshop.compile(&source, architecture),
                    None => return None,
                    kept => kept,
                };
                image.and_then(|image| Program::load_or_complain(current, workshop, &image))
            }
        };
        Some(slot.made.get_or_init(|| made).clone())
    }

    /// Unloads all code.
    pub(crate) fn close(&self, current: &Current<'_>) {
        let mut programs = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (_, slot) in programs.drain() {
            if let Some(Some(program)) = slot.made.get() {
                // SAFETY: loaded by `load`, and no launch of it is under way.
                let _ = unsafe { current.api().module_unload(program.module) };
            }
        }
    }
}

impl Program {
    fn load_or_complain(
        current: &Current<'_>,
        workshop: &Workshop,
        image: &Image,
    ) -> Option<Arc<Self>> {
        let program = Self::load(current, image);
        let program = program
            .map_err(|error| workshop.complain(format!("a kernel can't be loaded: {error}")));
        program.ok().map(Arc::new)
    }

    fn load(current: &Current<'_>, image: &Image) -> Result<Self, CudaError> {
        let mut module = ModuleHandle(0);
        // SAFETY: the handle is written to a place of its type; an image is what a compiler made, with
        // a zero behind it.
        let code = unsafe {
            current
                .api()
                .module_load(&raw mut module, image.as_ptr().cast())
        };
        current.check("cuModuleLoadData", code)?;
        Ok(Self {
            module,
            entries: RwLock::default(),
        })
    }

    /// The entry of a name.
    pub(crate) fn entry(
        &self,
        current: &Current<'_>,
        name: &'static str,
    ) -> Result<FunctionHandle, CudaError> {
        let known = |entries: &[(&str, FunctionHandle)]| {
            let entry = entries.iter().find(|(known, _)| *known == name);
            entry.map(|(_, function)| *function)
        };
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = known(&entries) {
            return Ok(function);
        }
        drop(entries);
        let text = CString::new(name).unwrap_or_default();
        let mut function = FunctionHandle(0);
        // SAFETY: the handle is written to a place of its type, and the name ends with a zero.
        let code = unsafe {
            current
                .api()
                .module_function(&raw mut function, self.module, text.as_ptr())
        };
        current.check("cuModuleGetFunction", code)?;
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if known(&entries).is_none() {
            entries.push((name, function));
        }
        Ok(function)
    }
}
