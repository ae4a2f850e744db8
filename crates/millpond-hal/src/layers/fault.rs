//! Makes calls and commands fail or wait, by plan.
//!
//! Calls are counted from 1 over all devices and queues of the driver, each kind by itself and all
//! of them together. A planned call doesn't reach the driver below.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use millpond_types::MemoryKind;

use super::wrap::{Layer, Site};
use crate::arena::Arena;
use crate::command::{Command, Submission};
use crate::device::RawAllocation;
use crate::error::{DeviceError, FailureKind};
use crate::gate::Gate;
use crate::point::Point;
use crate::queue::{Queue, QueueOptions};

/// The layer that breaks; its methods write the plan.
#[derive(Debug, Default)]
pub struct Fault {
    any: Calls<DeviceError>,
    allocate: Calls<DeviceError>,
    create_queue: Calls<DeviceError>,
    submit: Calls<Trouble>,
    lost: AtomicBool,
}

/// What happens to a submission.
#[derive(Clone, Debug)]
enum Trouble {
    /// The call answers this.
    Refuse(DeviceError),
    /// The command fails instead of running.
    Fail,
    /// The command starts only when the gate is open.
    Delay(Gate),
}

/// Calls of one kind: how many there were, and the plan for some.
#[derive(Debug)]
struct Calls<T> {
    count: AtomicU64,
    planned: BTreeMap<u64, T>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self {
            count: AtomicU64::new(0),
            planned: BTreeMap::new(),
        }
    }
}

impl<T: Clone> Calls<T> {
    /// Counts a call; what is planned for it.
    fn next(&self) -> Option<T> {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        self.planned.get(&number).cloned()
    }
}

impl Fault {
    /// Makes the `n`-th call of those that can be refused answer an error: allocations, requests
    /// for queues and submissions.
    #[must_use]
    pub fn refuse_call(mut self, n: u64, error: DeviceError) -> Self {
        self.any.planned.insert(n, error);
        self
    }

    /// How many calls there were that can be refused.
    pub fn calls(&self) -> u64 {
        self.any.count.load(Ordering::Relaxed)
    }

    /// Loses every device: from now on each call that can be refused answers
    /// [`DeviceError::Lost`]. What was submitted before goes on.
    pub fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Counts a call of any kind.
    fn count(&self, site: &Site) -> Result<(), DeviceError> {
        let planned = self.any.next();
        if self.lost.load(Ordering::Relaxed) {
            return Err(DeviceError::Lost {
                device: site.device.info().label.clone(),
                reason: "by plan".to_owned(),
            });
        }
        planned.map_or(Ok(()), Err)
    }

    /// Makes the `n`-th allocation, from a device or an arena, answer an error.
    #[must_use]
    pub fn refuse_allocate(mut self, n: u64, error: DeviceError) -> Self {
        self.allocate.planned.insert(n, error);
        self
    }

    /// Makes the `n`-th request for a queue answer an error.
    #[must_use]
    pub fn refuse_create_queue(mut self, n: u64, error: DeviceError) -> Self {
        self.create_queue.planned.insert(n, error);
        self
    }

    /// Makes the `n`-th submission answer an error.
    #[must_use]
    pub fn refuse_submit(mut self, n: u64, error: DeviceError) -> Self {
        self.submit.planned.insert(n, Trouble::Refuse(error));
        self
    }

    /// Makes the command of the `n`-th submission fail with [`FailureKind::Injected`] instead of
    /// running.
    #[must_use]
    pub fn fail_command(mut self, n: u64) -> Self {
        self.submit.planned.insert(n, Trouble::Fail);
        self
    }

    /// Makes the command of the `n`-th submission start only when a gate is open.
    #[must_use]
    pub fn delay_command(mut self, n: u64, gate: Gate) -> Self {
        self.submit.planned.insert(n, Trouble::Delay(gate));
        self
    }
}

impl Layer for Fault {
    fn allocate(
        &self,
        site: &Site,
        kind: MemoryKind,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        self.count(site)?;
        match self.allocate.next() {
            Some(error) => Err(error),
            None => site.device.allocate(kind, layout),
        }
    }

    fn allocate_in(
        &self,
        site: &Site,
        arena: &Arc<dyn Arena>,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        self.count(site)?;
        match self.allocate.next() {
            Some(error) => Err(error),
            None => arena.allocate(layout),
        }
    }

    fn create_queue(
        &self,
        site: &Site,
        options: &QueueOptions,
    ) -> Result<Arc<dyn Queue>, DeviceError> {
        self.count(site)?;
        match self.create_queue.next() {
            Some(error) => Err(error),
            None => site.device.create_queue(options),
        }
    }

    unsafe fn submit(
        &self,
        site: &Site,
        queue: &Arc<dyn Queue>,
        mut submission: Submission<'_>,
    ) -> Result<Point, DeviceError> {
        self.count(site)?;
        let mut behind = submission.behind.to_vec();
        match self.submit.next() {
            None => (),
            Some(Trouble::Refuse(error)) => return Err(error),
            Some(Trouble::Fail) => {
                let origin = submission.origin.clone();
                let failure = submission
                    .command
                    .fail(FailureKind::Injected, "by plan", origin);
                let broken = Gate::new();
                broken.open(Err(failure));
                submission.command = Command::Gate(broken);
            }
            Some(Trouble::Delay(gate)) => {
                // On a queue of its own, which finishes by rule B6, so that numbers stay as they
                // are and an out-of-order queue is held back at this command only.
                let aside = site.device.create_queue(&QueueOptions::default())?;
                // SAFETY: a gate names no memory, and nobody else has the queue.
                behind.push(unsafe { aside.submit(Submission::new(Command::Gate(gate)))? });
            }
        }
        let submission = Submission {
            behind: &behind,
            ..submission
        };
        // SAFETY: the caller promises what the queue asks for; the command is the caller's or
        // names no memory, and follows at least what the caller says.
        unsafe { queue.submit(submission) }
    }
}
