//! Programs: images for devices that run code of their own, and texts that their drivers compile.
//!
//! A program has an image for each device that it was made for, and is built when these are loaded. A
//! processor runs no programs: its kernels are functions.

mod info;
mod variables;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::runtime;

use crate::argument::{Answer, In, Out, Text};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::error::code;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{BuildStatus, Code};
use crate::structures::Header;

pub(crate) use info::{urProgramGetBuildInfo, urProgramGetInfo};
pub(crate) use variables::{
    urEnqueueDeviceGlobalVariableRead, urEnqueueDeviceGlobalVariableWrite,
    urProgramGetFunctionPointer, urProgramGetGlobalVariablePointer,
};

/// An entry on each device of a program.
pub(crate) type OnDevices = Vec<(Arc<Device>, Arc<dyn runtime::Entry>)>;

/// A program.
#[derive(Debug)]
pub(crate) struct Program {
    place: Place<Program>,
    context: Arc<Context>,
    images: Vec<Image>,
}

kinds! { Program: INVALID_PROGRAM }

/// A program for one device.
#[derive(Debug)]
struct Image {
    device: Arc<Device>,
    bytes: Box<[u8]>,
    built: Mutex<Built>,
}

/// What became of an image.
#[derive(Debug, Default)]
struct Built {
    status: BuildStatus,
    options: String,
    log: String,
    loaded: Option<Arc<dyn runtime::Program>>,
}

impl Image {
    fn built(&self) -> MutexGuard<'_, Built> {
        self.built.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads it, unless it is loaded.
    fn build(&self, options: &str) -> Answer {
        let mut built = self.built();
        if built.loaded.is_some() {
            return Ok(());
        }
        options.clone_into(&mut built.options);
        // SAFETY: that it is an image or a text was looked at, as far as that can be seen; that an image
        // is whole is the promise of whoever made a program of it.
        match unsafe { self.device.runtime().load(&self.bytes) } {
            Ok(loaded) => {
                built.status = BuildStatus::SUCCESS;
                built.loaded = Some(loaded);
                Ok(())
            }
            Err(error) => {
                built.status = BuildStatus::ERROR;
                built.log = error.to_string();
                match code(&error) {
                    Code::DEVICE_LOST => Err(Code::DEVICE_LOST),
                    _ => Err(Code::PROGRAM_BUILD_FAILURE),
                }
            }
        }
    }

    /// # Errors
    /// An image that wasn't built.
    fn loaded(&self) -> Answer<Arc<dyn runtime::Program>> {
        self.built()
            .loaded
            .clone()
            .ok_or(Code::INVALID_PROGRAM_EXECUTABLE)
    }
}

impl Program {
    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// # Errors
    /// A device that it isn't for.
    fn image(&self, device: &Arc<Device>) -> Answer<&Image> {
        let mut images = self.images.iter();
        let found = images.find(|image| Arc::ptr_eq(&image.device, device));
        found.ok_or(Code::INVALID_DEVICE)
    }

    /// The entry of a name on each device.
    ///
    /// # Errors
    /// A program that wasn't built; a name that it hasn't.
    pub(crate) fn entries(&self, name: &str) -> Answer<OnDevices> {
        let entry = |image: &Image| {
            let entry = image.loaded()?.entry(name);
            let entry = entry.map_err(|error| match code(&error.into()) {
                Code::DEVICE_LOST => Code::DEVICE_LOST,
                _ => Code::INVALID_KERNEL_NAME,
            })?;
            Ok((Arc::clone(&image.device), entry))
        };
        self.images.iter().map(entry).collect()
    }
}

/// Whether bytes are an image of a program, or the text of one.
fn is_image(bytes: &[u8]) -> bool {
    const OBJECT: &[u8] = b"\x7fELF";
    const BUNDLE: &[u8] = &0xba55_ed50_u32.to_le_bytes();
    if bytes.starts_with(OBJECT) || bytes.starts_with(BUNDLE) {
        return true;
    }
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let has = |word: &str| std::str::from_utf8(text).is_ok_and(|text| text.contains(word));
    has(".version") && has(".target")
}

entry! {
    fn urProgramCreateWithBinary(
        context: Handle<Context>,
        count: u32,
        devices: In<Handle<Device>>,
        lengths: In<usize>,
        binaries: In<In<u8>>,
        _properties: In<Header>,
        program: Out<Handle<Program>>,
    ) {
        let context = context.get()?;
        if devices.is_null() || lengths.is_null() || binaries.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        let program = program.required()?;
        let count = count as usize;
        if count == 0 {
            return Err(Code::INVALID_SIZE);
        }
        let parts = devices.list(count)?.iter().zip(lengths.list(count)?).zip(binaries.list(count)?);
        let images = parts.map(|((device, &length), bytes)| {
            let device = context.device(*device)?;
            if bytes.is_null() {
                return Err(Code::INVALID_NULL_POINTER);
            }
            if length == 0 {
                return Err(Code::INVALID_SIZE);
            }
            if device.is_host() {
                return Err(Code::UNSUPPORTED_FEATURE);
            }
            let bytes = bytes.list(length)?;
            if !is_image(bytes) {
                return Err(Code::INVALID_NATIVE_BINARY);
            }
            Ok(Image { device, bytes: bytes.into(), built: Mutex::default() })
        });
        let images = images.collect::<Answer<Vec<_>>>()?;
        program.set(create(|place| Program { place, context, images })?.handle());
        Ok(())
    }

    /// Loads a program on its devices. There are no options, as images are made and drivers are told
    /// nothing of texts; they are kept.
    fn urProgramBuild(context: Handle<Context>, program: Handle<Program>, options: Text) {
        let (context, program) = (context.get()?, program.get()?);
        if !Arc::ptr_eq(&context, &program.context) {
            return Err(Code::INVALID_CONTEXT);
        }
        let options = options.optional().map_or_else(String::new, |text| text.to_string_lossy().into());
        program.images.iter().try_for_each(|image| image.build(&options))
    }

    fn urProgramRetain(program: Handle<Program>) {
        program.retain()
    }

    fn urProgramRelease(program: Handle<Program>) {
        program.release().map(drop)
    }

    fn urProgramGetNativeHandle(program: Handle<Program>, native: Out<usize>) {
        program.get()?;
        native.required()?.set(program.native());
        Ok(())
    }

    fn urProgramCreateWithNativeHandle(
        native: usize,
        context: Handle<Context>,
        _properties: In<Header>,
        program: Out<Handle<Program>>,
    ) {
        context.get()?;
        let program = program.required()?;
        let same = Handle::<Program>::of_native(native);
        same.retain()?;
        program.set(same);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_image;

    #[test]
    fn images_are_told_from_other_bytes() {
        assert!(is_image(b"\x7fELF and more"));
        assert!(is_image(b"\x50\xed\x55\xba"));
        assert!(is_image(b".version 7.0\n.target sm_50\n"));
        assert!(!is_image(b".version 7.0\0.target sm_50"), "it ends before");
        assert!(!is_image(b"#version 450"));
        assert!(!is_image(b""));
    }
}
