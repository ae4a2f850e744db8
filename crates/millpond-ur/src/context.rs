//! Contexts: some devices of a platform that share objects and memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::Status;

use crate::adapter::Adapter;
use crate::argument::{Answer, In, Out, UserData};
use crate::device::Device;
use crate::entry::entry;
use crate::error::code;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{Code, ContextInfo};
use crate::platform::Platform;
use crate::pool::DefaultPools;
use crate::property::Property;
use crate::structures::{ContextProperties, Header};

/// Some devices.
#[derive(Debug)]
pub(crate) struct Context {
    place: Place<Context>,
    devices: Vec<Arc<Device>>,
    /// What is called when it is gone.
    deleters: Mutex<Vec<(extern "C" fn(UserData), UserData)>>,
    pub(crate) default_pools: DefaultPools,
    work: Mutex<Work>,
}

/// What was enqueued in a context.
#[derive(Debug, Default)]
struct Work {
    /// Until they have said what they leave.
    queues: Vec<millpond::Queue>,
    /// Of queues that are gone, what they had still to do.
    left: Vec<millpond::Event>,
}

kinds! { Context: INVALID_CONTEXT }

impl Context {
    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The device on which host memory is at home, which all others reach.
    pub(crate) fn first(&self) -> &Arc<Device> {
        &self.devices[0]
    }

    /// # Errors
    /// A device that is neither one of the context's nor a part of one.
    pub(crate) fn check(&self, device: &Arc<Device>) -> Answer {
        let mut whole = Some(device);
        while let Some(device) = whole {
            if self.devices.iter().any(|own| Arc::ptr_eq(own, device)) {
                return Ok(());
            }
            whole = device.parent();
        }
        Err(Code::INVALID_DEVICE)
    }

    /// Notes a queue whose commands may use the context's memory.
    pub(crate) fn add_queue(&self, queue: &millpond::Queue) {
        self.work().queues.push(queue.clone());
    }

    /// Notes that a queue goes, and what it has still to do: at no time neither the one nor the other is
    /// known, whatever frees memory meanwhile.
    pub(crate) fn leave(&self, queue: &millpond::Queue, last: Option<millpond::Event>) {
        let mut work = self.work();
        work.left.retain(|event| event.status() == Status::Pending);
        work.left.extend(last);
        work.queues.retain(|other| other != queue);
    }

    /// Events for everything that was enqueued so far and hasn't finished.
    pub(crate) fn pending(&self) -> Answer<Vec<millpond::Event>> {
        let mut work = self.work();
        work.left.retain(|event| event.status() == Status::Pending);
        let mut found = work.left.clone();
        let queues = work.queues.clone();
        drop(work);
        for queue in queues.iter().filter(|queue| !queue.is_idle()) {
            found.push(queue.record().map_err(|error| code(&error))?);
        }
        Ok(found)
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle's device, if it is one of the context's.
    pub(crate) fn device(&self, device: Handle<Device>) -> Answer<Arc<Device>> {
        let device = device.get()?;
        self.check(&device)?;
        Ok(device)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let deleters = self.deleters.get_mut();
        for (call, data) in deleters.unwrap_or_else(PoisonError::into_inner).drain(..) {
            call(data);
        }
    }
}

/// # Errors
/// Devices of several platforms.
pub(crate) fn make(devices: &[Handle<Device>]) -> Answer<Arc<Context>> {
    let devices: Answer<Vec<_>> = devices.iter().map(|device| device.get()).collect();
    let devices = devices?;
    let mut platforms = devices.iter().map(|device| Platform::of(device.runtime()));
    let first = platforms.next().ok_or(Code::INVALID_VALUE)??;
    for other in platforms {
        if !Arc::ptr_eq(first, other?) {
            return Err(Code::INVALID_DEVICE);
        }
    }
    create(|place| Context {
        place,
        default_pools: DefaultPools::default(),
        devices,
        deleters: Mutex::default(),
        work: Mutex::default(),
    })
}

entry! {
    fn urContextCreate(
        count: u32,
        devices: In<Handle<Device>>,
        properties: In<ContextProperties>,
        context: Out<Handle<Context>>,
    ) {
        let context = context.required()?;
        if devices.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        if let Some(properties) = properties.value() {
            properties.flags.check()?;
        }
        context.set(make(devices.list(count as usize)?)?.handle());
        Ok(())
    }

    fn urContextRetain(context: Handle<Context>) {
        context.retain()
    }

    fn urContextRelease(context: Handle<Context>) {
        context.release().map(drop)
    }

    fn urContextGetInfo(
        context: Handle<Context>,
        what: ContextInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let context = context.get()?;
        let property: Property = match what {
            ContextInfo::NUM_DEVICES => (context.devices.len() as u32).into(),
            ContextInfo::DEVICES => {
                let devices = context.devices.iter().map(|device| device.handle());
                devices.collect::<Vec<_>>().as_slice().into()
            }
            ContextInfo::REFERENCE_COUNT => context.place.references().into(),
            ContextInfo::USM_MEMCPY2D_SUPPORT | ContextInfo::USM_FILL2D_SUPPORT => true.into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    fn urContextGetNativeHandle(context: Handle<Context>, native: Out<usize>) {
        context.get()?;
        native.required()?.set(context.native());
        Ok(())
    }

    fn urContextCreateWithNativeHandle(
        native: usize,
        adapter: Handle<Adapter>,
        _count: u32,
        _devices: In<Handle<Device>>,
        _properties: In<Header>,
        context: Out<Handle<Context>>,
    ) {
        adapter.get()?;
        let context = context.required()?;
        let same = Handle::<Context>::of_native(native);
        same.retain()?;
        context.set(same);
        Ok(())
    }

    fn urContextSetExtendedDeleter(
        context: Handle<Context>,
        deleter: Option<extern "C" fn(UserData)>,
        data: UserData,
    ) {
        let context = context.get()?;
        let deleter = deleter.ok_or(Code::INVALID_NULL_POINTER)?;
        let mut deleters = context.deleters.lock().unwrap_or_else(PoisonError::into_inner);
        deleters.push((deleter, data));
        Ok(())
    }
}
