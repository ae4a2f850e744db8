//! What the driver tells of a device.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use millpond_hal::code::Machine;
use millpond_hal::{Accelerator, Cache, DeviceClass, DeviceInfo};

use super::error::check;
use super::{Card, CudaError};
use crate::api::{Api, Code, Ordinal, attribute};
use crate::driver::NAME;
use crate::memory::pool;

/// Alignment of every allocation: that of the driver's own.
pub(crate) const ALIGNMENT: usize = 256;

/// An attribute of a device.
pub(super) fn attribute(api: &dyn Api, ordinal: Ordinal, attribute: i32) -> Result<i32, CudaError> {
    let mut value = 0;
    // SAFETY: the value is written to a place of its type.
    let code = unsafe { api.device_attribute(&raw mut value, attribute, ordinal) };
    check(api, "cuDeviceGetAttribute", code)?;
    Ok(value)
}

/// What is known before the driver is asked.
pub(super) fn blank(index: usize, label: String) -> DeviceInfo {
    DeviceInfo {
        backend: NAME,
        index,
        label,
        name: String::new(),
        vendor: "NVIDIA".to_owned(),
        driver_version: String::new(),
        class: DeviceClass::Gpu,
        cores: 0,
        threads: 0,
        simd: "",
        caches: Vec::new(),
        memory: 0,
        max_allocation: 0,
        alignment: ALIGNMENT,
        host_executed: false,
        compiles: false,
        accelerator: None,
        shareable: Vec::new(),
        driver_pools: Vec::new(),
        float64: true,
        float16: true,
    }
}

/// Asks the driver.
pub(super) fn read(card: &mut Card) -> Result<(), CudaError> {
    let (api, ordinal) = (Arc::clone(&card.api), card.ordinal);
    let api = &*api;
    let ask = |number| attribute(api, ordinal, number);
    let mut name = [0 as c_char; 256];
    // SAFETY: the name is written to an array of the length that is given.
    let code = unsafe { api.device_name(name.as_mut_ptr(), name.len() as i32, ordinal) };
    check(api, "cuDeviceGetName", code)?;
    // SAFETY: the driver ends the name with a zero; the array does so if it is cut.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    let mut memory = 0;
    // SAFETY: the number is written to a place of its type.
    let code = unsafe { api.device_memory(&raw mut memory, ordinal) };
    check(api, "cuDeviceTotalMem", code)?;
    let mut version = 0;
    // SAFETY: as above.
    let code = unsafe { api.driver_version(&raw mut version) };
    check(api, "cuDriverGetVersion", code)?;

    let cores = ask(attribute::MULTIPROCESSORS)?.max(1) as usize;
    let capability = (
        ask(attribute::CAPABILITY_MAJOR)?,
        ask(attribute::CAPABILITY_MINOR)?,
    );
    let l2 = ask(attribute::L2_BYTES)?.max(0) as usize;
    let count = |number| Ok::<_, CudaError>(ask(number)?.max(0) as u32);
    card.machine = Machine {
        multiprocessors: cores as u32,
        resident_threads: count(attribute::RESIDENT_THREADS)?,
        warp: count(attribute::WARP)?,
        shared_memory: count(attribute::SHARED_MEMORY)?,
    };
    let architecture = capability.0 * 10 + capability.1;
    let concurrent = ask(attribute::CONCURRENT_MANAGED)? != 0;
    let pools = ask(attribute::POOLS)? != 0;
    card.architecture = architecture;
    card.concurrent_managed = concurrent;

    let accelerator = accelerator(api, ordinal, card.machine, capability)?;
    let info = &mut card.info;
    info.accelerator = Some(Box::new(accelerator));
    info.name = name.to_string_lossy().into_owned();
    info.driver_version = format!(
        "CUDA {}.{}, compute capability {}.{}",
        version / 1000,
        version % 1000 / 10,
        capability.0,
        capability.1
    );
    info.cores = cores;
    info.memory = memory;
    info.max_allocation = memory;
    if pools {
        info.driver_pools = pool::KINDS.to_vec();
    }
    info.caches.push(Cache {
        level: 2,
        bytes: l2,
        shared_by: cores,
    });
    Ok(())
}

/// What programs of a caller's own need to know.
fn accelerator(
    api: &dyn Api,
    ordinal: Ordinal,
    machine: Machine,
    capability: (i32, i32),
) -> Result<Accelerator, CudaError> {
    let count = |number| Ok::<_, CudaError>(attribute(api, ordinal, number)?.max(0) as u32);
    let axes = |first| Ok::<_, CudaError>([count(first)?, count(first + 1)?, count(first + 2)?]);
    Ok(Accelerator {
        machine,
        capability: (capability.0 as u32, capability.1 as u32),
        block: count(attribute::BLOCK)?,
        block_axes: axes(attribute::BLOCK_AXES)?,
        grid_axes: axes(attribute::GRID_AXES)?,
        shared_memory: count(attribute::MOST_SHARED_MEMORY)?.max(machine.shared_memory),
        registers: count(attribute::REGISTERS)?,
        clock: count(attribute::CLOCK)?,
        memory_clock: count(attribute::MEMORY_CLOCK)?,
        memory_bus: count(attribute::MEMORY_BUS)?,
        integrated: count(attribute::INTEGRATED)? != 0,
        corrects: count(attribute::CORRECTS)? != 0,
        uuid: uuid(api, ordinal),
        bus_address: bus_address(api, ordinal),
    })
}

fn uuid(api: &dyn Api, ordinal: Ordinal) -> Option<[u8; 16]> {
    let mut uuid = [0; 16];
    // SAFETY: the bytes are written to a place of their number.
    let code = unsafe { api.device_uuid(&raw mut uuid, ordinal) };
    (code == Code::SUCCESS).then_some(uuid)
}

fn bus_address(api: &dyn Api, ordinal: Ordinal) -> Option<String> {
    let mut text = [0 as c_char; 32];
    // SAFETY: the text is written to an array of the length that is given.
    let code = unsafe { api.device_bus(text.as_mut_ptr(), text.len() as i32, ordinal) };
    if code != Code::SUCCESS {
        return None;
    }
    // SAFETY: the driver ends the text with a zero; the array does so if it is cut.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    Some(text.to_string_lossy().into_owned())
}
