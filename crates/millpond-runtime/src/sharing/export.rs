//! What a process gives to others.

use std::fmt;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use millpond_hal::Arena;

use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::{Allocation, Source};
use crate::pool::Pool;
use crate::queue::fit::check_range;
use crate::sharing::{MemoryHandle, PoolHandle};
use crate::sync::lock;

/// Memory that other processes may open, for as long as this lives.
///
/// It keeps the allocation: dropping it is what ends the promise that the bytes stay what they are.
/// The descriptor is the pool's, the same for all its exports. `Send`, `Sync`.
pub struct Export {
    /// Kept, so that its bytes aren't handed out again.
    memory: Allocation,
    handle: MemoryHandle,
    arena: Arc<dyn Arena>,
}

impl Export {
    /// What the other process needs beside the descriptor.
    pub fn handle(&self) -> &MemoryHandle {
        &self.handle
    }

    /// The memory.
    pub fn memory(&self) -> &Allocation {
        &self.memory
    }
}

impl AsFd for Export {
    /// The descriptor that goes with the handle. It stays open for as long as this lives.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.arena.descriptor()
    }
}

impl fmt::Debug for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Export")
            .field("memory", &self.memory)
            .field("descriptor", &self.as_fd())
            .finish_non_exhaustive()
    }
}

impl Allocation {
    /// Makes a part of it available to other processes, for as long as the answer lives. What was
    /// submitted on it is done when this returns, and from now on it counts as shared with the
    /// host: see [`Allocation::share_with_host`].
    ///
    /// ```no_run
    /// # fn send(handle: &[u8], descriptor: std::os::fd::BorrowedFd<'_>) {}
    /// # fn f(device: &millpond_runtime::Device) -> millpond_runtime::Result<()> {
    /// # use std::os::fd::AsFd;
    /// # use millpond_runtime::{MemoryKind, PoolOptions};
    /// let options = PoolOptions { shareable: true, ..PoolOptions::default() };
    /// let pool = device.create_pool(MemoryKind::Shared, options)?;
    /// let memory = device.default_queue()?.allocate_from(&pool, 1 << 20)?;
    /// let export = memory.export(0..memory.bytes())?;
    /// send(&export.handle().to_bytes(), export.as_fd());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotShareable`] for memory of a pool without
    /// [`PoolOptions::shareable`](crate::PoolOptions::shareable) or of none; [`Error::Bounds`]; the
    /// failure of its last writer.
    pub fn export(&self, part: Range<usize>) -> Result<Export> {
        const CALL: &str = "exporting memory";
        lifecycle::check(CALL)?;
        check_range(CALL, self.bytes(), part.start, part.len())?;
        let not_shareable = |what: String| Error::NotShareable { what };
        let pool = match &self.block().source {
            Source::Pool { pool, .. } => pool,
            Source::Foreign(_) => {
                return Err(not_shareable("memory that no pool owns".to_owned()));
            }
            Source::Part(_) => return Err(not_shareable("memory of a graph".to_owned())),
        };
        let Some(arena) = &pool.supply.arena else {
            return Err(not_shareable(format!("memory of the {}", pool.name)));
        };
        if self.kind().host_accessible() {
            self.share_with_host(false)?;
        } else {
            self.wait_idle()?;
        }
        let own = self.address();
        let around = match &pool.driven {
            Some(driven) => Some((driven.first(own), self.block().capacity)),
            None => lock(&pool.store).segment_around(own),
        };
        let Some((first, size)) = around else {
            return Err(not_shareable(format!(
                "memory outside of the {}",
                pool.name
            )));
        };
        let backend = pool.supply.device.info().backend;
        Ok(Export {
            memory: self.clone(),
            handle: MemoryHandle {
                pool: PoolHandle::new(self.kind(), backend, arena.id()),
                place: arena.place(first)?,
                segment: size as u64,
                begin: (own.get() - first.get() + part.start) as u64,
                bytes: part.len() as u64,
            },
            arena: Arc::clone(arena),
        })
    }
}

impl Pool {
    /// What another process needs, beside the [descriptor](Pool::descriptor), to open the pool: it
    /// can then open memory of the pool by handles alone. It keeps nothing, the pool least of all.
    ///
    /// # Errors
    /// [`Error::NotShareable`] for a pool without
    /// [`PoolOptions::shareable`](crate::PoolOptions::shareable), as a default pool is.
    pub fn handle(&self) -> Result<PoolHandle> {
        let arena = self.arena()?;
        let backend = self.core().supply.device.info().backend;
        Ok(PoolHandle::new(self.kind(), backend, arena.id()))
    }

    /// The descriptor that all memory of the pool is behind; open for as long as the pool is there.
    ///
    /// # Errors
    /// As for [`Pool::handle`].
    pub fn descriptor(&self) -> Result<BorrowedFd<'_>> {
        self.arena().map(|arena| arena.descriptor())
    }

    fn arena(&self) -> Result<&Arc<dyn Arena>> {
        lifecycle::check("exporting a pool")?;
        let arena = self.core().supply.arena.as_ref();
        arena.ok_or_else(|| Error::NotShareable {
            what: format!("the {}", self.name()),
        })
    }
}
