//! Queues without handles whose work goes on, and what failed on those whose work is done.
//!
//! Dropping the last handle of a queue neither stops nor waits for what was submitted to it. A
//! wait for the device is for that work too, and tells of failures that nobody else can tell of.
//! A program may never wait for the device: then the first failures are kept until it does, and
//! the others are counted.
//!
//! Records of uses and pools refer to queues too, and let go of them under their locks. So that no
//! queue of a driver ends there, the last reference to one is always kept here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use millpond_hal::{Failure, FailureKind};

use crate::error::{Error, Result};
use crate::queue::Native;
use crate::queue::hold::interrupt;
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
use crate::sync::{Mutex, MutexGuard, lock};

/// How many failures of queues that are gone and done are kept.
const KEPT: usize = 64;

/// What the queues of a device have left that are gone.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    state: Mutex<State>,
    /// Whether there is anything in it, to be asked without a lock.
    has_any: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// Queues whose work goes on.
    left: Vec<Left>,
    /// Those whose work is done, for as long as somebody else refers to them.
    referred: Vec<Arc<Native>>,
    /// The first failures of the others that weren't told, [`KEPT`] at most.
    failures: VecDeque<Failure>,
    /// How many more there were.
    others: usize,
}

/// What is left of a queue.
#[derive(Debug)]
struct Left {
    native: Arc<Native>,
    /// Its last command.
    last: u64,
    /// How many of its failures were told.
    told: usize,
}

impl Left {
    fn is_done(&self) -> bool {
        self.native.known(false) >= self.last
    }

    fn has_untold(&self) -> bool {
        self.native.progress().failed() as usize > self.told
    }
}

impl State {
    /// Keeps of queues whose work is done what failed there. The answer are queues that nobody
    /// refers to any more, to be dropped without the lock.
    #[must_use = "it is to be dropped without the lock"]
    fn tidy(&mut self) -> Vec<Arc<Native>> {
        let done: Vec<Left> = self.left.extract_if(.., |left| left.is_done()).collect();
        for left in done {
            if left.has_untold() {
                for (_, failure) in left.native.hal().failures(left.told) {
                    self.keep(failure);
                }
            }
            self.referred.push(left.native);
        }
        self.failures.retain(|failure| !failure.is_surfaced());
        // Nobody gets a reference but from another one.
        let is_last = |native: &mut Arc<Native>| Arc::strong_count(native) == 1;
        self.referred.extract_if(.., is_last).collect()
    }

    fn is_full(&self) -> bool {
        self.left.len() == self.left.capacity() || self.referred.len() == self.referred.capacity()
    }

    fn keep(&mut self, failure: Failure) {
        // Whatever depended on a failed command has the same failure.
        if failure.is_surfaced() || self.failures.contains(&failure) {
            return;
        }
        if self.failures.len() < KEPT {
            self.failures.push_back(failure);
        } else if failure.surface() {
            // It is told as one of so many.
            self.others += 1;
        }
    }

    /// The next failure to tell.
    fn next_failure(&mut self) -> Option<Failure> {
        while let Some(failure) = self.failures.pop_front() {
            if failure.surface() {
                return Some(failure);
            }
        }
        let others = std::mem::take(&mut self.others);
        (others > 0).then(|| {
            let command = format!("{others} more commands of queues that are gone");
            let reason = format!("a device keeps {KEPT} failures until it is waited for");
            Failure::new(FailureKind::Command, command, reason)
        })
    }
}

impl Gone {
    /// Takes note of a queue whose last handle goes. No lock of the runtime may be held.
    pub(crate) fn add(&self, native: &Arc<Native>, last: u64, told: usize) {
        const OWN: usize = 2;
        interrupt();
        native.leave();
        let left = Left {
            native: Arc::clone(native),
            last,
            told,
        };
        let is_referred_to = Arc::strong_count(native) > OWN;
        if left.is_done() && !left.has_untold() && !is_referred_to {
            return;
        }
        let mut state = lock(&self.state);
        let ended = state.is_full().then(|| state.tidy());
        state.left.push(left);
        self.has_any.store(true, Relaxed);
        drop(state);
        drop(ended);
    }

