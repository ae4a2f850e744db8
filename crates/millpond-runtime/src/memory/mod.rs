//! Allocations: bytes owned by the handles that share them.
//!
//! An [`Allocation`] is a handle; clones share the same bytes, and views of arrays hold clones.
//! Commands hold none: dropping the last handle while commands that use the bytes are pending is
//! safe, since the bytes are reused only by commands ordered behind them, and go back to the
//! driver only when every point recorded on them was reached (rules M1, M2). Memory that somebody
//! else owns is wrapped in the same handle, and its owner is told when the last use has completed
//! (M3).

mod block;
mod buffer;
mod dependencies;
mod foreign;
mod host;
mod lent;
mod part;
pub(crate) mod tracking;
mod uses;

use std::fmt;
use std::mem::ManuallyDrop;

use millpond_hal::Address;
use millpond_types::MemoryKind;
use triomphe::{Arc, UniqueArc};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::pool::Tag;
use crate::queue::Queue;

pub(crate) use block::{Block, Source};
pub(crate) use buffer::sealed;
pub use buffer::{Buffer, Host, HostMut, Operand, View, ViewMut};
pub(crate) use dependencies::Dependencies;
pub use foreign::{Release, drain_releases};
pub(crate) use lent::Lent;

/// Shared ownership of bytes of one kind on one device. `Send` and `Sync`.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::{Device, MemoryKind};
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// let queue = device.default_queue()?;
/// let memory = queue.allocate(MemoryKind::Shared, 100)?;
/// let same = memory.clone();
/// drop(memory);
/// assert_eq!(same.bytes(), 100);
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
pub struct Allocation(ManuallyDrop<Arc<Block>>);

impl Allocation {
    #[inline]
    pub(crate) fn new(block: Arc<Block>) -> Self {
        Self(ManuallyDrop::new(block))
    }

    /// The block, if nobody else has a handle to it.
    #[inline]
    pub(crate) fn try_into_unique(self) -> std::result::Result<UniqueArc<Block>, Self> {
        let mut handle = ManuallyDrop::new(self);
        // SAFETY: the handle isn't dropped, so that the field is taken once.
        let block = unsafe { ManuallyDrop::take(&mut handle.0) };
        Arc::try_unique(block).map_err(Self::new)
    }

    #[cfg(test)]
    pub(crate) fn shared_block(&self) -> &Arc<Block> {
        &self.0
    }

    /// Itself, whether held or borrowed.
    pub(crate) fn borrowed(&self) -> &Self {
        self
    }

    #[inline]
    pub(crate) fn block(&self) -> &Block {
        &self.0
    }

    /// Bytes asked for.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// The kind of memory.
    #[inline]
    pub fn kind(&self) -> MemoryKind {
        self.0.kind
    }

    /// The first byte's address in the unified address space.
    ///
    /// Plain data; whoever dereferences it answers for order and lifetime.
    #[inline]
    pub fn address(&self) -> Address {
        self.0.base
    }

    /// The queue it was allocated on, on which commands run unless told otherwise.
    pub fn queue(&self) -> Queue {
        self.home().clone()
    }

    /// The same, borrowed.
    #[inline]
    pub fn home(&self) -> &Queue {
        self.0.home_queue()
    }

    /// Whether it is at home on this queue.
    #[inline]
    pub fn is_on(&self, queue: &Queue) -> bool {
        self.home() == queue
    }

    /// The device it belongs to.
    pub fn device(&self) -> Device {
        self.0.home().device().clone()
    }

    /// Whether both handles share the same bytes.
    pub fn same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Says who counts it, while nobody else has a handle.
    pub(crate) fn set_tag(&mut self, tag: Option<Tag>) {
        if let Some(block) = Arc::get_mut(&mut self.0) {
            block.tag = tag;
        }
    }

    /// Whether the memory belongs to somebody else.
    pub fn is_foreign(&self) -> bool {
        matches!(self.0.source, Source::Foreign(_))
    }

    /// Says that other libraries of the device have the address: from now on every command on the
    /// allocation finishes before the call that submits it returns, as for memory that is shared with
    /// the host.
    pub fn share_with_others(&self) {
        self.block().lent.to_host();
    }

    /// The address for host code to read and write through, after pending commands are done.
    ///
    /// From now on the allocation counts as shared with the host: every command on it finishes
    /// before the call that submits it returns, so host code always sees what a program that runs
    /// line by line would (rules O3, O5).
    ///
    /// # Errors
    /// [`Error::HostAccess`] for device memory, unless the device's memory *is* host memory and
    /// `any_kind` is set; the failure of a command that wrote it.
    pub fn share_with_host(&self, any_kind: bool) -> Result<Address> {
        let block = self.block();
        let device = block.home().device();
        let reachable = block.kind.host_accessible() || (any_kind && device.info().host_executed);
        if !reachable {
            return Err(Error::HostAccess {
                kind: block.kind,
                device: device.name().to_owned(),
            });
        }
        block.lent.to_host();
        self.wait_idle()?;
        Ok(block.base)
    }

    /// Whether [`Allocation::share_with_host`] was called, or the memory came from the host; of
    /// memory that lies in other memory, as that of a pool over a buffer does, also whether that
    /// one is shared.
    #[inline]
    pub fn is_host_shared(&self) -> bool {
        self.0.is_host_shared()
    }

    /// Whether whoever gives work to the device's own stream may use it at any time.
    #[inline]
    pub(crate) fn is_on_stream(&self) -> bool {
        self.0.is_on_stream()
    }
}

impl Clone for Allocation {
    fn clone(&self) -> Self {
        Self(ManuallyDrop::new(Arc::clone(&self.0)))
    }
}

impl Drop for Allocation {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the field is taken here only, and not used after its destructor.
        let block = unsafe { ManuallyDrop::take(&mut self.0) };
        block::retire(block);
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allocation")
            .field("address", &self.0.base)
            .field("bytes", &self.0.bytes)
            .field("kind", &self.0.kind)
            .finish_non_exhaustive()
    }
}
