//! What a pool would have made of a recording.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_types::MemoryKind;

use crate::error::Result;
use crate::pool::options::PoolOptions;
use crate::pool::recording::Recording;
use crate::pool::recording::stage::Stage;
use crate::pool::report::OutOfMemory;
use crate::pool::tag::Tag;
use crate::registry::Registry;

/// What a pool would have made of a recording. Sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Requests that found memory.
    pub allocations: usize,
    /// Requests that were refused for want of memory.
    pub refused: usize,
    /// Requests that the recorded pool had refused.
    pub refused_before: usize,
    /// Those of them that found memory here. It is freed at once: how long the program would have
    /// kept it isn't known.
    pub served_now: usize,
    /// Requests for which the host would have waited until work was done (rule R6).
    pub waited: usize,
    /// Requests that had their queue wait for another (rule R5).
    pub inserted_waits: usize,
    /// The most that was used, as asked for.
    pub requested_high: usize,
    /// The most that was used, as granted.
    pub used_high: usize,
    /// The most that was reserved.
    pub reserved_high: usize,
    /// The most that was used, as granted, while that was reserved.
    pub used_at_reserved_high: usize,
    /// How often the driver was asked for memory.
    pub driver_allocations: usize,
    /// The most that was used under each tag, as asked for.
    pub tags: BTreeMap<Arc<str>, usize>,
    /// The first request that was refused.
    pub first_refusal: Option<Refused>,
}

/// A request of a recording that found no memory, and what the pool held at that moment. Sizes are
/// in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Which step of the recording it is, from 0.
    pub step: usize,
    /// Asked for.
    pub requested: usize,
    /// Of live allocations.
    pub used: usize,
    /// Freed, but still in use.
    pub pending: usize,
    /// Free, in pieces too small.
    pub cached: usize,
    /// The largest of these pieces.
    pub largest_free: usize,
    /// Had from the driver.
    pub reserved: usize,
    /// What the driver or the pool said.
    pub reason: String,
}

impl Replay {
    /// Requests in all.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.allocations + self.refused
    }

    /// How much was reserved for each byte that was used, when the most was reserved: 1 is the best
    /// that there is. None if nothing was used then.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio, to be looked at")]
    pub fn fragmentation(&self) -> Option<f64> {
        let used = self.used_at_reserved_high;
        (used > 0).then(|| self.reserved_high as f64 / used as f64)
    }
}

impl Refused {
    pub(super) fn new(step: usize, report: &OutOfMemory) -> Self {
        Self {
            step,
            requested: report.requested,
            used: report.used,
            pending: report.pending,
            cached: report.cached,
            largest_free: report.largest_free,
            reserved: report.reserved,
            reason: report.reason.clone(),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "step {}: {} bytes asked for, with {} in use, {} waiting for pending work and {} free \
             in pieces of at most {} ({})",
            self.step,
            self.requested,
            self.used,
            self.pending,
            self.cached,
            self.largest_free,
            self.reason
        )
    }
}

impl Recording {
    /// Asks a new pool on a device with so many bytes of memory for the same, in the same order and
    /// on as many queues, which come behind each other as they did.
    ///
    /// Work takes until the host waits for it: it is done when the recording says so, or when a
    /// request would have to wait. So the answer is the same every time, and is that of a device
    /// that is always busy. Queues out of order do their work in the order of its submission. Time
    /// isn't recorded, so `idle_release` means nothing here; nor do `shareable` and `native`.
    ///
    /// # Errors
    /// Options that no pool can have; shutdown. Requests that are refused are counted.
    pub fn replay(&self, options: &PoolOptions, memory: usize) -> Result<Replay> {
        let driver = NullDriver::with(NullOptions {
            memory,
            manual: true,
            ..NullOptions::default()
        });
        let registry = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]);
        let options = PoolOptions {
            idle_release: None,
            shareable: false,
            native: false,
            ..options.clone()
        };
        let device = registry.default_device()?;
        let pool = device.create_pool(MemoryKind::Device, options)?;
        let stage = Stage::new(driver, device, pool, self.steps());
        // No memory is had, so it is nobody's, whatever the caller is in.
        Tag::uncounted(|| stage.play())
    }
}
