//! Every function of the interface, in the tables in which loaders ask for them.
//!
//! The list below is the one place that knows them. Two generations of loaders are served, which
//! say the same version and have tables of different layouts: `both` is in the tables of either, `old`
//! in those of 2025 and `new` in those of 2026. A function that has no module answers that it isn't
//! supported. No entry is null.

use std::sync::OnceLock;

use crate::argument::Out;
use crate::entry::guarded;
use crate::loader::{self, Generation};
use crate::numbers::{ApiVersion, Code};

/// A function's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Entry(*const ());

// SAFETY: functions are there for all threads, and as long as the process.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

/// Who has a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    Both,
    Only(Generation),
}

impl Rows {
    #[allow(non_upper_case_globals, reason = "words of the list")]
    const both: Self = Self::Both;
    #[allow(non_upper_case_globals, reason = "words of the list")]
    const old: Self = Self::Only(Generation::Of2025);
    #[allow(non_upper_case_globals, reason = "words of the list")]
    const new: Self = Self::Only(Generation::Of2026);

    fn are_in(self, generation: Generation) -> bool {
        self == Self::Both || self == Self::Only(generation)
    }
}

/// A function of a table.
struct Row {
    rows: Rows,
    name: &'static str,
    /// None where it isn't offered.
    entry: Option<Entry>,
}

/// A table.
struct Table {
    name: &'static str,
    rows: &'static [Row],
}

/// What every function is that isn't offered. It looks at none of its arguments, so it may be called
/// with any.
extern "C" fn unsupported() -> Code {
    Code::UNSUPPORTED_FEATURE
}

const UNSUPPORTED: Entry = Entry(unsupported as *const ());

macro_rules! address {
    ($name:ident in $module:ident) => {
        Some(Entry(crate::$module::$name as *const ()))
    };
    ($name:ident) => {
        None
    };
}

macro_rules! tables {
    ($($since:ident $table:ident $getter:ident {
        $($rows:ident $name:ident $(in $module:ident)?,)*
    })*) => {
        /// In the order in which they are parts of the table of all functions.
        const TABLES: &[Table] = &[$(Table {
            name: stringify!($table),
            rows: &[$(Row {
                rows: Rows::$rows,
                name: stringify!($name),
                entry: address!($name $(in $module)?),
            }),*],
        }),*];

        $(
            /// Fills in a loader's table.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the specification's name")]
            extern "C" fn $getter(version: ApiVersion, table: Out<Entry>) -> Code {
                guarded(|| fill(stringify!($table), version, table))
            }
        )*
    };
}

/// The answer of a getter.
fn fill(name: &str, version: ApiVersion, table: Out<Entry>) -> Result<(), Code> {
    let table = table.required()?;
    if version != ApiVersion::CURRENT {
        return Err(Code::UNSUPPORTED_VERSION);
    }
    let generation = loader::generation()?;
    let rows = entries(generation, name);
    if rows.is_empty() {
        return Err(Code::UNSUPPORTED_VERSION);
    }
    table.set_all(rows);
    Ok(())
}

/// The entries of a table.
fn entries(generation: Generation, name: &str) -> Vec<Entry> {
    let named = TABLES.iter().filter(|table| table.name == name);
    let rows = named.flat_map(|table| table.rows);
    rows.filter(|row| row.rows.are_in(generation))
        .map(|row| row.entry.unwrap_or(UNSUPPORTED))
        .collect()
}

/// Every function, by its name; none for what isn't offered.
///
/// For programs that are linked with this library, such as tests, in place of a loader.
pub fn functions_by_name() -> impl Iterator<Item = (&'static str, Option<*const ()>)> {
    let rows = TABLES.iter().flat_map(|table| table.rows);
    rows.map(|row| (row.name, row.entry.map(|entry| entry.0)))
}

/// What is in the newest loaders' tables for a function, or in those of the ones before.
pub fn answer_of(name: &str) -> Option<*const ()> {
    let mut rows = TABLES.iter().flat_map(|table| table.rows);
    let row = rows.find(|row| row.name == name)?;
    Some(row.entry.unwrap_or(UNSUPPORTED).0)
}

