//! Where an address lies: what decides how a copy is made.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use super::Origin;
use crate::api::{Code, Ordinal, Pointer, pointer};
use crate::card::{Card, CudaError, Current};

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On a device.
    Device(Ordinal),
    /// In the host's memory, where devices reach it.
    Pinned,
    /// Wherever the driver moves it.
    Managed,
    /// In the host's memory, where no device may be let: its pages come and go.
    Pageable,
}

impl Place {
    /// Whether the host reaches it, and no device moves it.
    pub(crate) const fn is_of_the_host(self) -> bool {
        matches!(self, Self::Pinned | Self::Pageable)
    }
}

/// Memory that this backend had from the driver.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) bytes: usize,
    pub(crate) place: Place,
    /// What the driver calls it by.
    pub(crate) base: Pointer,
    pub(crate) origin: Origin,
}

/// All memory that this backend had from the driver, by the address that was handed out.
#[derive(Debug, Default)]
pub(crate) struct Places(RwLock<BTreeMap<Pointer, Record>>);

impl Places {
    pub(crate) fn insert(&self, first: Pointer, record: Record) {
        let mut places = self.0.write().unwrap_or_else(PoisonError::into_inner);
        places.insert(first, record);
    }

    pub(crate) fn remove(&self, first: Pointer) -> Option<Record> {
        let mut places = self.0.write().unwrap_or_else(PoisonError::into_inner);
        places.remove(&first)
    }

    /// Where an address lies: of our own memory without a call, of others' by the driver's word.
    ///
    /// # Errors
    /// A device that is lost, where it would have to be asked.
    pub(crate) fn find(&self, card: &Card, address: Pointer) -> Result<Place, CudaError> {
        let places = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, record)) = places.range(..=address).next_back()
            && address - record.base < record.bytes as Pointer
        {
            return Ok(record.place);
        }
        drop(places);
        Ok(ask(&card.enter()?, address))
    }
}

/// What the driver knows of an address; nothing, of the host's ordinary memory.
fn ask(current: &Current<'_>, address: Pointer) -> Place {
    let attributes = [pointer::MEMORY_TYPE, pointer::IS_MANAGED, pointer::ORDINAL];
    let mut values = [0_u32; 3];
    let data = values.each_mut().map(|value| (&raw mut *value).cast());
    // SAFETY: each attribute is a number of four bytes or, as a boolean, one that is no longer.
    let code = unsafe {
        current.api().pointer_attributes(
            data.len() as u32,
            attributes.as_ptr(),
            data.as_ptr(),
            address,
        )
    };
    match values {
        _ if code != Code::SUCCESS => Place::Pageable,
        [_, managed, _] if managed != 0 => Place::Managed,
        [pointer::HOST, ..] => Place::Pinned,
        [pointer::DEVICE, _, ordinal] => Place::Device(ordinal as Ordinal),
        _ => Place::Pageable,
    }
}
