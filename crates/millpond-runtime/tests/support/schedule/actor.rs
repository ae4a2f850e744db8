//! One thread of a random program.

use std::sync::atomic::Ordering;

use millpond_runtime::{
    Access, Address, AllocateOptions, Allocation, Event, Gate, Pool, Queue, Reuse, TaskResult,
    Touch, Use, Wait,
};

use super::{Dice, Stage, queue};

/// Most allocations that a thread holds.
const LIVE: usize = 24;

/// Most events that it remembers.
const EVENTS: usize = 8;

/// Most queues that it holds back.
const GATES: usize = 4;

/// A gate that a thread which fails opens as well.
struct Held(Gate);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.open(Ok(()));
    }
}

/// Memory that is used by its address: after what, and the stamp that it should have then.
struct Lent {
    memory: Allocation,
    last: Event,
    stamp: Option<u64>,
}

/// A thread.
pub(super) struct Actor<'a> {
    dice: Dice,
    stage: &'a Stage,
    /// A queue that nobody else has.
    own: Queue,
    live: Vec<Allocation>,
    lent: Vec<Lent>,
    events: Vec<Event>,
    gates: Vec<Held>,
    stamps: u64,
}

impl<'a> Actor<'a> {
    pub(super) fn new(dice: Dice, stage: &'a Stage) -> Self {
        Self {
            dice,
            stage,
            own: queue(&stage.device, false),
            live: Vec::new(),
            lent: Vec::new(),
            events: Vec::new(),
            gates: Vec::new(),
            stamps: 0,
        }
    }

    pub(super) fn step(&mut self) {
        match self.dice.roll(200) {
            0..76 => self.allocate(),
            76..116 => self.free(),
            116..156 => self.use_by_handle(),
            156..176 => self.use_by_address(),
            176..180 => self.order(),
            180..188 => self.close_gate(),
            188..194 => self.open_gate(),
            194 => self.wait(),
            195..197 => self.turn_a_knob(),
            197 => self.own = queue(&self.stage.device, self.dice.roll(2) == 0),
            _ => self.open_gate(),
        }
    }

    fn queue(&mut self) -> Queue {
        // Its own more often than any other, so that freed memory finds its next use there.
        let index = self.dice.roll(self.stage.queues.len() * 3 / 2);
        self.stage.queues.get(index).unwrap_or(&self.own).clone()
    }