/// The tables of the newest loaders, each the names of its functions, in their order.
pub fn newest() -> impl Iterator<Item = impl Iterator<Item = &'static str>> {
    let is_in = |row: &&Row| row.rows.are_in(Generation::Of2026);
    TABLES
        .iter()
        .map(move |table| table.rows.iter().filter(is_in).map(|row| row.name))
}

/// The table of all functions, of which the first word of every handle is the address.
pub(crate) fn functions() -> &'static Entry {
    static ALL: OnceLock<Box<[Entry]>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let generation = loader::generation().unwrap_or(Generation::Of2026);
        let names = TABLES.iter().map(|table| table.name);
        names.flat_map(|name| entries(generation, name)).collect()
    });
    &all[0]
}

tables! {
    both Adapter urGetAdapterProcAddrTable {
        both urAdapterGet in adapter,
        both urAdapterRelease in adapter,
        both urAdapterRetain in adapter,
        both urAdapterGetLastError in adapter,
        both urAdapterGetInfo in adapter,
        both urAdapterSetLoggerCallback in adapter,
        both urAdapterSetLoggerCallbackLevel in adapter,
    }
    both Platform urGetPlatformProcAddrTable {
        both urPlatformGet in platform,
        both urPlatformGetInfo in platform,
        both urPlatformGetNativeHandle in platform,
        both urPlatformCreateWithNativeHandle in platform,
        both urPlatformGetApiVersion in platform,
        both urPlatformGetBackendOption in platform,
    }
    both Context urGetContextProcAddrTable {
        both urContextCreate in context,
        both urContextRetain in context,
        both urContextRelease in context,
        both urContextGetInfo in context,
        both urContextGetNativeHandle in context,
        both urContextCreateWithNativeHandle in context,
        both urContextSetExtendedDeleter in context,
    }
    both Event urGetEventProcAddrTable {
        both urEventGetInfo in event,
        both urEventGetProfilingInfo in event,
        both urEventWait in event,
        both urEventRetain in event,
        both urEventRelease in event,
        both urEventGetNativeHandle in event,
        both urEventCreateWithNativeHandle in event,
        both urEventSetCallback in event,
    }
    new EventExp urGetEventExpProcAddrTable {
        new urEventCreateExp in event,
    }
    both Program urGetProgramProcAddrTable {
        both urProgramCreateWithIL,
        both urProgramCreateWithBinary in program,
        both urProgramBuild in program,
        both urProgramCompile,
        both urProgramLink,
        both urProgramRetain in program,
        both urProgramRelease in program,
        both urProgramGetFunctionPointer in program,
        both urProgramGetGlobalVariablePointer in program,
        both urProgramGetInfo in program,
        both urProgramGetBuildInfo in program,
        both urProgramSetSpecializationConstants,
        both urProgramGetNativeHandle in program,
        both urProgramCreateWithNativeHandle in program,
    }
    both ProgramExp urGetProgramExpProcAddrTable {
        new urProgramDynamicLinkExp,
        both urProgramBuildExp,
        both urProgramCompileExp,
        both urProgramLinkExp,
    }
    both Kernel urGetKernelProcAddrTable {
        both urKernelCreate in kernel,
        both urKernelGetInfo in kernel,
        both urKernelGetGroupInfo in kernel,
        both urKernelGetSubGroupInfo in kernel,
        both urKernelRetain in kernel,
        both urKernelRelease in kernel,
        both urKernelGetNativeHandle in kernel,
        both urKernelCreateWithNativeHandle in kernel,
        both urKernelGetSuggestedLocalWorkSize in kernel,
        old urKernelSetArgValue in kernel,
        old urKernelSetArgLocal in kernel,
        old urKernelSetArgPointer in kernel,
        new urKernelGetSuggestedLocalWorkSizeWithArgs in kernel,
        both urKernelSetExecInfo in kernel,
        old urKernelSetArgSampler,
        old urKernelSetArgMemObj in kernel,
        both urKernelSetSpecializationConstants,
        both urKernelSuggestMaxCooperativeGroupCount in kernel,
    }
    both Queue urGetQueueProcAddrTable {
        both urQueueGetInfo in queue,
        both urQueueCreate in queue,
        both urQueueRetain in queue,
        both urQueueRelease in queue,
        both urQueueGetNativeHandle in queue,
        both urQueueCreateWithNativeHandle in queue,
        both urQueueFinish in queue,
        both urQueueFlush in queue,
    }
    new QueueExp urGetQueueExpProcAddrTable {
        new urQueueBeginGraphCaptureExp,
        new urQueueBeginCaptureIntoGraphExp,
        new urQueueEndGraphCaptureExp,
        new urQueueIsGraphCaptureEnabledExp,
        new urQueueGetGraphExp,
    }
    both Sampler urGetSamplerProcAddrTable {
        both urSamplerCreate,
        both urSamplerRetain,
        both urSamplerRelease,
        both urSamplerGetInfo,
        both urSamplerGetNativeHandle,
        both urSamplerCreateWithNativeHandle,
    }
    both Mem urGetMemProcAddrTable {
        both urMemImageCreate,
        both urMemBufferCreate in buffer,
        both urMemRetain in buffer,
        both urMemRelease in buffer,
        both urMemBufferPartition in buffer,
        both urMemGetNativeHandle in buffer,
        both urMemBufferCreateWithNativeHandle in buffer,
        both urMemImageCreateWithNativeHandle,
        both urMemGetInfo in buffer,
        both urMemImageGetInfo,
    }
    both PhysicalMem urGetPhysicalMemProcAddrTable {
        both urPhysicalMemCreate in virtual_memory,
        both urPhysicalMemRetain in virtual_memory,
        both urPhysicalMemRelease in virtual_memory,
        both urPhysicalMemGetInfo in virtual_memory,
    }
    both Enqueue urGetEnqueueProcAddrTable {
        old urEnqueueKernelLaunch in kernel,
        both urEnqueueEventsWait in barriers,
        both urEnqueueEventsWaitWithBarrier in barriers,
        both urEnqueueMemBufferRead in transfers,
        both urEnqueueMemBufferWrite in transfers,
        both urEnqueueMemBufferReadRect in rectangles,
        both urEnqueueMemBufferWriteRect in rectangles,
        both urEnqueueMemBufferCopy in transfers,
        both urEnqueueMemBufferCopyRect in rectangles,
        both urEnqueueMemBufferFill in transfers,
        both urEnqueueMemImageRead,
        both urEnqueueMemImageWrite,
        both urEnqueueMemImageCopy,
        both urEnqueueMemBufferMap in transfers,
        both urEnqueueMemUnmap in transfers,
        both urEnqueueUSMFill in usm_commands,
        both urEnqueueUSMMemcpy in usm_commands,
        both urEnqueueUSMPrefetch in usm_commands,
        both urEnqueueUSMAdvise in usm_commands,
        both urEnqueueUSMFill2D in usm_commands,
        both urEnqueueUSMMemcpy2D in usm_commands,
        both urEnqueueDeviceGlobalVariableWrite in program,
        both urEnqueueDeviceGlobalVariableRead in program,
        both urEnqueueReadHostPipe,
        both urEnqueueWriteHostPipe,
        both urEnqueueEventsWaitWithBarrierExt in barriers,
    }
    both EnqueueExp urGetEnqueueExpProcAddrTable {
        new urEnqueueKernelLaunchWithArgsExp in kernel,
        both urEnqueueUSMDeviceAllocExp in async_alloc,
        both urEnqueueUSMSharedAllocExp in async_alloc,
        both urEnqueueUSMHostAllocExp in async_alloc,
        both urEnqueueUSMFreeExp in async_alloc,
        old urEnqueueCommandBufferExp in command_buffer,
        both urEnqueueTimestampRecordingExp in host_work,
        new urEnqueueCommandBufferExp in command_buffer,
        old urEnqueueUnnamedExp,
        new urEnqueueHostTaskExp in host_work,
        both urEnqueueNativeCommandExp in host_work,
        new urEnqueueGraphExp,
    }
    both USM urGetUSMProcAddrTable {
        both urUSMHostAlloc in usm,
        both urUSMDeviceAlloc in usm,
        both urUSMSharedAlloc in usm,
        both urUSMFree in usm,
        both urUSMGetMemAllocInfo in usm,
        both urUSMPoolCreate in pool,
        both urUSMPoolRetain in pool,
        both urUSMPoolRelease in pool,
        both urUSMPoolGetInfo in pool,
    }
    both USMExp urGetUSMExpProcAddrTable {
        both urUSMPoolCreateExp in pool,
        both urUSMPoolDestroyExp in pool,
        both urUSMPoolGetDefaultDevicePoolExp in pool,
        both urUSMPoolGetInfoExp in pool,
        both urUSMPoolSetInfoExp in pool,
        both urUSMPoolSetDevicePoolExp in pool,
        both urUSMPoolGetDevicePoolExp in pool,
        both urUSMPoolTrimToExp in pool,
        both urUSMPitchedAllocExp in usm,
        both urUSMContextMemcpyExp in usm,
        new urUSMHostAllocUnregisterExp in host_memory,
        new urUSMHostAllocRegisterExp in host_memory,
        both urUSMImportExp in host_memory,
        both urUSMReleaseExp in host_memory,
    }
    both BindlessImagesExp urGetBindlessImagesExpProcAddrTable {
        both urBindlessImagesUnsampledImageHandleDestroyExp,
        both urBindlessImagesSampledImageHandleDestroyExp,
        both urBindlessImagesImageAllocateExp,
        both urBindlessImagesImageFreeExp,
        both urBindlessImagesUnsampledImageCreateExp,
        both urBindlessImagesSampledImageCreateExp,
        both urBindlessImagesImageCopyExp,
        both urBindlessImagesImageGetInfoExp,
        both urBindlessImagesGetImageMemoryHandleTypeSupportExp,
        both urBindlessImagesGetImageUnsampledHandleSupportExp,
        both urBindlessImagesGetImageSampledHandleSupportExp,
        both urBindlessImagesMipmapGetLevelExp,
        both urBindlessImagesMipmapFreeExp,
        both urBindlessImagesImportExternalMemoryExp,
        both urBindlessImagesMapExternalArrayExp,
        both urBindlessImagesMapExternalLinearMemoryExp,
        both urBindlessImagesReleaseExternalMemoryExp,
        both urBindlessImagesFreeMappedLinearMemoryExp,
        both urBindlessImagesSupportsImportingHandleTypeExp,
        both urBindlessImagesImportExternalSemaphoreExp,
        both urBindlessImagesReleaseExternalSemaphoreExp,
        both urBindlessImagesWaitExternalSemaphoreExp,
        both urBindlessImagesSignalExternalSemaphoreExp,
    }
    both CommandBufferExp urGetCommandBufferExpProcAddrTable {
        both urCommandBufferCreateExp in command_buffer,
        both urCommandBufferRetainExp in command_buffer,
        both urCommandBufferReleaseExp in command_buffer,
        both urCommandBufferFinalizeExp in command_buffer,
        both urCommandBufferAppendKernelLaunchExp in command_buffer,
        new urCommandBufferAppendKernelLaunchWithArgsExp in command_buffer,
        both urCommandBufferAppendUSMMemcpyExp in command_buffer,
        both urCommandBufferAppendUSMFillExp in command_buffer,
        both urCommandBufferAppendMemBufferCopyExp in command_buffer,
        both urCommandBufferAppendMemBufferWriteExp in command_buffer,
        both urCommandBufferAppendMemBufferReadExp in command_buffer,
        both urCommandBufferAppendMemBufferCopyRectExp in command_buffer,
        both urCommandBufferAppendMemBufferWriteRectExp in command_buffer,
        both urCommandBufferAppendMemBufferReadRectExp in command_buffer,
        both urCommandBufferAppendMemBufferFillExp in command_buffer,
        both urCommandBufferAppendUSMPrefetchExp in command_buffer,
        both urCommandBufferAppendUSMAdviseExp in command_buffer,
        both urCommandBufferAppendNativeCommandExp,
        both urCommandBufferUpdateKernelLaunchExp in command_buffer,
        both urCommandBufferUpdateSignalEventExp,
        both urCommandBufferUpdateWaitEventsExp,
        both urCommandBufferGetInfoExp in command_buffer,
        both urCommandBufferGetNativeHandleExp in command_buffer,
    }
    new GraphExp urGetGraphExpProcAddrTable {
        new urGraphCreateExp,
        new urGraphInstantiateGraphExp,
        new urGraphDestroyExp,
        new urGraphExecutableGraphDestroyExp,
        new urGraphIsEmptyExp,
        new urGraphGetIdExp,
        new urGraphSetDestructionCallbackExp,
        new urGraphDumpContentsExp,
        new urGraphGetNativeHandleExp,
        new urGraphExecutableGraphGetNativeHandleExp,
    }
    new IPCExp urGetIPCExpProcAddrTable {
        new urIPCGetMemHandleExp,
        new urIPCPutMemHandleExp,
        new urIPCOpenMemHandleExp,
        new urIPCCloseMemHandleExp,
        new urIPCGetPhysMemHandleExp in virtual_memory,
        new urIPCPutPhysMemHandleExp in virtual_memory,
        new urIPCOpenPhysMemHandleExp in virtual_memory,
        new urIPCClosePhysMemHandleExp in virtual_memory,
        new urIPCGetEventHandleExp,
        new urIPCPutEventHandleExp,
        new urIPCOpenEventHandleExp,
    }
    both MemoryExportExp urGetMemoryExportExpProcAddrTable {
        both urMemoryExportAllocExportableMemoryExp,
        both urMemoryExportFreeExportableMemoryExp,
        both urMemoryExportExportMemoryHandleExp,
    }
    both UsmP2PExp urGetUsmP2PExpProcAddrTable {
        both urUsmP2PEnablePeerAccessExp in peers,
        both urUsmP2PDisablePeerAccessExp in peers,
        both urUsmP2PPeerAccessGetInfoExp in peers,
    }
    both VirtualMem urGetVirtualMemProcAddrTable {
        both urVirtualMemGranularityGetInfo in virtual_memory,
        both urVirtualMemReserve in virtual_memory,
        both urVirtualMemFree in virtual_memory,
        both urVirtualMemMap in virtual_memory,
        both urVirtualMemUnmap in virtual_memory,
        both urVirtualMemSetAccess in virtual_memory,
        both urVirtualMemGetInfo in virtual_memory,
    }
    both Device urGetDeviceProcAddrTable {
        both urDeviceGet in device,
        both urDeviceGetInfo in device,
        both urDeviceRetain in device,
        both urDeviceRelease in device,
        both urDevicePartition in device,
        both urDeviceSelectBinary in device,
        both urDeviceGetNativeHandle in device,
        both urDeviceCreateWithNativeHandle in device,
        both urDeviceGetGlobalTimestamps in device,
    }
    new DeviceExp urGetDeviceExpProcAddrTable {
        new urDeviceWaitExp in device,
    }
}

#[cfg(test)]
mod tests {
    use super::{TABLES, entries, functions_by_name};
    use crate::loader::Generation;

    #[test]
    fn generations_have_their_own_layouts_without_gaps() {
        let sizes = |generation| {
            let sizes = TABLES
                .iter()
                .map(|table| entries(generation, table.name).len());
            sizes.filter(|&size| size > 0).collect::<Vec<_>>()
        };
        let (old, new) = (sizes(Generation::Of2025), sizes(Generation::Of2026));
        // With the entry that loaders of 2025 have and nobody names.
        assert_eq!((old.len(), old.iter().sum::<usize>()), (21, 212));
        assert_eq!((new.len(), new.iter().sum::<usize>()), (26, 241));
    }

    #[test]
    fn what_is_offered_is_in_one_place_of_each_layout() {
        for (name, _) in functions_by_name() {
            for generation in [Generation::Of2025, Generation::Of2026] {
                let rows = TABLES.iter().flat_map(|table| table.rows);
                let same = rows.filter(|row| row.name == name && row.rows.are_in(generation));
                assert!(same.count() <= 1, "{name}");
            }
        }
    }
}
