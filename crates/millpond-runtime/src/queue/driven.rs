//! Memory of a pool of the driver's, in the order of a queue.

use std::sync::{Arc, OnceLock};

use millpond_hal::{Access, Address, Command, DeviceError, DriverPool, Submission};
use smallvec::SmallVec;

use crate::error::Result;
use crate::explain::Closed;
use crate::memory::Dependencies;
use crate::memory::tracking::Tracking;
use crate::queue::{Line, Native, QueueCore};
use crate::sync::MutexGuard;

impl QueueCore {
    /// Waits until the queue has room for a command.
    pub(crate) fn wait_for_room(self: &Arc<Self>) -> Result<()> {
        self.lock_with_room(&[]).map(drop)
    }

    /// Has the driver give memory to what is submitted from now on: its address, and the number of the
    /// command that users on other queues come behind.
    pub(crate) fn begin_of_driver(
        &self,
        pool: &Arc<dyn DriverPool>,
        bytes: usize,
    ) -> Result<(Address, u64)> {
        let place = Arc::new(OnceLock::new());
        let command = Command::Allocate {
            pool: Arc::clone(pool),
            bytes,
            place: Arc::clone(&place),
        };
        let sequence = {
            let mut line = self.lock();
            line.check_open(self)?;
            self.hand_over(&mut line, Submission::new(command))
        };
        let sequence = self.settle(sequence.map_err(Into::into), SmallVec::new())?;
        let address = place.get().ok_or_else(|| DeviceError::Invalid {
            call: "submit",
            reason: format!("allocation of {bytes} bytes has no address"),
        })?;
        Ok((*address, sequence))
    }

    /// Has the driver take memory back behind all that uses it: where that is. The queue itself waits
    /// for nothing that it wouldn't have waited for: what has to wait for others does so aside.
    pub(crate) fn end_of_driver(
        &self,
        pool: &Arc<dyn DriverPool>,
        tracking: &Tracking,
        address: Address,
        bytes: usize,
    ) -> Result<(Arc<Native>, u64)> {
        let native = self.native();
        let command = Command::Free {
            pool: Arc::clone(pool),
            address,
            bytes,
        };
        let mut follow = Dependencies::default();
        {
            let line = self.lock();
            tracking.capture(native, Some(native), Access::Write, &mut follow);
            if follow.is_empty() || !native.in_order {
                return self.append_free(line, command, follow);
            }
            // The uses of the queue itself count elsewhere.
            follow.behind = tracking.unfinished(native).into_iter().collect();
            line.seal(Closed::Next);
        }
        let aside = self.device().host_queue()?;
        let line = aside.core().lock();
        aside.core().append_free(line, command, follow)
    }

    fn append_free(
        &self,
        mut line: MutexGuard<'_, Line>,
        command: Command,
        mut follow: Dependencies,
    ) -> Result<(Arc<Native>, u64)> {
        let mut bridges = SmallVec::new();
        let claims = Some(&[][..]);
        let answer = self.append_behind(&mut line, &[], claims, command, &mut follow, &mut bridges);
        drop(line);
        let sequence = self.settle(answer, bridges)?;
        Ok((Arc::clone(self.native()), sequence))
    }
}
