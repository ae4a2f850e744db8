//! Two ways of a request that decide the same: the short one of plain pools, and the general one,
//! which a pool goes that is recorded.

use std::collections::HashMap;
use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{Allocation, Queue, Registry};
use millpond_testkit::watchdog::watched;

use crate::support::in_order;
use crate::{Dice, GIB, KIB, MIB, at_most, check, pool, use_on};

/// For each allocation, which block it got of those that were seen before, by a program that is
/// the same for each seed.
fn blocks(seed: u64, recorded: bool) -> Vec<usize> {
    let driver = NullDriver::with(NullOptions {
        memory: 64 * GIB,
        manual: true,
        ..NullOptions::default()
    });
    let devices = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]);
    let device = devices.default_device().unwrap();
    let pool = pool(&device, at_most(GIB));
    let recorder = recorded.then(|| pool.record());
    let queues: [Queue; 3] = std::array::from_fn(|_| in_order(&device));
    let sizes = [KIB, 3 * KIB, 100 * KIB, 5 * MIB, 9 * MIB];
    let mut dice = Dice::new(seed);
    let mut live: Vec<Allocation> = Vec::new();
    let (mut seen, mut found) = (HashMap::new(), Vec::new());
    for _ in 0..2000 {
        let queue = &queues[dice.roll(3)];
        match dice.roll(12) {
            0..5 => {
                let bytes = sizes[dice.roll(sizes.len())];
                let memory = queue.allocate_from(&pool, bytes).unwrap();
                let number = seen.len();
                found.push(*seen.entry(memory.address().get()).or_insert(number));
                live.push(memory);
            }
            5..9 if !live.is_empty() => drop(live.swap_remove(dice.roll(live.len()))),
            9 if !live.is_empty() => drop(use_on(queue, &live[dice.roll(live.len())])),
            10 => {
                let event = queues[dice.roll(3)].record().unwrap();
                queue.wait_for(&event).unwrap();
            }
            11 => {
                driver.run_all();
            }
            _ => {}
        }
    }
    driver.run_all();
    live.clear();
    check(&pool);
    drop(recorder);
    found
}

#[test]
fn the_short_way_finds_the_blocks_that_the_general_way_finds() {
    watched(|| {
        for seed in 1..40 {
            assert_eq!(blocks(seed, false), blocks(seed, true), "seed {seed}");
        }
    });
}
