//! Device memory that is mapped: addresses, and physical memory behind them.

use std::alloc::Layout;

use millpond_hal::DeviceError;
use millpond_types::MemoryKind;

use crate::api::{AccessDescription, PhysicalHandle, PhysicalProperties, Pointer};
use crate::card::{Card, CudaError, Current};
use crate::device::System;

/// A range of addresses with physical memory behind it. It is taken apart by [`Mapped::end`].
#[derive(Debug)]
pub(crate) struct Mapped {
    first: Pointer,
    bytes: usize,
    physical: Option<PhysicalHandle>,
    /// Whether the physical memory is mapped.
    there: bool,
}

impl Mapped {
    /// Memory of a device that it and all devices which can may read and write.
    pub(crate) fn new(
        current: &Current<'_>,
        card: &Card,
        system: &System,
        layout: Layout,
    ) -> Result<Self, DeviceError> {
        let mut mapped = Self {
            first: 0,
            bytes: 0,
            physical: None,
            there: false,
        };
        match mapped.make(current, card, system, layout) {
            Ok(()) => Ok(mapped),
            Err(error) => {
                // SAFETY: nobody knows of it yet.
                unsafe { mapped.end(current) };
                Err(card.no_memory(MemoryKind::Device, layout, &error))
            }
        }
    }

    fn make(
        &mut self,
        current: &Current<'_>,
        card: &Card,
        system: &System,
        layout: Layout,
    ) -> Result<(), CudaError> {
        let api = current.api();
        let properties = PhysicalProperties::device(card.ordinal);
        let mut unit = 0;
        // SAFETY: the number is written to a place of its type; 0 asks for the least.
        let code = unsafe { api.granularity(&raw mut unit, &raw const properties, 0) };
        current.check("cuMemGetAllocationGranularity", code)?;
        let bytes = layout.size().next_multiple_of(unit.max(1));
        let align = layout.align().max(unit);

        let mut first = 0;
        // SAFETY: as above; the driver chooses the addresses.
        let code = unsafe { api.reserve(&raw mut first, bytes, align, 0, 0) };
        current.check("cuMemAddressReserve", code)?;
        (self.first, self.bytes) = (first, bytes);

        let mut physical = PhysicalHandle(0);
        // SAFETY: as above.
        let code = unsafe { api.create(&raw mut physical, bytes, &raw const properties, 0) };
        current.check("cuMemCreate", code)?;
        self.physical = Some(physical);

        // SAFETY: the addresses were reserved for as many bytes, and nothing is mapped there.
        let code = unsafe { api.map(first, bytes, 0, physical, 0) };
        current.check("cuMemMap", code)?;
        self.there = true;

        let who: Vec<AccessDescription> = system
            .cards
            .iter()
            .filter(|other| other.ordinal == card.ordinal || other.reaches(card))
            .map(|other| AccessDescription::both(other.ordinal))
            .collect();
        // SAFETY: the range is the one that was mapped, and the descriptions are as many.
        let code = unsafe { api.set_access(first, bytes, who.as_ptr(), who.len()) };
        current.check("cuMemSetAccess", code)
    }

    pub(crate) const fn first(&self) -> Pointer {
        self.first
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes it apart, as far as it was made.
    ///
    /// # Safety
    /// Nothing uses the memory.
    pub(crate) unsafe fn end(self, current: &Current<'_>) {
        let api = current.api();
        if self.there {
            // SAFETY: mapped as a whole by `make`; the caller's promise.
            let code = unsafe { api.unmap(self.first, self.bytes) };
            let _ = current.check("cuMemUnmap", code);
        }
        if let Some(physical) = self.physical {
            // SAFETY: created by `make`, and not mapped any more.
            let code = unsafe { api.destroy(physical) };
            let _ = current.check("cuMemRelease", code);
        }
        if self.bytes > 0 {
            // SAFETY: reserved by `make`, and empty.
            let code = unsafe { api.unreserve(self.first, self.bytes) };
            let _ = current.check("cuMemAddressFree", code);
        }
    }
}