    fn pool(&mut self) -> &'a Pool {
        &self.stage.pools[self.dice.roll(self.stage.pools.len())]
    }

    fn remember(&mut self, event: Event) {
        self.events.push(event);
        if self.events.len() > EVENTS {
            self.events.remove(0);
        }
    }

    /// Events to come after: none, mostly.
    fn some_event(&mut self) -> Option<Event> {
        let is_asked = self.dice.roll(4) == 0;
        is_asked.then(|| self.events.last().cloned()).flatten()
    }

    fn allocate(&mut self) {
        // Few sizes, so that freed memory fits.
        let bytes = [256, 256, 1024, 1024, 9000][self.dice.roll(5)] - self.dice.roll(100);
        let alignment = 1 << (self.dice.roll(13) * usize::from(self.dice.roll(4) == 0));
        let pool = self.pool();
        let queue = self.queue();
        let after = self.some_event();
        let after: Vec<&Event> = after.iter().collect();
        let mut switch = || self.dice.roll(3) > 0;
        let reuse = Reuse {
            follow_events: switch(),
            opportunistic: switch(),
            internal_dependencies: switch(),
        };
        let options = AllocateOptions {
            after: &after,
            alignment,
            reuse: (self.dice.roll(4) == 0).then_some(reuse),
            // Work that nobody lets go on would end in waiting for ever.
            wait: Wait::Never,
        };
        let tagged = (self.dice.roll(4) == 0).then(|| self.stage.tag.scope());
        let answer = queue.allocate_with(pool, bytes, &options);
        drop(tagged);
        let Ok((memory, event)) = answer else {
            self.stage.refused.fetch_add(1, Ordering::Relaxed);
            self.open_gate();
            self.free();
            return;
        };
        self.stage.allocations.fetch_add(1, Ordering::Relaxed);
        if self.dice.roll(3) == 0 {
            let (last, stamp) = (event.clone(), None);
            self.lent.push(Lent {
                memory,
                last,
                stamp,
            });
        } else {
            self.live.push(memory);
        }
        self.remember(event);
        if self.live.len() + self.lent.len() > LIVE {
            self.free();
        }
    }

    fn free(&mut self) {
        let index = self.dice.roll((self.live.len() + self.lent.len()).max(1));
        let queue = self.queue();
        if index < self.live.len() {
            let memory = self.live.swap_remove(index);
            if self.dice.roll(3) == 0 {
                let after = self.some_event();
                let after: Vec<&Event> = after.iter().collect();
                let event = queue.free(memory, &after).unwrap();
                self.remember(event);
            }
        } else if index - self.live.len() < self.lent.len() {
            let lent = self.lent.swap_remove(index - self.live.len());
            let event = queue.free(lent.memory, &[&lent.last]).unwrap();
            self.remember(event);
        }
    }

    fn use_by_handle(&mut self) {
        let count = (1 + self.dice.roll(3)).min(self.live.len());
        let picked: Vec<(usize, Access)> = (0..count)
            .map(|_| {
                let access = [Access::Read, Access::Write, Access::Update][self.dice.roll(3)];
                (self.dice.roll(self.live.len()), access)
            })
            .collect();
        let queue = self.queue();
        let use_ = |&(index, access): &(usize, Access)| Use {
            allocation: &self.live[index],
            access,
        };
        let uses: Vec<Use<'_>> = picked.iter().map(use_).collect();
        let event = queue.task("use", &uses, || Ok(())).unwrap();
        self.remember(event);
    }

    fn use_by_address(&mut self) {
        if self.lent.is_empty() {
            return;
        }
        let index = self.dice.roll(self.lent.len());
        let queue = self.queue();
        self.stamps += 1;
        let stamp = self.stamps;
        let lent = &mut self.lent[index];
        let (address, bytes) = (lent.memory.address(), lent.memory.bytes());
        let claim = Touch {
            address,
            bytes,
            access: Access::Write,
        };
        let before = lent.stamp.replace(stamp);
        let stamps = self.stage.stamps;
        let body = move || {
            if stamps {
                write_stamp(address, bytes, before, stamp)
            } else {
                Ok(())
            }
        };
        let event = queue
            .task_at("stamp", &[claim], &[&lent.last], body)
            .unwrap();
        lent.last = event.clone();
        self.remember(event);
    }

    fn order(&mut self) {
        if let Some(event) = self.events.first().cloned() {
            self.queue().wait_for(&event).unwrap();
        }
    }

    fn close_gate(&mut self) {
        let gate = Gate::new();
        let held = Held(gate.clone());
        self.queue().gate(&gate, &[]).unwrap();
        self.gates.push(held);
        if self.gates.len() > GATES {
            self.open_gate();
        }
    }

    fn open_gate(&mut self) {
        if !self.gates.is_empty() {
            self.gates.remove(0);
        }
    }

    fn turn_a_knob(&mut self) {
        let pool = self.pool();
        match self.dice.roll(4) {
            0 => pool.trim(self.dice.roll(3) << 14).unwrap(),
            1 => drop(pool.fit(self.dice.roll(1 << 16))),
            2 => drop(pool.statistics()),
            _ => pool.reset_highs(),
        }
    }

    fn wait(&mut self) {
        self.gates.clear();
        if let Some(event) = self.events.pop() {
            event.wait().unwrap();
        }
    }
}

impl Drop for Actor<'_> {
    /// Memory that is used by address is freed behind its last use.
    fn drop(&mut self) {
        self.gates.clear();
        for lent in self.lent.drain(..) {
            let freed = self.own.free(lent.memory, &[&lent.last]);
            assert!(freed.is_ok() || std::thread::panicking());
        }
    }
}

/// Looks for the stamp of the use before at both ends of some memory, and leaves its own.
#[allow(
    unsafe_code,
    reason = "what a program does with an address that it has from a pool"
)]
fn write_stamp(address: Address, bytes: usize, before: Option<u64>, stamp: u64) -> TaskResult {
    for offset in [0, bytes.saturating_sub(8)] {
        let place = address.offset(offset).as_ptr::<u64>();
        // SAFETY: the allocation has so many bytes (every size here is at least 8), and lives until
        // a free that comes behind this task.
        let found = unsafe { place.read_unaligned() };
        if before.is_some_and(|before| before != found) {
            return Err(format!(
                "at {address} + {offset} of {bytes}: stamp {found}, not {before:?}"
            ));
        }
    }
    for offset in [0, bytes.saturating_sub(8)] {
        let place = address.offset(offset).as_ptr::<u64>();
        // SAFETY: as above; and nobody else uses the memory, since every use comes behind the last.
        unsafe { place.write_unaligned(stamp) };
    }
    Ok(())
}
