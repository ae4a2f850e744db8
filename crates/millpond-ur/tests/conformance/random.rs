//! Random programs on several queues, whose events say what comes after what, against the same steps one after the
//! other.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::Code;

use crate::support::any::Dice;
use crate::support::shapes::{Handle, Header, LIST_DESC, ListDesc};
use crate::support::watch::watched;
use crate::support::world::{OUT_OF_ORDER, PROFILING, World, list as waiting, ok};

/// Memory is so many blocks of so many bytes.
const BLOCKS: usize = 16;
const BYTES: usize = 256;
const QUEUES: usize = 4;
const STEPS: usize = 120;
const PROGRAMS: u64 = 40;

/// What is done to a block.
#[derive(Clone, Copy)]
enum Act {
    Fill(u8),
    Copy(usize),
    /// Rows of the other block, and how many bytes of each.
    Rows(usize, usize),
}

/// Bytes from one row to the next.
const PITCH: usize = 32;

struct Program<'w> {
    world: &'w World,
    dice: Dice,
    queues: Vec<(Handle, bool)>,
    memory: *mut c_void,
    /// What the memory holds if one step is done after the other.
    expected: Vec<u8>,
    /// For each block, who writes and reads it since the last write: events, and the numbers of their queues.
    users: Vec<[Vec<(Handle, usize)>; 2]>,
    events: Vec<Handle>,
}