    /// Whether nothing is kept, neither for a wait nor for whoever refers to a queue.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_any.load(Relaxed)
    }

    /// Looks which queues are done.
    fn tidy(&self) -> MutexGuard<'_, State> {
        interrupt();
        let ended = lock(&self.state).tidy();
        drop(ended);
        lock(&self.state)
    }

    /// Waits for all that is left, or until the deadline.
    pub(crate) fn finish(&self, deadline: Option<Instant>) -> Result<()> {
        let begin = Instant::now();
        let left: Vec<(Arc<Native>, u64)> = lock(&self.state)
            .left
            .iter()
            .map(|left| (Arc::clone(&left.native), left.last))
            .collect();
        for (native, last) in left {
            native.wait_for_all(last, deadline, begin)?;
        }
        drop(self.tidy());
        Ok(())
    }

    /// Tells of the first failure that wasn't told yet.
    pub(crate) fn check(&self) -> Result<()> {
        let mut state = self.tidy();
        if let Some(failure) = state.next_failure() {
            return Err(Error::Failed(failure));
        }
        for left in &mut state.left {
            for (_, failure) in left.native.hal().failures(left.told) {
                left.told += 1;
                if failure.surface() {
                    return Err(Error::Failed(failure));
                }
            }
        }
        Ok(())
    }

    /// Whether nothing is left to wait for nor to tell.
    pub(crate) fn is_settled(&self) -> bool {
        let state = self.tidy();
        let is_settled = state.left.is_empty() && state.failures.is_empty() && state.others == 0;
        self.has_any
            .store(!is_settled || !state.referred.is_empty(), Relaxed);
        is_settled
    }
}

#[cfg(test)]
mod tests {
    use millpond_hal::null::NullDriver;
    use millpond_hal::{Driver, QueueOptions};

    use super::*;
    use crate::device::Device;

    fn fail(device: &Device, reason: usize) {
        let queue = device.create_queue(&QueueOptions::default()).unwrap();
        let event = queue.task("sensor", &[], move || Err(reason.to_string()));
        // Nobody is told.
        event.unwrap().wait_finished(None).unwrap();
    }

    #[test]
    fn o7_a_device_that_nobody_waits_for_keeps_the_first_failures_and_counts_the_others() {
        let device = Device::open(NullDriver::default().devices().unwrap().remove(0));
        for reason in 0..1000 {
            fail(&device, reason);
        }
        {
            let state = lock(&device.site().gone.state);
            assert!(state.left.len() <= KEPT && state.failures.len() <= KEPT);
        }
        assert!(!device.is_settled());
        for reason in 0..KEPT {
            let told = device.wait().unwrap_err().to_string();
            assert_eq!(told, format!("host task sensor failed: {reason}"));
        }
        let told = device.wait().unwrap_err().to_string();
        let others = format!(
            "{} more commands of queues that are gone failed: ",
            1000 - KEPT
        );
        assert!(told.starts_with(&others), "{told}");
        device.wait().unwrap();
        assert!(device.is_settled());
    }

    #[test]
    fn o7_failures_that_others_told_take_no_place() {
        let device = Device::open(NullDriver::default().devices().unwrap().remove(0));
        for _ in 0..2 * KEPT {
            let queue = device.create_queue(&QueueOptions::default()).unwrap();
            let event = queue
                .task("sensor", &[], || Err("told".to_owned()))
                .unwrap();
            event.wait().unwrap_err();
        }
        fail(&device, 7);
        let told = device.wait().unwrap_err().to_string();
        assert_eq!(told, "host task sensor failed: 7");
        device.wait().unwrap();
    }
}
