//! Pools of a context, and what all pools have: references and properties.

use crate::argument::{Answer, In, Out};
use crate::context::Context;
use crate::entry::entry;
use crate::handle::Handle;
use crate::numbers::{Code, UsmPoolInfo};
use crate::pool::{Description, OF_CONTEXT, Pool};
use crate::property::Property;
use crate::structures::UsmPoolDesc;

/// What the interface calls a threshold that keeps everything.
pub(super) const EVERYTHING: usize = usize::MAX;
/// What the interface calls a maximum that there isn't.
pub(super) const NO_MAXIMUM: usize = 0;

impl Pool {
    pub(super) fn property(&self, what: UsmPoolInfo) -> Answer<Property> {
        let limit = |read: fn(&millpond::Pool) -> Option<usize>| {
            let state = self.state();
            state.made.first().and_then(read)
        };
        Ok(match what {
            UsmPoolInfo::REFERENCE_COUNT => self.place.references().into(),
            UsmPoolInfo::CONTEXT => self.context()?.handle().into(),
            UsmPoolInfo::RELEASE_THRESHOLD_EXP => limit(millpond::Pool::release_threshold)
                .unwrap_or(EVERYTHING)
                .into(),
            UsmPoolInfo::MAXIMUM_SIZE_EXP => limit(millpond::Pool::maximum_size)
                .unwrap_or(NO_MAXIMUM)
                .into(),
            UsmPoolInfo::RESERVED_CURRENT_EXP => self.statistics().reserved.into(),
            UsmPoolInfo::RESERVED_HIGH_EXP => self.statistics().reserved_high.into(),
            UsmPoolInfo::USED_CURRENT_EXP => self.statistics().used.into(),
            UsmPoolInfo::USED_HIGH_EXP => self.statistics().used_high.into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        })
    }
}

entry! {
    fn urUSMPoolCreate(context: Handle<Context>, desc: In<UsmPoolDesc>, pool: Out<Handle<Pool>>) {
        let context = context.get()?;
        let pool = pool.required()?;
        let made = Description::read(desc)?.make(&context, context.devices(), OF_CONTEXT)?;
        pool.set(made.handle());
        Ok(())
    }

    fn urUSMPoolRetain(pool: Handle<Pool>) {
        pool.retain()
    }

    fn urUSMPoolRelease(pool: Handle<Pool>) {
        pool.release().map(drop)
    }

    fn urUSMPoolGetInfo(
        pool: Handle<Pool>,
        what: UsmPoolInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let pool = pool.get()?;
        let property = pool.property(what)?;
        if !value.is_null() && room == 0 {
            return Err(Code::INVALID_SIZE);
        }
        property.answer(room, value, size)
    }
}
