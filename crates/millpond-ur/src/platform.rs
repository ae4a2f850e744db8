//! The platform: the devices of this machine that millpond drives.

use std::sync::{Arc, OnceLock};

use crate::adapter::Adapter;
use crate::argument::{Answer, In, Out, Text};
use crate::device::Device;
use crate::entry::entry;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{ApiVersion, Backend, Code, PlatformInfo};
use crate::property::Property;
use crate::structures::Header;

/// The platform, of which there is one.
#[derive(Debug)]
pub(crate) struct Platform {
    place: Place<Platform>,
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

    /// The one that there is, for as long as the process.
    pub(crate) fn the() -> Answer<&'static Arc<Self>> {
        static PLATFORM: OnceLock<Answer<Arc<Platform>>> = OnceLock::new();
        let platform = PLATFORM.get_or_init(|| {
            let devices = millpond::devices().iter();
            let devices: Answer<_> = devices.map(|device| Device::root(device.clone())).collect();
            let devices = devices?;
            create(|place| Self { place, devices })
        });
        platform.as_ref().map_err(|code| *code)
    }
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
        platforms.set(Platform::the()?.handle());
        count.set(1);
        Ok(())
    }

    fn urPlatformGetInfo(
        platform: Handle<Platform>,
        what: PlatformInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        platform.get()?;
        let property: Property = match what {
            PlatformInfo::NAME => "millpond".into(),
            PlatformInfo::VENDOR_NAME => "The millpond developers".into(),
            PlatformInfo::VERSION => env!("CARGO_PKG_VERSION").into(),
            PlatformInfo::EXTENSIONS => "".into(),
            PlatformInfo::PROFILE => "FULL_PROFILE".into(),
            PlatformInfo::BACKEND => Backend::NATIVE_CPU.0.into(),
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
