//! What can be asked of a device, and what each of them answers.

use crate::argument::{Answer, Out};
use crate::device::Device;
use crate::device::partition::WAYS;
use crate::entry::entry;
use crate::handle::Handle;
use crate::loader::{self, Generation};
use crate::numbers::{Code, DeviceInfo, DevicePartition, QueueFlags};
use crate::platform::Platform;
use crate::property::Property;
use crate::structures::PartitionProperty;

/// Numbers are rounded to the nearest, there are infinities and numbers below the smallest normal
/// one, and products are added without rounding between.
pub(super) const FLOATS: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6;
/// All orders, and all scopes, of atomic operations.
const ATOMICS: u32 = 0x1f;
/// Memory may be used in every way, by host and device at once.
const ALL_ACCESS: u32 = 0xf;
/// Commands run functions of the host.
const NATIVE_KERNELS: u32 = 1 << 1;
/// A cache that is read and written.
const READ_WRITE_CACHE: u32 = 2;
/// Memory of a work group is memory like other.
const LOCAL_IN_GLOBAL: u32 = 2;

/// Of launches in command buffers, arguments, groups, items and the first item's number can be changed.
const UPDATES: u32 = 0xf;

/// What there is.
const THERE: &[DeviceInfo] = &[
    DeviceInfo::HOST_UNIFIED_MEMORY,
    DeviceInfo::AVAILABLE,
    DeviceInfo::PREFERRED_INTEROP_USER_SYNC,
    DeviceInfo::BUILD_ON_SUBDEVICE,
    DeviceInfo::ATOMIC_64,
    DeviceInfo::USM_POOL_SUPPORT,
    DeviceInfo::USE_NATIVE_ASSERT,
    DeviceInfo::ASYNC_USM_ALLOCATIONS_SUPPORT_EXP,
    DeviceInfo::USM_CONTEXT_MEMCPY_SUPPORT_EXP,
    DeviceInfo::TIMESTAMP_RECORDING_SUPPORT_EXP,
    DeviceInfo::ENQUEUE_NATIVE_COMMAND_SUPPORT_EXP,
    DeviceInfo::COMMAND_BUFFER_SUPPORT_EXP,
];

/// What there is where the device is the host.
const ON_HOST: &[DeviceInfo] = &[
    DeviceInfo::VIRTUAL_MEMORY_SUPPORT,
    DeviceInfo::USM_P2P_SUPPORT_EXP,
];

/// What there is where the loader has the functions.
const LATER: &[DeviceInfo] = &[
    DeviceInfo::DEVICE_WAIT_SUPPORT_EXP,
    DeviceInfo::ENQUEUE_HOST_TASK_SUPPORT_EXP,
    DeviceInfo::REUSABLE_EVENTS_SUPPORT_EXP,
    DeviceInfo::PER_EVENT_PROFILING_SUPPORT_EXP,
    DeviceInfo::USM_HOST_ALLOC_REGISTER_SUPPORT_EXP,
];

