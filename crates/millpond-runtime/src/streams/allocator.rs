//! A pool as the allocator of another library: memory by its address, in the order of that library's
//! streams.
//!
//! Each stream has a queue here that nothing is carried out on: it stands for the stream. What is freed
//! on a stream is marked there, and is the stream's again without a wait; whoever else gets it comes
//! behind the mark, as for any memory that a queue freed. What a stream is given that others have yet to
//! be done with, it waits for on the device. So the library's arrays and ours come from one pool, and no
//! host waits.

use std::collections::HashMap;
use std::fmt;

use millpond_hal::{Access, Address, Command, QueueOptions};

use crate::error::{Error, Result};
use crate::lifecycle;
use crate::memory::{Allocation, Dependencies};
use crate::pool::Pool;
use crate::queue::{Queue, Use};
use crate::sync::{Mutex, lock};

/// A pool as the allocator of another library. `Send`, `Sync`.
pub struct StreamAllocator {
    pool: Pool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The queues that stand for streams.
    queues: HashMap<usize, Queue>,
    /// What was handed out, by its first byte.
    live: HashMap<usize, Allocation>,
}

impl StreamAllocator {
    /// An allocator that takes from a pool.
    pub fn new(pool: &Pool) -> Self {
        Self {
            pool: pool.clone(),
            state: Mutex::default(),
        }
    }

    /// The pool.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// How many allocations are handed out.
    pub fn live(&self) -> usize {
        lock(&self.state).live.len()
    }

    /// Allocates for a stream: what it is given from now on may use the bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] and what else [`Queue::allocate_from`] answers; a device without streams; a
    /// stream that the driver refuses.
    ///
    /// # Safety
    /// The stream is one of the pool's device and lives until this returns.
    pub unsafe fn allocate(&self, bytes: usize, stream: usize) -> Result<Address> {
        lifecycle::check("allocating for a stream")?;
        let queue = self.queue_of(stream)?;
        let memory = queue.allocate_from(&self.pool, bytes)?;
        let mut follow: Dependencies = memory.dependencies(Access::Write)?;
        // What the stream itself has freed, it is behind anyway.
        let own = queue.core().native().id();
        follow.behind.retain(|(other, _)| other.id() != own);
        follow.after.retain(|(other, _)| other.id() != own);
        if !follow.is_empty() {
            // SAFETY: the caller's promise.
            unsafe { self.pool.device().hold_stream_behind(stream, &follow) }?;
        }
        let address = memory.address();
        lock(&self.state).live.insert(address.get(), memory);
        Ok(address)
    }

    /// Frees what was allocated, on any stream: what the stream was given so far may use the bytes yet, and
    /// whoever else does comes before that.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an address that wasn't handed out; a stream that the driver refuses, such as one
    /// that is being recorded into a graph. The memory is as it was then.
    ///
    /// # Safety
    /// As for [`StreamAllocator::allocate`].
    pub unsafe fn free(&self, address: Address, stream: usize) -> Result<()> {
        lifecycle::check("freeing for a stream")?;
        let queue = self.queue_of(stream)?;
        let Some(memory) = lock(&self.state).live.remove(&address.get()) else {
            return Err(Error::Invalid {
                what: "free",
                reason: format!("no allocation of a stream begins at {address}"),
            });
        };
        let uses = [Use {
            allocation: &memory,
            access: Access::Write,
        }];
        let marked = queue
            .core()
            .submit_after(&uses, Some(&[]), Command::Stream(stream), &[]);
        if marked.is_err() {
            lock(&self.state).live.insert(address.get(), memory);
        }
        marked.map(drop)
    }

    /// The queue that stands for a stream, made when it is first met.
    fn queue_of(&self, stream: usize) -> Result<Queue> {
        if let Some(queue) = lock(&self.state).queues.get(&stream) {
            return Ok(queue.clone());
        }
        let device = self.pool.device();
        // Fails for a device that has none.
        device.stream()?;
        let made = device.create_queue(&QueueOptions::default())?;
        let mut state = lock(&self.state);
        Ok(state.queues.entry(stream).or_insert(made).clone())
    }
}

impl fmt::Debug for StreamAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamAllocator")
            .field("pool", &self.pool)
            .field("live", &self.live())
            .finish_non_exhaustive()
    }
}
