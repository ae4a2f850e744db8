//! Checks what callers owe (rules A1 to A4), as far as it can be seen from here.
//!
//! A submission that breaks a rule answers [`DeviceError::Invalid`] and is not passed on. A
//! release has no answer: one that breaks a rule is put on a list, and the memory is kept.
//! Memory that the layer doesn't know may be the host's; it is accepted where the device can
//! reach host memory: in copies, and everywhere on devices that the host executes.

mod memory;

use std::alloc::Layout;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use millpond_types::MemoryKind;

use super::wrap::{Layer, Site};
use crate::arena::{Arena, Place};
use crate::command::{Command, Submission};
use crate::device::RawAllocation;
use crate::error::DeviceError;
use crate::point::{Point, QueueId};
use crate::queue::{Queue, QueueOptions};
use memory::{Memory, Named};

/// The layer that checks.
#[derive(Debug, Default)]
pub struct Validate {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    memory: Memory,
    queues: HashMap<QueueId, Known>,
    violations: Vec<DeviceError>,
}

/// A queue of the driver; kept when it is closed, as its points stay valid.
struct Known {
    queue: Weak<dyn Queue>,
    submitted: u64,
    /// Whether a thread is inside of `submit`.
    busy: bool,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known")
            .field("submitted", &self.submitted)
            .finish_non_exhaustive()
    }
}

impl Validate {
    /// Takes the violations found in calls that have no answer.
    pub fn take_violations(&self) -> Vec<DeviceError> {
        std::mem::take(&mut self.lock().violations)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says why memory can't be released, or forgets it.
    fn forget(&self, site: &Site, allocation: &RawAllocation) -> Result<(), String> {
        let uses = self.lock().memory.uses(site, allocation)?;
        for point in uses {
            let queue = self
                .lock()
                .queues
                .get(&point.queue)
                .and_then(|known| known.queue.upgrade());
            let finished = match queue {
                Some(queue) => queue.reached(point.sequence),
                // A closed queue reports its points by itself.
                None => !self.lock().memory.is_used(allocation.address, point),
            };
            if !finished {
                return Err(format!(
                    "memory at {} is used by command {point}, which hasn't finished (A1)",
                    allocation.address
                ));
            }
        }
        self.lock().memory.remove(site, allocation.address);
        Ok(())
    }

    /// Whether memory may be released, which then counts as done; else the violation is kept.
    fn is_releasable(&self, site: &Site, allocation: &RawAllocation) -> bool {
        let answer = self.forget(site, allocation);
        let is_releasable = answer.is_ok();
        if let Err(reason) = answer {
            self.lock().violations.push(DeviceError::Invalid {
                call: "release",
                reason,
            });
        }
        is_releasable
    }
}

impl State {
    /// Says what is wrong with a submission; else the ranges that it names.
    fn check(
        &self,
        site: &Site,
        queue: QueueId,
        submission: &Submission<'_>,
    ) -> Result<Vec<Named>, String> {
        if self.queues.get(&queue).is_some_and(|known| known.busy) {
            return Err(format!("two threads submit on {queue} at once (A4)"));
        }
        for point in submission.after.iter().chain(submission.behind) {
            let known = self
                .queues
                .get(&point.queue)
                .ok_or_else(|| format!("point {point} belongs to no queue of this driver (A3)"))?;
            if point.sequence > known.submitted {
                let submitted = known.submitted;
                return Err(format!(
                    "point {point} lies beyond {submitted}, the last (A3)"
                ));
            }
        }
        let named = named(&submission.command)?;
        for named in &named {
            self.memory
                .check(site, named)
                .map_err(|reason| format!("{} names {reason}", submission.command))?;
        }
        Ok(named)
    }
}

/// The ranges that a well-formed command names; else what is wrong with it.
fn named(command: &Command) -> Result<Vec<Named>, String> {
    match *command {
        Command::Fill { pattern, bytes, .. } => {
            let len = pattern.bytes().len();
            if !bytes.is_multiple_of(len) {
                return Err(format!("{command} isn't a multiple of {len} bytes"));
            }
        }
        Command::Launch {
            ref kernel,
            ref bases,
        } => {
            let (operands, given) = (kernel.operands(), bases.len());
            if given != operands {
                return Err(format!("{command} takes {operands} operands, not {given}"));
            }
        }
        Command::Prefetch { address, bytes } | Command::Advise { address, bytes, .. } => {
            return Ok(vec![Named::new(address, bytes, false)?]);
        }
        _ => {}
    }
    let copied = matches!(command, Command::Copy { .. });
    let touches = command.touches();
    let named = touches
        .iter()
        .map(|touch| Named::new(touch.address, touch.bytes, copied));
    let named = named.collect::<Result<Vec<Named>, String>>()?;
    match *command {
        Command::Copy { src, dst, .. } if named[0].overlaps(&named[1]) => {
            Err(format!("{command} overlaps itself: from {src} to {dst}"))
        }
        _ => Ok(named),
    }
}

impl Layer for Validate {
    fn allocate(
        &self,
        site: &Site,
        kind: MemoryKind,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        let allocation = site.device.allocate(kind, layout)?;
        self.lock().memory.insert(site, &allocation);
        Ok(allocation)
    }