/// What there isn't.
const NOT_THERE: &[DeviceInfo] = &[
    DeviceInfo::IMAGE_SUPPORT,
    DeviceInfo::ERROR_CORRECTION_SUPPORT,
    DeviceInfo::COMPILER_AVAILABLE,
    DeviceInfo::LINKER_AVAILABLE,
    DeviceInfo::SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS,
    DeviceInfo::IMAGE_SRGB,
    DeviceInfo::BFLOAT16,
    DeviceInfo::KERNEL_SET_SPECIALIZATION_CONSTANTS,
    DeviceInfo::ASYNC_BARRIER,
    DeviceInfo::MEM_CHANNEL_SUPPORT,
    DeviceInfo::HOST_PIPE_READ_WRITE_SUPPORT,
    DeviceInfo::ESIMD_SUPPORT,
    DeviceInfo::GLOBAL_VARIABLE_SUPPORT,
    DeviceInfo::PROGRAM_SET_SPECIALIZATION_CONSTANTS,
    DeviceInfo::BFLOAT16_CONVERSIONS_NATIVE,
    DeviceInfo::COMMAND_BUFFER_EVENT_SUPPORT_EXP,
    DeviceInfo::COMMAND_BUFFER_SUBGRAPH_SUPPORT_EXP,
    DeviceInfo::BINDLESS_IMAGES_SUPPORT_EXP,
    DeviceInfo::BINDLESS_IMAGES_SHARED_USM_SUPPORT_EXP,
    DeviceInfo::BINDLESS_IMAGES_1D_USM_SUPPORT_EXP,
    DeviceInfo::BINDLESS_IMAGES_2D_USM_SUPPORT_EXP,
    DeviceInfo::MIPMAP_SUPPORT_EXP,
    DeviceInfo::MIPMAP_ANISOTROPY_SUPPORT_EXP,
    DeviceInfo::MIPMAP_LEVEL_REFERENCE_SUPPORT_EXP,
    DeviceInfo::EXTERNAL_MEMORY_IMPORT_SUPPORT_EXP,
    DeviceInfo::EXTERNAL_SEMAPHORE_IMPORT_SUPPORT_EXP,
    DeviceInfo::CUBEMAP_SUPPORT_EXP,
    DeviceInfo::CUBEMAP_SEAMLESS_FILTERING_SUPPORT_EXP,
    DeviceInfo::BINDLESS_SAMPLED_IMAGE_FETCH_1D_USM_SUPPORT_EXP,
    DeviceInfo::BINDLESS_SAMPLED_IMAGE_FETCH_1D_SUPPORT_EXP,
    DeviceInfo::BINDLESS_SAMPLED_IMAGE_FETCH_2D_USM_SUPPORT_EXP,
    DeviceInfo::BINDLESS_SAMPLED_IMAGE_FETCH_2D_SUPPORT_EXP,
    DeviceInfo::BINDLESS_SAMPLED_IMAGE_FETCH_3D_SUPPORT_EXP,
    DeviceInfo::IMAGE_ARRAY_SUPPORT_EXP,
    DeviceInfo::BINDLESS_UNIQUE_ADDRESSING_PER_DIM_SUPPORT_EXP,
    DeviceInfo::BINDLESS_SAMPLE_1D_USM_SUPPORT_EXP,
    DeviceInfo::BINDLESS_SAMPLE_2D_USM_SUPPORT_EXP,
    DeviceInfo::BINDLESS_IMAGES_GATHER_SUPPORT_EXP,
    DeviceInfo::LOW_POWER_EVENTS_SUPPORT_EXP,
    DeviceInfo::IPC_MEMORY_SUPPORT_EXP,
    DeviceInfo::IPC_EVENT_SUPPORT_EXP,
    DeviceInfo::CLOCK_SUB_GROUP_SUPPORT_EXP,
    DeviceInfo::CLOCK_WORK_GROUP_SUPPORT_EXP,
    DeviceInfo::CLOCK_DEVICE_SUPPORT_EXP,
    DeviceInfo::IS_INTEGRATED_GPU,
    DeviceInfo::GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP,
    DeviceInfo::MULTI_DEVICE_COMPILE_SUPPORT_EXP,
    DeviceInfo::DYNAMIC_LINK_SUPPORT_EXP,
    DeviceInfo::MEMORY_EXPORT_EXPORTABLE_DEVICE_MEM_EXP,
];

/// Of which there are none, as numbers of 32 bits.
const NONE: &[DeviceInfo] = &[
    DeviceInfo::VENDOR_ID,
    DeviceInfo::HALF_FP_CONFIG,
    DeviceInfo::PREFERRED_VECTOR_WIDTH_HALF,
    DeviceInfo::NATIVE_VECTOR_WIDTH_HALF,
    DeviceInfo::MAX_CLOCK_FREQUENCY,
    DeviceInfo::MAX_READ_IMAGE_ARGS,
    DeviceInfo::MAX_WRITE_IMAGE_ARGS,
    DeviceInfo::MAX_READ_WRITE_IMAGE_ARGS,
    DeviceInfo::MAX_SAMPLERS,
    DeviceInfo::MAX_CONSTANT_ARGS,
    DeviceInfo::QUEUE_ON_DEVICE_PROPERTIES,
    DeviceInfo::PARTITION_AFFINITY_DOMAIN,
    DeviceInfo::KERNEL_LAUNCH_CAPABILITIES,
    DeviceInfo::IMAGE_PITCH_ALIGN_EXP,
    DeviceInfo::MIPMAP_MAX_ANISOTROPY_EXP,
    DeviceInfo::TWO_D_BLOCK_ARRAY_CAPABILITIES_EXP,
];

