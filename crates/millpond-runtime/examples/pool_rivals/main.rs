//! What pools cost beside the classic allocators: pairs, random sizes, nearly full.
//!
//! `cargo run --release -p millpond-runtime --example pool_rivals` prints nanoseconds for a pair of
//! allocation and free: the median of many windows, and in brackets the 99th of a hundred. All
//! manage addresses of a device without memory, so that nothing but their own work is measured; the
//! system's heap manages its own.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints what it measured"
)]
#![allow(unsafe_code, reason = "the system's heap is asked directly")]

mod rivals;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use millpond_hal::Driver;
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{Allocation, MemoryKind, Pool, PoolOptions, Queue, Registry};
use rivals::{Bins, Heap, List, Rival, Set};

const GIB: usize = 1 << 30;

/// Pairs that are timed together.
const WINDOW: usize = 64;

/// Windows of each case.
const WINDOWS: usize = 1000;

fn main() {
    let driver = NullDriver::with(NullOptions {
        memory: 1024 * GIB,
        ..NullOptions::default()
    });
    let devices = Registry::new(&[Arc::new(driver) as Arc<dyn Driver>]);
    let device = devices.default_device().unwrap();
    let queue = device.default_queue().unwrap();
    let pool = device
        .create_pool(MemoryKind::Device, PoolOptions::default())
        .unwrap();

    println!("{:<34}{:>22}", "case", "ns for each pair");
    for bytes in [1 << 10, 1 << 20, 64 << 20] {
        let case = format!("same {} KiB again and again", bytes >> 10);
        row(&case, "millpond", || {
            drop(black_box(queue.allocate_from(&pool, bytes).unwrap()));
        });
        for rival in all(64 * GIB) {
            row(&case, rival.name(), || {
                let address = black_box(rival.allocate(bytes));
                rival.free(address, bytes);
            });
        }
    }
    for live in [100, 10_000, 50_000] {
        let case = format!("random sizes, {live} live");
        let mut ours = Ours::new(&queue, &pool, live);
        row(&case, "millpond", || ours.replace());
        drop(ours);
        for rival in all(64 * GIB) {
            if rival.name().starts_with("list") && live > 10_000 {
                continue;
            }
            let mut theirs = Theirs::new(&*rival, live);
            row(&case, rival.name(), || theirs.replace());
        }
    }
    for full in [50, 90, 99] {
        let case = format!("random sizes, {full} % full");
        let mut ours = Ours::filled(&queue, full);
        row(&case, "millpond", || ours.replace());
    }
}

fn all(bytes: usize) -> Vec<Box<dyn Rival>> {
    vec![
        Box::new(List::new(bytes)),
        Box::new(Set::new(bytes)),
        Box::new(Bins::new(bytes)),
        Box::new(Heap),
    ]
}

/// Times a pair in windows and prints a row.
fn row(case: &str, who: &str, mut pair: impl FnMut()) {
    for _ in 0..WINDOW * 20 {
        pair();
    }
    let mut windows: Vec<f64> = (0..WINDOWS)
        .map(|_| {
            let begin = Instant::now();
            for _ in 0..WINDOW {
                pair();
            }
            begin.elapsed().as_secs_f64() * 1e9 / WINDOW as f64
        })
        .collect();
    windows.sort_unstable_by(f64::total_cmp);
    let (median, worst) = (windows[WINDOWS / 2], windows[WINDOWS * 99 / 100]);
    println!("{case:<34}{who:<18}{median:>10.1}  ({worst:.0})");
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    /// Sizes from 256 bytes to a MiB, small ones as often as large ones.
    fn size(&mut self) -> usize {
        let octave = self.roll(12);
        (256 << octave) + self.roll(256 << octave)
    }
}

/// Allocations of a pool, of which one after the other is replaced.
struct Ours<'a> {
    queue: &'a Queue,
    pool: Pool,
    live: Vec<Option<Allocation>>,
    dice: Dice,
}

impl<'a> Ours<'a> {
    fn new(queue: &'a Queue, pool: &Pool, live: usize) -> Self {
        let mut dice = Dice(1);
        let pool = pool.clone();
        let live = (0..live)
            .map(|_| Some(queue.allocate_from(&pool, dice.size()).unwrap()))
            .collect();
        Self {
            queue,
            pool,
            live,
            dice,
        }
    }

    /// A pool of a GiB, so many percent of it in use.
    fn filled(queue: &'a Queue, percent: usize) -> Self {
        let options = PoolOptions {
            maximum_size: Some(GIB),
            ..PoolOptions::default()
        };
        let device = queue.device();
        let pool = device.create_pool(MemoryKind::Device, options).unwrap();
        let mut ours = Self::new(queue, &pool, 0);
        while ours.pool.statistics().used < GIB / 100 * percent {
            for _ in 0..32 {
                let bytes = ours.dice.size();
                ours.live
                    .extend(queue.allocate_from(&pool, bytes).map(Some));
            }
        }
        ours
    }

    fn replace(&mut self) {
        let index = self.dice.roll(self.live.len());
        // What is full stays short of this one.
        self.live[index] = None;
        let bytes = self.dice.size();
        self.live[index] = self.queue.allocate_from(&self.pool, bytes).ok();
    }
}

/// The same of a rival.
struct Theirs<'a> {
    rival: &'a dyn Rival,
    live: Vec<(usize, usize)>,
    dice: Dice,
}

impl<'a> Theirs<'a> {
    fn new(rival: &'a dyn Rival, count: usize) -> Self {
        let mut dice = Dice(1);
        let live = (0..count)
            .map(|_| {
                let bytes = dice.size();
                (rival.allocate(bytes), bytes)
            })
            .collect();
        Self { rival, live, dice }
    }

    fn replace(&mut self) {
        let index = self.dice.roll(self.live.len());
        let slot = &mut self.live[index];
        self.rival.free(slot.0, slot.1);
        let bytes = self.dice.size();
        *slot = (self.rival.allocate(bytes), bytes);
    }
}

impl Drop for Theirs<'_> {
    fn drop(&mut self) {
        for &(address, bytes) in &self.live {
            self.rival.free(address, bytes);
        }
    }
}
