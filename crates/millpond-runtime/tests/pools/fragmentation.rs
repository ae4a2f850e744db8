//! How much more is reserved than used, over programs in the style of published traces: at most two
//! fifths, a half where blocks are as large as segments, and a segment that was begun.

use millpond_runtime::{Allocation, Device, Pool, PoolOptions, Queue};

use crate::support::in_order;
use crate::{Dice, KIB, MIB, check, each, pool};

/// A program's allocations, with the most bytes that it had at a time.
struct Trace {
    queue: Queue,
    pool: Pool,
    dice: Dice,
    held: usize,
    most: usize,
}

impl Trace {
    fn new(device: &Device, seed: u64) -> Self {
        Self {
            queue: in_order(device),
            pool: pool(device, PoolOptions::default()),
            dice: Dice::new(seed),
            held: 0,
            most: 0,
        }
    }

    fn allocate(&mut self, bytes: usize) -> Allocation {
        self.held += bytes;
        self.most = self.most.max(self.held);
        self.queue.allocate_from(&self.pool, bytes).unwrap()
    }

    fn free(&mut self, memory: Allocation) {
        self.held -= memory.bytes();
        drop(memory);
    }

    fn free_all(&mut self, all: impl IntoIterator<Item = Allocation>) {
        for memory in all {
            self.free(memory);
        }
    }
}

/// Training with batches of another length each: weights stay, activations are freed in reverse.
fn training(trace: &mut Trace) {
    let weights: Vec<_> = (0..16)
        .flat_map(|_| [8 * MIB, 3 * MIB, 64 * KIB, 4 * KIB].map(|bytes| trace.allocate(bytes)))
        .collect();
    for _ in 0..40 {
        let length = 32 + trace.dice.roll(32);
        let mut activations = Vec::new();
        for _ in 0..16 {
            for unit in [96 * KIB, 24 * KIB, 3 * KIB] {
                let temporary = trace.allocate(2 * length * unit);
                activations.push(trace.allocate(length * unit));
                trace.free(temporary);
            }
        }
        while let Some(activation) = activations.pop() {
            let gradient = trace.allocate(activation.bytes());
            trace.free(activation);
            trace.free(gradient);
        }
    }
    trace.free_all(weights);
}

/// Serving: requests come and go, and each grows by what it has at a time.
fn serving(trace: &mut Trace) {
    let mut requests: Vec<Vec<Allocation>> = Vec::new();
    for _ in 0..4_000 {
        if requests.len() < 24 {
            let length = (1 + trace.dice.roll(40)) * 16 * KIB;
            requests.push((0..4).map(|_| trace.allocate(length)).collect());
        }
        let index = trace.dice.roll(requests.len());
        if trace.dice.roll(12) == 0 {
            let done = requests.swap_remove(index);
            trace.free_all(done);
        } else {
            for layer in &mut requests[index] {
                let grown = trace.allocate(layer.bytes() + 64 * KIB);
                let old = std::mem::replace(layer, grown);
                trace.free(old);
            }
        }
    }
    trace.free_all(requests.into_iter().flatten());
}

/// Random sizes and random frees, at 95 % of what the program allows itself.
fn random(trace: &mut Trace) {
    let mut live = Vec::new();
    for _ in 0..6_000 {
        let bytes = 1 + trace.dice.roll(2 * MIB);
        while trace.held + bytes > 190 * MIB {
            let memory = live.swap_remove(trace.dice.roll(live.len()));
            trace.free(memory);
        }
        live.push(trace.allocate(bytes));
    }
    trace.free_all(live);
}

/// Data frames: columns of one length, filtered to others, small ones between.
fn columns(trace: &mut Trace) {
    for _ in 0..60 {
        let rows = (1 + trace.dice.roll(8)) * 128 * KIB;
        let table: Vec<_> = (0..8).map(|_| trace.allocate(rows * 8)).collect();
        let mask = trace.allocate(rows);
        let kept = rows / (2 + trace.dice.roll(4));
        let mut result = Vec::new();
        for column in table {
            let scratch = trace.allocate(rows * 4);
            let count = trace.allocate(8);
            result.push(trace.allocate(kept * 8));
            trace.free_all([scratch, count, column]);
        }
        trace.free(mask);
        trace.free_all(result);
    }
}

/// A file by columns: streams of a stripe whose sizes nobody knows before, then the same compressed,
/// which outlive the next stripe's.
fn file(trace: &mut Trace) {
    let mut previous: Vec<Allocation> = Vec::new();
    for _ in 0..60 {
        let bytes = 64 * MIB + trace.dice.roll(64 * MIB);
        let whole = trace.allocate(bytes);
        let mut streams = Vec::new();
        for _ in 0..24 {
            let bytes = trace.dice.size(MIB, 5);
            streams.push(trace.allocate(bytes));
            let table = trace.allocate(bytes / 4);
            trace.free(table);
        }
        trace.free_all(previous.drain(..));
        for stream in &streams {
            let bytes = stream.bytes() / 2 + trace.dice.roll(MIB);
            previous.push(trace.allocate(bytes));
        }
        trace.free_all(streams);
        trace.free(whole);
    }
    trace.free_all(previous);
}

type Program = fn(&mut Trace);

#[test]
fn f025_fragmentation_stays_within_two_fifths() {
    // Blocks as large as segments leave larger holes.
    let programs: [(&str, Program, usize); 5] = [
        ("training", training, 14),
        ("serving", serving, 14),
        ("random", random, 14),
        ("columns", columns, 14),
        ("file", file, 15),
    ];
    each(move |device| {
        for (name, program, tenths) in programs {
            for seed in 1..4 {
                let mut trace = Trace::new(device, seed);
                program(&mut trace);
                let now = trace.pool.statistics();
                check(&trace.pool);
                let most = trace.most / 10 * tenths + trace.pool.options().min_driver_alloc;
                assert!(now.reserved_high <= most, "{name}, seed {seed}: {now:?}");
            }
        }
    });
}
