//! Random programs over many queues, whose every pair of uses the order checker sees.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::layers::{Layered, Order, Race};
use millpond_hal::null::NullDriver;
use millpond_hal::{Access, Driver, Gate, QueueOptions};
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::event::Event;
use crate::memory::Allocation;
use crate::pool::weaken::{Rule, while_broken};
use crate::pool::{AllocateOptions, Pool, PoolOptions, Wait};
use crate::queue::{Queue, Use};
use crate::registry::Registry;

const KIB: usize = 1 << 10;

/// A gate that a test which fails opens as well.
struct Held(Gate);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.open(Ok(()));
    }
}

/// A sequence of numbers that is the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

/// One thread's part of the program.
struct Actor<'a> {
    dice: Dice,
    queues: &'a [Queue],
    pools: &'a [Pool],
    live: Vec<Allocation>,
    events: Vec<Event>,
    gates: Vec<Held>,
    refused: &'a AtomicU64,
}

impl Actor<'_> {
    fn queue(&mut self) -> &Queue {
        let index = self.dice.roll(self.queues.len());
        &self.queues[index]
    }

    fn step(&mut self) {
        match self.dice.roll(100) {
            0..40 => self.allocate(),
            40..62 => self.free(),
            62..90 => self.task(),
            90..94 => self.order(),
            94..96 => {
                let gate = Gate::new();
                self.queue().gate(&gate, &[]).unwrap();
                self.gates.push(Held(gate));
            }
            96..99 => {
                if !self.gates.is_empty() {
                    self.gates.remove(0);
                }
            }
            _ => {
                self.gates.clear();
                if let Some(event) = self.events.pop() {
                    event.wait().unwrap();
                }
            }
        }
        // Work that nobody lets go on would end in waiting for ever.
        if self.gates.len() > 3 {
            self.gates.remove(0);
        }
    }

    fn allocate(&mut self) {
        // Few sizes, so that freed memory fits.
        let bytes = ((1 + self.dice.roll(4)) * 256 - self.dice.roll(200)) << self.dice.roll(5);
        let alignment = 1 << (self.dice.roll(13) * usize::from(self.dice.roll(4) == 0));
        let pool = &self.pools[self.dice.roll(self.pools.len())];
        let options = AllocateOptions {
            alignment,
            wait: Wait::Never,
            ..AllocateOptions::default()
        };
        let index = self.dice.roll(self.queues.len());
        if let Ok((memory, event)) = self.queues[index].allocate_with(pool, bytes, &options) {
            self.live.push(memory);
            self.events.push(event);
        } else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            self.gates.clear();
            self.free();
        }
        if self.events.len() > 8 {
            self.events.remove(0);
        }
        if self.live.len() > 24 {
            self.free();
        }
    }

    fn free(&mut self) {
        if self.live.is_empty() {
            return;
        }
        let memory = self.live.swap_remove(self.dice.roll(self.live.len()));
        if self.dice.roll(3) == 0 {
            let after = self.events.last().cloned();
            let after: Vec<&Event> = after.iter().collect();
            let event = self.queue().free(memory, &after).unwrap();
            self.events.push(event);
        }
    }

    fn task(&mut self) {
        let count = (1 + self.dice.roll(3)).min(self.live.len());
        let picked: Vec<(usize, Access)> = (0..count)
            .map(|_| {
                let access = [Access::Read, Access::Write, Access::Update][self.dice.roll(3)];
                (self.dice.roll(self.live.len()), access)
            })
            .collect();
        let queue = self.queue().clone();
        let use_ = |&(index, access): &(usize, Access)| Use {
            allocation: &self.live[index],
            access,
        };
        let uses: Vec<Use<'_>> = picked.iter().map(use_).collect();
        let event = queue.task("use", &uses, || Ok(())).unwrap();
        self.events.push(event);
    }

    fn order(&mut self) {
        if let Some(event) = self.events.first().cloned() {
            self.queue().wait_for(&event).unwrap();
        }
    }
}

/// A random program of several threads; the races that the checker saw.
fn run(
    driver: Arc<dyn Driver>,
    threads: u64,
    steps: usize,
    seed: u64,
    broken: Option<Rule>,
) -> Vec<Race> {
    let checked = Arc::new(Layered::new(driver, Order::default()));
    let devices = Registry::new(&[Arc::clone(&checked) as Arc<dyn Driver>]);
    let device: Device = devices.default_device().unwrap();
    let queues: Vec<Queue> = (0..6)
        .map(|index| {
            let options = QueueOptions {
                out_of_order: index % 3 == 2,
                ..QueueOptions::default()
            };
            device.create_queue(&options).unwrap()
        })
        .collect();
    let options = [
        PoolOptions {
            // Too little for a segment of more than one request.
            maximum_size: Some(60 * KIB),
            min_driver_alloc: 1,
            ..PoolOptions::default()
        },
        PoolOptions {
            release_threshold: Some(0),
            max_poolable: Some(16 * KIB),
            min_driver_alloc: 256 * KIB,
            ..PoolOptions::default()
        },
    ];
    let pools = options.map(|options| device.create_pool(MemoryKind::Device, options).unwrap());
    let refused = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (queues, pools, refused) = (&queues[..], &pools[..], &refused);
            scope.spawn(move || {
                let mut actor = Actor {
                    dice: Dice(seed * 1000 + thread + 1),
                    queues,
                    pools,
                    live: Vec::new(),
                    events: Vec::new(),
                    gates: Vec::new(),
                    refused,
                };
                let mut steps = || {
                    for _ in 0..steps {
                        actor.step();
                    }
                };
                match broken {
                    Some(rule) => while_broken(rule, steps),
                    None => steps(),
                }
            });
        }
    });
    device.wait().unwrap();
    let races = checked.layer().take_races();
    for pool in &pools {
        let held = pool.statistics();
        assert_eq!((held.used, held.live, held.pending), (0, 0, 0), "{held:?}");
        assert_eq!(held.cached, held.reserved, "{held:?}");
        pool.trim(0).unwrap();
        assert_eq!(pool.statistics().reserved, 0);
    }
    assert!(
        refused.load(Ordering::Relaxed) > 0,
        "the limit was never met"
    );
    races
}

fn cpu() -> Arc<dyn Driver> {
    Arc::new(CpuDriver::new(CpuConfig {
        threads: Some(2),
        ..CpuConfig::default()
    }))
}

fn null() -> Arc<dyn Driver> {
    Arc::new(NullDriver::default())
}

/// How many steps each program takes in all.
const STEPS: usize = 12_000;

#[test]
fn no_two_uses_of_the_same_bytes_are_unordered() {
    watched(|| {
        for seed in 1..5 {
            for driver in [cpu(), null()] {
                let races = run(driver, 3, STEPS / 4, seed, None);
                assert!(races.is_empty(), "seed {seed}: {}", races[0]);
            }
        }
    });
}

#[test]
fn a_pool_with_a_broken_rule_is_noticed() {
    watched(|| {
        for rule in [
            Rule::SameQueue,
            Rule::FollowEvents,
            Rule::Opportunistic,
            Rule::InternalDependencies,
        ] {
            let found = (1..30).any(|seed| !run(null(), 1, STEPS / 4, seed, Some(rule)).is_empty());
            assert!(found, "{rule:?} broken, and nobody noticed");
        }
    });
}