    unsafe fn release(&self, site: &Site, allocation: RawAllocation) {
        if self.is_releasable(site, &allocation) {
            // SAFETY: the caller promises what the device asks for.
            unsafe { site.device.release(allocation) }
        }
    }

    fn allocate_in(
        &self,
        site: &Site,
        arena: &Arc<dyn Arena>,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        let allocation = arena.allocate(layout)?;
        self.lock().memory.insert(site, &allocation);
        Ok(allocation)
    }

    fn map(
        &self,
        site: &Site,
        arena: &Arc<dyn Arena>,
        place: &Place,
        bytes: usize,
    ) -> Result<RawAllocation, DeviceError> {
        let allocation = arena.map(place, bytes)?;
        self.lock().memory.insert(site, &allocation);
        Ok(allocation)
    }

    unsafe fn release_in(&self, site: &Site, arena: &Arc<dyn Arena>, allocation: RawAllocation) {
        if self.is_releasable(site, &allocation) {
            // SAFETY: the caller promises what the arena asks for.
            unsafe { arena.release(allocation) }
        }
    }

    fn create_queue(
        &self,
        site: &Site,
        options: &QueueOptions,
    ) -> Result<Arc<dyn Queue>, DeviceError> {
        let queue = site.device.create_queue(options)?;
        let known = Known {
            queue: Arc::downgrade(&queue),
            submitted: 0,
            busy: false,
        };
        self.lock().queues.insert(queue.id(), known);
        Ok(queue)
    }

    unsafe fn submit(
        &self,
        site: &Site,
        queue: &Arc<dyn Queue>,
        submission: Submission<'_>,
    ) -> Result<Point, DeviceError> {
        let mut state = self.lock();
        let named = state
            .check(site, queue.id(), &submission)
            .map_err(|reason| DeviceError::Invalid {
                call: "submit",
                reason,
            })?;
        let busy = |state: &mut State, busy| {
            if let Some(known) = state.queues.get_mut(&queue.id()) {
                known.busy = busy;
            }
        };
        busy(&mut state, true);
        let mut allocation = None;
        match &submission.command {
            Command::Allocate { pool, bytes, place } => {
                allocation = Some((pool.kind(), *bytes, Arc::clone(place)));
            }
            // Before the driver has it back, who may hand it out at once.
            Command::Free { address, .. } => state.memory.remove(site, *address),
            _ => {}
        }
        drop(state);
        // SAFETY: the caller promises what the queue asks for.
        let answer = unsafe { queue.submit(submission) };
        let mut state = self.lock();
        busy(&mut state, false);
        let point = answer?;
        if let Some(known) = state.queues.get_mut(&queue.id()) {
            known.submitted = point.sequence;
        }
        let completed = queue.progress().completed();
        for named in &named {
            state.memory.record(named, point, completed);
        }
        if let Some((kind, bytes, place)) = allocation
            && let Some(&address) = place.get()
        {
            state.memory.insert_range(site, kind, address, bytes);
        }
        Ok(point)
    }

    fn close(&self, queue: &Arc<dyn Queue>) {
        let used = self.lock().memory.used_by(queue.id());
        for (address, point) in used {
            let state = Arc::clone(&self.state);
            let forget = move || {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                state.memory.finish(address, point);
            };
            queue.on_reached(point.sequence, Box::new(forget));
        }
    }
}
