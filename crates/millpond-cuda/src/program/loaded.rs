//! Programs that were compiled elsewhere, and their entries.
//!
//! What nobody holds any more is unloaded when the next program is loaded, or with the device: not where
//! the last handle is dropped, which may be under a lock of a queue.

use std::any::Any;
use std::ffi::{CStr, CString, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use millpond_hal::Address;
use millpond_hal::{DeviceError, Entry, EntryInfo, Grid, Program};
use smallvec::SmallVec;

use crate::api::{Code, FunctionHandle, ModuleHandle, StreamHandle, function, loading};
use crate::card::{CudaError, Current};
use crate::station::Station;

/// Bytes of what the driver says of a text that it can't compile.
const WORDS: usize = 8 << 10;

/// Bytes that the threads of a block may share without asking for it.
const UNASKED: u32 = 48 << 10;

/// Programs that nobody holds any more.
#[derive(Default)]
pub(crate) struct Retired(Mutex<Vec<ModuleHandle>>);

impl Retired {
    /// Unloads them. Whoever launched an entry held it until it had ended.
    pub(crate) fn unload(&self, current: &Current<'_>) {
        let mut retired = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for module in retired.drain(..) {
            // SAFETY: loaded by `load`, and nobody has it.
            let _ = unsafe { current.api().module_unload(module) };
        }
    }
}

/// A program.
pub(crate) struct Loaded {
    module: ModuleHandle,
    station: Arc<Station>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let retired = &self.station.retired.0;
        let mut retired = retired.lock().unwrap_or_else(PoisonError::into_inner);
        retired.push(self.module);
    }
}

/// An entry of a program.
pub(crate) struct LoadedEntry {
    function: FunctionHandle,
    info: EntryInfo,
    program: Arc<Loaded>,
}

/// Loads an image, or a text that the driver compiles.
///
/// # Safety
/// It is one, and a text ends before its first zero.
pub(crate) unsafe fn load(
    station: &Arc<Station>,
    image: &[u8],
) -> Result<Arc<dyn Program>, DeviceError> {
    let refuse = |error: &CudaError| station.card.refusal("load", error);
    let current = station.card.enter().map_err(|error| refuse(&error))?;
    station.retired.unload(&current);
    // Texts end with a zero.
    let image = [image, &[0]].concat();
    let mut words = vec![0_u8; WORDS];
    let options = [loading::ERRORS, loading::ERRORS_BYTES];
    let values = [
        words.as_mut_ptr().cast::<c_void>(),
        std::ptr::without_provenance_mut(WORDS - 1),
    ];
    let mut module = ModuleHandle(0);
    // SAFETY: the handle is written to a place of its type, words to as many bytes as are said; the image
    // is one by the caller's promise, with a zero behind it.
    let code = unsafe {
        current.api().module_load_told(
            &raw mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_ptr(),
            values.as_ptr(),
        )
    };
    current.check("cuModuleLoadDataEx", code).map_err(|error| {
        let told = CStr::from_bytes_until_nul(&words).unwrap_or_default();
        match (refuse(&error), told.to_string_lossy().trim()) {
            (DeviceError::Invalid { call, reason }, told) if !told.is_empty() => {
                let reason = format!("{reason}: {told}");
                DeviceError::Invalid { call, reason }
            }
            (error, _) => error,
        }
    })?;
    let station = Arc::clone(station);
    Ok(Arc::new(Handle(Arc::new(Loaded { module, station }))))
}

/// What callers hold of a program.
struct Handle(Arc<Loaded>);

impl Loaded {
    fn refuse(&self, name: &str, error: &CudaError) -> DeviceError {
        match self.station.card.refusal("entry", error) {
            DeviceError::Invalid { call, reason } => DeviceError::Invalid {
                call,
                reason: format!("{name}: {reason}"),
            },
            lost => lost,
        }
    }
}

impl Program for Handle {
    fn entry(&self, name: &str) -> Result<Arc<dyn Entry>, DeviceError> {
        let program = &self.0;
        let find = || {
            let current = program.station.card.enter()?;
            let text = CString::new(name).unwrap_or_default();
            let mut function = FunctionHandle(0);
            // SAFETY: the handle is written to a place of its type, and the name ends with a zero.
            let code = unsafe {
                current
                    .api()
                    .module_function(&raw mut function, program.module, text.as_ptr())
            };
            current.check("cuModuleGetFunction", code)?;
            Ok((function, info(&current, name, function)?))
        };
        let (function, info) = find().map_err(|error| program.refuse(name, &error))?;
        let program = Arc::clone(program);
        Ok(Arc::new(LoadedEntry {
            function,
            info,
            program,
        }))
    }

