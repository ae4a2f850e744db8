//! The functions that tests call.

use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

use ur_adapter_millpond::tables;

use super::load;
use super::shapes::{
    Binary, Flags, Handle, KernelArgument, ListDesc, Partition, Region, Triple, Update, UsmDesc,
};

/// A list of events that a command waits for: how many, and where they are.
pub(crate) type List = *const Handle;

macro_rules! functions {
    ($($name:ident($($argument:ty),* $(,)?);)*) => {
        /// The functions, found by name.
        #[allow(non_snake_case, reason = "the specification's names")]
        pub(crate) struct Functions {
            $(pub(crate) $name: extern "C" fn($($argument),*) -> u32,)*
        }

        impl Functions {
            fn find(look: impl Fn(&str) -> Option<*const ()>) -> Self {
                Self {
                    $($name: {
                        let found = look(stringify!($name)).unwrap_or(missing as *const ());
                        // SAFETY: the function of this name has these arguments, and the one that
                        // stands for those that aren't there looks at none. What tests pass are
                        // values of their own, which outlive the call or what it enqueues.
                        unsafe {
                            std::mem::transmute::<*const (), extern "C" fn($($argument),*) -> u32>(found)
                        }
                    },)*
                }
            }
        }
    };
}

/// Stands for functions that a loader hasn't: not supported.
extern "C" fn missing() -> u32 {
    44
}

