//! Devices.

use std::ffi::{CString, c_char, c_void};

use millpond::{Device, QueueOptions};

use crate::data::{Out, Text};
use crate::describe::functions;
use crate::handle::{Give, Keep, Object, Take};
use crate::number::Number;
use crate::status::Problem;

/// A device, with its name as C reads it.
#[derive(Clone, Debug)]
pub struct NamedDevice {
    device: Device,
    name: CString,
}

impl NamedDevice {
    /// The device.
    pub const fn device(&self) -> &Device {
        &self.device
    }
}

impl From<Device> for NamedDevice {
    fn from(device: Device) -> Self {
        // Names come from drivers and the environment's settings, and have no zero bytes.
        let name = CString::new(device.name()).unwrap_or_default();
        Self { device, name }
    }
}

impl Object for NamedDevice {
    const NAME: &'static str = "mp_device";
}

functions! {
    /// The number of devices of the process; there is always a CPU.
    fn mp_device_count(count: Out<usize>) {
        count.put(millpond::devices().len())
    }

    /// The device of this number.
    fn mp_device_at(index: usize, device: Give<NamedDevice>) {
        let place = device.ready()?;
        let devices = millpond::devices();
        let device = devices.get(index).ok_or_else(|| Problem::Argument {
            what: "mp_device_at",
            reason: format!("there are {} devices, and none of number {index}", devices.len()),
        })?;
        place.give(device.clone().into());
        Ok(())
    }

    /// The device of this name, such as "cpu".
    fn mp_device_named(name: Text, device: Give<NamedDevice>) {
        let place = device.ready()?;
        place.give(millpond::device(&name.get()?)?.into());
        Ok(())
    }

    /// The device that work goes to unless told otherwise.
    fn mp_device_default(device: Give<NamedDevice>) {
        let place = device.ready()?;
        place.give(millpond::default_device()?.into());
        Ok(())
    }

    /// Adds a count to a handle.
    fn mp_device_retain(device: Keep<NamedDevice>) -> () {
        device.retain();
    }

    /// Lets go of a count of a handle.
    fn mp_device_release(device: Take<NamedDevice>) -> () {
        drop(device.take());
    }

    /// Its name, which stays as long as the handle.
    fn mp_device_name(device: Keep<NamedDevice>, name: Out<*const c_char>) {
        name.put(device.get()?.name.as_ptr())
    }

    /// Whether both are the same device.
    fn mp_device_same(device: Keep<NamedDevice>, other: Keep<NamedDevice>, same: Out<bool>) {
        same.put(device.get()?.device == other.get()?.device)
    }

    /// Whether the device runs on the host: then tasks may touch its memory of every kind.
    fn mp_device_runs_on_host(device: Keep<NamedDevice>, answer: Out<bool>) {
        answer.put(device.get()?.device.info().host_executed)
    }

    /// Whether it computes with a dtype.
    fn mp_device_supports(
        device: Keep<NamedDevice>,
        dtype: Number<millpond::DType>,
        answer: Out<bool>,
    ) {
        answer.put(device.get()?.device.info().supports(dtype.get()?))
    }

    /// The bytes of memory it has in all.
    fn mp_device_memory(device: Keep<NamedDevice>, bytes: Out<usize>) {
        bytes.put(device.get()?.device.info().memory)
    }

    /// The in-order queue that work goes to unless told otherwise.
    fn mp_device_queue(device: Keep<NamedDevice>, queue: Give<millpond::Queue>) {
        let place = queue.ready()?;
        place.give(device.get()?.device.default_queue()?);
        Ok(())
    }

    /// Makes a queue, in order or not; one that profiles keeps the times of its commands.
    fn mp_device_create_queue(
        device: Keep<NamedDevice>,
        out_of_order: bool,
        profiling: bool,
        queue: Give<millpond::Queue>,
    ) {
        let place = queue.ready()?;
        let options = QueueOptions { out_of_order, profiling };
        place.give(device.get()?.device.create_queue(&options)?);
        Ok(())
    }

    /// Waits for everything submitted to every queue of the device; the first failure that no wait has told is the
    /// call's.
    fn mp_device_wait(device: Keep<NamedDevice>) {
        Ok(device.get()?.device.wait()?)
    }

    /// A stream of the device's own, as its driver knows it (a CUstream), that others have wait for work of theirs, or
    /// theirs for it. The same one for as long as the device is there. MP_UNSUPPORTED where there are no streams, as on
    /// the CPU.
    fn mp_device_stream(device: Keep<NamedDevice>, stream: Out<*mut c_void>) {
        let number = device.get()?.device.stream()?;
        stream.put(std::ptr::without_provenance_mut(number))
    }
}
