//! Pools of every kind of options, on devices of every depth, made and forgotten often.

use std::sync::Arc;
use std::time::Duration;

use millpond_hal::Driver;
use millpond_hal::null::NullDriver;
use millpond_runtime::{
    Device, Error, MemoryKind, Partition, PoolOptions, QueueOptions, Registry, Reuse, Zero,
};
use millpond_testkit::watchdog::watched;

use crate::support::in_order;
use crate::{Dice, GIB, KIB, MIB, at_once, check, each, null, pool, use_on};

/// What one option can be changed to.
type Change = fn(&mut PoolOptions);

/// Values of one option each.
const CHANGES: [&[Change]; 10] = [
    &[
        |options| options.maximum_size = Some(MIB),
        |options| options.maximum_size = Some(40 * MIB),
    ],
    &[
        |options| options.release_threshold = Some(0),
        |options| options.release_threshold = Some(3 * MIB),
    ],
    &[|options| options.idle_release = Some(Duration::from_micros(1))],
    &[
        |options| options.max_poolable = Some(0),
        |options| options.max_poolable = Some(100 * KIB),
    ],
    &[
        |options| options.min_driver_alloc = 1,
        |options| options.min_driver_alloc = 5 * MIB + 1,
    ],
    &[|options| options.read_only = true],
    &[
        |options| options.zero = Zero::Fresh,
        |options| options.zero = Zero::Always,
    ],
    &[|options| options.reuse.follow_events = false],
    &[|options| options.reuse.opportunistic = false],
    &[|options| options.reuse.internal_dependencies = false],
];

/// A short program with everything in it.
fn exercise(device: &Device, kind: MemoryKind, options: PoolOptions, seed: u64) {
    let queues = [in_order(device), in_order(device)];
    let pool = device.create_pool(kind, options).unwrap();
    let mut dice = Dice::new(seed);
    let mut live = Vec::new();
    for step in 0..40 {
        let queue = &queues[dice.roll(2)];
        let most = [300, 200 * KIB, 700 * KIB][dice.roll(3)];
        let bytes = dice.roll(most);
        if let Ok((memory, _)) = queue.allocate_with(&pool, bytes, &at_once()) {
            use_on(&queues[dice.roll(2)], &memory);
            live.push(memory);
        } else {
            live.clear();
        }
        if live.len() > 6 {
            live.swap_remove(dice.roll(live.len()));
        }
        if step % 10 == 0 {
            queue.wait().unwrap();
            check(&pool);
        }
    }
    live.clear();
    device.wait().unwrap();
    check(&pool);
    pool.trim(0).unwrap();
    assert_eq!(pool.statistics().reserved, 0, "{:?}", pool.options());
}

#[test]
fn f092_every_pair_of_options_works() {
    watched(|| {
        let (driver, device) = null(64 * GIB);
        let mut seed = 0;
        for (one, changes) in CHANGES.iter().enumerate() {
            for (other, others) in CHANGES.iter().enumerate() {
                if other == one {
                    continue;
                }
                for change in *changes {
                    for other in *others {
                        let mut options = PoolOptions::default();
                        change(&mut options);
                        other(&mut options);
                        seed += 1;
                        let kind = MemoryKind::ALL[seed % 3];
                        exercise(&device, kind, options, seed as u64);
                    }
                }
            }
        }
        assert!(seed > 150);
        assert_eq!(driver.null_devices()[0].allocated_bytes(), 0);
    });
}

#[test]
fn f068_a_default_pool_is_the_same_however_often_it_is_asked_for() {
    each(|device| {
        let first = device.default_pool(MemoryKind::Device);
        for turn in 0..1_000_000 {
            let again = device.default_pool(MemoryKind::Device);
            assert!(again == first);
            if turn % 100_000 == 0 {
                again.close().unwrap_err();
                assert!(!again.is_closed());
            }
        }
        let memory = in_order(device).allocate(MemoryKind::Device, 100).unwrap();
        assert!(memory.is_from(&first));
    });
}

