//! What went wrong in other allocators, as tests that would have told.

use millpond_hal::DeviceError;
use millpond_hal::layers::{Fault, Layered};
use millpond_hal::null::NullDriver;
use millpond_runtime::{AllocateOptions, MemoryKind, PoolOptions, QueueOptions, Registry};
use millpond_testkit::watchdog::watched;
use std::sync::Arc;

use crate::support::{in_order, stays_pending};
use crate::{GIB, MIB, at_once, check, close_gate, each, null, pool, use_on};

#[test]
fn f1_merged_memory_waits_for_all_who_used_any_part_of_it() {
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
fn f3_a_new_queue_inherits_nothing_from_one_that_is_gone() {
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
fn f14_memory_freed_by_dropping_it_waits_for_every_queue_that_used_it() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let gate = close_gate(&b);
        use_on(&b, &memory);
        let address = memory.address();
        drop(memory);
        assert_ne!(a.allocate_from(&pool, 1000).unwrap().address(), address);
        gate.open();
        b.wait().unwrap();
        let blocks: Vec<_> = (0..2)
            .map(|_| a.allocate_from(&pool, 1000).unwrap())
            .collect();
        assert!(blocks.iter().any(|block| block.address() == address));
    });
}

#[test]
fn f21_no_memory_goes_back_while_a_command_uses_it() {
    watched(|| {
        let (driver, device) = null(64 * MIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        let queue = in_order(&device);
        let other = in_order(&device);
        let memory = queue.allocate(MemoryKind::Device, 60 * MIB).unwrap();
        let gate = close_gate(&queue);
        use_on(&queue, &memory);
        drop(memory);
        let held = provider.allocated_bytes();
        let default = device.default_pool(MemoryKind::Device);
        other
            .allocate_with(&default, 60 * MIB, &at_once())
            .unwrap_err();
        assert_eq!(provider.allocated_bytes(), held);
        gate.open();
        queue.wait().unwrap();
        other.allocate_with(&default, 60 * MIB, &at_once()).unwrap();
    });
}

#[test]
fn f27_sizes_near_the_end_of_the_address_space_are_refused_and_change_nothing() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let before = pool.statistics();
        for size in (usize::MAX - 300..=usize::MAX).step_by(37) {
            queue.allocate_from(&pool, size).unwrap_err();
        }
        for shift in 40..64 {
            let size = 1_usize << shift;
            for size in [size - 1, size, size + 1] {
                if let Ok(memory) = queue.allocate_from(&pool, size) {
                    assert_eq!(memory.bytes(), size);
                }
            }
        }
        pool.trim(0).unwrap();
        let after = pool.statistics();
        assert_eq!((after.used, after.reserved), (before.used, before.reserved));
        check(&pool);
    });
}

#[test]
fn f49_a_loop_that_waits_asks_the_driver_once() {
    watched(|| {
        let (driver, device) = null(64 * GIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        let queue = in_order(&device);
        let pool = pool(&device, PoolOptions::default());
        drop(queue.allocate_from(&pool, GIB).unwrap());
        let allocations = provider.allocations();
        for _ in 0..1000 {
            let memory = queue.allocate_from(&pool, GIB).unwrap();
            use_on(&queue, &memory);
            drop(memory);
            queue.wait().unwrap();
        }
        assert_eq!(provider.allocations(), allocations);
    });
}

#[test]
fn f55_a_stuck_queue_delays_only_its_own_frees() {
    each(|device| {
        let (stuck, busy, other) = (in_order(device), in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let gate = close_gate(&stuck);
        let memory = stuck.allocate_from(&pool, MIB).unwrap();
        use_on(&stuck, &memory);
        drop(memory);
        for _ in 0..2000 {
            let memory = busy.allocate_from(&pool, MIB).unwrap();
            use_on(&other, &memory);
            drop(memory);
            if pool.statistics().pending > 64 * MIB {
                other.wait().unwrap();
            }
        }
        assert!(pool.statistics().reserved < 256 * MIB);
        gate.open();
        device.wait().unwrap();
    });
}

#[test]
fn f60_memory_of_threads_that_ended_is_there_for_others() {
    each(|device| {
        let pool = pool(device, PoolOptions::default());
        for _ in 0..20 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let queue = in_order(device);
                        drop(queue.allocate_from(&pool, 8 * MIB).unwrap());
                    });
                }
            });
        }
        let held = pool.statistics();
        assert_eq!(held.used, 0);
        assert!(held.reserved <= 4 * 32 * MIB, "{held:?}");
        pool.trim(0).unwrap();
        assert_eq!(pool.statistics().reserved, 0);
    });
}

#[test]
fn f65_every_refusal_of_the_driver_leaves_the_pool_whole() {
    watched(|| {
        for n in 1..12 {
            let refusal = DeviceError::OutOfMemory {
                device: "null".to_owned(),
                kind: MemoryKind::Device,
                bytes: 0,
                reason: "on purpose".to_owned(),
            };
            let fault = Fault::default().refuse_allocate(n, refusal);
            let inner = NullDriver::default();
            let driver = Layered::new(Arc::new(inner.clone()), fault);
            let device = Registry::new(&[Arc::new(driver)]).default_device().unwrap();
            let queue = in_order(&device);
            let pool = pool(
                &device,
                PoolOptions {
                    max_poolable: Some(8 * MIB),
                    min_driver_alloc: MIB,
                    ..PoolOptions::default()
                },
            );
            let mut live = Vec::new();
            for step in 0..12 {
                // A refusal is this request's alone, or is got around.
                if let Ok(memory) = queue.allocate_from(&pool, (1 + step % 5) * 3 * MIB) {
                    live.push(memory);
                }
                check(&pool);
            }
            assert!(live.len() >= 11);
            drop(live);
            queue.wait().unwrap();
            pool.trim(0).unwrap();
            assert_eq!(pool.statistics().reserved, 0);
            assert_eq!(inner.null_devices()[0].allocated_bytes(), 0);
        }
    });
}

#[test]
fn f69_pools_made_and_dropped_leave_nothing() {
    watched(|| {
        let (driver, device) = null(GIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        let queue = in_order(&device);
        for _ in 0..20_000 {
            let pool = pool(&device, PoolOptions::default());
            drop(queue.allocate_from(&pool, 1000).unwrap());
            assert_eq!(
                device.default_pool(MemoryKind::Device),
                device.default_pool(MemoryKind::Device)
            );
        }
        assert_eq!(provider.allocated_bytes(), 0);
    });
}

#[test]
fn failures_of_who_had_the_memory_before_are_not_inherited() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        for queue in [&a, &b] {
            let memory = a.allocate_from(&pool, 1024).unwrap();
            let uses = [millpond_runtime::Use {
                allocation: &memory,
                access: millpond_runtime::Access::Write,
            }];
            queue
                .task("fails", &uses, || Err("on purpose".to_owned()))
                .unwrap();
            let address = memory.address();
            drop(memory);
            queue.wait().unwrap_err();
            let next = a.allocate_from(&pool, 1024).unwrap();
            assert_eq!(next.address(), address, "the memory is used again");
            // Reads what it changes, and so depends on who wrote it.
            let uses = [millpond_runtime::Use {
                allocation: &next,
                access: millpond_runtime::Access::Update,
            }];
            let event = a.task("goes well", &uses, || Ok(())).unwrap();
            event.wait().unwrap();
        }
    });
}
