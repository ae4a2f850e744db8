//! Where a driver finds its queues by number.
//!
//! It owns none: a queue leaves when it ends, so queues that come and go use no memory.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use millpond_hal::{Point, QueueId};

use super::CudaQueue;
use super::line::Standpoint;

/// The queues of a driver that are alive.
#[derive(Default)]
pub(crate) struct Registry(RwLock<HashMap<QueueId, Weak<CudaQueue>>>);

// Ending a queue takes the lock, so no strong reference is dropped while it is held.
impl Registry {
    pub(super) fn insert(&self, queue: &Arc<CudaQueue>) {
        let mut queues = self.0.write().unwrap_or_else(PoisonError::into_inner);
        queues.insert(queue.identity(), Arc::downgrade(queue));
    }

    pub(super) fn remove(&self, id: QueueId) {
        let mut queues = self.0.write().unwrap_or_else(PoisonError::into_inner);
        queues.remove(&id);
    }

    /// The queue, if it is alive. One that isn't has finished all its commands.
    pub(super) fn find(&self, id: QueueId) -> Option<Arc<CudaQueue>> {
        let queues = self.0.read().unwrap_or_else(PoisonError::into_inner);
        queues.get(&id)?.upgrade()
    }

    /// Where a command stands, after a look at the device.
    pub(crate) fn standpoint(&self, point: Point) -> Standpoint {
        let queue = self.find(point.queue);
        queue.map_or(Standpoint::Reached, |queue| {
            queue.poll();
            queue.lock().line.standpoint(point.sequence)
        })
    }

    /// All queues that are alive.
    pub(crate) fn queues(&self) -> Vec<Arc<CudaQueue>> {
        let queues = self.0.read().unwrap_or_else(PoisonError::into_inner);
        queues.values().filter_map(Weak::upgrade).collect()
    }
}
