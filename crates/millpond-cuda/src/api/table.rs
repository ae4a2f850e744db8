//! The one list of the driver's functions.

use std::ffi::{c_char, c_void};

use super::{
    AccessDescription, Code, ContextHandle, EventHandle, FunctionHandle, ModuleHandle, Ordinal,
    PhysicalHandle, PhysicalProperties, Pointer, PoolHandle, PoolPlace, PoolProperties,
    StreamHandle,
};
use crate::table::functions;

functions! {
    /// The driver's functions.
    Api, Table -> Code;
    init = "cuInit" (flags: u32);
    driver_version = "cuDriverGetVersion" (version: *mut i32);
    error_name = "cuGetErrorName" (code: Code, name: *mut *const c_char);
    error_string = "cuGetErrorString" (code: Code, text: *mut *const c_char);

    device_count = "cuDeviceGetCount" (count: *mut i32);
    device = "cuDeviceGet" (device: *mut Ordinal, number: i32);
    device_name = "cuDeviceGetName" (name: *mut c_char, len: i32, device: Ordinal);
    device_memory = "cuDeviceTotalMem_v2" (bytes: *mut usize, device: Ordinal);
    device_attribute = "cuDeviceGetAttribute" (value: *mut i32, attribute: i32, device: Ordinal);
    device_uuid = "cuDeviceGetUuid_v2" (uuid: *mut [u8; 16], device: Ordinal);
    device_bus = "cuDeviceGetPCIBusId" (address: *mut c_char, len: i32, device: Ordinal);
    can_access_peer = "cuDeviceCanAccessPeer" (can: *mut i32, device: Ordinal, peer: Ordinal);

    context_retain = "cuDevicePrimaryCtxRetain" (context: *mut ContextHandle, device: Ordinal);
    context_release = "cuDevicePrimaryCtxRelease_v2" (device: Ordinal);
    context_push = "cuCtxPushCurrent_v2" (context: ContextHandle);
    context_pop = "cuCtxPopCurrent_v2" (context: *mut ContextHandle);
    enable_peer = "cuCtxEnablePeerAccess" (context: ContextHandle, flags: u32);

    memory_info = "cuMemGetInfo_v2" (free: *mut usize, all: *mut usize);
    allocate = "cuMemAlloc_v2" (address: *mut Pointer, bytes: usize);
    free = "cuMemFree_v2" (address: Pointer);
    allocate_host = "cuMemHostAlloc" (address: *mut *mut c_void, bytes: usize, flags: u32);
    free_host = "cuMemFreeHost" (address: *mut c_void);
    allocate_managed = "cuMemAllocManaged" (address: *mut Pointer, bytes: usize, flags: u32);
    pointer_attributes = "cuPointerGetAttributes"
        (count: u32, attributes: *const i32, data: *const *mut c_void, address: Pointer);

    granularity = "cuMemGetAllocationGranularity"
        (bytes: *mut usize, properties: *const PhysicalProperties, option: i32);
    reserve = "cuMemAddressReserve"
        (address: *mut Pointer, bytes: usize, alignment: usize, wanted: Pointer, flags: u64);
    unreserve = "cuMemAddressFree" (address: Pointer, bytes: usize);
    create = "cuMemCreate"
        (memory: *mut PhysicalHandle, bytes: usize, properties: *const PhysicalProperties,
         flags: u64);
    destroy = "cuMemRelease" (memory: PhysicalHandle);
    map = "cuMemMap"
        (address: Pointer, bytes: usize, offset: usize, memory: PhysicalHandle, flags: u64);
    unmap = "cuMemUnmap" (address: Pointer, bytes: usize);
    set_access = "cuMemSetAccess"
        (address: Pointer, bytes: usize, descriptions: *const AccessDescription, count: usize);

    pool_create = "cuMemPoolCreate" (pool: *mut PoolHandle, properties: *const PoolProperties);
    pool_destroy = "cuMemPoolDestroy" (pool: PoolHandle);
    pool_default = "cuDeviceGetDefaultMemPool" (pool: *mut PoolHandle, device: Ordinal);
    pool_attribute = "cuMemPoolGetAttribute"
        (pool: PoolHandle, attribute: i32, value: *mut c_void);
    pool_set_attribute = "cuMemPoolSetAttribute"
        (pool: PoolHandle, attribute: i32, value: *mut c_void);
    pool_set_access = "cuMemPoolSetAccess"
        (pool: PoolHandle, descriptions: *const AccessDescription, count: usize);
    pool_trim = "cuMemPoolTrimTo" (pool: PoolHandle, keep: usize);
    pool_allocate = "cuMemAllocFromPoolAsync"
        (address: *mut Pointer, bytes: usize, pool: PoolHandle, stream: StreamHandle);
    pool_free = "cuMemFreeAsync" (address: Pointer, stream: StreamHandle);
    pool_export = "cuMemPoolExportToShareableHandle"
        (descriptor: *mut i32, pool: PoolHandle, handle_type: i32, flags: u64);
    pool_import = "cuMemPoolImportFromShareableHandle"
        (pool: *mut PoolHandle, descriptor: usize, handle_type: i32, flags: u64);
    pool_export_pointer = "cuMemPoolExportPointer" (place: *mut PoolPlace, address: Pointer);
    pool_import_pointer = "cuMemPoolImportPointer"
        (address: *mut Pointer, pool: PoolHandle, place: *const PoolPlace);

    stream_create = "cuStreamCreate" (stream: *mut StreamHandle, flags: u32);
    stream_destroy = "cuStreamDestroy_v2" (stream: StreamHandle);
    stream_query = "cuStreamQuery" (stream: StreamHandle);
    stream_synchronize = "cuStreamSynchronize" (stream: StreamHandle);
    stream_capturing = "cuStreamIsCapturing" (stream: StreamHandle, status: *mut i32);
    stream_wait = "cuStreamWaitValue64_v2"
        (stream: StreamHandle, address: Pointer, value: u64, flags: u32);
    stream_write = "cuStreamWriteValue64_v2"
        (stream: StreamHandle, address: Pointer, value: u64, flags: u32);

    event_create = "cuEventCreate" (event: *mut EventHandle, flags: u32);
    event_destroy = "cuEventDestroy_v2" (event: EventHandle);
    event_record = "cuEventRecord" (event: EventHandle, stream: StreamHandle);
    event_elapsed = "cuEventElapsedTime"
        (milliseconds: *mut f32, begin: EventHandle, end: EventHandle);

    copy = "cuMemcpyAsync" (dst: Pointer, src: Pointer, bytes: usize, stream: StreamHandle);
    set8 = "cuMemsetD8Async" (dst: Pointer, value: u8, count: usize, stream: StreamHandle);
    set16 = "cuMemsetD16Async" (dst: Pointer, value: u16, count: usize, stream: StreamHandle);
    set32 = "cuMemsetD32Async" (dst: Pointer, value: u32, count: usize, stream: StreamHandle);
    set8_rows = "cuMemsetD2D8Async"
        (dst: Pointer, pitch: usize, value: u8, width: usize, height: usize,
         stream: StreamHandle);
    set16_rows = "cuMemsetD2D16Async"
        (dst: Pointer, pitch: usize, value: u16, width: usize, height: usize,
         stream: StreamHandle);
    set32_rows = "cuMemsetD2D32Async"
        (dst: Pointer, pitch: usize, value: u32, width: usize, height: usize,
         stream: StreamHandle);
    prefetch = "cuMemPrefetchAsync"
        (address: Pointer, bytes: usize, device: Ordinal, stream: StreamHandle);
    module_load = "cuModuleLoadData" (module: *mut ModuleHandle, image: *const c_void);
    module_load_told = "cuModuleLoadDataEx"
        (module: *mut ModuleHandle, image: *const c_void, count: u32, options: *const i32,
         values: *const *mut c_void);
    module_unload = "cuModuleUnload" (module: ModuleHandle);
    module_function = "cuModuleGetFunction"
        (function: *mut FunctionHandle, module: ModuleHandle, name: *const c_char);
    module_variable = "cuModuleGetGlobal_v2"
        (address: *mut Pointer, bytes: *mut usize, module: ModuleHandle, name: *const c_char);
    function_attribute = "cuFuncGetAttribute"
        (value: *mut i32, attribute: i32, function: FunctionHandle);
    set_function_attribute = "cuFuncSetAttribute"
        (function: FunctionHandle, attribute: i32, value: i32);
    function_parameter = "cuFuncGetParamInfo"
        (function: FunctionHandle, index: usize, offset: *mut usize, bytes: *mut usize);
    resident_blocks = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        (blocks: *mut i32, function: FunctionHandle, threads: i32, shared_memory: usize);
    launch = "cuLaunchKernel"
        (function: FunctionHandle, blocks_x: u32, blocks_y: u32, blocks_z: u32, threads_x: u32,
         threads_y: u32, threads_z: u32, shared_memory: u32, stream: StreamHandle,
         parameters: *mut *mut c_void, extra: *mut *mut c_void);
    advise = "cuMemAdvise" (address: Pointer, bytes: usize, advice: i32, device: Ordinal);
}
