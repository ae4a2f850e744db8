//! An arena whose calls are handed to a layer.

use std::alloc::Layout;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use millpond_types::MemoryKind;

use super::wrap::{Layer, Site};
use crate::arena::{Arena, ArenaId, Place};
use crate::command::Address;
use crate::device::RawAllocation;
use crate::error::DeviceError;

/// An arena below a layer.
pub(super) struct LayeredArena<L> {
    pub(super) inner: Arc<dyn Arena>,
    pub(super) site: Site,
    pub(super) layer: Arc<L>,
}

impl<L: Layer> Arena for LayeredArena<L> {
    fn id(&self) -> ArenaId {
        self.inner.id()
    }

    fn kind(&self) -> MemoryKind {
        self.inner.kind()
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.inner.descriptor()
    }

    fn allocate(&self, layout: Layout) -> Result<RawAllocation, DeviceError> {
        self.layer.allocate_in(&self.site, &self.inner, layout)
    }

    fn place(&self, first: Address) -> Result<Place, DeviceError> {
        self.inner.place(first)
    }

    fn map(&self, place: &Place, bytes: usize) -> Result<RawAllocation, DeviceError> {
        self.layer.map(&self.site, &self.inner, place, bytes)
    }

    unsafe fn release(&self, allocation: RawAllocation) {
        // SAFETY: the caller promises what the arena asks for.
        unsafe { self.layer.release_in(&self.site, &self.inner, allocation) }
    }
}
