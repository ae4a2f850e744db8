//! Random programs over pools, queues and threads, every step of which a checker sees.
//!
//! A program has several threads with queues in common and of their own, and pools of every sort.
//! Its threads allocate and free, use memory by handle and by address, hold queues back by gates,
//! and change limits meanwhile. Where the device has memory, uses by address write stamps and look
//! for those of the use before. At the end pools must hold what their statistics say, and give all
//! of it back. The same seed gives the same program.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by tests and an example, each of which uses its part"
)]

mod actor;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use millpond_hal::layers::{Layered, Order, Race};
use millpond_hal::{Driver, QueueOptions};
use millpond_runtime::{Device, MemoryKind, Pool, PoolOptions, Queue, Registry, Reuse, Tag, Zero};
use millpond_testkit::dice::Dice;

use self::actor::Actor;

const KIB: usize = 1 << 10;

/// A program.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub threads: u64,
    /// Of each thread.
    pub steps: usize,
    pub seed: u64,
    /// Whether the device's memory is there to be touched.
    pub stamps: bool,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Outcome {
    pub races: Vec<Race>,
    pub allocations: u64,
    /// Requests that found no memory.
    pub refused: u64,
}

/// What the threads of a program share.
struct Stage {
    device: Device,
    queues: Vec<Queue>,
    pools: Vec<Pool>,
    tag: Tag,
    stamps: bool,
    allocations: AtomicU64,
    refused: AtomicU64,
}

/// Runs a program; `around` is called with the steps of each thread, on that thread.
///
/// # Panics
/// If a command fails, or a pool doesn't hold what it says.
pub fn run(
    driver: Arc<dyn Driver>,
    plan: &Plan,
    around: impl Fn(&mut dyn FnMut()) + Sync,
) -> Outcome {
    let checked = Arc::new(Layered::new(driver, Order::default()));
    let devices = Registry::new(&[Arc::clone(&checked) as Arc<dyn Driver>]);
    let device = devices.default_device().unwrap();
    let tag = Tag::new("tenant");
    tag.set_budget(Some(60 * KIB));
    let stage = Stage {
        queues: (0..4).map(|index| queue(&device, index == 3)).collect(),
        pools: pools(&device),
        tag,
        device,
        stamps: plan.stamps,
        allocations: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        for thread in 0..plan.threads {
            let (stage, around) = (&stage, &around);
            scope.spawn(move || {
                let dice = Dice::numbered(plan.seed * 1000 + thread);
                let mut actor = Actor::new(dice, stage);
                around(&mut || {
                    for _ in 0..plan.steps {
                        actor.step();
                    }
                });
            });
        }
    });
    stage.device.wait().unwrap();
    let races = checked.layer().take_races();
    if races.is_empty() {
        check_ends(&stage);
    }
    Outcome {
        races,
        allocations: stage.allocations.into_inner(),
        refused: stage.refused.load(Ordering::Relaxed),
    }
}

fn queue(device: &Device, out_of_order: bool) -> Queue {
    let options = QueueOptions {
        out_of_order,
        ..QueueOptions::default()
    };
    device.create_queue(&options).unwrap()
}

/// A pool of each sort.
fn pools(device: &Device) -> Vec<Pool> {
    let plain = PoolOptions::default;
    let options = [
        PoolOptions {
            // Too little for a segment of more than one request.
            maximum_size: Some(24 * KIB),
            min_driver_alloc: 1,
            ..plain()
        },
        PoolOptions {
            release_threshold: Some(0),
            max_poolable: Some(4 * KIB),
            min_driver_alloc: 256 * KIB,
            ..plain()
        },
        PoolOptions {
            zero: Zero::Always,
            maximum_size: Some(20 * KIB),
            min_driver_alloc: 1,
            ..plain()
        },
        PoolOptions {
            reuse: Reuse {
                opportunistic: false,
                ..Reuse::default()
            },
            maximum_size: Some(24 * KIB),
            ..plain()
        },
    ];
    let kinds = MemoryKind::ALL.into_iter().cycle();
    let mut pools: Vec<Pool> = options
        .into_iter()
        .zip(kinds)
        .map(|(options, kind)| device.create_pool(kind, options).unwrap())
        .collect();
    let queue = device.default_queue().unwrap();
    let buffer = queue.allocate(MemoryKind::Shared, 20 * KIB).unwrap();
    let part = 100..buffer.bytes();
    pools.push(device.create_pool_over(&buffer, part, plain()).unwrap());
    pools
}

/// Nothing is in use nor pending; all that isn't lent goes back.
fn check_ends(stage: &Stage) {
    assert_eq!(stage.tag.used(), 0);
    for pool in &stage.pools {
        let held = pool.statistics();
        assert_eq!(
            (held.used, held.requested, held.live),
            (0, 0, 0),
            "{held:?}"
        );
        assert_eq!((held.pending, held.cached), (0, held.reserved), "{held:?}");
        pool.trim(0).unwrap();
        let kept = if pool.is_over_buffer() {
            held.reserved
        } else {
            0
        };
        assert_eq!(pool.statistics().reserved, kept);
    }
    assert_eq!(stage.device.live(), 1, "the buffer that is a pool");
}
