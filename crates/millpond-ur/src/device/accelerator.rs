//! What devices answer that run programs of their own.

use std::ffi::CStr;

use millpond::runtime::Accelerator;

use crate::argument::Answer;
use crate::device::Device;
use crate::device::info::FLOATS;
use crate::numbers::{Code, DeviceInfo};
use crate::property::Property;

/// What programs for these devices are told apart by.
pub(super) const TARGET: &CStr = c"nvptx64";

/// The maker's number on the bus.
const NVIDIA: u32 = 0x10de;
/// Memory of a work group is its own.
const LOCAL: u32 = 1;
/// Commands run kernels.
const KERNELS: u32 = 1;
/// Memory may be used, and by atomic operations.
const ACCESS: u32 = 3;
/// And by host and device at once.
const ALL_ACCESS: u32 = 0xf;
/// Of launches in command buffers, arguments, groups and items can be changed.
const UPDATES: u32 = 7;
/// Bytes of a line of the cache.
const LINE: u32 = 128;

impl Device {
    /// What is answered otherwise than by a processor; none for what is alike.
    pub(super) fn accelerated(&self, what: DeviceInfo) -> Option<Answer<Property>> {
        let info = self.runtime.info();
        let accelerator = info.accelerator.as_deref()?;
        let counted = counts(accelerator, what).map(Property::from);
        if let Some(property) = counted.or_else(|| sizes(accelerator, what)) {
            return Some(Ok(property));
        }
        let known = |fact: Option<Property>| fact.ok_or(Code::UNSUPPORTED_ENUMERATION);
        Some(match what {
            DeviceInfo::GLOBAL_MEM_FREE => {
                let free = self.runtime.free_memory();
                known(free.map(|bytes| (bytes as u64).into()))
            }
            DeviceInfo::UUID => known(accelerator.uuid.map(|uuid| Property::of_bytes(&uuid))),
            DeviceInfo::PCI_ADDRESS => known(accelerator.bus_address.as_deref().map(Into::into)),
            DeviceInfo::VERSION | DeviceInfo::BACKEND_RUNTIME_VERSION => {
                let (major, minor) = accelerator.capability;
                Ok(format!("{major}.{minor}").as_str().into())
            }
            DeviceInfo::SUPPORTED_PARTITIONS => {
                let none: &[u32] = &[];
                Ok(none.into())
            }
            DeviceInfo::HOST_UNIFIED_MEMORY => Ok(accelerator.integrated.into()),
            DeviceInfo::ERROR_CORRECTION_SUPPORT => Ok(accelerator.corrects.into()),
            DeviceInfo::COMPILER_AVAILABLE
            | DeviceInfo::GLOBAL_VARIABLE_SUPPORT
            | DeviceInfo::SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS => Ok(true.into()),
            _ => return None,
        })
    }
}

/// Numbers of 32 bits.
fn counts(of: &Accelerator, what: DeviceInfo) -> Option<u32> {
    let warp = of.machine.warp.max(1);
    Some(match what {
        DeviceInfo::VENDOR_ID => NVIDIA,
        DeviceInfo::COMMAND_BUFFER_UPDATE_CAPABILITIES_EXP => UPDATES,
        DeviceInfo::MAX_NUM_SUB_GROUPS => of.block / warp,
        DeviceInfo::PARTITION_MAX_SUB_DEVICES | DeviceInfo::USM_SYSTEM_SHARED_SUPPORT => 0,
        DeviceInfo::MAX_CLOCK_FREQUENCY => of.clock / 1000,
        DeviceInfo::MEMORY_CLOCK_RATE => of.memory_clock / 1000,
        DeviceInfo::MEMORY_BUS_WIDTH => of.memory_bus,
        DeviceInfo::MAX_REGISTERS_PER_WORK_GROUP => of.registers,
        DeviceInfo::GLOBAL_MEM_CACHELINE_SIZE => LINE,
        DeviceInfo::LOCAL_MEM_TYPE => LOCAL,
        DeviceInfo::EXECUTION_CAPABILITIES => KERNELS,
        DeviceInfo::HALF_FP_CONFIG => FLOATS,
        DeviceInfo::USM_HOST_SUPPORT | DeviceInfo::USM_DEVICE_SUPPORT => ALL_ACCESS,
        DeviceInfo::USM_SINGLE_SHARED_SUPPORT | DeviceInfo::USM_CROSS_SHARED_SUPPORT => ACCESS,
        // Each thread computes with one number at a time.
        DeviceInfo::PREFERRED_VECTOR_WIDTH_CHAR
        | DeviceInfo::PREFERRED_VECTOR_WIDTH_SHORT
        | DeviceInfo::PREFERRED_VECTOR_WIDTH_INT
        | DeviceInfo::PREFERRED_VECTOR_WIDTH_LONG
        | DeviceInfo::PREFERRED_VECTOR_WIDTH_LONG_LONG
        | DeviceInfo::PREFERRED_VECTOR_WIDTH_FLOAT
        | DeviceInfo::PREFERRED_VECTOR_WIDTH_DOUBLE
        | DeviceInfo::PREFERRED_VECTOR_WIDTH_HALF
        | DeviceInfo::NATIVE_VECTOR_WIDTH_CHAR
        | DeviceInfo::NATIVE_VECTOR_WIDTH_SHORT
        | DeviceInfo::NATIVE_VECTOR_WIDTH_INT
        | DeviceInfo::NATIVE_VECTOR_WIDTH_LONG
        | DeviceInfo::NATIVE_VECTOR_WIDTH_LONG_LONG
        | DeviceInfo::NATIVE_VECTOR_WIDTH_FLOAT
        | DeviceInfo::NATIVE_VECTOR_WIDTH_DOUBLE
        | DeviceInfo::NATIVE_VECTOR_WIDTH_HALF => 1,
        _ => return None,
    })
}

/// Sizes, and lists of numbers.
fn sizes(of: &Accelerator, what: DeviceInfo) -> Option<Property> {
    let axes = |axes: [u32; 3]| axes.map(|axis| axis as usize).as_slice().into();
    Some(match what {
        DeviceInfo::MAX_WORK_GROUP_SIZE => (of.block as usize).into(),
        DeviceInfo::MAX_WORK_ITEM_SIZES => axes(of.block_axes),
        DeviceInfo::MAX_WORK_GROUPS_3D => axes(of.grid_axes),
        DeviceInfo::MAX_WORK_GROUPS => (of.grid_axes[0] as usize).into(),
        DeviceInfo::SUB_GROUP_SIZES_INTEL => [of.machine.warp].as_slice().into(),
        DeviceInfo::LOCAL_MEM_SIZE => u64::from(of.shared_memory).into(),
        DeviceInfo::MAX_MEMORY_BANDWIDTH => {
            // Twice a clock, in kilohertz, as many bits.
            let bytes = u64::from(of.memory_bus / u8::BITS);
            (2000 * u64::from(of.memory_clock) * bytes).into()
        }
        _ => return None,
    })
}
