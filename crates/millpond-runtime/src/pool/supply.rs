//! Where a pool's segments come from: the device, or an arena that other processes can open.

use std::alloc::Layout;
use std::sync::Arc;

use millpond_hal as hal;
use millpond_hal::{Arena, DeviceError, RawAllocation};
use millpond_types::MemoryKind;

use crate::queue::interrupt_holds;

/// A device's memory, or that of one arena of it.
#[derive(Clone)]
pub(crate) struct Supply {
    pub(crate) device: Arc<dyn hal::Device>,
    pub(crate) arena: Option<Arc<dyn Arena>>,
}

impl Supply {
    /// Takes a segment.
    pub(crate) fn allocate(
        &self,
        kind: MemoryKind,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        interrupt_holds();
        match &self.arena {
            None => self.device.allocate(kind, layout),
            Some(arena) => arena.allocate(layout),
        }
    }

    /// Gives a segment back.
    ///
    /// # Safety
    /// It came from here, wasn't given back yet, and no submitted command or reference uses it.
    pub(crate) unsafe fn release(&self, segment: RawAllocation) {
        interrupt_holds();
        match &self.arena {
            // SAFETY: the caller's promise; without an arena the device was asked.
            None => unsafe { self.device.release(segment) },
            // SAFETY: the caller's promise; with an arena that one was asked.
            Some(arena) => unsafe { arena.release(segment) },
        }
    }
}