/// The same as sizes.
const NO_BYTES: &[DeviceInfo] = &[
    DeviceInfo::IMAGE2D_MAX_WIDTH,
    DeviceInfo::IMAGE2D_MAX_HEIGHT,
    DeviceInfo::IMAGE3D_MAX_WIDTH,
    DeviceInfo::IMAGE3D_MAX_HEIGHT,
    DeviceInfo::IMAGE3D_MAX_DEPTH,
    DeviceInfo::IMAGE_MAX_BUFFER_SIZE,
    DeviceInfo::IMAGE_MAX_ARRAY_SIZE,
    DeviceInfo::PRINTF_BUFFER_SIZE,
    DeviceInfo::MAX_IMAGE_LINEAR_WIDTH_EXP,
    DeviceInfo::MAX_IMAGE_LINEAR_HEIGHT_EXP,
    DeviceInfo::MAX_IMAGE_LINEAR_PITCH_EXP,
];

/// What devices needn't know, and this one doesn't.
const UNKNOWN: &[DeviceInfo] = &[
    DeviceInfo::DEVICE_ID,
    DeviceInfo::MEMORY_CLOCK_RATE,
    DeviceInfo::PCI_ADDRESS,
    DeviceInfo::GPU_EU_COUNT,
    DeviceInfo::GPU_EU_SIMD_WIDTH,
    DeviceInfo::GPU_EU_SLICES,
    DeviceInfo::GPU_EU_COUNT_PER_SUBSLICE,
    DeviceInfo::GPU_SUBSLICES_PER_SLICE,
    DeviceInfo::GPU_HW_THREADS_PER_EU,
    DeviceInfo::MAX_MEMORY_BANDWIDTH,
    DeviceInfo::MEMORY_BUS_WIDTH,
    DeviceInfo::MAX_REGISTERS_PER_WORK_GROUP,
    DeviceInfo::IP_VERSION,
    DeviceInfo::COMPONENT_DEVICES,
    DeviceInfo::COMPOSITE_DEVICE,
    DeviceInfo::CURRENT_CLOCK_THROTTLE_REASONS,
    DeviceInfo::FAN_SPEED,
    DeviceInfo::MIN_POWER_LIMIT,
    DeviceInfo::MAX_POWER_LIMIT,
    DeviceInfo::LUID,
    DeviceInfo::NODE_MASK,
    DeviceInfo::XE_STACK_COUNT,
    DeviceInfo::XE_REGIONS_PER_STACK,
    DeviceInfo::XE_CLUSTERS_PER_REGION,
    DeviceInfo::XE_CORES_PER_CLUSTER,
    DeviceInfo::EUS_PER_XE_CORE,
    DeviceInfo::MAX_LANES_PER_HW_THREAD,
];

/// What is answered for properties that every device has alike.
fn constant(what: DeviceInfo) -> Option<Answer<Property>> {
    let is_in = |list: &[DeviceInfo]| list.contains(&what);
    if is_in(THERE) || is_in(NOT_THERE) {
        return Some(Ok(is_in(THERE).into()));
    }
    if is_in(NONE) {
        return Some(Ok(0_u32.into()));
    }
    if is_in(NO_BYTES) {
        return Some(Ok(0_usize.into()));
    }
    is_in(UNKNOWN).then_some(Err(Code::UNSUPPORTED_ENUMERATION))
}

