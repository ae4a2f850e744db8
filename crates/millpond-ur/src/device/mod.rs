//! Devices, and parts of devices.
//!
//! Those that a platform lists live as long as the process, whatever is released; a part lives as
//! long as somebody has it.

mod accelerator;
mod info;
mod partition;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use millpond::QueueOptions;
use millpond::runtime::DeviceClass;
use millpond::runtime::queue::as_task;

use crate::adapter::Adapter;
use crate::argument::{Answer, In, Out};
use crate::entry::entry;
use crate::error::code;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{Code, DeviceType};
use crate::platform::Platform;
use crate::pool::Current;
use crate::structures::{DeviceBinary, Header};

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
    /// With no command, ever.
    idle: OnceLock<millpond::Queue>,
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
            idle: OnceLock::new(),
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

    /// What class of devices it is of.
    pub(crate) fn kind(&self) -> DeviceType {
        match self.runtime.info().class {
            DeviceClass::Cpu => DeviceType::CPU,
            DeviceClass::Gpu => DeviceType::GPU,
            _ => DeviceType::CUSTOM,
        }
    }

    /// The queue by which time is told. Nothing there is behind anything else.
    fn clock(&self) -> Answer<&millpond::Queue> {
        self.queue(&self.clock, true)
    }

    /// A command with times, which is done when others are.
    pub(crate) fn time_of(&self, others: &[&millpond::Event]) -> Answer<millpond::Event> {
        let clock = self.clock()?;
        // What holds those back holds no others.
        let told = as_task(|| clock.task_at("time", &[], others, || Ok(())));
        told.map_err(|error| code(&error))
    }

    /// The queue for pieces of commands, such as the groups of a kernel: each is behind what its command
    /// says and nothing else.
    pub(crate) fn groups(&self) -> Answer<&millpond::Queue> {
        self.queue(&self.groups, false)
    }

    /// What is over, as nothing was ever enqueued that it stands for.
    pub(crate) fn over(&self) -> Answer<millpond::Event> {
        let queue = self.queue(&self.idle, false)?;
        queue.record().map_err(|error| code(&error))
    }

    /// What the device's clock shows, in nanoseconds, which is that of the times of commands; and what the
    /// host's shows then. Whoever asks may be told a while later.
    pub(crate) fn now(&self) -> Answer<(u64, u64)> {
        let queue = self.clock()?;
        let seen = Arc::new(AtomicU64::new(0));
        let read = || {
            let seen = Arc::clone(&seen);
            let look = move || {
                seen.store(host_now(), Ordering::Relaxed);
                Ok(())
            };
            // Timestamps that are held back don't hold this one.
            let event = as_task(|| queue.task("clock", &[], look))?;
            event.wait()?;
            event.times()
        };
        let times = read().map_err(|error| code(&error))?;
        Ok((
            times.finished.as_nanos() as u64,
            seen.load(Ordering::Relaxed),
        ))
    }
}

/// What the host's clock shows, in nanoseconds; never 0.
fn host_now() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
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
        // The devices of a platform are of one kind.
        let found: &[Arc<Device>] = match kind {
            DeviceType::DEFAULT => &platform.devices()[..1],
            DeviceType::ALL => platform.devices(),
            DeviceType::GPU | DeviceType::CPU | DeviceType::FPGA | DeviceType::MCA
            | DeviceType::VPU | DeviceType::CUSTOM => {
                let is_meant = platform.devices()[0].kind() == kind;
                if is_meant { platform.devices() } else { &[] }
            }
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

    /// Chooses among programs by what they were made for. A processor runs none, so that one is as good
    /// as another there.
    fn urDeviceSelectBinary(
        device: Handle<Device>,
        binaries: In<DeviceBinary>,
        count: u32,
        selected: Out<u32>,
    ) {
        let device = device.get()?;
        if binaries.is_null() || selected.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if count == 0 {
            return Err(Code::INVALID_SIZE);
        }
        let mut chosen = 0;
        if !device.is_host() {
            let mut binaries = binaries.list(count as usize)?.iter();
            let fits = |binary: &DeviceBinary| {
                binary.target.required().is_ok_and(|target| target == accelerator::TARGET)
            };
            chosen = binaries.position(fits).ok_or(Code::INVALID_BINARY)?;
        }
        selected.set(chosen as u32);
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
        let device = device.get()?;
        if device_time.is_null() {
            host_time.set(host_now());
            return Ok(());
        }
        let (of_device, of_host) = device.now()?;
        device_time.set(of_device);
        host_time.set(of_host);
        Ok(())
    }

    /// Waits for everything on all queues of the device.
    fn urDeviceWaitExp(device: Handle<Device>) {
        device.get()?.runtime.wait().map_err(|error| code(&error))
    }
}
