//! Where the life of an allocation begins and ends on a queue, for uses that the runtime doesn't
//! see: those through its address.
//!
//! Commands that name an allocation are ordered by what it remembers of its uses. For the others
//! its life is an interval: it begins at a point after which everything on the queue may use the
//! bytes, and ends at a point after which nothing may. Both points are uses that the allocation
//! remembers, so that the two ways of ordering agree.

use std::sync::Arc;

use millpond_hal::{Access, Command, DeviceError};

use crate::error::{Error, Result};
use crate::event::Event;
use crate::lifecycle;
use crate::memory::Allocation;
use crate::queue::submit::Use;
use crate::queue::{Native, QueueCore};

impl QueueCore {
    /// Begins a life: behind the events, and behind whatever still uses the bytes.
    pub(crate) fn begin_life(
        self: &Arc<Self>,
        allocation: &Allocation,
        after: &[&Event],
    ) -> Result<Event> {
        let line = self.lock();
        // What the queue is ordered behind, its own commands among it, needs no wait.
        let is_known = |(queue, sequence): &(Arc<Native>, u64)| {
            let own = Arc::ptr_eq(queue, self.native());
            queue.in_order && (own || line.clock.is_after(queue.point(*sequence)))
        };
        let unfinished = allocation.block().tracking.unfinished(self.native());
        let begins_at_once = self.native().in_order
            && after.is_empty()
            && line.waits.is_empty()
            && unfinished.iter().all(is_known);
        if begins_at_once {
            return Ok(self.event_at(&line, line.submitted));
        }
        drop(line);
        self.mark(allocation, after, "allocation")
    }

    /// Ends a life: behind the events and every use, and behind everything on an in-order queue.
    pub(crate) fn end_life(
        self: &Arc<Self>,
        allocation: &Allocation,
        after: &[&Event],
    ) -> Result<Event> {
        lifecycle::check("free")?;
        let handles = allocation.handles();
        if handles > 1 {
            return Err(Error::Shared {
                what: "free",
                handles: handles - 1,
            });
        }
        let block = allocation.block();
        if after.is_empty() && self.native().in_order && Arc::ptr_eq(block.home(), self) {
            let line = self.lock();
            line.check_open(self)?;
            let native = self.native();
            if !block.tracking.has_others() && line.waits.is_empty() {
                // The last command so far stands for all that may have used the address.
                let access = Access::Update;
                block
                    .tracking
                    .record(native, native, line.submitted, access);
                return Ok(self.event_at(&line, line.submitted));
            }
        }
        match self.mark(allocation, after, "free") {
            // Nothing runs on a lost device any more that the free could come behind.
            Err(Error::Device(DeviceError::Lost { .. })) => {
                let line = self.lock();
                Ok(self.event_at(&line, line.submitted))
            }
            answer => answer,
        }
    }

    /// A command that does nothing, but counts as a use and comes behind the events.
    fn mark(
        self: &Arc<Self>,
        allocation: &Allocation,
        after: &[&Event],
        name: &'static str,
    ) -> Result<Event> {
        let uses = [Use {
            allocation,
            access: Access::Write,
        }];
        self.check_devices(&uses, || name.to_owned())?;
        let command = Command::Task {
            name: Arc::from(name),
            task: Box::new(|| Ok(())),
        };
        self.submit_after(&uses, Some(&[]), command, after)
    }
}
