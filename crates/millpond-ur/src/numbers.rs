//! The interface's numbers: results, properties, flags and types of structures, as the public
//! specification of Unified Runtime lists them. Only those that are used here.
//!
//! A number that C passes may be any, so each list is a number with names rather than an `enum`.

/// Lists of named numbers.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident { $($number:ident = $value:expr),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        #[allow(missing_docs, reason = "the specification's own names")]
        impl $name {
            $(pub const $number: Self = Self($value);)*
        }
    )*};
}

numbers! {
    /// How a call ended.
    Code {
        SUCCESS = 0, INVALID_OPERATION = 1, INVALID_QUEUE_PROPERTIES = 2, INVALID_QUEUE = 3,
        INVALID_VALUE = 4, INVALID_CONTEXT = 5, INVALID_PLATFORM = 6, INVALID_BINARY = 7, INVALID_PROGRAM = 8,
        INVALID_BUFFER_SIZE = 10, INVALID_MEM_OBJECT = 11, INVALID_EVENT = 12,
        INVALID_EVENT_WAIT_LIST = 13, MISALIGNED_SUB_BUFFER_OFFSET = 14,
        INVALID_WORK_GROUP_SIZE = 15,
        PROFILING_INFO_NOT_AVAILABLE = 17, DEVICE_NOT_FOUND = 18, INVALID_DEVICE = 19,
        DEVICE_LOST = 20, DEVICE_PARTITION_FAILED = 23, INVALID_DEVICE_PARTITION_COUNT = 24,
        INVALID_WORK_DIMENSION = 26, INVALID_KERNEL_ARGS = 27, INVALID_KERNEL = 28, INVALID_KERNEL_NAME = 29,
        INVALID_KERNEL_ARGUMENT_INDEX = 30, INVALID_KERNEL_ARGUMENT_SIZE = 31,
        INVALID_PROGRAM_EXECUTABLE = 36, PROGRAM_BUILD_FAILURE = 41, INVALID_NATIVE_BINARY = 56,
        FUNCTION_ADDRESS_NOT_AVAILABLE = 58,
        UNINITIALIZED = 37, OUT_OF_HOST_MEMORY = 38, OUT_OF_DEVICE_MEMORY = 39,
        OUT_OF_RESOURCES = 40, UNSUPPORTED_VERSION = 43, UNSUPPORTED_FEATURE = 44,
        INVALID_ARGUMENT = 45, INVALID_NULL_HANDLE = 46, HANDLE_OBJECT_IN_USE = 47,
        INVALID_NULL_POINTER = 48, INVALID_SIZE = 49, UNSUPPORTED_ALIGNMENT = 51,
        INVALID_ENUMERATION = 53, UNSUPPORTED_ENUMERATION = 54, INVALID_HOST_PTR = 63,
        INVALID_USM_SIZE = 64, ADAPTER_SPECIFIC = 66, IN_EVENT_LIST_EXEC_STATUS = 68,
        INVALID_COMMAND_BUFFER_EXP = 0x1000, INVALID_COMMAND_BUFFER_SYNC_POINT_EXP = 0x1001,
        INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP = 0x1002,
        INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP = 0x1003,
    }

    /// What a structure in a chain is.
    StructureType {
        CONTEXT_PROPERTIES = 0, BUFFER_PROPERTIES = 2, BUFFER_REGION = 3, USM_DESC = 7,
        USM_HOST_DESC = 8, USM_DEVICE_DESC = 9, USM_POOL_DESC = 10, USM_POOL_LIMITS_DESC = 11,
        QUEUE_PROPERTIES = 14, QUEUE_INDEX_PROPERTIES = 15, USM_ALLOC_LOCATION_DESC = 35,
        USM_POOL_BUFFER_DESC = 36, PHYSICAL_MEM_PROPERTIES = 37, EXP_COMMAND_BUFFER_DESC = 0x1000,
        EXP_ASYNC_USM_ALLOC_PROPERTIES = 0x2050,
    }

    /// The interface's version: two numbers of 16 bits.
    ApiVersion { CURRENT = 12 }

    /// A kind of driver.
    Backend { CUDA = 3, NATIVE_CPU = 5 }

    /// What can be asked of an adapter.
    AdapterInfo { BACKEND = 0, REFERENCE_COUNT = 1, VERSION = 2 }

    /// How much is logged.
    LoggerLevel { QUIET = 4 }

    /// What can be asked of a platform.
    PlatformInfo {
        NAME = 1, VENDOR_NAME = 2, VERSION = 3, EXTENSIONS = 4, PROFILE = 5, BACKEND = 6,
        ADAPTER = 7,
    }

    /// A class of devices.
    DeviceType {
        DEFAULT = 1, ALL = 2, GPU = 3, CPU = 4, FPGA = 5, MCA = 6, VPU = 7, CUSTOM = 8,
    }

    /// What can be asked of a device.
    DeviceInfo {
        TYPE = 0, VENDOR_ID = 1, DEVICE_ID = 2, MAX_COMPUTE_UNITS = 3,
        MAX_WORK_ITEM_DIMENSIONS = 4, MAX_WORK_ITEM_SIZES = 5, MAX_WORK_GROUP_SIZE = 6,
        SINGLE_FP_CONFIG = 7, HALF_FP_CONFIG = 8, DOUBLE_FP_CONFIG = 9, QUEUE_PROPERTIES =
        10, PREFERRED_VECTOR_WIDTH_CHAR = 11, PREFERRED_VECTOR_WIDTH_SHORT = 12,
        PREFERRED_VECTOR_WIDTH_INT = 13, PREFERRED_VECTOR_WIDTH_LONG = 14,
        PREFERRED_VECTOR_WIDTH_FLOAT = 15, PREFERRED_VECTOR_WIDTH_DOUBLE = 16,
        PREFERRED_VECTOR_WIDTH_HALF = 17, NATIVE_VECTOR_WIDTH_CHAR = 18,
        NATIVE_VECTOR_WIDTH_SHORT = 19, NATIVE_VECTOR_WIDTH_INT = 20,
        NATIVE_VECTOR_WIDTH_LONG = 21, NATIVE_VECTOR_WIDTH_FLOAT = 22,
        NATIVE_VECTOR_WIDTH_DOUBLE = 23, NATIVE_VECTOR_WIDTH_HALF = 24, MAX_CLOCK_FREQUENCY
        = 25, MEMORY_CLOCK_RATE = 26, ADDRESS_BITS = 27, MAX_MEM_ALLOC_SIZE = 28,
        IMAGE_SUPPORT = 29, MAX_READ_IMAGE_ARGS = 30, MAX_WRITE_IMAGE_ARGS = 31,
        MAX_READ_WRITE_IMAGE_ARGS = 32, IMAGE2D_MAX_WIDTH = 33, IMAGE2D_MAX_HEIGHT = 34,
        IMAGE3D_MAX_WIDTH = 35, IMAGE3D_MAX_HEIGHT = 36, IMAGE3D_MAX_DEPTH = 37,
        IMAGE_MAX_BUFFER_SIZE = 38, IMAGE_MAX_ARRAY_SIZE = 39, MAX_SAMPLERS = 40,
        MAX_PARAMETER_SIZE = 41, MEM_BASE_ADDR_ALIGN = 42, GLOBAL_MEM_CACHE_TYPE = 43,
        GLOBAL_MEM_CACHELINE_SIZE = 44, GLOBAL_MEM_CACHE_SIZE = 45, GLOBAL_MEM_SIZE = 46,
        GLOBAL_MEM_FREE = 47, MAX_CONSTANT_BUFFER_SIZE = 48, MAX_CONSTANT_ARGS = 49,
        LOCAL_MEM_TYPE = 50, LOCAL_MEM_SIZE = 51, ERROR_CORRECTION_SUPPORT = 52,
        HOST_UNIFIED_MEMORY = 53, PROFILING_TIMER_RESOLUTION = 54, ENDIAN_LITTLE = 55,
        AVAILABLE = 56, COMPILER_AVAILABLE = 57, LINKER_AVAILABLE = 58,
        EXECUTION_CAPABILITIES = 59, QUEUE_ON_DEVICE_PROPERTIES = 60,
        QUEUE_ON_HOST_PROPERTIES = 61, BUILT_IN_KERNELS = 62, PLATFORM = 63, REFERENCE_COUNT
        = 64, IL_VERSION = 65, NAME = 66, VENDOR = 67, DRIVER_VERSION = 68, PROFILE = 69,
        VERSION = 70, BACKEND_RUNTIME_VERSION = 71, EXTENSIONS = 72, PRINTF_BUFFER_SIZE =
        73, PREFERRED_INTEROP_USER_SYNC = 74, PARENT_DEVICE = 75, SUPPORTED_PARTITIONS = 76,
        PARTITION_MAX_SUB_DEVICES = 77, PARTITION_AFFINITY_DOMAIN = 78, PARTITION_TYPE = 79,
        MAX_NUM_SUB_GROUPS = 80, SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS = 81,
        SUB_GROUP_SIZES_INTEL = 82, USM_HOST_SUPPORT = 83, USM_DEVICE_SUPPORT = 84,
        USM_SINGLE_SHARED_SUPPORT = 85, USM_CROSS_SHARED_SUPPORT = 86,
        USM_SYSTEM_SHARED_SUPPORT = 87, UUID = 88, PCI_ADDRESS = 89, GPU_EU_COUNT = 90,
        GPU_EU_SIMD_WIDTH = 91, GPU_EU_SLICES = 92, GPU_EU_COUNT_PER_SUBSLICE = 93,
        GPU_SUBSLICES_PER_SLICE = 94, GPU_HW_THREADS_PER_EU = 95, MAX_MEMORY_BANDWIDTH = 96,
        IMAGE_SRGB = 97, BUILD_ON_SUBDEVICE = 98, ATOMIC_64 = 99,
        ATOMIC_MEMORY_ORDER_CAPABILITIES = 100, ATOMIC_MEMORY_SCOPE_CAPABILITIES = 101,
        ATOMIC_FENCE_ORDER_CAPABILITIES = 102, ATOMIC_FENCE_SCOPE_CAPABILITIES = 103,
        BFLOAT16 = 104, MAX_COMPUTE_QUEUE_INDICES = 105, KERNEL_SET_SPECIALIZATION_CONSTANTS
        = 106, MEMORY_BUS_WIDTH = 107, MAX_WORK_GROUPS_3D = 108, ASYNC_BARRIER = 109,
        MEM_CHANNEL_SUPPORT = 110, HOST_PIPE_READ_WRITE_SUPPORT = 111,
        MAX_REGISTERS_PER_WORK_GROUP = 112, IP_VERSION = 113, VIRTUAL_MEMORY_SUPPORT = 114,
        ESIMD_SUPPORT = 115, COMPONENT_DEVICES = 116, COMPOSITE_DEVICE = 117,
        GLOBAL_VARIABLE_SUPPORT = 118, USM_POOL_SUPPORT = 119, NUM_COMPUTE_UNITS = 120,
        PROGRAM_SET_SPECIALIZATION_CONSTANTS = 121, USE_NATIVE_ASSERT = 122,
        CURRENT_CLOCK_THROTTLE_REASONS = 123, FAN_SPEED = 124, MIN_POWER_LIMIT = 125,
        MAX_POWER_LIMIT = 126, BFLOAT16_CONVERSIONS_NATIVE = 127, KERNEL_LAUNCH_CAPABILITIES
        = 128, LUID = 129, NODE_MASK = 130, PREFERRED_VECTOR_WIDTH_LONG_LONG = 131,
        NATIVE_VECTOR_WIDTH_LONG_LONG = 132, MAX_WORK_GROUPS = 133, XE_STACK_COUNT = 134,
        XE_REGIONS_PER_STACK = 135, XE_CLUSTERS_PER_REGION = 136, XE_CORES_PER_CLUSTER =
        137, EUS_PER_XE_CORE = 138, MAX_LANES_PER_HW_THREAD = 139,
        COMMAND_BUFFER_SUPPORT_EXP = 0x1000, COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP =
        0x1001, COMMAND_BUFFER_EVENT_SUPPORT_EXP = 0x1002,
        COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP = 0x1003, BINDLESS_IMAGES_SUPPORT_EXP = 0x2000,
        BINDLESS_IMAGES_SHARED_USM_SUPPORT_EXP = 0x2001, BINDLESS_IMAGES_1D_USM_SUPPORT_EXP
        = 0x2002, BINDLESS_IMAGES_2D_USM_SUPPORT_EXP = 0x2003, IMAGE_PITCH_ALIGN_EXP =
        0x2004, MAX_IMAGE_LINEAR_WIDTH_EXP = 0x2005, MAX_IMAGE_LINEAR_HEIGHT_EXP = 0x2006,
        MAX_IMAGE_LINEAR_PITCH_EXP = 0x2007, MIPMAP_SUPPORT_EXP = 0x2008,
        MIPMAP_ANISOTROPY_SUPPORT_EXP = 0x2009, MIPMAP_MAX_ANISOTROPY_EXP = 0x200A,
        MIPMAP_LEVEL_REFERENCE_SUPPORT_EXP = 0x200B, EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP =
        0x200C, EXTERNAL_SEMAPHORE_IMPORT_SUPPORT_EXP = 0x200E, CUBEMAP_SUPPORT_EXP =
        0x2010, CUBEMAP_SEAMLESS_FILTERING_SUPPORT_EXP = 0x2011,
        BINDLESS_SAMPLED_IMAGE_FETCH_1D_USM_SUPPORT_EXP = 0x2012,
        BINDLESS_SAMPLED_IMAGE_FETCH_1D_SUPPORT_EXP = 0x2013,
        BINDLESS_SAMPLED_IMAGE_FETCH_2D_USM_SUPPORT_EXP = 0x2014,
        BINDLESS_SAMPLED_IMAGE_FETCH_2D_SUPPORT_EXP = 0x2015,
        BINDLESS_SAMPLED_IMAGE_FETCH_3D_SUPPORT_EXP = 0x2017,
        TIMESTAMP_RECORDING_SUPPORT_EXP = 0x2018, IMAGE_ARRAY_SUPPORT_EXP = 0x2019,
        BINDLESS_UNIQUE_ADDRESSING_PER_DIM_SUPPORT_EXP = 0x201A,
        BINDLESS_SAMPLE_1D_USM_SUPPORT_EXP = 0x201B, BINDLESS_SAMPLE_2D_USM_SUPPORT_EXP =
        0x201C, BINDLESS_IMAGES_GATHER_SUPPORT_EXP = 0x201D,
        ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP = 0x2020, LOW_POWER_EVENTS_SUPPORT_EXP = 0x2021,
        TWO_D_BLOCK_ARRAY_CAPABILITIES_EXP = 0x2022, IPC_MEMORY_SUPPORT_EXP = 0x2023,
        IPC_PHYSICAL_MEMORY_SUPPORT_EXP = 0x2024, REUSABLE_EVENTS_SUPPORT_EXP = 0x2025,
        IPC_EVENT_SUPPORT_EXP = 0x2026, ASYNC_USM_ALLOCATIONS_SUPPORT_EXP = 0x2050,
        CLOCK_SUB_GROUP_SUPPORT_EXP = 0x2060, CLOCK_WORK_GROUP_SUPPORT_EXP = 0x2061,
        CLOCK_DEVICE_SUPPORT_EXP = 0x2062, IS_INTEGRATED_GPU = 0x2070,
        GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP = 0x2080, USM_HOST_ALLOC_REGISTER_SUPPORT_EXP =
        0x2090, PER_EVENT_PROFILING_SUPPORT_EXP = 0x20A0, USM_P2P_SUPPORT_EXP = 0x4000,
        MULTI_DEVICE_COMPILE_SUPPORT_EXP = 0x6000, DEVICE_WAIT_SUPPORT_EXP = 0x6002,
        DYNAMIC_LINK_SUPPORT_EXP = 0x6003, USM_CONTEXT_MEMCPY_SUPPORT_EXP = 0x7000,
        MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP = 0x8000, ENQUEUE_HOST_TASK_SUPPORT_EXP =
        0x9000,
    }

    /// A way to split a device.
    DevicePartition {
        EQUALLY = 0x1086, BY_COUNTS = 0x1087, BY_AFFINITY_DOMAIN = 0x1088, BY_CSLICE = 0x1089,
    }

    /// What can be asked of a context.
    ContextInfo {
        NUM_DEVICES = 0, DEVICES = 1, REFERENCE_COUNT = 2, USM_MEMCPY2D_SUPPORT = 3,
        USM_FILL2D_SUPPORT = 4,
    }

    /// What can be asked of a queue.
    QueueInfo {
        CONTEXT = 0, DEVICE = 1, DEVICE_DEFAULT = 2, FLAGS = 3, REFERENCE_COUNT = 4, SIZE = 5,
        EMPTY = 6,
    }

    /// What can be asked of an event.
    EventInfo {
        COMMAND_QUEUE = 0, CONTEXT = 1, COMMAND_TYPE = 2, COMMAND_EXECUTION_STATUS = 3,
        REFERENCE_COUNT = 4,
    }

    /// What has become of an event's command.
    EventStatus { COMPLETE = 0, RUNNING = 1, SUBMITTED = 2, QUEUED = 3, ERROR = 4 }

    /// A moment in the life of a command.
    ProfilingInfo {
        COMMAND_QUEUED = 0, COMMAND_SUBMIT = 1, COMMAND_START = 2, COMMAND_END = 3,
        COMMAND_COMPLETE = 4,
    }

    /// A state that a callback is for.
    ExecutionInfo { COMPLETE = 0, RUNNING = 1, SUBMITTED = 2, QUEUED = 3 }

    /// A kind of command.
    Command {
        KERNEL_LAUNCH = 0, EVENTS_WAIT = 1, EVENTS_WAIT_WITH_BARRIER = 2, MEM_BUFFER_READ = 3, MEM_BUFFER_WRITE = 4,
        MEM_BUFFER_READ_RECT = 5, MEM_BUFFER_WRITE_RECT = 6, MEM_BUFFER_COPY = 7,
        MEM_BUFFER_COPY_RECT = 8, MEM_BUFFER_FILL = 9, MEM_BUFFER_MAP = 14, MEM_UNMAP = 16,
        USM_FILL = 17, USM_MEMCPY = 18, USM_PREFETCH = 19, USM_ADVISE = 20, USM_FILL_2D = 21,
        USM_MEMCPY_2D = 22, DEVICE_GLOBAL_VARIABLE_WRITE = 23,
        DEVICE_GLOBAL_VARIABLE_READ = 24, TIMESTAMP_RECORDING_EXP = 0x2002,
        ENQUEUE_COMMAND_BUFFER_EXP = 0x1000, ENQUEUE_NATIVE_EXP = 0x2004,
        ENQUEUE_USM_DEVICE_ALLOC_EXP = 0x2050, ENQUEUE_USM_SHARED_ALLOC_EXP = 0x2051,
        ENQUEUE_USM_HOST_ALLOC_EXP = 0x2052, ENQUEUE_USM_FREE_EXP = 0x2053, HOST_TASK_EXP = 0x2200,
    }

    /// A kind of memory.
    UsmType { UNKNOWN = 0, HOST = 1, DEVICE = 2, SHARED = 3 }

    /// What can be asked of an allocation.
    UsmAllocInfo { TYPE = 0, BASE_PTR = 1, SIZE = 2, DEVICE = 3, POOL = 4 }

    /// What can be asked of a pool, and in part set.
    UsmPoolInfo {
        REFERENCE_COUNT = 0, CONTEXT = 1, RELEASE_THRESHOLD_EXP = 0x2050,
        MAXIMUM_SIZE_EXP = 0x2051, RESERVED_CURRENT_EXP = 0x2052, RESERVED_HIGH_EXP = 0x2053,
        USED_CURRENT_EXP = 0x2054, USED_HIGH_EXP = 0x2055,
    }

    /// What can be asked of a buffer.
    MemInfo { SIZE = 0, CONTEXT = 1, REFERENCE_COUNT = 2 }

    /// How a part of a buffer is made.
    BufferCreateType { REGION = 0 }

    /// In what pieces addresses are reserved.
    GranularityInfo { MINIMUM = 0x30100, RECOMMENDED = 0x30101 }

    /// What can be asked of mapped memory.
    VirtualMemInfo { ACCESS_MODE = 0 }

    /// What can be asked of physical memory.
    PhysicalMemInfo { CONTEXT = 0, DEVICE = 1, SIZE = 2, PROPERTIES = 3, REFERENCE_COUNT = 4 }

    /// What an argument of a kernel is.
    KernelArgumentKind { VALUE = 0, POINTER = 1, MEM_OBJ = 2, LOCAL = 3, SAMPLER = 4 }

    /// What can be asked of a command buffer.
    CommandBufferInfo { REFERENCE_COUNT = 0, DESCRIPTOR = 1 }

    /// What can be asked of a program.
    ProgramInfo {
        REFERENCE_COUNT = 0, CONTEXT = 1, NUM_DEVICES = 2, DEVICES = 3, IL = 4, BINARY_SIZES = 5,
        BINARIES = 6, NUM_KERNELS = 7, KERNEL_NAMES = 8,
    }

    /// What can be asked of what a program became.
    ProgramBuildInfo { STATUS = 0, OPTIONS = 1, LOG = 2, BINARY_TYPE = 3 }

    /// What became of a program.
    BuildStatus { NONE = 0, ERROR = 1, SUCCESS = 2 }

    /// What a program is.
    BinaryType { NONE = 0, EXECUTABLE = 3 }

    /// What can be asked of the parts of a kernel's groups that step together.
    KernelSubGroupInfo {
        MAX_SUB_GROUP_SIZE = 0, MAX_NUM_SUB_GROUPS = 1, COMPILE_NUM_SUB_GROUPS = 2,
        SUB_GROUP_SIZE_INTEL = 3,
    }

    /// What can be asked of a kernel.
    KernelInfo {
        FUNCTION_NAME = 0, NUM_ARGS = 1, REFERENCE_COUNT = 2, CONTEXT = 3, PROGRAM = 4,
        ATTRIBUTES = 5, NUM_REGS = 6, SPILL_MEM_SIZE = 7,
    }

    /// What can be asked of a kernel's groups.
    KernelGroupInfo {
        GLOBAL_WORK_SIZE = 0, WORK_GROUP_SIZE = 1, COMPILE_WORK_GROUP_SIZE = 2,
        LOCAL_MEM_SIZE = 3, PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 4, PRIVATE_MEM_SIZE = 5,
        COMPILE_MAX_WORK_GROUP_SIZE = 6, COMPILE_MAX_LINEAR_WORK_GROUP_SIZE = 7,
    }

    /// What can be told of a kernel.
    KernelExecInfo { USM_INDIRECT_ACCESS = 0, USM_PTRS = 1, CACHE_CONFIG = 2 }

    /// How much a device may be accessed by another.
    PeerInfo { ACCESS_SUPPORT = 0, ATOMICS_SUPPORT = 1 }
}

