//! Recorded-looking sequences of allocations and frees, as typical programs make them.
//!
//! They come from seeded generators in the style of what was published about such programs: sizes
//! that repeat in each step of training, caches that grow token by token, thousands of small
//! buffers within a query, buffers as large as a stripe of a file.

use millpond_testkit::dice::Dice;

/// An allocation or a free of what the program knows by a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Allocate { id: usize, bytes: usize },
    Free { id: usize },
}

/// What a program asks of an allocator.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) steps: Vec<Step>,
    /// Bytes of blocks by their number.
    sizes: Vec<usize>,
    dice: Dice,
}

/// Makes so many steps of a program, with the numbers of a seed.
pub(crate) type Generate = fn(usize, u64) -> Trace;

/// Programs: their names, how many steps are a good measure, and what makes them.
pub(crate) const PROGRAMS: &[(&str, usize, Generate)] = &[
    ("training step", 20, training),
    ("inference, growing sequence", 400, inference),
    ("dataframe query", 20, query),
    ("columns of a file", 60, columns),
];

impl Trace {
    fn new(seed: u64) -> Self {
        Self {
            steps: Vec::new(),
            sizes: Vec::new(),
            dice: Dice::new(seed),
        }
    }

    fn allocate(&mut self, bytes: usize) -> usize {
        let id = self.sizes.len();
        self.sizes.push(bytes);
        self.steps.push(Step::Allocate { id, bytes });
        id
    }

    fn free(&mut self, id: usize) {
        self.steps.push(Step::Free { id });
    }

    fn temporary(&mut self, bytes: usize) {
        let id = self.allocate(bytes);
        self.free(id);
    }

    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> usize {
        self.sizes.len()
    }

    /// The most bytes that are in use at a time.
    pub(crate) fn peak(&self) -> usize {
        let mut used = 0;
        let after = self.steps.iter().map(|step| {
            match *step {
                Step::Allocate { bytes, .. } => used += bytes,
                Step::Free { id } => used -= self.sizes[id],
            }
            used
        });
        after.max().unwrap_or(0)
    }
}

/// Forward and backward passes of a transformer: activations stay until their gradient is known,
/// everything else is a temporary. Sequences differ in length from step to step.
fn training(steps: usize, seed: u64) -> Trace {
    const LAYERS: usize = 24;
    const WIDTH: usize = 1024;
    let mut trace = Trace::new(11 + seed);
    for _ in 0..LAYERS {
        for factor in [4, 4, 8] {
            trace.allocate(WIDTH * WIDTH * factor);
        }
    }
    for _ in 0..steps {
        let tokens = 4 * (256 + trace.dice.roll(9) * 32);
        let activation = tokens * WIDTH * 2;
        let mut kept = Vec::new();
        for _ in 0..LAYERS {
            for factor in [1, 3, 1, 4, 1] {
                trace.temporary(tokens * 4);
                kept.push((trace.allocate(activation * factor), activation * factor));
                trace.temporary(activation * factor);
            }
        }
        let mut incoming = trace.allocate(activation);
        let mut gradients = Vec::new();
        while let Some((id, bytes)) = kept.pop() {
            let outgoing = trace.allocate(bytes);
            trace.temporary(bytes * 2);
            if kept.len() % 5 == 0 {
                gradients.push(trace.allocate(WIDTH * WIDTH * 16));
            }
            trace.free(id);
            trace.free(incoming);
            incoming = outgoing;
        }
        trace.free(incoming);
        for gradient in gradients {
            trace.temporary(WIDTH * WIDTH * 16);
            trace.free(gradient);
        }
    }
    trace
}

/// Requests that generate text: for each token the keys and values of each layer are copied into
/// memory for one more; requests end and begin at random.
fn inference(tokens: usize, seed: u64) -> Trace {
    const LAYERS: usize = 16;
    const REQUESTS: usize = 8;
    const TOKEN: usize = 2 * 1024 * 2;
    let mut trace = Trace::new(12 + seed);
    let mut caches: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new()); REQUESTS];
    for _ in 0..tokens {
        for cache in &mut caches {
            if cache.1.is_empty() {
                let length = 16 + trace.dice.roll(512);
                *cache = (
                    length,
                    (0..LAYERS)
                        .map(|_| trace.allocate(length * TOKEN))
                        .collect(),
                );
            }
            cache.0 += 1;
            for id in &mut cache.1 {
                trace.temporary(3 * TOKEN);
                let longer = trace.allocate(cache.0 * TOKEN);
                trace.free(std::mem::replace(id, longer));
                trace.temporary(4 * cache.0);
            }
            if trace.dice.roll(200) == 0 {
                for id in cache.1.drain(..) {
                    trace.free(id);
                }
            }
        }
    }
    trace
}

/// Queries that make ten thousand small buffers each, free a part of them at random, and a few
/// large ones.
fn query(queries: usize, seed: u64) -> Trace {
    let mut trace = Trace::new(13 + seed);
    for _ in 0..queries {
        let column = 8 << (20 + trace.dice.roll(3));
        let columns: Vec<_> = (0..4).map(|_| trace.allocate(column)).collect();
        let mut live = Vec::new();
        for _ in 0..10_000 {
            let bytes = trace.dice.size(64, 10);
            live.push(trace.allocate(bytes));
            if trace.dice.roll(3) == 0 {
                let index = trace.dice.roll(live.len());
                let id = live.swap_remove(index);
                trace.free(id);
            }
        }
        for id in live.drain(..).chain(columns) {
            trace.free(id);
        }
    }
    trace
}

/// A writer of a file by columns: for each stripe the encoded streams of all columns, whose sizes
/// nobody knows before, and the same again compressed; the buffers of one stripe outlive the next.
fn columns(stripes: usize, seed: u64) -> Trace {
    let mut trace = Trace::new(14 + seed);
    let mut previous: Vec<usize> = Vec::new();
    for _ in 0..stripes {
        let whole = trace.allocate((64 << 20) + trace.dice.clone().roll(64 << 20));
        let mut streams = Vec::new();
        for _ in 0..24 {
            let bytes = trace.dice.size(1 << 20, 5);
            streams.push(trace.allocate(bytes));
            trace.temporary(bytes / 4);
        }
        for id in previous.drain(..) {
            trace.free(id);
        }
        for &id in &streams {
            let bytes = trace.sizes[id] / 2 + trace.dice.roll(1 << 20);
            previous.push(trace.allocate(bytes));
        }
        for id in streams {
            trace.free(id);
        }
        trace.free(whole);
    }
    for id in previous {
        trace.free(id);
    }
    trace
}
