//! Allocations and frees in queue order.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::memory::Allocation;
use crate::pool::handle::Pool;
use crate::pool::options::Reuse;
use crate::pool::recording::{note_free, uses_to_note};
use crate::pool::wish::{Request, Wait};
use crate::queue::Queue;

/// The largest alignment that can be asked for, in bytes: a huge page.
pub const LARGEST_ALIGNMENT: usize = 2 << 20;

/// How memory is asked for by [`Queue::allocate_with`].
#[derive(Clone, Copy, Debug)]
pub struct AllocateOptions<'a> {
    /// The bytes may be used once these events are complete.
    pub after: &'a [&'a Event],
    /// Alignment in bytes: a power of two, at most [`LARGEST_ALIGNMENT`]. Never less than 256.
    pub alignment: usize,
    /// Which reuse rules apply, if not the pool's.
    pub reuse: Option<Reuse>,
    /// How long to wait for memory that is about to be freed.
    pub wait: Wait,
}

impl Default for AllocateOptions<'_> {
    fn default() -> Self {
        Self {
            after: &[],
            alignment: 1,
            reuse: None,
            wait: Wait::Forever,
        }
    }
}

impl Queue {
    /// Allocates from a pool. The address is known at once, and the bytes may be used by
    /// everything submitted to this queue from now on, and by every command that names them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::PoolClosed`]; [`Error::DeviceMismatch`]; a closed queue.
    #[inline]
    pub fn allocate_from(&self, pool: &Pool, bytes: usize) -> Result<Allocation> {
        self.check_pool(pool)?;
        pool.core().allocate(self.core(), bytes)
    }

    /// Allocates from a pool in queue order: an allocation whose bytes may be used once the event
    /// is complete, by whoever is ordered behind it. Commands that name the allocation are.
    ///
    /// # Errors
    /// As for [`Queue::allocate_from`]; [`Error::Invalid`] for an alignment that isn't a power of
    /// two or too large; [`Error::TimedOut`] where waiting for memory has an end.
    pub fn allocate_with(
        &self,
        pool: &Pool,
        bytes: usize,
        options: &AllocateOptions<'_>,
    ) -> Result<(Allocation, Event)> {
        self.check_pool(pool)?;
        let align = options.alignment;
        if !align.is_power_of_two() || align > LARGEST_ALIGNMENT {
            return Err(Error::Invalid {
                what: "allocate",
                reason: format!(
                    "an alignment of {align} bytes is not a power of two of at most \
                     {LARGEST_ALIGNMENT}"
                ),
            });
        }
        let request = Request {
            bytes,
            align,
            reuse: options.reuse.unwrap_or_else(|| pool.reuse()),
            wait: options.wait,
        };
        let (core, queue) = (pool.core(), self.core());
        let answer = core.allocate_as(queue, request);
        let allocation =
            answer.inspect_err(|error| core.note_refusal(queue, &request, options.after, error))?;
        core.note_begin(queue, &allocation, align, options.after);
        let event = queue.begin_life(&allocation, options.after)?;
        core.tell_begin(queue, &allocation, Some(event.point()));
        Ok((allocation, event))
    }

    /// Frees an allocation in queue order: behind every command that names the allocation, the
    /// events, and, on an in-order queue, everything submitted to it so far. Returns the free's
    /// event; nothing waits.
    ///
    /// Dropping the last handle frees as well, behind the commands that name it. This is for
    /// memory that was used through its address. On a lost device it does the same.
    ///
    /// # Errors
    /// The allocation comes back with the error: [`Error::Shared`] if other handles are alive; a
    /// closed queue; another device's queue.
    pub fn free(
        &self,
        allocation: Allocation,
        after: &[&Event],
    ) -> std::result::Result<Event, (Error, Allocation)> {
        let uses = uses_to_note(&allocation);
        match self.core().end_life(&allocation, after) {
            Ok(event) => {
                note_free(&allocation, &event, after, uses);
                Ok(event)
            }
            Err(error) => Err((error, allocation)),
        }
    }

    #[inline]
    pub(crate) fn check_pool(&self, pool: &Pool) -> Result<()> {
        if Arc::ptr_eq(&pool.core().site, self.device().site()) {
            return Ok(());
        }
        Err(self.mismatch(pool))
    }

    #[cold]
    fn mismatch(&self, pool: &Pool) -> Error {
        Error::DeviceMismatch {
            operation: format!("allocating from the {}", pool.name()),
            operand: 0,
            found: pool.device().name().to_owned(),
            expected: self.device().name().to_owned(),
        }
    }
}
