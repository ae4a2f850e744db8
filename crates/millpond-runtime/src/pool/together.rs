//! Several allocations, and several frees, under one lock of their queue.

use millpond_types::MemoryKind;

use crate::error::Result;
use crate::lifecycle;
use crate::memory::Allocation;
use crate::queue::Queue;

impl Queue {
    /// Allocates several pieces of memory as [`Queue::allocate`] does, all of them or none. What the
    /// queue's cache serves takes one lock in all.
    ///
    /// ```
    /// # use millpond_hal::{Driver, null::NullDriver};
    /// # use millpond_runtime::{Device, MemoryKind};
    /// # let device = Device::open(NullDriver::default().devices()?.remove(0));
    /// let queue = device.default_queue()?;
    /// let [keys, values] = queue.allocate_many(MemoryKind::Device, [4000, 8000])?;
    /// assert_eq!((keys.bytes(), values.bytes()), (4000, 8000));
    /// queue.free_many([keys, values]);
    /// # Ok::<(), millpond_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Queue::allocate`].
    #[inline]
    pub fn allocate_many<const N: usize>(
        &self,
        kind: MemoryKind,
        bytes: [usize; N],
    ) -> Result<[Allocation; N]> {
        let default = self.device().default_pool_core(kind);
        match self.device().current_pools().get(default) {
            None => default.allocate_many(self.core(), bytes),
            Some(pool) => pool.allocate_many(self.core(), bytes),
        }
    }

    /// Drops handles. Memory of this queue that goes with them is freed under one lock; what others
    /// hold too, or is at home on another queue, is dropped as ever.
    pub fn free_many(&self, allocations: impl IntoIterator<Item = Allocation>) {
        let mut blocks = allocations.into_iter().filter_map(|allocation| {
            if !lifecycle::is_running() {
                return None;
            }
            allocation.into_sole_block(self.core()).ok()
        });
        self.core().recycle_all(&mut blocks);
    }
}
