//! What can be asked of kernels, and hints about them.

use crate::argument::{In, Out};
use crate::device::Device;
use crate::entry::entry;
use crate::handle::Handle;
use crate::kernel::Kernel;
use crate::numbers::{Code, KernelExecInfo, KernelGroupInfo, KernelInfo};
use crate::property::Property;
use crate::structures::Header;

entry! {
    fn urKernelGetInfo(
        kernel: Handle<Kernel>,
        what: KernelInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let kernel = kernel.get()?;
        let property: Property = match what {
            KernelInfo::FUNCTION_NAME | KernelInfo::ATTRIBUTES => "".into(),
            KernelInfo::NUM_ARGS => kernel.arguments().count().into(),
            KernelInfo::REFERENCE_COUNT => kernel.place.references().into(),
            KernelInfo::CONTEXT => kernel.context.handle().into(),
            KernelInfo::PROGRAM | KernelInfo::NUM_REGS | KernelInfo::SPILL_MEM_SIZE => {
                return Err(Code::UNSUPPORTED_ENUMERATION);
            }
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    /// Groups may have any size, and the memory that their launch gives them.
    fn urKernelGetGroupInfo(
        kernel: Handle<Kernel>,
        device: Handle<Device>,
        what: KernelGroupInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        kernel.get()?.context.device(device)?;
        let property: Property = match what {
            KernelGroupInfo::WORK_GROUP_SIZE => (i32::MAX as usize).into(),
            KernelGroupInfo::COMPILE_WORK_GROUP_SIZE => [0_usize; 3].as_slice().into(),
            KernelGroupInfo::LOCAL_MEM_SIZE | KernelGroupInfo::PRIVATE_MEM_SIZE => 0_usize.into(),
            KernelGroupInfo::PREFERRED_WORK_GROUP_SIZE_MULTIPLE => 1_usize.into(),
            KernelGroupInfo::GLOBAL_WORK_SIZE
            | KernelGroupInfo::COMPILE_MAX_WORK_GROUP_SIZE
            | KernelGroupInfo::COMPILE_MAX_LINEAR_WORK_GROUP_SIZE => {
                return Err(Code::UNSUPPORTED_ENUMERATION);
            }
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    /// Tells which memory a kernel will use, which it may untold.
    fn urKernelSetExecInfo(
        kernel: Handle<Kernel>,
        what: KernelExecInfo,
        _size: usize,
        _properties: In<Header>,
        value: In<u8>,
    ) {
        kernel.get()?;
        if value.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if what > KernelExecInfo::CACHE_CONFIG {
            return Err(Code::INVALID_ENUMERATION);
        }
        Ok(())
    }
}
