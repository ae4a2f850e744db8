//! Devices, and parts of devices.
//!
//! Those that a platform lists live as long as the process, whatever is released; a part lives as
//! long as somebody has it.

mod info;
mod partition;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use millpond::QueueOptions;

use crate::adapter::Adapter;
use crate::argument::{Answer, In, Out};
use crate::entry::entry;
use crate::error::code;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{Code, DeviceType};
use crate::platform::Platform;
use crate::pool::Current;
use crate::structures::Header;

pub(crate) use info::urDeviceGetInfo;
pub(crate) use partition::urDevicePartition;

use partition::Part;

/// A device, or a part of one.
pub(crate) struct Device {
    place: Place<Device>,
    runtime: millpond::Device,
    part: Option<Part>,
    /// Out of order, where memory is at home that no queue asked for.
    memory_queue: OnceLock<millpond::Queue>,
    /// Out of order and with times, for the device's clock.
    clock: OnceLock<millpond::Queue>,
    /// Out of order, for the groups of kernels.
    groups: OnceLock<millpond::Queue>,
    current: Current,
}

kinds! { Device: INVALID_DEVICE }

impl Device {
    fn make(runtime: millpond::Device, part: Option<Part>) -> Answer<Arc<Self>> {
        create(|place| Self {
            place,
            runtime,
            part,
            memory_queue: OnceLock::new(),
            clock: OnceLock::new(),
            groups: OnceLock::new(),
            current: Current::default(),
        })
    }

    /// One that a platform lists.
    pub(crate) fn root(runtime: millpond::Device) -> Answer<Arc<Self>> {
        Self::make(runtime, None)
    }

    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    pub(crate) fn runtime(&self) -> &millpond::Device {
        &self.runtime
    }

    /// The device that this is a part of.
    pub(crate) fn parent(&self) -> Option<&Arc<Self>> {
        self.part.as_ref().map(|part| &part.whole)
    }

    /// By which handles its current pools are known.
    pub(crate) fn current(&self) -> &Current {
        &self.current
    }

    /// The queue on which memory is at home that no queue asked for. Nothing there is behind anything
    /// else.
    pub(crate) fn memory_queue(&self) -> Answer<&millpond::Queue> {
        self.queue(&self.memory_queue, false)
    }

    fn queue<'a>(
        &self,
        slot: &'a OnceLock<millpond::Queue>,
        profiling: bool,
    ) -> Answer<&'a millpond::Queue> {
        if let Some(queue) = slot.get() {
            return Ok(queue);
        }
        let options = QueueOptions {
            out_of_order: true,
            profiling,
        };
        let queue = self.runtime.create_queue(&options);
        let queue = queue.map_err(|error| code(&error))?;
        Ok(slot.get_or_init(|| queue))
    }

    /// Whether it is this machine's processor, which reaches all memory there is.
    pub(crate) fn is_host(&self) -> bool {
        self.runtime.info().host_executed
    }

    /// The queue by which time is told. Nothing there is behind anything else.
    pub(crate) fn clock(&self) -> Answer<&millpond::Queue> {
        self.queue(&self.clock, true)
    }

    /// The queue on which groups of kernels run, each behind its launch and nothing else.
    pub(crate) fn groups(&self) -> Answer<&millpond::Queue> {
        self.queue(&self.groups, false)
    }

    /// What the device's clock shows, in nanoseconds: that of the times of commands.
    pub(crate) fn now(&self) -> Answer<u64> {
        let queue = self.clock()?;
        let read = || {
            let event = queue.task("clock", &[], || Ok(()))?;
            event.wait()?;
            event.times()
        };
        let times = read().map_err(|error| code(&error))?;
        Ok(times.finished.as_nanos() as u64)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.runtime, f)
    }
}

entry! {
    fn urDeviceGet(
        platform: Handle<Platform>,
        kind: DeviceType,
        room: u32,
        devices: Out<Handle<Device>>,
        count: Out<u32>,
    ) {
        let platform = platform.get()?;
        let found: &[Arc<Device>] = match kind {
            DeviceType::DEFAULT => &platform.devices()[..1],
            DeviceType::ALL | DeviceType::CPU => platform.devices(),
            DeviceType::GPU | DeviceType::FPGA | DeviceType::MCA | DeviceType::VPU
            | DeviceType::CUSTOM => &[],
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        if devices.is_null() && (room > 0 || count.is_null()) {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if !devices.is_null() {
            if room == 0 {
                return Err(Code::INVALID_SIZE);
            }
            devices.set_all(found.iter().take(room as usize).map(|device| device.handle()));
        }
        count.set(found.len() as u32);
        Ok(())
    }

    /// Counts a reference to a part. Those to devices that a platform lists aren't counted.
    fn urDeviceRetain(device: Handle<Device>) {
        match device.get()?.part {
            Some(_) => device.retain(),
            None => Ok(()),
        }
    }

    fn urDeviceRelease(device: Handle<Device>) {
        match device.get()?.part {
            Some(_) => device.release().map(drop),
            None => Ok(()),
        }
    }

    /// Chooses among programs. None can be run here, so that one is as good as another.
    fn urDeviceSelectBinary(
        device: Handle<Device>,
        binaries: In<Header>,
        count: u32,
        selected: Out<u32>,
    ) {
        device.get()?;
        if binaries.is_null() || selected.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if count == 0 {
            return Err(Code::INVALID_SIZE);
        }
        selected.set(0);
        Ok(())
    }

    fn urDeviceGetNativeHandle(device: Handle<Device>, native: Out<usize>) {
        device.get()?;
        native.required()?.set(device.native());
        Ok(())
    }

    fn urDeviceCreateWithNativeHandle(
        native: usize,
        adapter: Handle<Adapter>,
        _properties: In<Header>,
        device: Out<Handle<Device>>,
    ) {
        adapter.get()?;
        let device = device.required()?;
        let same = Handle::<Device>::of_native(native);
        if same.get()?.part.is_some() {
            same.retain()?;
        }
        device.set(same);
        Ok(())
    }

    fn urDeviceGetGlobalTimestamps(
        device: Handle<Device>,
        device_time: Out<u64>,
        host_time: Out<u64>,
    ) {
        static BEGIN: OnceLock<Instant> = OnceLock::new();
        let device = device.get()?;
        if !device_time.is_null() {
            device_time.set(device.now()?);
        }
        host_time.set(BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1);
        Ok(())
    }

    /// Waits for everything on all queues of the device.
    fn urDeviceWaitExp(device: Handle<Device>) {
        device.get()?.runtime.wait().map_err(|error| code(&error))
    }
}
