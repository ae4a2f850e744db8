//! The bytes behind an allocation, and what becomes of them when the last handle is dropped.
//!
//! A block from a pool is recycled: when its last handle goes, the block itself, with its
//! tracking, moves into the cache of its home queue, and the next allocation of that size class
//! takes it out again. Nothing is submitted, and the general allocator isn't asked.

use millpond_hal::Address;
use millpond_types::MemoryKind;
use triomphe::{Arc, UniqueArc};

use crate::error::{Error, Result};
use crate::memory::foreign::Release;
use crate::memory::part::Part;
use crate::memory::tracking::Tracking;
use crate::memory::{Allocation, Lent};
use crate::pool::{Class, PoolCore, Tag};
use crate::queue::{Queue, QueueCore};
use crate::sync::between_counts;

/// Where the bytes of a block come from and go back to.
#[derive(Debug)]
pub(crate) enum Source {
    /// A pool's segment.
    Pool {
        pool: std::sync::Arc<PoolCore>,
        class: Class,
    },
    /// Somebody else, who is told when the last use has completed (rule M3).
    Foreign(Option<Release>),
    /// Another allocation, which lives as long.
    Part(Part),
}

/// Bytes of one kind, and the queue they are at home on. It has cache lines of its own: blocks
/// that were made together may be used by several threads later.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Block {
    pub(crate) base: Address,
    /// Bytes granted.
    pub(crate) capacity: usize,
    /// Bytes asked for.
    pub(crate) bytes: usize,
    pub(crate) kind: MemoryKind,
    /// The queue whose line guards the tracking; none while the block lies in a cache.
    pub(crate) home: Option<Queue>,
    pub(crate) tracking: Tracking,
    pub(crate) source: Source,
    /// Who counts it.
    pub(crate) tag: Option<Tag>,
    /// Who else has their address.
    pub(crate) lent: Lent,
}

impl Block {
    /// The queue a live block is at home on.
    #[inline]
    pub(crate) fn home(&self) -> &std::sync::Arc<QueueCore> {
        self.home_queue().core()
    }

    /// The same as users hold it.
    #[inline]
    pub(crate) fn home_queue(&self) -> &Queue {
        self.home.as_ref().expect("a block with handles has a home")
    }

    /// The pool that the bytes come from, if they do.
    pub(crate) fn pool(&self) -> Option<&std::sync::Arc<PoolCore>> {
        match &self.source {
            Source::Pool { pool, .. } => Some(pool),
            Source::Part(part) => part.whole().block().pool(),
            Source::Foreign(_) => None,
        }
    }

    /// The memory that the bytes are a part of: a whole, or what a pool was made over.
    #[inline]
    fn around(&self) -> Option<&Allocation> {
        match &self.source {
            Source::Pool { pool, .. } => pool.lender(),
            Source::Part(part) => Some(part.whole()),
            Source::Foreign(_) => None,
        }
    }

    /// Whether host code may touch the bytes at any time: by their own address, or by that of
    /// memory around them.
    #[inline]
    pub(crate) fn is_host_shared(&self) -> bool {
        self.lent.is_to_host() || self.around().is_some_and(Allocation::is_host_shared)
    }

    /// The same of whoever gives work to the device's own stream.
    #[inline]
    pub(crate) fn is_on_stream(&self) -> bool {
        self.lent.is_to_stream() || self.around().is_some_and(Allocation::is_on_stream)
    }

    /// Fails if the bytes were taken back.
    #[inline]
    pub(crate) fn check_valid(&self) -> Result<()> {
        if self.tracking.is_revoked() {
            return Err(Error::Revoked {
                address: self.base,
                bytes: self.bytes,
            });
        }
        Ok(())
    }

    /// Ends the uses of an owner that is gone; whether other queues may still be using it.
    #[inline]
    pub(crate) fn forget_uses(&mut self) -> bool {
        self.lent.end();
        self.tracking.abandon()
    }

