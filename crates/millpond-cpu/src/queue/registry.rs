//! Where a driver finds its queues by number.
//!
//! It owns none: a queue leaves when it ends, so queues that come and go use no memory.

use std::collections::HashMap;

use millpond_hal::QueueId;

use super::CpuQueue;
use crate::sync::{Arc, PoisonError, RwLock, Weak};

/// The queues of a driver that are alive.
#[derive(Default)]
pub(crate) struct Registry(RwLock<HashMap<QueueId, Weak<CpuQueue>>>);

// Ending a queue takes the lock, so no strong reference is dropped while it is held.
impl Registry {
    pub(crate) fn insert(&self, queue: &Arc<CpuQueue>) {
        let mut queues = self.0.write().unwrap_or_else(PoisonError::into_inner);
        queues.insert(queue.identity(), Arc::downgrade(queue));
    }

    pub(crate) fn remove(&self, id: QueueId) {
        let mut queues = self.0.write().unwrap_or_else(PoisonError::into_inner);
        queues.remove(&id);
    }

    /// The queue, if it is alive. One that isn't has finished all its commands.
    pub(crate) fn find(&self, id: QueueId) -> Option<Arc<CpuQueue>> {
        let queues = self.0.read().unwrap_or_else(PoisonError::into_inner);
        queues.get(&id)?.upgrade()
    }

    /// All queues that are alive.
    pub(crate) fn queues(&self) -> Vec<Arc<CpuQueue>> {
        let queues = self.0.read().unwrap_or_else(PoisonError::into_inner);
        queues.values().filter_map(Weak::upgrade).collect()
    }

    /// How many queues are alive.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