functions! {
    urAdapterGet(u32, *mut Handle, *mut u32);
    urPlatformGet(Handle, u32, *mut Handle, *mut u32);
    urPlatformGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urDeviceGet(Handle, u32, u32, *mut Handle, *mut u32);
    urDeviceGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urDeviceRelease(Handle);
    urDeviceSelectBinary(Handle, *const Binary, u32, *mut u32);
    urDeviceWaitExp(Handle);
    urDevicePartition(Handle, *const Partition, u32, *mut Handle, *mut u32);
    urDeviceGetGlobalTimestamps(Handle, *mut u64, *mut u64);
    urContextCreate(u32, *const Handle, *const Flags, *mut Handle);
    urContextRelease(Handle);
    urContextGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urContextSetExtendedDeleter(Handle, extern "C" fn(*mut c_void), *mut c_void);
    urQueueCreate(Handle, Handle, *const Flags, *mut Handle);
    urQueueRetain(Handle);
    urQueueRelease(Handle);
    urQueueFinish(Handle);
    urQueueGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urQueueGetNativeHandle(Handle, *const c_void, *mut usize);
    urQueueCreateWithNativeHandle(usize, Handle, Handle, *const c_void, *mut Handle);
    urEventWait(u32, List);
    urEventRelease(Handle);
    urEventGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urEventGetProfilingInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urEventSetCallback(Handle, u32, extern "C" fn(Handle, u32, *mut c_void), *mut c_void);
    urUSMHostAlloc(Handle, *const UsmDesc, Handle, usize, *mut *mut c_void);
    urUSMDeviceAlloc(Handle, Handle, *const UsmDesc, Handle, usize, *mut *mut c_void);
    urUSMSharedAlloc(Handle, Handle, *const UsmDesc, Handle, usize, *mut *mut c_void);
    urUSMFree(Handle, *mut c_void);
    urUSMGetMemAllocInfo(Handle, *const c_void, u32, usize, *mut c_void, *mut usize);
    urUSMPoolCreate(Handle, *const Flags, *mut Handle);
    urUSMPoolRetain(Handle);
    urUSMPoolRelease(Handle);
    urUSMPoolGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urUSMPoolCreateExp(Handle, Handle, *const Flags, *mut Handle);
    urUSMPoolDestroyExp(Handle, Handle, Handle);
    urUSMPoolGetDefaultDevicePoolExp(Handle, Handle, *mut Handle);
    urUSMPoolGetInfoExp(Handle, u32, *mut c_void, *mut usize);
    urUSMPoolSetInfoExp(Handle, u32, *const c_void, usize);
    urUSMPoolSetDevicePoolExp(Handle, Handle, Handle);
    urUSMPoolGetDevicePoolExp(Handle, Handle, *mut Handle);
    urUSMPoolTrimToExp(Handle, Handle, Handle, usize);
    urUSMContextMemcpyExp(Handle, *mut c_void, *const c_void, usize);
    urEnqueueUSMDeviceAllocExp(Handle, Handle, usize, *const Flags, u32, List, *mut *mut c_void, *mut Handle);
    urEnqueueUSMSharedAllocExp(Handle, Handle, usize, *const Flags, u32, List, *mut *mut c_void, *mut Handle);
    urEnqueueUSMHostAllocExp(Handle, Handle, usize, *const Flags, u32, List, *mut *mut c_void, *mut Handle);
    urEnqueueUSMFreeExp(Handle, Handle, *mut c_void, u32, List, *mut Handle);
    urEnqueueUSMFill(Handle, *mut c_void, usize, *const c_void, usize, u32, List, *mut Handle);
    urEnqueueUSMMemcpy(Handle, bool, *mut c_void, *const c_void, usize, u32, List, *mut Handle);
    urEnqueueUSMFill2D(Handle, *mut c_void, usize, usize, *const c_void, usize, usize, u32, List, *mut Handle);
    urEnqueueUSMMemcpy2D(Handle, bool, *mut c_void, usize, *const c_void, usize, usize, usize, u32, List, *mut Handle);
    urEnqueueUSMPrefetch(Handle, *const c_void, usize, u32, u32, List, *mut Handle);
    urEnqueueUSMAdvise(Handle, *const c_void, usize, u32, *mut Handle);
    urEnqueueEventsWait(Handle, u32, List, *mut Handle);
    urEnqueueEventsWaitWithBarrier(Handle, u32, List, *mut Handle);
    urEnqueueHostTaskExp(Handle, extern "C" fn(*mut c_void), *mut c_void, *const Flags, u32, List, *mut Handle);
    urEnqueueNativeCommandExp(Handle, extern "C" fn(Handle, *mut c_void), *mut c_void, u32, List, *const Flags, u32, List, *mut Handle);
    urEnqueueTimestampRecordingExp(Handle, bool, u32, List, *mut Handle);
    urEnqueueEventsWaitWithBarrierExt(Handle, *const Flags, u32, List, *mut Handle);
    urMemGetNativeHandle(Handle, Handle, *mut usize);
    urMemBufferCreateWithNativeHandle(usize, Handle, *const c_void, *mut Handle);
    urMemGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urEventCreateWithNativeHandle(usize, Handle, *const c_void, *mut Handle);
    urEventCreateExp(Handle, Handle, *const Flags, *mut Handle);
    urUSMPitchedAllocExp(Handle, Handle, *const UsmDesc, Handle, usize, usize, usize, *mut *mut c_void, *mut usize);
    urUSMHostAllocRegisterExp(Handle, *mut c_void, usize, *const Flags);
    urUSMHostAllocUnregisterExp(Handle, *mut c_void);
    urUsmP2PEnablePeerAccessExp(Handle, Handle);
    urUsmP2PPeerAccessGetInfoExp(Handle, Handle, u32, usize, *mut c_void, *mut usize);
    urPhysicalMemCreate(Handle, Handle, usize, *const Flags, *mut Handle);
    urPhysicalMemRelease(Handle);
    urVirtualMemGranularityGetInfo(Handle, Handle, usize, u32, usize, *mut c_void, *mut usize);
    urVirtualMemReserve(Handle, *const c_void, usize, *mut *mut c_void);
    urVirtualMemFree(Handle, *const c_void, usize);
    urVirtualMemMap(Handle, *const c_void, usize, Handle, usize, u32);
    urVirtualMemUnmap(Handle, *const c_void, usize);
    urVirtualMemSetAccess(Handle, *const c_void, usize, u32);
    urVirtualMemGetInfo(Handle, *const c_void, usize, u32, usize, *mut c_void, *mut usize);
    urIPCGetPhysMemHandleExp(Handle, Handle, *mut *mut c_void, *mut usize);
    urIPCPutPhysMemHandleExp(Handle, *const c_void);
    urIPCOpenPhysMemHandleExp(Handle, Handle, *const c_void, usize, *mut Handle);
    urIPCClosePhysMemHandleExp(Handle, Handle);
    urProgramCreateWithBinary(Handle, u32, *const Handle, *const usize, *const *const u8, *const c_void, *mut Handle);
    urProgramBuild(Handle, Handle, *const c_char);
    urProgramRelease(Handle);
    urProgramGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urProgramGetBuildInfo(Handle, Handle, u32, usize, *mut c_void, *mut usize);
    urProgramGetFunctionPointer(Handle, Handle, *const c_char, *mut *mut c_void);
    urProgramGetGlobalVariablePointer(Handle, Handle, *const c_char, *mut usize, *mut *mut c_void);
    urEnqueueDeviceGlobalVariableWrite(Handle, Handle, *const c_char, bool, usize, usize, *const c_void, u32, List, *mut Handle);
    urEnqueueDeviceGlobalVariableRead(Handle, Handle, *const c_char, bool, usize, usize, *mut c_void, u32, List, *mut Handle);
    urKernelCreate(Handle, *const c_char, *mut Handle);
    urKernelGetInfo(Handle, u32, usize, *mut c_void, *mut usize);
    urKernelGetSubGroupInfo(Handle, Handle, u32, usize, *mut c_void, *mut usize);
    urKernelSuggestMaxCooperativeGroupCount(Handle, Handle, u32, *const usize, usize, *mut u32);
    urCommandBufferCreateExp(Handle, Handle, *const ListDesc, *mut Handle);
    urCommandBufferReleaseExp(Handle);
    urCommandBufferFinalizeExp(Handle);
    urCommandBufferGetInfoExp(Handle, u32, usize, *mut c_void, *mut usize);
    urEnqueueCommandBufferExp(Handle, Handle, u32, List, *mut Handle);
    urCommandBufferAppendUSMMemcpyExp(Handle, *mut c_void, *const c_void, usize, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendUSMFillExp(Handle, *mut c_void, *const c_void, usize, usize, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendUSMPrefetchExp(Handle, *const c_void, usize, u32, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendUSMAdviseExp(Handle, *const c_void, usize, u32, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendMemBufferCopyExp(Handle, Handle, Handle, usize, usize, usize, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendMemBufferWriteExp(Handle, Handle, usize, usize, *const c_void, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendMemBufferReadExp(Handle, Handle, usize, usize, *mut c_void, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendMemBufferFillExp(Handle, Handle, *const c_void, usize, usize, usize, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendMemBufferReadRectExp(Handle, Handle, Triple, Triple, Triple, usize, usize, usize, usize, *mut c_void, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendKernelLaunchExp(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const Handle, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferAppendKernelLaunchWithArgsExp(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const KernelArgument, u32, *const Handle, u32, *const u32, u32, List, *mut u32, *mut Handle, *mut Handle);
    urCommandBufferUpdateKernelLaunchExp(Handle, u32, *const Update);
    urKernelCreateWithNativeHandle(usize, Handle, Handle, *const c_void, *mut Handle);
    urKernelRelease(Handle);
    urKernelGetGroupInfo(Handle, Handle, u32, usize, *mut c_void, *mut usize);
    urKernelSetArgValue(Handle, u32, usize, *const c_void, *const c_void);
    urKernelSetArgLocal(Handle, u32, usize, *const c_void);
    urKernelSetArgPointer(Handle, u32, *const c_void, *const c_void);
    urKernelSetArgMemObj(Handle, u32, *const c_void, Handle);
    urEnqueueKernelLaunch(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const c_void, u32, List, *mut Handle);
    urEnqueueKernelLaunchWithArgsExp(Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const KernelArgument, *const c_void, u32, List, *mut Handle);
    urMemBufferCreate(Handle, u32, usize, *const c_void, *mut Handle);
    urMemBufferPartition(Handle, u32, u32, *const Region, *mut Handle);
    urMemRelease(Handle);
    urEnqueueMemBufferWrite(Handle, Handle, bool, usize, usize, *const c_void, u32, List, *mut Handle);
    urEnqueueMemBufferRead(Handle, Handle, bool, usize, usize, *mut c_void, u32, List, *mut Handle);
    urEnqueueMemBufferFill(Handle, Handle, *const c_void, usize, usize, usize, u32, List, *mut Handle);
    urEnqueueMemBufferCopy(Handle, Handle, Handle, usize, usize, usize, u32, List, *mut Handle);
    urEnqueueMemBufferReadRect(Handle, Handle, bool, Triple, Triple, Triple, usize, usize, usize, usize, *mut c_void, u32, List, *mut Handle);
    urEnqueueMemBufferMap(Handle, Handle, bool, u32, usize, usize, u32, List, *mut Handle, *mut *mut c_void);
    urEnqueueMemUnmap(Handle, Handle, *mut c_void, u32, List, *mut Handle);
}

impl Functions {
    /// Those of the adapter that is tested.
    pub(crate) fn get() -> &'static Self {
        static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
        FUNCTIONS.get_or_init(|| Self::find(load::adapter()))
    }

    /// One of this package that isn't offered, whatever its arguments are.
    pub(crate) fn named(name: &str) -> extern "C" fn() -> u32 {
        let entry = tables::answer_of(name).expect("a function of a table");
        // SAFETY: what isn't offered looks at no arguments.
        unsafe { std::mem::transmute::<*const (), extern "C" fn() -> u32>(entry) }
    }

    /// Those of this package, without a loader.
    pub(crate) fn own() -> &'static Self {
        static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
        FUNCTIONS.get_or_init(|| Self::find(load::own()))
    }
}