impl<'w> Program<'w> {
    fn new(world: &'w World, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let queues = (0..QUEUES).map(|_| {
            let flags = dice.one_of(&[0, OUT_OF_ORDER]) | dice.one_of(&[0, 0, PROFILING]);
            (world.queue(flags), flags & OUT_OF_ORDER == 0)
        });
        let queues: Vec<_> = queues.collect();
        let memory = world.alloc(queues[0].0, ptr::null_mut(), BLOCKS * BYTES);
        let cleared = world.fill(queues[0].0, memory, 0, BLOCKS * BYTES, &[]);
        world.wait(cleared);
        Self {
            world,
            dice,
            queues,
            memory,
            expected: vec![0; BLOCKS * BYTES],
            users: vec![Default::default(); BLOCKS],
            events: Vec::new(),
        }
    }

    fn at(&self, block: usize) -> *mut c_void {
        self.memory.wrapping_byte_add(block * BYTES)
    }

    fn act(&mut self) -> Act {
        let from = self.dice.roll(BLOCKS);
        match self.dice.roll(3) {
            0 => Act::Fill(self.dice.roll(256) as u8),
            1 => Act::Copy(from),
            _ => Act::Rows(from, 1 + self.dice.roll(PITCH)),
        }
    }

    /// The events that a command comes after, unless its queue sees to that.
    fn after(&mut self, queue: usize, reads: &[usize], writes: &[usize]) -> Vec<Handle> {
        let of_reads = reads.iter().map(|&block| &self.users[block][0]);
        let of_writes = writes.iter().flat_map(|&block| &self.users[block]);
        let found = of_reads.chain(of_writes).flatten();
        let in_order = self.queues[queue].1;
        let needed = found.filter(|(_, other)| !in_order || *other != queue);
        needed.map(|(event, _)| *event).collect()
    }

    /// Notes what a command uses.
    fn note(&mut self, (event, queue): (Handle, usize), reads: &[usize], writes: &[usize]) {
        for &block in reads {
            self.users[block][1].push((event, queue));
        }
        for &block in writes {
            self.users[block] = [vec![(event, queue)], Vec::new()];
        }
        self.events.push(event);
    }

    fn expect(&mut self, block: usize, act: Act) {
        let to = block * BYTES;
        match act {
            Act::Fill(value) => self.expected[to..][..BYTES].fill(value),
            Act::Copy(from) => {
                let from = from * BYTES;
                self.expected.copy_within(from..from + BYTES, to);
            }
            Act::Rows(from, width) => {
                for row in (0..BYTES).step_by(PITCH) {
                    let from = from * BYTES + row;
                    self.expected.copy_within(from..from + width, to + row);
                }
            }
        }
    }

    /// One command.
    fn command(&mut self) {
        let (queue, block, mut act) = (self.dice.roll(QUEUES), self.dice.roll(BLOCKS), self.act());
        if let Act::Copy(from) | Act::Rows(from, _) = act
            && from == block
        {
            act = Act::Fill(1);
        }
        let reads = match act {
            Act::Fill(_) => vec![],
            Act::Copy(from) | Act::Rows(from, _) => vec![from],
        };
        let waits = self.after(queue, &reads, &[block]);
        let (f, on, to) = (self.world.f, self.queues[queue].0, self.at(block));
        let (count, list, mut event) = (waits.len() as u32, waiting(&waits), ptr::null_mut());
        let place = &raw mut event;
        ok(match act {
            Act::Fill(value) => {
                let value = (&raw const value).cast();
                (f.urEnqueueUSMFill)(on, to, 1, value, BYTES, count, list, place)
            }
            Act::Copy(from) => {
                let from = self.at(from);
                (f.urEnqueueUSMMemcpy)(on, false, to, from, BYTES, count, list, place)
            }
            Act::Rows(from, width) => {
                let (from, rows) = (self.at(from), BYTES / PITCH);
                let copy = f.urEnqueueUSMMemcpy2D;
                copy(
                    on, false, to, PITCH, from, PITCH, width, rows, count, list, place,
                )
            }
        });
        self.world.event(event);
        self.note((event, queue), &reads, &[block]);
        self.expect(block, act);
    }

    /// A list of fills, one behind the other, twice.
    fn list(&mut self) {
        let is_in_order = self.dice.roll(2) == 0;
        let header = Header::new(LIST_DESC);
        let desc = ListDesc {
            header,
            is_updatable: false,
            is_in_order,
            is_profiling: false,
        };
        let (world, mut list) = (self.world, ptr::null_mut());
        let (f, place) = (world.f, &raw mut list);
        let code =
            (f.urCommandBufferCreateExp)(world.context, world.device, &raw const desc, place);
        if code == Code::UNSUPPORTED_FEATURE.0 {
            return;
        }
        ok(code);
        let blocks = [0; 3].map(|_| self.dice.roll(BLOCKS));
        for (number, block) in blocks.into_iter().enumerate() {
            let (value, to, none) = (self.dice.roll(256) as u8, self.at(block), ptr::null_mut());
            let before = (number as u32).wrapping_sub(1);
            let is_behind = number > 0 && !is_in_order;
            let points = if is_behind {
                &raw const before
            } else {
                ptr::null()
            };
            let count = u32::from(is_behind);
            let (from, events) = ((&raw const value).cast(), ptr::null());
            let append = f.urCommandBufferAppendUSMFillExp;
            let point = ptr::null_mut();
            ok(append(
                list, to, from, 1, BYTES, count, points, 0, events, point, none, none,
            ));
            self.expect(block, Act::Fill(value));
        }
        ok((f.urCommandBufferFinalizeExp)(list));
        for _ in 0..2 {
            let queue = self.dice.roll(QUEUES);
            let (waits, mut event) = (self.after(queue, &[], &blocks), ptr::null_mut());
            let (on, count) = (self.queues[queue].0, waits.len() as u32);
            let place = &raw mut event;
            ok((f.urEnqueueCommandBufferExp)(
                on,
                list,
                count,
                waiting(&waits),
                place,
            ));
            world.event(event);
            self.note((event, queue), &[], &blocks);
        }
        ok((f.urCommandBufferReleaseExp)(list));
    }

    /// What changes nothing: memory that comes and goes, or a barrier.
    fn aside(&mut self) {
        let queue = self.queues[self.dice.roll(QUEUES)].0;
        if self.dice.roll(2) == 0 {
            let (none, no_event) = (ptr::null(), ptr::null_mut());
            ok((self.world.f.urEnqueueEventsWaitWithBarrier)(
                queue, 0, none, no_event,
            ));
            return;
        }
        let size = 1 + self.dice.roll(100_000);
        let (memory, code, had) = self.world.try_alloc(queue, ptr::null_mut(), size, &[]);
        ok(code);
        let other = self.queues[self.dice.roll(QUEUES)].0;
        self.world.free(other, memory, &[had]);
    }

    fn run(mut self) {
        for _ in 0..STEPS {
            match self.dice.roll(10) {
                0 => self.list(),
                1 => self.aside(),
                _ => self.command(),
            }
        }
        let seen = self
            .world
            .read(self.queues[0].0, self.memory, BLOCKS * BYTES, &self.events);
        assert_eq!(seen, self.expected);
        self.world.free(self.queues[0].0, self.memory, &self.events);
    }
}

#[test]
fn programs_of_several_queues_do_what_their_steps_do_one_after_the_other() {
    watched(|| {
        for seed in 1..=PROGRAMS {
            let world = World::new();
            Program::new(&world, seed).run();
        }
    });
}
