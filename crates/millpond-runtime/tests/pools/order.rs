//! Order across queues, and what other allocators have got wrong about it.

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{AllocateOptions, Error, PoolOptions, QueueOptions, Registry, Status};
use millpond_testkit::watchdog::watched;

use crate::support::{in_order, stays_pending};
use crate::{Dice, GIB, MIB, at_most, at_once, close_gate, each, null, pool, use_on};

#[test]
fn f001_merged_memory_waits_for_all_who_used_any_part_of_it() {
    each(|device| {
        let (a, b, c) = (in_order(device), in_order(device), in_order(device));
        let options = PoolOptions {
            maximum_size: Some(2 * MIB),
            ..PoolOptions::default()
        };
        let pool = pool(device, options);
        let (of_a, of_b) = (
            a.allocate_from(&pool, MIB).unwrap(),
            b.allocate_from(&pool, MIB).unwrap(),
        );
        let gate = close_gate(&a);
        use_on(&a, &of_a);
        drop((of_a, of_b));
        let (whole, begun) = c
            .allocate_with(&pool, MIB, &AllocateOptions::default())
            .unwrap();
        assert!(!stays_pending(&begun), "the part that b had is free");
        drop(whole);
        let opener = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(30));
            gate.open();
        });
        let last = a.record().unwrap();
        let _both = c.allocate_from(&pool, 2 * MIB).unwrap();
        assert!(
            !stays_pending(&last),
            "it was had by waiting for a, whose part it holds"
        );
        opener.join().unwrap();
    });
}

#[test]
fn f003_a_new_queue_inherits_nothing_from_one_that_is_gone() {
    each(|device| {
        let pool = pool(device, PoolOptions::default());
        for _ in 0..50 {
            let a = device.create_queue(&QueueOptions::default()).unwrap();
            let gate = close_gate(&a);
            let memory = a.allocate_from(&pool, 1000).unwrap();
            use_on(&a, &memory);
            let address = memory.address();
            drop(memory);
            drop(a);
            let b = device.create_queue(&QueueOptions::default()).unwrap();
            let other = b.allocate_from(&pool, 1000).unwrap();
            assert_ne!(other.address(), address);
            gate.open();
        }
        device.wait().unwrap();
    });
}

#[test]
fn f001_random_merges_keep_every_wait() {
    watched(|| {
        for seed in 1..20 {
            let (driver, device) = null(GIB);
            let _driver = driver;
            let mut dice = Dice::new(seed);
            let pool = pool(&device, at_most(MIB));
            let queues = [(); 4].map(|()| in_order(&device));
            for _ in 0..20 {
                let gates = [(); 2].map(|()| {
                    let queue = dice.roll(4);
                    (queue, close_gate(&queues[queue]))
                });
                let mut events = Vec::new();
                for _ in 0..4 {
                    let queue = &queues[dice.roll(4)];
                    let memory = queue.allocate_from(&pool, MIB / 4).unwrap();
                    events.push(use_on(queue, &memory));
                }
                // It takes all that there is, so it is behind everyone.
                let queue = &queues[dice.roll(4)];
                let opener = std::thread::spawn(move || drop(gates));
                let whole = queue.allocate_from(&pool, MIB).unwrap();
                let last = use_on(queue, &whole);
                last.wait().unwrap();
                for event in &events {
                    assert_eq!(event.status(), Status::Complete, "seed {seed}");
                }
                opener.join().unwrap();
            }
        }
    });
}

#[test]
fn f002_an_event_of_before_the_free_does_not_reach_through_others() {
    each(|device| {
        let (a, b, c) = (in_order(device), in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let old = a.record().unwrap();
        b.wait_for(&old).unwrap();
        let through = b.record().unwrap();
        let gate = close_gate(&a);
        use_on(&a, &memory);
        let address = memory.address();
        a.free(memory, &[]).unwrap();
        for event in [&old, &through] {
            c.wait_for(event).unwrap();
            let other = c.allocate_from(&pool, 1000).unwrap();
            assert_ne!(other.address(), address);
        }
        gate.open();
        a.wait().unwrap();
    });
}

#[test]
fn f007_memory_of_one_device_is_not_freed_or_used_on_another() {
    watched(|| {
        let driver: Arc<dyn Driver> = Arc::new(NullDriver::new(2));
        let devices = Registry::new(&[driver]);
        let [one, two] = devices.devices() else {
            panic!("two devices")
        };
        let (here, there) = (in_order(one), in_order(two));
        let pool = pool(one, PoolOptions::default());
        let memory = here.allocate_from(&pool, 1000).unwrap();
        let answer = there.allocate_from(&pool, 1000).unwrap_err();
        assert!(matches!(answer, Error::DeviceMismatch { .. }), "{answer}");
        let (answer, memory) = there.free(memory, &[]).unwrap_err();
        assert!(matches!(answer, Error::DeviceMismatch { .. }), "{answer}");
        assert_eq!(pool.statistics().live, 1, "it is still there");
        // An event of the other device orders all the same.
        let gate = close_gate(&there);
        let freed = here.free(memory, &[&there.record().unwrap()]).unwrap();
        assert!(stays_pending(&freed));
        gate.open();
        freed.wait().unwrap();
    });
}

#[test]
fn f008_memory_used_on_a_second_queue_waits_for_it_whoever_frees_it() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        for by_name in [true, false] {
            let memory = a.allocate_from(&pool, 1000).unwrap();
            let gate = close_gate(&b);
            // The command names the memory, or it uses the address and the free is told of it.
            let used = if by_name {
                use_on(&b, &memory)
            } else {
                b.task("by address", &[], || Ok(())).unwrap()
            };
            let address = memory.address();
            let after: &[_] = if by_name { &[] } else { &[&used] };
            a.free(memory, after).unwrap();
            let options = at_once();
            let (other, _) = in_order(device)
                .allocate_with(&pool, 1000, &options)
                .unwrap();
            assert_ne!(other.address(), address);
            gate.open();
            device.wait().unwrap();
        }
    });
}

#[test]
fn f009_nothing_is_used_again_before_its_end_is_published() {
    watched(|| {
        // Commands end when the test steps, and not before.
        let driver = NullDriver::with(NullOptions {
            manual: true,
            ..NullOptions::default()
        });
        let devices = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]);
        let device = devices.default_device().unwrap();
        let (a, b) = (in_order(&device), in_order(&device));
        let pool = pool(&device, at_most(256));
        let memory = a.allocate_from(&pool, 256).unwrap();
        let address = memory.address();
        use_on(&a, &memory);
        use_on(&a, &memory);
        drop(memory);
        b.allocate_with(&pool, 256, &at_once()).unwrap_err();
        assert_eq!(pool.statistics().pending, 256);
        assert_eq!(driver.run_all(), 2);
        let (again, _) = b.allocate_with(&pool, 256, &at_once()).unwrap();
        assert_eq!(again.address(), address);
    });
}
