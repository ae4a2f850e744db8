//! What can be asked of an address.

use std::sync::Arc;

use millpond::MemoryKind;

use crate::argument::{Out, Pointer};
use crate::context::Context;
use crate::entry::entry;
use crate::handle::Handle;
use crate::numbers::{Code, UsmAllocInfo, UsmType};
use crate::pool::Pool;
use crate::property::Property;
use crate::usm::{Usm, find};

/// A kind of memory as the interface names it.
pub(crate) fn usm_type(kind: MemoryKind) -> UsmType {
    match kind {
        MemoryKind::Device => UsmType::DEVICE,
        MemoryKind::Shared => UsmType::SHARED,
        MemoryKind::Host => UsmType::HOST,
    }
}

fn property(usm: &Usm, pool: Option<&Arc<Pool>>, what: UsmAllocInfo) -> Property {
    match what {
        UsmAllocInfo::TYPE => usm_type(usm.kind).0.into(),
        UsmAllocInfo::BASE_PTR => usm.memory.address().get().into(),
        UsmAllocInfo::SIZE => usm.memory.bytes().into(),
        UsmAllocInfo::DEVICE => usm.device.handle().into(),
        _ => pool.map_or(Handle::NULL, |pool| pool.handle()).into(),
    }
}

entry! {
    /// Tells of the memory that has an address in it. Of an address in none only the kind is known:
    /// that it is of none.
    fn urUSMGetMemAllocInfo(
        context: Handle<Context>,
        memory: Pointer,
        what: UsmAllocInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let context = context.get()?;
        let address = memory.required()?;
        if what > UsmAllocInfo::POOL {
            return Err(Code::INVALID_ENUMERATION);
        }
        let found = find(address, |usm| {
            Arc::ptr_eq(&usm.context, &context).then(|| {
                let pool = usm.pool.upgrade();
                (property(usm, pool.as_ref(), what), pool)
            })
        });
        // A pool that nobody else has any more goes here, where the memory isn't locked: its context may
        // go with it, whose deleters may free memory.
        let property = match found.flatten() {
            Some((property, _pool)) => property,
            None if what == UsmAllocInfo::TYPE => UsmType::UNKNOWN.0.into(),
            None => return Err(Code::INVALID_MEM_OBJECT),
        };
        property.answer(room, value, size)
    }
}
