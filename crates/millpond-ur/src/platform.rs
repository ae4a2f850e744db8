//! Platforms: the devices of this machine that millpond drives, one for each of its backends.

use std::sync::{Arc, OnceLock};

use crate::adapter::Adapter;
use crate::argument::{Answer, In, Out, Text};
use crate::device::Device;
use crate::entry::entry;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{ApiVersion, Backend, Code, PlatformInfo};
use crate::property::Property;
use crate::structures::Header;

/// The devices of one backend.
#[derive(Debug)]
pub(crate) struct Platform {
    place: Place<Platform>,
    /// What the runtime calls the backend.
    driver: &'static str,
    devices: Vec<Arc<Device>>,
}

kinds! { Platform: INVALID_PLATFORM }

impl Platform {
    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    /// The devices that aren't parts of others.
    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Those that there are, for as long as the process: the processor's first.
    pub(crate) fn all() -> Answer<&'static [Arc<Self>]> {
        static PLATFORMS: OnceLock<Answer<Vec<Arc<Platform>>>> = OnceLock::new();
        let platforms = PLATFORMS.get_or_init(|| {
            let mut drivers: Vec<_> = millpond::devices().iter().map(driver).collect();
            drivers.dedup();
            drivers.into_iter().map(Self::of_driver).collect()
        });
        platforms.as_deref().map_err(|code| *code)
    }

    fn of_driver(driver: &'static str) -> Answer<Arc<Self>> {
        let all = millpond::devices().iter();
        let theirs = all.filter(|device| self::driver(device) == driver);
        let devices: Answer<_> = theirs.map(|device| Device::root(device.clone())).collect();
        let devices = devices?;
        create(|place| Self {
            place,
            driver,
            devices,
        })
    }

    /// The platform of a device of the runtime's, or of a part of one.
    pub(crate) fn of(device: &millpond::Device) -> Answer<&'static Arc<Self>> {
        let mut all = Self::all()?.iter();
        let found = all.find(|platform| platform.driver == driver(device));
        found.ok_or(Code::INVALID_DEVICE)
    }

    fn backend(&self) -> Backend {
        match self.driver {
            "cuda" => Backend::CUDA,
            _ => Backend::NATIVE_CPU,
        }
    }

    fn name(&self) -> &'static str {
        match self.backend() {
            Backend::CUDA => "millpond, NVIDIA",
            _ => "millpond",
        }
    }
}

fn driver(device: &millpond::Device) -> &'static str {
    device.info().backend
}

entry! {
    fn urPlatformGet(
        adapter: Handle<Adapter>,
        room: u32,
        platforms: Out<Handle<Platform>>,
        count: Out<u32>,
    ) {
        adapter.get()?;
        if platforms.is_null() && count.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if !platforms.is_null() && room == 0 {
            return Err(Code::INVALID_SIZE);
        }
        let all = Platform::all()?;
        if !platforms.is_null() {
            platforms.set_all(all.iter().take(room as usize).map(|platform| platform.handle()));
        }
        count.set(all.len() as u32);
        Ok(())
    }

    fn urPlatformGetInfo(
        platform: Handle<Platform>,
        what: PlatformInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let platform = platform.get()?;
        let property: Property = match what {
            PlatformInfo::NAME => platform.name().into(),
            PlatformInfo::VENDOR_NAME => "The millpond developers".into(),
            PlatformInfo::VERSION => env!("CARGO_PKG_VERSION").into(),
            PlatformInfo::EXTENSIONS => "".into(),
            PlatformInfo::PROFILE => "FULL_PROFILE".into(),
            PlatformInfo::BACKEND => platform.backend().0.into(),
            PlatformInfo::ADAPTER => Adapter::the()?.handle().into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    fn urPlatformGetApiVersion(platform: Handle<Platform>, version: Out<ApiVersion>) {
        platform.get()?;
        version.required()?.set(ApiVersion::CURRENT);
        Ok(())
    }

    fn urPlatformGetNativeHandle(platform: Handle<Platform>, native: Out<usize>) {
        platform.get()?;
        native.required()?.set(platform.native());
        Ok(())
    }

    fn urPlatformCreateWithNativeHandle(
        native: usize,
        adapter: Handle<Adapter>,
        _properties: In<Header>,
        platform: Out<Handle<Platform>>,
    ) {
        adapter.get()?;
        let platform = platform.required()?;
        platform.set(Handle::<Platform>::of_native(native).get()?.handle());
        Ok(())
    }

    /// Options of compilers, of which there are none here: those that mean as much as none are.
    fn urPlatformGetBackendOption(
        platform: Handle<Platform>,
        option: Text,
        backend_option: Out<Text>,
    ) {
        platform.get()?;
        let option = option.required()?;
        let backend_option = backend_option.required()?;
        match option.to_bytes() {
            b"" | b"-O0" | b"-O1" | b"-O2" | b"-O3" => backend_option.set(Text::of(c"")),
            _ => return Err(Code::INVALID_VALUE),
        }
        Ok(())
    }
}
