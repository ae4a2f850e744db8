//! A replay that is going on: queues of a device without memory, and the pool that is tried.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use millpond_hal::null::NullDriver;
use millpond_hal::{Access, QueueOptions};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::memory::Allocation;
use crate::pool::handle::{Fit, Pool};
use crate::pool::recording::lane::Lane;
use crate::pool::recording::tally::Tally;
use crate::pool::recording::{RecordedPoint, Replay, Step};
use crate::pool::wish::{Request, Wait};
use crate::queue::{BACKLOG, Queue, Use};

/// Commands that a step submits at most before it looks for room again.
const ROOM: u64 = 16;

pub(super) struct Stage<'a> {
    driver: NullDriver,
    device: Device,
    pool: Pool,
    steps: &'a [Step],
    /// Which step frees what a step allocates.
    ends: HashMap<usize, usize>,
    lanes: BTreeMap<u64, Lane>,
    /// What is alive, by the step that allocated it; and that step by its recorded address.
    live: HashMap<usize, Live>,
    names: HashMap<usize, usize>,
    tally: Tally,
}

struct Live {
    memory: Allocation,
    tag: Option<Arc<str>>,
    /// Whether a command has used it.
    is_used: bool,
}

impl<'a> Stage<'a> {
    pub(super) fn new(driver: NullDriver, device: Device, pool: Pool, steps: &'a [Step]) -> Self {
        Self {
            driver,
            device,
            pool,
            steps,
            ends: ends(steps),
            lanes: BTreeMap::new(),
            live: HashMap::new(),
            names: HashMap::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn play(mut self) -> Result<Replay> {
        let steps = self.steps;
        for (number, step) in steps.iter().enumerate() {
            self.play_step(number, step)?;
        }
        let mut replay = std::mem::take(&mut self.tally.replay);
        replay.reserved_high = self.pool.statistics().reserved_high;
        replay.driver_allocations = self.pool.core().driver_allocations();
        Ok(replay)
    }

    fn play_step(&mut self, number: usize, step: &Step) -> Result<()> {
        match step {
            Step::Queue { at, in_order } => {
                if !self.lanes.contains_key(&at.queue) {
                    self.open(*at, *in_order)?;
                }
                Ok(())
            }
            Step::Allocate {
                at,
                bytes,
                alignment,
                after,
                tag,
                id,
            } => {
                let after = self.prepare(*at, after)?;
                let request = self.request(*bytes, *alignment);
                let Some(memory) = self.ask(number, at.queue, request, true)? else {
                    return Ok(());
                };
                self.names.insert(*id, number);
                self.begin(number, at.queue, memory, tag.clone(), &after)
            }
            Step::Refuse {
                at,
                bytes,
                alignment,
                after,
                may_wait,
                tag,
            } => {
                self.tally.replay.refused_before += 1;
                self.prepare(*at, after)?;
                let request = self.request(*bytes, *alignment);
                if let Some(memory) = self.ask(number, at.queue, request, *may_wait)? {
                    self.tally.replay.served_now += 1;
                    self.count_in(&memory, tag.as_ref());
                    self.tally.end(&memory, tag.as_ref());
                }
                Ok(())
            }
            Step::Free {
                id,
                on,
                after,
                uses,
            } => {
                for use_ in uses {
                    self.submit_planned(use_.at)?;
                }
                let after = self.events(after)?;
                let Some(live) = self
                    .names
                    .remove(id)
                    .and_then(|step| self.live.remove(&step))
                else {
                    // It was allocated before the recording, or refused.
                    return Ok(());
                };
                self.tally.end(&live.memory, live.tag.as_ref());
                match on {
                    Some(at) => self.free_on(*at, live.memory, &after),
                    None => Ok(()),
                }
            }
            Step::Follow { at, after } => {
                self.submit_planned(*at)?;
                let after = self.events(after)?;
                if after.is_empty() {
                    return Ok(());
                }
                self.make_room(at.queue)?;
                let after: Vec<&Event> = after.iter().collect();
                let mark = self.queue(at.queue)?.barrier(&after)?;
                // What comes next on the queue comes behind the event.
                self.lane(at.queue)?.mark(at.sequence + 1, mark);
                Ok(())
            }
            Step::Wait { at } => self.wait(*at),
        }
    }

    fn open(&mut self, at: RecordedPoint, in_order: bool) -> Result<()> {
        let queue = self.device.create_queue(&QueueOptions {
            out_of_order: !in_order,
            ..QueueOptions::default()
        })?;
        self.lanes.insert(at.queue, Lane::new(queue, at.sequence));
        Ok(())
    }

    /// The lane of a queue; in order, if the recording doesn't say.
    fn lane(&mut self, queue: u64) -> Result<&mut Lane> {
        if !self.lanes.contains_key(&queue) {
            self.open(RecordedPoint { queue, sequence: 0 }, true)?;
        }
        Ok(self.lanes.get_mut(&queue).expect("it was opened above"))
    }

    fn queue(&mut self, number: u64) -> Result<Queue> {
        Ok(self.lane(number)?.queue.clone())
    }

    /// Submits the uses that the recorded queue had up to a point.
    fn submit_planned(&mut self, upto: RecordedPoint) -> Result<()> {
        while let Some((sequence, step, writes)) =
            self.lane(upto.queue)?.take_planned(upto.sequence)
        {
            self.make_room(upto.queue)?;
            let queue = self.queue(upto.queue)?;
            let Some(live) = self.live.get_mut(&step) else {
                continue;
            };
            // Where it isn't known, whoever came first made the content, and the others came behind
            // that alone.
            let access = if writes.unwrap_or(!live.is_used) {
                Access::Write
            } else {
                Access::Read
            };
            live.is_used = true;
            let uses = [Use {
                allocation: &live.memory,
                access,
            }];
            let event = queue.task("use", &uses, || Ok(()))?;
            self.lane(upto.queue)?.mark(sequence, event);
        }
        Ok(())
    }

    /// What stands for a recorded command; none if that is over.
    fn event(&mut self, at: RecordedPoint) -> Result<Option<Event>> {
        self.submit_planned(at)?;
        if self.lane(at.queue)?.lacks(at.sequence) {
            self.make_room(at.queue)?;
            let event = self.queue(at.queue)?.task("other", &[], || Ok(()))?;
            self.lane(at.queue)?.mark(at.sequence, event);
        }
        Ok(self.lane(at.queue)?.event_at(at.sequence))
    }

    fn events(&mut self, points: &[RecordedPoint]) -> Result<Vec<Event>> {
        let events = points.iter().map(|&at| self.event(at).transpose());
        events.flatten().collect()
    }

    /// Has the queue come to where memory is asked for; the events that the request is behind.
    fn prepare(&mut self, at: RecordedPoint, after: &[RecordedPoint]) -> Result<Vec<Event>> {
        // The command that the queue had last may have been one on the new memory.
        self.submit_planned(RecordedPoint {
            sequence: at.sequence.saturating_sub(1),
            ..at
        })?;
        let after = self.events(after)?;
        self.make_room(at.queue)?;
        Ok(after)
    }

    fn request(&self, bytes: usize, align: usize) -> Request {
        Request {
            bytes,
            align,
            reuse: self.pool.reuse(),
            wait: Wait::Never,
        }
    }

    /// Asks the pool, and again once work is done, if the request may wait for that.
    fn ask(
        &mut self,
        step: usize,
        number: u64,
        request: Request,
        may_wait: bool,
    ) -> Result<Option<Allocation>> {
        let queue = self.queue(number)?;
        let waits = waits(&queue);
        let ask = |pool: &Pool| pool.core().allocate_as(queue.core(), request);
        let mut answer = ask(&self.pool);
        if may_wait && matches!(answer, Err(Error::OutOfMemory(_))) {
            if let Fit::After(points) = self.pool.fit(request.bytes) {
                for point in points {
                    self.finish(point.queue.get(), point.sequence);
                }
                answer = ask(&self.pool);
            }
            if matches!(answer, Err(Error::OutOfMemory(_))) && self.finish_all() {
                answer = ask(&self.pool);
            }
            self.tally.replay.waited += usize::from(answer.is_ok());
        }
        if let Err(Error::OutOfMemory(report)) = &answer {
            self.tally.refuse(step, report);
            return Ok(None);
        }
        let memory = answer?;
        self.tally.replay.inserted_waits += usize::from(self::waits(&queue) > waits);
        Ok(Some(memory))
    }

    /// Begins the life of memory that a step allocated.
    fn begin(
        &mut self,
        step: usize,
        number: u64,
        memory: Allocation,
        tag: Option<Arc<str>>,
        after: &[Event],
    ) -> Result<()> {
        if !after.is_empty() {
            let after: Vec<&Event> = after.iter().collect();
            self.queue(number)?.core().begin_life(&memory, &after)?;
        }
        self.count_in(&memory, tag.as_ref());
        let live = Live {
            memory,
            tag,
            is_used: false,
        };
        self.live.insert(step, live);
        if let Some(end) = self.ends.get(&step)
            && let Step::Free { uses, .. } = &self.steps[*end]
        {
            for use_ in uses {
                let planned = (use_.at.sequence, step, use_.writes);
                self.lane(use_.at.queue)?.plan(planned);
            }
        }
        Ok(())
    }

    fn count_in(&mut self, memory: &Allocation, tag: Option<&Arc<str>>) {
        let reserved = self.pool.core().reserved();
        self.tally.begin(memory, tag, reserved);
    }

    fn free_on(&mut self, at: RecordedPoint, memory: Allocation, after: &[Event]) -> Result<()> {
        // It comes behind the queue's other commands too, which may have used the address.
        self.event(at)?;
        self.make_room(at.queue)?;
        let after: Vec<&Event> = after.iter().collect();
        let queue = self.queue(at.queue)?;
        let event = queue.free(memory, &after).map_err(|(error, _)| error)?;
        self.lane(at.queue)?.mark(at.sequence, event);
        Ok(())
    }

    /// What the host does at a wait.
    fn wait(&mut self, at: RecordedPoint) -> Result<()> {
        self.submit_planned(at)?;
        let lane = self.lane(at.queue)?;
        let (queue, event) = (lane.queue.clone(), lane.event_at(at.sequence));
        if let Some(event) = event {
            self.finish(queue.id(), event.sequence());
            event.wait()?;
        } else {
            let begin = queue.core().native().point(0);
            self.device.site().after_wait(begin);
        }
        self.lane(at.queue)?.end(at.sequence);
        Ok(())
    }

    /// Ends commands of a queue of the replay up to this one, and what they come behind, as if the
    /// host had waited.
    fn finish(&self, id: u64, sequence: u64) {
        let queues = || self.lanes.values().map(|lane| lane.queue.core().native());
        let Some(native) = queues().find(|native| native.id().get() == id) else {
            return;
        };
        while native.progress().completed() < sequence {
            let others = || queues().filter(|other| other.id() != native.id());
            let ended = self.driver.step(native.id()).is_some()
                || others()
                    .filter_map(|other| self.driver.step(other.id()))
                    .count()
                    > 0;
            if !ended {
                return;
            }
        }
        native.observe_all(sequence);
    }

    /// Ends every command; whether there was one.
    fn finish_all(&self) -> bool {
        let ended = self.driver.run_all() > 0;
        for lane in self.lanes.values() {
            let native = lane.queue.core().native();
            native.observe_all(native.progress().completed());
        }
        ended
    }

    /// A queue with too much work has whoever submits wait until half of it is done.
    fn make_room(&mut self, number: u64) -> Result<()> {
        let queue = self.queue(number)?;
        let submitted = queue.core().lock().submitted;
        let unfinished = submitted - queue.core().native().progress().completed();
        if unfinished + ROOM >= BACKLOG {
            self.finish(queue.id(), submitted - BACKLOG / 2);
            self.lane(number)?.forget();
        }
        Ok(())
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // Memory that is still in use would be waited for.
        self.driver.run_all();
    }
}

/// How many commands of others the queue has to wait for with its next one.
fn waits(queue: &Queue) -> usize {
    queue.core().lock().waits.behind.len()
}

/// Which step frees what a step allocates.
fn ends(steps: &[Step]) -> HashMap<usize, usize> {
    let mut open = HashMap::new();
    let mut ends = HashMap::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Allocate { id, .. } => {
                open.insert(*id, number);
            }
            Step::Free { id, .. } => {
                if let Some(begin) = open.remove(id) {
                    ends.insert(begin, number);
                }
            }
            Step::Queue { .. } | Step::Refuse { .. } | Step::Follow { .. } | Step::Wait { .. } => {}
        }
    }
    ends
}
