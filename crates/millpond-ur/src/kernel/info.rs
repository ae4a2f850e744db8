//! What can be asked of kernels, and hints about them.

use std::sync::Arc;

use crate::argument::{Answer, In, Out};
use crate::device::Device;
use crate::entry::entry;
use crate::handle::Handle;
use crate::kernel::entries::{Entries, accelerator};
use crate::kernel::{Body, Kernel};
use crate::numbers::{Code, KernelExecInfo, KernelGroupInfo, KernelInfo, KernelSubGroupInfo};
use crate::property::Property;
use crate::structures::Header;

impl Kernel {
    fn entries(&self) -> Option<&Entries> {
        match &self.body {
            Body::Function(_) => None,
            Body::Entries(entries) => Some(entries),
        }
    }
}

/// What is told of the groups of an entry.
fn group(entries: &Entries, device: &Arc<Device>, what: KernelGroupInfo) -> Answer<Property> {
    let (info, known) = (entries.on(device)?.info(), accelerator(device)?);
    Ok(match what {
        KernelGroupInfo::WORK_GROUP_SIZE => (info.block as usize).into(),
        KernelGroupInfo::COMPILE_WORK_GROUP_SIZE => [0_usize; 3].as_slice().into(),
        KernelGroupInfo::LOCAL_MEM_SIZE => (info.shared_memory as usize).into(),
        KernelGroupInfo::PRIVATE_MEM_SIZE => (info.private_memory as usize).into(),
        KernelGroupInfo::PREFERRED_WORK_GROUP_SIZE_MULTIPLE => (known.machine.warp as usize).into(),
        KernelGroupInfo::GLOBAL_WORK_SIZE
        | KernelGroupInfo::COMPILE_MAX_WORK_GROUP_SIZE
        | KernelGroupInfo::COMPILE_MAX_LINEAR_WORK_GROUP_SIZE => {
            return Err(Code::UNSUPPORTED_ENUMERATION);
        }
        _ => return Err(Code::INVALID_ENUMERATION),
    })
}

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
            KernelInfo::FUNCTION_NAME => kernel.entries().map_or("", |entries| &entries.name).into(),
            KernelInfo::ATTRIBUTES => "".into(),
            KernelInfo::NUM_ARGS => {
                let parameters = kernel.entries().and_then(Entries::parameters);
                parameters.map_or_else(|| kernel.arguments().count(), |known| known as u32).into()
            }
            KernelInfo::REFERENCE_COUNT => kernel.place.references().into(),
            KernelInfo::CONTEXT => kernel.context.handle().into(),
            KernelInfo::PROGRAM => {
                let entries = kernel.entries().ok_or(Code::UNSUPPORTED_ENUMERATION)?;
                entries.program.handle().into()
            }
            KernelInfo::NUM_REGS => {
                let entries = kernel.entries().ok_or(Code::UNSUPPORTED_ENUMERATION)?;
                entries.registers().into()
            }
            KernelInfo::SPILL_MEM_SIZE => return Err(Code::UNSUPPORTED_ENUMERATION),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    /// Groups of functions may have any size, and the memory that their launch gives them.
    fn urKernelGetGroupInfo(
        kernel: Handle<Kernel>,
        device: Handle<Device>,
        what: KernelGroupInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let kernel = kernel.get()?;
        let device = kernel.context.device(device)?;
        if let Some(entries) = kernel.entries() {
            return group(entries, &device, what)?.answer(room, value, size);
        }
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

    fn urKernelGetSubGroupInfo(
        kernel: Handle<Kernel>,
        device: Handle<Device>,
        what: KernelSubGroupInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let kernel = kernel.get()?;
        let device = kernel.context.device(device)?;
        let entries = kernel.entries().ok_or(Code::UNSUPPORTED_FEATURE)?;
        let (entry, warp) = (entries.on(&device)?, accelerator(&device)?.machine.warp);
        let property: Property = match what {
            KernelSubGroupInfo::MAX_SUB_GROUP_SIZE => warp.into(),
            KernelSubGroupInfo::MAX_NUM_SUB_GROUPS => entry.info().block.div_ceil(warp.max(1)).into(),
            // Nothing of it was said when it was compiled.
            KernelSubGroupInfo::COMPILE_NUM_SUB_GROUPS | KernelSubGroupInfo::SUB_GROUP_SIZE_INTEL => {
                0_u32.into()
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
