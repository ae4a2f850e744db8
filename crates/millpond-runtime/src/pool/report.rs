//! Why there is no memory: what an out-of-memory error says.

use std::fmt;

use millpond_hal::Point;
use millpond_types::MemoryKind;

use crate::error::Error;
use crate::pool::core::PoolCore;
use crate::sync::lock;

/// An allocation that found no memory: what was asked for, what the pool held at that moment, and
/// what would make room. Sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The device.
    pub device: String,
    /// The pool.
    pub pool: String,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// Asked for.
    pub requested: usize,
    /// What the pool would have granted for it.
    pub granted: usize,
    /// Of live allocations.
    pub used: usize,
    /// Number of live allocations.
    pub live: usize,
    /// Freed, but the last use hasn't completed.
    pub pending: usize,
    /// The same by queue: its number, and how many bytes.
    pub pending_by_queue: Vec<(u64, usize)>,
    /// Free, in pieces too small.
    pub cached: usize,
    /// The largest of these pieces.
    pub largest_free: usize,
    /// Had from the driver.
    pub reserved: usize,
    /// The most that the pool may reserve.
    pub maximum_size: Option<usize>,
    /// What other pools of the device have reserved, by name.
    pub other_pools: Vec<(String, usize)>,
    /// The smallest set of points after which the request would fit, if pending frees suffice.
    pub fits_after: Option<Vec<Point>>,
    /// What the driver or the pool said.
    pub reason: String,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "out of {} memory on {}: {} bytes asked for; the {} holds {} in use by {} allocations, \
             {} waiting for pending work and {} free in pieces of at most {} ({})",
            self.kind,
            self.device,
            self.requested,
            self.pool,
            self.used,
            self.live,
            self.pending,
            self.cached,
            self.largest_free,
            self.reason
        )?;
        if let Some(maximum) = self.maximum_size {
            write!(f, "; its maximum size is {maximum}")?;
        }
        for (queue, bytes) in &self.pending_by_queue {
            write!(f, "; {bytes} wait for queue {queue}")?;
        }
        match self.fits_after.as_deref() {
            None | Some([]) => {}
            Some(points) => {
                let points: Vec<String> = points.iter().map(Point::to_string).collect();
                write!(f, "; it would fit after command {}", points.join(" and "))?;
            }
        }
        for (pool, bytes) in &self.other_pools {
            write!(f, "; the {pool} has {bytes} reserved")?;
        }
        Ok(())
    }
}

impl std::error::Error for OutOfMemory {}

impl PoolCore {
    #[cold]
    pub(crate) fn out_of_memory(&self, requested: usize, granted: usize, reason: &str) -> Error {
        let statistics = self.statistics();
        let pending_by_queue = match statistics.pending {
            0 => Vec::new(),
            _ => self.pending_by_queue(),
        };
        let other_pools = self.neighbours();
        let largest_free = lock(&self.store).largest_free();
        let fits_after = self.what_makes_room(granted).map(|conditions| {
            let points = conditions.iter();
            points
                .map(|(queue, sequence)| queue.point(*sequence))
                .collect()
        });
        Error::OutOfMemory(Box::new(OutOfMemory {
            device: self.device.clone(),
            pool: self.name.clone(),
            kind: self.kind,
            requested,
            granted,
            used: statistics.used,
            live: statistics.live,
            pending: statistics.pending,
            pending_by_queue,
            cached: statistics.cached,
            largest_free,
            reserved: statistics.reserved,
            maximum_size: self.budget.maximum.get(),
            other_pools,
            fits_after,
            reason: reason.to_owned(),
        }))
    }
}
