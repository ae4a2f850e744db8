//! What can be asked of programs.

use crate::argument::{In, Out};
use crate::device::Device;
use crate::entry::entry;
use crate::handle::Handle;
use crate::numbers::{BinaryType, BuildStatus, Code, ProgramBuildInfo, ProgramInfo};
use crate::program::Program;
use crate::property::Property;

/// Copies the images to where a list of places says.
fn copy_images(
    program: &Program,
    room: usize,
    value: Out<u8>,
    size: Out<usize>,
) -> crate::argument::Answer {
    let bytes = program.images.len() * size_of::<usize>();
    if value.is_null() && (room != 0 || size.is_null()) {
        return Err(Code::INVALID_NULL_POINTER);
    }
    if !value.is_null() && room < bytes {
        return Err(Code::INVALID_SIZE);
    }
    size.set(bytes);
    if value.is_null() {
        return Ok(());
    }
    let places: In<Out<u8>> = value.reads();
    for (image, place) in program
        .images
        .iter()
        .zip(places.list(program.images.len())?)
    {
        place.set_all(image.bytes.iter().copied());
    }
    Ok(())
}

entry! {
    fn urProgramGetInfo(
        program: Handle<Program>,
        what: ProgramInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let program = program.get()?;
        let property: Property = match what {
            ProgramInfo::REFERENCE_COUNT => program.place.references().into(),
            ProgramInfo::CONTEXT => program.context.handle().into(),
            ProgramInfo::NUM_DEVICES => (program.images.len() as u32).into(),
            ProgramInfo::DEVICES => {
                let devices = program.images.iter().map(|image| image.device.handle());
                devices.collect::<Vec<_>>().as_slice().into()
            }
            ProgramInfo::IL => Property::of_bytes(&[]),
            ProgramInfo::BINARY_SIZES => {
                let sizes = program.images.iter().map(|image| image.bytes.len());
                sizes.collect::<Vec<_>>().as_slice().into()
            }
            ProgramInfo::BINARIES => return copy_images(&program, room, value, size),
            // Drivers needn't tell.
            ProgramInfo::NUM_KERNELS | ProgramInfo::KERNEL_NAMES => {
                return Err(Code::UNSUPPORTED_ENUMERATION);
            }
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    fn urProgramGetBuildInfo(
        program: Handle<Program>,
        device: Handle<Device>,
        what: ProgramBuildInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let program = program.get()?;
        let built = program.image(&device.get()?)?.built();
        let property: Property = match what {
            ProgramBuildInfo::STATUS => built.status.0.into(),
            ProgramBuildInfo::OPTIONS => built.options.as_str().into(),
            ProgramBuildInfo::LOG => built.log.as_str().into(),
            ProgramBuildInfo::BINARY_TYPE if built.status == BuildStatus::SUCCESS => {
                BinaryType::EXECUTABLE.0.into()
            }
            ProgramBuildInfo::BINARY_TYPE => BinaryType::NONE.0.into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }
}