/// Bytes of the host's memory that nobody uses.
fn free_memory() -> Option<u64> {
    // SAFETY: the call only reads a number.
    let pages = unsafe { libc::sysconf(libc::_SC_AVPHYS_PAGES) };
    let pages = u64::try_from(pages).ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// What a device is told apart by: its label, at the end of as many bytes as fit.
fn uuid(label: &str) -> [u8; 16] {
    let mut bytes = *b"millpond\0\0\0\0\0\0\0\0";
    for (place, byte) in bytes[8..].iter_mut().zip(label.bytes()) {
        *place = byte;
    }
    bytes
}

impl From<DevicePartition> for Property {
    fn from(way: DevicePartition) -> Self {
        way.0.into()
    }
}

impl From<PartitionProperty> for Property {
    fn from(property: PartitionProperty) -> Self {
        let (kind, value) = (property.kind.0.to_ne_bytes(), property.value.to_ne_bytes());
        Self::of_bytes(&[kind, value].concat())
    }
}

impl Device {
    fn property(&self, what: DeviceInfo) -> Answer<Property> {
        if ON_HOST.contains(&what) {
            return Ok(self.is_host().into());
        }
        let is_later = loader::generation()? == Generation::Of2026;
        if LATER.contains(&what) {
            return Ok(is_later.into());
        }
        if what == DeviceInfo::IPC_PHYSICAL_MEMORY_SUPPORT_EXP {
            return Ok((is_later && self.is_host()).into());
        }
        let found = self
            .accelerated(what)
            .or_else(|| constant(what))
            .or_else(|| self.size(what).map(Ok));
        found.unwrap_or_else(|| self.fact(what))
    }

    /// How many of something there are, or how large they are.
    fn size(&self, what: DeviceInfo) -> Option<Property> {
        let info = self.runtime.info();
        let cores = info.cores as u32;
        // Bytes of a vector, which hold a number of elements of each type.
        let vector: u32 = match info.simd {
            "avx512" => 64,
            "avx2" => 32,
            _ => 16,
        };
        let cache = info.caches.last().map_or(0, |cache| cache.bytes);
        Some(match what {
            DeviceInfo::MAX_COMPUTE_UNITS
            | DeviceInfo::NUM_COMPUTE_UNITS
            | DeviceInfo::PARTITION_MAX_SUB_DEVICES => cores.into(),
            DeviceInfo::MAX_WORK_ITEM_DIMENSIONS => 3_u32.into(),
            DeviceInfo::COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP => UPDATES.into(),
            DeviceInfo::MAX_WORK_ITEM_SIZES | DeviceInfo::MAX_WORK_GROUPS_3D => {
                [i32::MAX as usize; 3].as_slice().into()
            }
            DeviceInfo::MAX_WORK_GROUP_SIZE | DeviceInfo::MAX_WORK_GROUPS => {
                (i32::MAX as usize).into()
            }
            DeviceInfo::PREFERRED_VECTOR_WIDTH_CHAR | DeviceInfo::NATIVE_VECTOR_WIDTH_CHAR => {
                vector.into()
            }
            DeviceInfo::PREFERRED_VECTOR_WIDTH_SHORT | DeviceInfo::NATIVE_VECTOR_WIDTH_SHORT => {
                (vector / 2).into()
            }
            DeviceInfo::PREFERRED_VECTOR_WIDTH_INT
            | DeviceInfo::PREFERRED_VECTOR_WIDTH_FLOAT
            | DeviceInfo::NATIVE_VECTOR_WIDTH_INT
            | DeviceInfo::NATIVE_VECTOR_WIDTH_FLOAT => (vector / 4).into(),
            DeviceInfo::PREFERRED_VECTOR_WIDTH_LONG
            | DeviceInfo::PREFERRED_VECTOR_WIDTH_LONG_LONG
            | DeviceInfo::NATIVE_VECTOR_WIDTH_LONG
            | DeviceInfo::NATIVE_VECTOR_WIDTH_LONG_LONG => (vector / 8).into(),
            DeviceInfo::PREFERRED_VECTOR_WIDTH_DOUBLE | DeviceInfo::NATIVE_VECTOR_WIDTH_DOUBLE => {
                (u32::from(info.float64) * vector / 8).into()
            }
            DeviceInfo::ADDRESS_BITS => usize::BITS.into(),
            DeviceInfo::MAX_MEM_ALLOC_SIZE | DeviceInfo::MAX_CONSTANT_BUFFER_SIZE => {
                (info.max_allocation as u64).into()
            }
            DeviceInfo::MAX_PARAMETER_SIZE => 4096_usize.into(),
            DeviceInfo::MEM_BASE_ADDR_ALIGN => (u8::BITS * info.alignment as u32).into(),
            DeviceInfo::GLOBAL_MEM_CACHELINE_SIZE => 64_u32.into(),
            DeviceInfo::GLOBAL_MEM_CACHE_SIZE => (cache as u64).into(),
            DeviceInfo::GLOBAL_MEM_SIZE => (info.memory as u64).into(),
            DeviceInfo::GLOBAL_MEM_FREE if self.is_host() => free_memory()?.into(),
            DeviceInfo::LOCAL_MEM_SIZE => (32_u64 << 10).into(),
            DeviceInfo::PROFILING_TIMER_RESOLUTION => 1_usize.into(),
            DeviceInfo::MAX_NUM_SUB_GROUPS | DeviceInfo::MAX_COMPUTE_QUEUE_INDICES => 1_u32.into(),
            DeviceInfo::SUB_GROUP_SIZES_INTEL => [1_u32].as_slice().into(),
            _ => return None,
        })
    }

    /// What isn't a number of something.
    fn fact(&self, what: DeviceInfo) -> Answer<Property> {
        let info = self.runtime.info();
        Ok(match what {
            DeviceInfo::TYPE => self.kind().0.into(),
            DeviceInfo::SINGLE_FP_CONFIG => FLOATS.into(),
            DeviceInfo::DOUBLE_FP_CONFIG => (u32::from(info.float64) * FLOATS).into(),
            DeviceInfo::QUEUE_PROPERTIES | DeviceInfo::QUEUE_ON_HOST_PROPERTIES => {
                QueueFlags::ON_HOST.0.into()
            }
            DeviceInfo::GLOBAL_MEM_CACHE_TYPE => READ_WRITE_CACHE.into(),
            DeviceInfo::LOCAL_MEM_TYPE => LOCAL_IN_GLOBAL.into(),
            DeviceInfo::ENDIAN_LITTLE => cfg!(target_endian = "little").into(),
            DeviceInfo::EXECUTION_CAPABILITIES => NATIVE_KERNELS.into(),
            DeviceInfo::PLATFORM => Platform::of(&self.runtime)?.handle().into(),
            DeviceInfo::REFERENCE_COUNT => self.place.references().into(),
            DeviceInfo::UUID => Property::of_bytes(&uuid(&info.label)),
            DeviceInfo::GLOBAL_MEM_FREE => return Err(Code::UNSUPPORTED_ENUMERATION),
            DeviceInfo::NAME => info.name.as_str().into(),
            DeviceInfo::VENDOR => info.vendor.as_str().into(),
            DeviceInfo::DRIVER_VERSION
            | DeviceInfo::VERSION
            | DeviceInfo::BACKEND_RUNTIME_VERSION => info.driver_version.as_str().into(),
            DeviceInfo::PROFILE => "FULL_PROFILE".into(),
            DeviceInfo::BUILT_IN_KERNELS | DeviceInfo::EXTENSIONS | DeviceInfo::IL_VERSION => {
                "".into()
            }
            DeviceInfo::PARENT_DEVICE => self
                .parent()
                .map_or(Handle::NULL, |whole| whole.handle())
                .into(),
            DeviceInfo::SUPPORTED_PARTITIONS => {
                let ways: &[_] = if info.cores > 1 { &WAYS } else { &[] };
                ways.into()
            }
            DeviceInfo::PARTITION_TYPE => {
                let made = self.part.as_ref().map(|part| part.made.as_slice());
                made.unwrap_or_default().into()
            }
            DeviceInfo::USM_HOST_SUPPORT
            | DeviceInfo::USM_DEVICE_SUPPORT
            | DeviceInfo::USM_SINGLE_SHARED_SUPPORT
            | DeviceInfo::USM_CROSS_SHARED_SUPPORT
            | DeviceInfo::USM_SYSTEM_SHARED_SUPPORT => ALL_ACCESS.into(),
            DeviceInfo::ATOMIC_MEMORY_ORDER_CAPABILITIES
            | DeviceInfo::ATOMIC_MEMORY_SCOPE_CAPABILITIES
            | DeviceInfo::ATOMIC_FENCE_ORDER_CAPABILITIES
            | DeviceInfo::ATOMIC_FENCE_SCOPE_CAPABILITIES => ATOMICS.into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        })
    }
}

entry! {
    fn urDeviceGetInfo(
        device: Handle<Device>,
        what: DeviceInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        device.get()?.property(what)?.answer(room, value, size)
    }
}