impl Default for BuildStatus {
    fn default() -> Self {
        Self::NONE
    }
}

impl QueueFlags {
    /// Those that queues of the host may have: all but those of queues on devices.
    pub(crate) const ON_HOST: Self =
        Self(Self::KNOWN & !(Self::ON_DEVICE.0 | Self::ON_DEVICE_DEFAULT.0));
}

/// Lists of flags.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident { $($flag:ident = $bit:expr),* ; $($more:expr)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        #[allow(missing_docs, reason = "the specification's own names")]
        impl $name {
            $(pub const $flag: Self = Self(1 << $bit);)*
            /// Those that the specification knows.
            const KNOWN: u32 = 0 $(| 1 << $bit)* $(| $more)?;

            /// Whether one of these is set.
            #[must_use]
            pub const fn has(self, flags: Self) -> bool {
                self.0 & flags.0 != 0
            }

            /// # Errors
            /// Bits that mean nothing.
            pub fn check(self) -> Result<Self, Code> {
                if self.0 & !Self::KNOWN != 0 {
                    return Err(Code::INVALID_ENUMERATION);
                }
                Ok(self)
            }
        }
    )*};
}

flags! {
    /// Of contexts.
    ContextFlags { TBD = 0; }
    /// Of queues. Beside order and times they are hints, which are taken and change nothing.
    QueueFlags {
        OUT_OF_ORDER_EXEC_MODE_ENABLE = 0, PROFILING_ENABLE = 1, ON_DEVICE = 2,
        ON_DEVICE_DEFAULT = 3, PRIORITY_LOW = 5, PRIORITY_HIGH = 6, SUBMISSION_BATCHED = 7,
        SUBMISSION_IMMEDIATE = 8; 0xe10
    }
    /// Of buffers.
    MemFlags {
        READ_WRITE = 0, WRITE_ONLY = 1, READ_ONLY = 2, USE_HOST_POINTER = 3,
        ALLOC_HOST_POINTER = 4, ALLOC_COPY_HOST_POINTER = 5;
    }
    /// Of pools.
    UsmPoolFlags { ZERO_INITIALIZE_BLOCK = 0, USE_NATIVE_MEMORY_POOL_EXP = 1, READ_ONLY_EXP = 2; }
    /// Of allocations that are enqueued.
    AsyncAllocFlags { TBD = 0; }
    /// Of host memory.
    UsmHostFlags { INITIAL_PLACEMENT = 0; }
    /// Of device and shared memory.
    UsmDeviceFlags { WRITE_COMBINED = 0, INITIAL_PLACEMENT = 1, DEVICE_READ_ONLY = 2; }
    /// How memory will be used.
    UsmAdviceFlags { DEFAULT = 0, SET_READ_MOSTLY = 1; 0x1_fffc }
    /// Where memory is moved.
    UsmMigrationFlags { HOST_TO_DEVICE = 0, DEVICE_TO_HOST = 1; }
    /// How a buffer is mapped.
    MapFlags { READ = 0, WRITE = 1, WRITE_INVALIDATE_REGION = 2; }
    /// Of barriers.
    EnqueueExtFlags { LOW_POWER_EVENTS_SUPPORT = 11; }
    /// Of host tasks.
    HostTaskFlags { TBD = 0; }
    /// Of work that a program enqueues itself.
    NativeCommandFlags { TBD = 0; }
    /// Of events that may be used again.
    EventFlags { ENABLE_PROFILING = 0, IPC_EXP = 1; }
    /// Of physical memory.
    PhysicalMemFlags { ENABLE_IPC = 1; }
    /// What may be done with mapped memory.
    AccessFlags { NONE = 0, READ_WRITE = 1, READ_ONLY = 2; }
    /// Of memory of the host that is registered.
    HostRegisterFlags { READ_ONLY = 0; }
}