    fn variable(&self, name: &str) -> Result<(Address, usize), DeviceError> {
        let program = &self.0;
        let find = || {
            let current = program.station.card.enter()?;
            let text = CString::new(name).unwrap_or_default();
            let (mut address, mut bytes) = (0, 0);
            // SAFETY: both are written to places of their types, and the name ends with a zero.
            let code = unsafe {
                current.api().module_variable(
                    &raw mut address,
                    &raw mut bytes,
                    program.module,
                    text.as_ptr(),
                )
            };
            current.check("cuModuleGetGlobal", code)?;
            Ok((Address::new(address as usize), bytes))
        };
        find().map_err(|error| program.refuse(name, &error))
    }
}

/// What the driver knows of an entry.
fn info(current: &Current<'_>, name: &str, entry: FunctionHandle) -> Result<EntryInfo, CudaError> {
    let ask = |attribute| {
        let mut value = 0;
        // SAFETY: the value is written to a place of its type.
        let code = unsafe {
            current
                .api()
                .function_attribute(&raw mut value, attribute, entry)
        };
        current.check("cuFuncGetAttribute", code)?;
        Ok::<_, CudaError>(value.max(0) as u32)
    };
    Ok(EntryInfo {
        name: name.to_owned(),
        block: ask(function::BLOCK)?,
        shared_memory: ask(function::SHARED_MEMORY)?,
        private_memory: ask(function::PRIVATE_MEMORY)?,
        registers: ask(function::REGISTERS)?,
        parameters: parameters(current, entry),
    })
}

/// The bytes of each parameter, unless the driver doesn't tell.
fn parameters(current: &Current<'_>, entry: FunctionHandle) -> Option<Vec<usize>> {
    let mut parameters = Vec::new();
    loop {
        let (mut offset, mut bytes) = (0, 0);
        // SAFETY: both are written to places of their type; an index behind the last is an answer.
        let code = unsafe {
            current.api().function_parameter(
                entry,
                parameters.len(),
                &raw mut offset,
                &raw mut bytes,
            )
        };
        match code {
            Code::SUCCESS => parameters.push(bytes),
            Code::MISSING => return None,
            _ => return Some(parameters),
        }
    }
}

impl LoadedEntry {
    /// The entry, if it is one of this device's.
    pub(crate) fn of<'a>(entry: &'a dyn Entry, station: &Station) -> Option<&'a Self> {
        let entry: &dyn Any = entry;
        let entry = entry.downcast_ref::<Self>()?;
        Arc::ptr_eq(&entry.program.station.card, &station.card).then_some(entry)
    }

    /// Gives a launch to a stream.
    pub(crate) fn give(
        &self,
        current: &Current<'_>,
        stream: StreamHandle,
        grid: &Grid,
    ) -> Result<(), CudaError> {
        let Self { function, .. } = *self;
        if grid.shared_memory > UNASKED {
            let bytes = grid.shared_memory as i32;
            // SAFETY: a limit, which the driver checks.
            let code = unsafe {
                current
                    .api()
                    .set_function_attribute(function, function::MOST_SHARED_MEMORY, bytes)
            };
            current.check("cuFuncSetAttribute", code)?;
        }
        let mut arguments = grid.arguments.clone();
        let places = arguments.iter_mut().map(|bytes| bytes.as_mut_ptr().cast());
        let mut places: SmallVec<[*mut c_void; 8]> = places.collect();
        let ([x, y, z], [tx, ty, tz]) = (grid.blocks, grid.threads);
        // SAFETY: a place for each parameter with as many bytes as it has, by the submitter's promise,
        // who answers for what the entry uses as well (A1 to A3).
        let code = unsafe {
            current.api().launch(
                function,
                x,
                y,
                z,
                tx,
                ty,
                tz,
                grid.shared_memory,
                stream,
                places.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        current.check("cuLaunchKernel", code)
    }
}

impl Entry for LoadedEntry {
    fn info(&self) -> &EntryInfo {
        &self.info
    }

    fn resident_blocks(&self, threads: u32, shared_memory: u32) -> Result<u32, DeviceError> {
        let ask = || {
            let current = self.program.station.card.enter()?;
            let mut blocks = 0;
            // SAFETY: the number is written to a place of its type.
            let code = unsafe {
                current.api().resident_blocks(
                    &raw mut blocks,
                    self.function,
                    threads as i32,
                    shared_memory as usize,
                )
            };
            current.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
            Ok(blocks.max(0) as u32)
        };
        ask().map_err(|error| self.program.refuse(&self.info.name, &error))
    }
}