#[test]
fn f071_each_part_of_a_device_has_one_pool_of_a_kind() {
    watched(|| {
        let driver = NullDriver::default();
        let devices = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]);
        let root = devices.default_device().unwrap();
        let mut parts = vec![root.clone()];
        let mut level = vec![root];
        for cores in [2, 1, 1] {
            level = level
                .iter()
                .flat_map(|part| part.partition(&Partition::Equally(cores)).unwrap())
                .collect();
            parts.extend(level.iter().cloned());
        }
        assert_eq!(parts.len(), 1 + 2 + 4 + 4);
        let mut pools = Vec::new();
        for part in &parts {
            for kind in MemoryKind::ALL {
                let pool = part.default_pool(kind);
                assert!(pool == part.default_pool(kind) && pool == part.current_pool(kind));
                assert!(!pools.contains(&pool), "one for each part and kind");
                pools.push(pool);
            }
            let queue = in_order(part);
            let memory = queue.allocate(MemoryKind::Device, 100).unwrap();
            assert!(memory.is_from(&part.default_pool(MemoryKind::Device)));
        }
        drop((pools, level));
        parts.truncate(1);
        let root = parts.remove(0);
        root.default_pool(MemoryKind::Device).trim(0).unwrap();
        assert_eq!(driver.null_devices()[0].allocated_bytes(), 0);
    });
}

#[test]
fn f072_a_device_that_is_shut_down_and_opened_again_begins_with_nothing() {
    watched(|| {
        let mut driver = NullDriver::default();
        for turn in 0..100 {
            let provider = Arc::clone(&driver.null_devices()[0]);
            let devices = Registry::new(&[Arc::new(driver) as Arc<dyn Driver>]);
            let device = devices.default_device().unwrap();
            let queue = device.default_queue().unwrap();
            let own = pool(&device, PoolOptions::default());
            device.set_current_pool(&own).unwrap();
            let memory = queue.allocate(MemoryKind::Device, 1000).unwrap();
            use_on(&queue, &memory);
            drop(queue.allocate(MemoryKind::Host, MIB).unwrap());
            if turn % 2 == 0 {
                drop((own, memory, queue));
                device.shutdown();
            } else {
                device.shutdown();
                drop((own, memory, queue));
            }
            let default = device.default_pool(MemoryKind::Device);
            device.set_current_pool(&default).unwrap();
            drop((default, device, devices));
            assert_eq!(provider.allocated_bytes(), 0, "turn {turn}");
            driver = NullDriver::default();
        }
    });
}

#[test]
fn f077_host_memory_had_and_freed_for_ever_stays_what_it_is() {
    each(|device| {
        let queue = in_order(device);
        let pool = device
            .create_pool(MemoryKind::Host, PoolOptions::default())
            .unwrap();
        drop(queue.allocate_from(&pool, 1000).unwrap());
        let before = pool.statistics();
        for turn in 0..200_000 {
            let memory = queue.allocate_from(&pool, 1000).unwrap();
            if turn % 100 == 0 {
                use_on(&queue, &memory);
            }
        }
        queue.wait().unwrap();
        assert_eq!(pool.statistics(), before);
        // Without the rules that let others have it, the queue's own turns are enough.
        let reuse = Reuse {
            follow_events: false,
            opportunistic: false,
            internal_dependencies: false,
        };
        pool.set_reuse(reuse);
        let other = device.create_queue(&QueueOptions::default()).unwrap();
        for _ in 0..10_000 {
            drop(other.allocate_from(&pool, 1000).unwrap());
        }
        assert!(pool.statistics().reserved <= before.reserved + 32 * MIB);
    });
}

#[test]
fn a_pool_of_the_driver_is_refused_where_there_is_none_and_the_answer_says_why() {
    each(|device| {
        let options = PoolOptions {
            native: true,
            ..PoolOptions::default()
        };
        let memory = in_order(device).allocate(MemoryKind::Device, MIB).unwrap();
        assert_eq!(device.info().driver_pools, []);
        let answers = [
            device.create_pool(MemoryKind::Device, options.clone()),
            device.driver_pool(MemoryKind::Device),
        ];
        for answer in answers {
            let error = answer.unwrap_err();
            assert!(matches!(error, Error::Device(_)), "{error}");
            let text = format!(
                "a pool of the driver's own for device memory (`native`) is not supported by {device}"
            );
            assert_eq!(error.to_string(), text);
        }
        let over = device.create_pool_over(&memory, 0..MIB, options);
        let error = over.unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        let without = PoolOptions {
            native: true,
            idle_release: Some(Duration::from_secs(1)),
            ..PoolOptions::default()
        };
        let error = device.create_pool(MemoryKind::Device, without);
        let text = error.unwrap_err().to_string();
        assert!(text.contains("has no `idle_release`"), "{text}");
    });
}
