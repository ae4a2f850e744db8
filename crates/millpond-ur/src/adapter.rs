//! The adapter: this library itself, of which there is one.

use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

use crate::argument::{Answer, Out, Text, UserData};
use crate::entry::entry;
use crate::error;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{AdapterInfo, Backend, Code, LoggerLevel};
use crate::property::Property;

/// The adapter.
#[derive(Debug)]
pub(crate) struct Adapter {
    place: Place<Adapter>,
}

kinds! { Adapter: INVALID_ARGUMENT }

/// The version of the adapter's own making. The public conformance suite takes 1 for adapters whose
/// failures it knows.
const VERSION: u32 = 2;

impl Adapter {
    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    /// The one that there is, for as long as the process.
    pub(crate) fn the() -> Answer<&'static Arc<Self>> {
        static ADAPTER: OnceLock<Answer<Arc<Adapter>>> = OnceLock::new();
        let adapter = ADAPTER.get_or_init(|| create(|place| Self { place }));
        adapter.as_ref().map_err(|code| *code)
    }
}

entry! {
    /// The adapter, with a reference.
    fn urAdapterGet(room: u32, adapters: Out<Handle<Adapter>>, count: Out<u32>) {
        if adapters.is_null() && count.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if !adapters.is_null() && room == 0 {
            return Err(Code::INVALID_SIZE);
        }
        let adapter = Adapter::the()?;
        if !adapters.is_null() {
            adapter.handle().retain()?;
            adapters.set(adapter.handle());
        }
        count.set(1);
        Ok(())
    }

    fn urAdapterRetain(adapter: Handle<Adapter>) {
        adapter.retain()
    }

    /// Gives a reference back. Nothing is taken down with the last: whoever comes next finds all as
    /// it is.
    fn urAdapterRelease(adapter: Handle<Adapter>) {
        adapter.release().map(drop)
    }

    /// The words of the last error on this thread that has no code of its own.
    fn urAdapterGetLastError(adapter: Handle<Adapter>, words: Out<Text>, code: Out<c_int>) {
        adapter.get()?;
        let (words, code) = (words.required()?, code.required()?);
        let (text, number) = error::last();
        words.set(Text::of(text));
        code.set(number.0.cast_signed());
        Ok(())
    }

    fn urAdapterGetInfo(
        adapter: Handle<Adapter>,
        what: AdapterInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let adapter = adapter.get()?;
        let property = match what {
            // Of the platform that is there on every machine.
            AdapterInfo::BACKEND => Backend::NATIVE_CPU.0.into(),
            AdapterInfo::REFERENCE_COUNT => adapter.place.references().into(),
            AdapterInfo::VERSION => VERSION.into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        Property::answer(property, room, value, size)
    }

    /// Takes note of who wants to be told what happens. There is nothing to tell: what goes wrong is
    /// told to whoever asked for it.
    fn urAdapterSetLoggerCallback(
        adapter: Handle<Adapter>,
        _callback: Option<extern "C" fn(LoggerLevel, Text, UserData)>,
        _data: UserData,
        level: LoggerLevel,
    ) {
        adapter.get()?;
        check_level(level)
    }

    fn urAdapterSetLoggerCallbackLevel(adapter: Handle<Adapter>, level: LoggerLevel) {
        adapter.get()?;
        check_level(level)
    }
}

fn check_level(level: LoggerLevel) -> Answer {
    if level > LoggerLevel::QUIET {
        return Err(Code::INVALID_ENUMERATION);
    }
    Ok(())
}