    /// The same bytes under new ownership, leaving nothing to do for this block's destructor.
    pub(crate) fn transfer(&mut self) -> Self {
        Self {
            base: self.base,
            capacity: self.capacity,
            bytes: self.bytes,
            kind: self.kind,
            home: self.home.take(),
            tracking: std::mem::take(&mut self.tracking),
            source: std::mem::replace(&mut self.source, Source::Foreign(None)),
            tag: self.tag.take(),
            lent: std::mem::take(&mut self.lent),
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // Two threads dropped the last two handles at once, so neither found itself the owner.
        if self.home.is_some() {
            if crate::lifecycle::is_running() {
                retire_unique(UniqueArc::new(self.transfer()));
            } else {
                std::mem::forget(self.transfer());
            }
        }
    }
}

/// Takes back a block that has no handles left.
#[inline]
pub(crate) fn retire(block: Arc<Block>) {
    if !crate::lifecycle::is_running() {
        // Threads and drivers that would be needed may be gone: the bytes are leaked.
        std::mem::forget(block);
        return;
    }
    match Arc::try_unique(block) {
        Ok(unique) => retire_unique(unique),
        Err(shared) => {
            between_counts();
            drop(shared);
        }
    }
}

#[inline]
fn retire_unique(mut block: UniqueArc<Block>) {
    if block.lent.is_to_stream() {
        return retire_behind_stream(block);
    }
    let owned = &mut *block;
    let Some(home) = owned.home.take() else {
        return;
    };
    match &mut owned.source {
        Source::Pool { .. } => home.core().recycle(block),
        Source::Foreign(release) => {
            if let Some(release) = release.take() {
                let unfinished = home
                    .core()
                    .with_line(|_| owned.tracking.unfinished(home.core().native()));
                release.after(&unfinished);
            }
        }
        Source::Part(part) => home
            .core()
            .with_line(|_| part.pass_on(&owned.tracking, home.core().native())),
    }
}

/// Takes a block back behind what the device's own stream was given, which uses nothing of a call that may be within
/// any other: the next one from a surface does it.
#[cold]
fn retire_behind_stream(block: UniqueArc<Block>) {
    let memory = Allocation::new(block.shareable());
    let release = Release::deferred(move || match memory.follow_own_stream() {
        Ok(()) => memory.block().lent.end(),
        // Nothing says when the stream is done with the bytes, so nobody gets them.
        Err(_) => std::mem::forget(memory),
    });
    release.after(&[]);
}

#[cfg(test)]
mod tests {
    use millpond_hal::Driver;
    use millpond_hal::null::NullDriver;
    use millpond_types::MemoryKind;
    use triomphe::Arc;

    use super::Block;
    use crate::device::Device;
    use crate::pool::Cache;
    use crate::queue::{LineLock, QueueCore};

    /// Processors fetch lines of 64 bytes in pairs.
    #[test]
    fn f096_what_threads_write_has_cache_lines_of_its_own() {
        let alignments = [
            align_of::<Block>(),
            align_of::<Cache>(),
            align_of::<LineLock>(),
            align_of::<QueueCore>(),
        ];
        assert_eq!(alignments, [128; 4]);
    }

    #[test]
    fn m6_a_block_whose_last_two_handles_went_at_once_goes_back_to_its_pool() {
        let device = Device::open(NullDriver::default().devices().unwrap().remove(0));
        let memory = device
            .default_queue()
            .unwrap()
            .allocate(MemoryKind::Host, 1000)
            .unwrap();
        // As if another thread had counted this handle while it dropped its own.
        let other = Arc::clone(memory.shared_block());
        drop(memory);
        assert_eq!(device.pool(MemoryKind::Host).statistics().live, 1);
        drop(other);
        let statistics = device.pool(MemoryKind::Host).statistics();
        assert_eq!(
            (statistics.live, statistics.used, statistics.requested),
            (0, 0, 0)
        );
        assert_eq!(statistics.cached, statistics.reserved);
    }
}
