//! The devices of a process, by name.

use std::sync::Arc;

use millpond_hal as hal;
use millpond_hal::Driver;

use crate::device::{Device, new_driver};
use crate::error::{Error, Result};

/// The devices that a set of drivers found. A process usually has one, in the facade crate.
#[derive(Debug, Default)]
pub struct Registry {
    devices: Vec<Device>,
    /// Drivers that are there but broken, and why.
    problems: Vec<(String, hal::DeviceError)>,
}

impl Registry {
    /// Asks each driver for its devices. A driver that fails is kept as a problem.
    ///
    /// The only device of a driver is named after it, for instance `cpu`; several are numbered,
    /// `cpu:0` and so on: see [`millpond_hal::device_label`].
    pub fn new(drivers: &[Arc<dyn Driver>]) -> Self {
        let mut registry = Self::default();
        for driver in drivers {
            match driver.devices() {
                Ok(found) => {
                    let number = new_driver();
                    let found = found.into_iter();
                    let devices = found.map(|device| Device::of_driver(device, number, true));
                    registry.devices.extend(devices);
                }
                Err(error) => registry.problems.push((driver.name().to_owned(), error)),
            }
        }
        registry
    }

    /// Every device, in the order of the drivers.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Drivers that are there but broken, and why.
    pub fn problems(&self) -> &[(String, hal::DeviceError)] {
        &self.problems
    }

    /// The device of this name; `cpu` and `cpu:0` are the same.
    ///
    /// # Errors
    /// [`Error::UnknownDevice`] with the names there are.
    pub fn device(&self, name: &str) -> Result<Device> {
        let named = |name: &str| self.devices.iter().find(|device| device.name() == name);
        let first = |name: &str| named(&format!("{name}:0"));
        let found = named(name)
            .or_else(|| first(name))
            .or_else(|| named(name.strip_suffix(":0")?));
        found.cloned().ok_or_else(|| Error::UnknownDevice {
            name: name.to_owned(),
            known: self.names(),
        })
    }

    /// The device that work goes to unless told otherwise: the first.
    ///
    /// # Errors
    /// [`Error::UnknownDevice`] if there is none.
    pub fn default_device(&self) -> Result<Device> {
        self.devices
            .first()
            .cloned()
            .ok_or_else(|| Error::UnknownDevice {
                name: "default".to_owned(),
                known: "none".to_owned(),
            })
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.devices.iter().map(Device::name).collect();
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    }
}
