//! Where the life of an allocation begins and ends, and what it looks like between.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use millpond_hal::Address;
use millpond_runtime::{AllocateOptions, Error, MemoryKind, PoolOptions, Release, Zero};
use millpond_testkit::watchdog::watched;

use crate::support::{in_order, out_of_order, stays_pending, values};
use crate::{Dice, KIB, MIB, at_most, check, close_gate, each, pool, use_on};

#[test]
fn p03_an_allocation_begins_behind_its_events_and_a_free_comes_behind_its_own() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let gate = close_gate(&a);
        let before = a.record().unwrap();
        let options = AllocateOptions {
            after: &[&before],
            ..AllocateOptions::default()
        };
        let (memory, begun) = b.allocate_with(&pool, 1000, &options).unwrap();
        assert!(stays_pending(&begun));
        gate.open();
        begun.wait().unwrap();

        let gate = close_gate(&a);
        let before = a.record().unwrap();
        let freed = b.free(memory, &[&before]).unwrap();
        assert!(stays_pending(&freed));
        gate.open();
        freed.wait().unwrap();
    });
}

#[test]
fn an_event_stands_for_what_its_queue_was_told_to_wait_for() {
    each(|device| {
        let (a, b, c) = (in_order(device), in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let gate = close_gate(&a);
        b.wait_for(&a.record().unwrap()).unwrap();
        // Nothing was submitted to b since.
        let recorded = b.record().unwrap();
        assert!(stays_pending(&recorded));
        c.wait_for(&a.record().unwrap()).unwrap();
        let (memory, begun) = c
            .allocate_with(&pool, 1000, &AllocateOptions::default())
            .unwrap();
        assert!(stays_pending(&begun));
        drop(memory);
        gate.open();
        recorded.wait().unwrap();
        begun.wait().unwrap();
        // What is closed takes no more commands, and answers all the same.
        b.wait_for(&a.record().unwrap()).unwrap();
        b.close();
        b.record().unwrap().wait().unwrap();
    });
}

#[test]
fn a_clock_does_not_grow_with_queues_that_come_and_go() {
    each(|device| {
        let (queue, last) = (in_order(device), in_order(device));
        for _ in 0..500 {
            let short = in_order(device);
            queue.wait_for(&short.record().unwrap()).unwrap();
        }
        queue.wait_for(&last.record().unwrap()).unwrap();
        let event = queue.barrier(&[]).unwrap();
        assert!(event.clock().len() <= 40, "{}", event.clock().len());
        assert!(
            event.clock().is_after(last.record().unwrap().point()),
            "what is alive isn't forgotten"
        );
    });
}

#[test]
fn p14_memory_is_freed_once_and_by_its_only_holder() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let memory = queue.allocate_from(&pool, 100).unwrap();
        let other = memory.clone();
        let (error, memory) = queue.free(memory, &[]).unwrap_err();
        assert!(matches!(error, Error::Shared { handles: 1, .. }), "{error}");
        assert_eq!(pool.statistics().live, 1);
        drop(other);
        queue.free(memory, &[]).unwrap();
        assert_eq!(pool.statistics().live, 0);
        let memory = queue.allocate_from(&pool, 100).unwrap();
        let closed = in_order(device);
        closed.close();
        let (error, _memory) = closed.free(memory, &[]).unwrap_err();
        assert!(matches!(error, Error::Closed { .. }), "{error}");
    });
}

#[test]
fn f067_zeros_are_promised_also_where_memory_was_used_before() {
    watched(|| {
        let device = crate::support::device();
        let queue = in_order(&device);
        let pool = pool(
            &device,
            PoolOptions {
                zero: Zero::Always,
                ..PoolOptions::default()
            },
        );
        for bytes in [8, 800, 8 * MIB] {
            for _ in 0..3 {
                let memory = queue.allocate_from(&pool, bytes).unwrap();
                assert!(values(&memory).iter().all(|&value| value == 0));
                memory.write(0, &vec![0xa5; bytes]).unwrap();
            }
        }
    });
}

#[test]
fn f029_size_zero_has_an_address_of_its_own() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let (a, b) = (
            queue.allocate_from(&pool, 0).unwrap(),
            queue.allocate_from(&pool, 0).unwrap(),
        );
        assert_ne!(a.address(), b.address());
        assert_eq!((a.bytes(), pool.statistics().requested), (0, 0));
        drop((a, b));
        let before = pool.statistics().reserved;
        for _ in 0..10_000 {
            drop(queue.allocate_from(&pool, 0).unwrap());
        }
        assert_eq!(pool.statistics().reserved, before);
    });
}

#[test]
fn alignment_is_kept_and_bad_alignment_named() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let mut live = Vec::new();
        for alignment in [1, 64, 256, 512, 4 * KIB, 64 * KIB, 2 * MIB] {
            for bytes in [1, 1000, 100_000] {
                let options = AllocateOptions {
                    alignment,
                    ..AllocateOptions::default()
                };
                for _ in 0..3 {
                    let (memory, _) = queue.allocate_with(&pool, bytes, &options).unwrap();
                    assert!(memory.address().get().is_multiple_of(alignment));
                    live.push(memory);
                }
                live.swap_remove(0);
            }
        }
        check(&pool);
        for alignment in [0, 3, 4 * MIB] {
            let options = AllocateOptions {
                alignment,
                ..AllocateOptions::default()
            };
            let answer = queue.allocate_with(&pool, 100, &options).unwrap_err();
            assert!(
                answer.to_string().contains(&alignment.to_string()),
                "{answer}"
            );
        }
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

#[test]
fn p13_memory_of_any_pool_is_freed_in_either_way() {
    each(|device| {
        let (a, b) = (in_order(device), out_of_order(device));
        let own = pool(device, at_most(MIB));
        let buffer = a.allocate(MemoryKind::Shared, MIB).unwrap();
        let over = device.create_pool_over(&buffer, 0..MIB, PoolOptions::default());
        let default = device.default_pool(MemoryKind::Device);
        for pool in [&own, &over.unwrap(), &default] {
            for in_queue_order in [false, true] {
                let memory = a.allocate_from(pool, MIB).unwrap();
                let gate = close_gate(&a);
                use_on(&a, &memory);
                if in_queue_order {
                    b.free(memory, &[]).unwrap();
                } else {
                    drop(memory);
                }
                // It counts as free when its use is over, and not before.
                assert_eq!(pool.statistics().live, 0);
                assert!(pool.statistics().pending >= MIB);
                gate.open();
                device.wait().unwrap();
                assert_eq!(pool.statistics().pending, 0);
            }
        }
    });
}

#[test]
fn p14_memory_of_somebody_else_is_given_back_once_behind_its_uses() {
    watched(|| {
        let device = crate::support::device();
        let (queue, other) = (in_order(&device), in_order(&device));
        let returned = Arc::new(AtomicUsize::new(0));
        let mut bytes = vec![0_u8; 1000];
        let address = Address::of(bytes.as_mut_ptr());
        for in_queue_order in [false, true] {
            let count = Arc::clone(&returned);
            let release = Release::anywhere(move || {
                count.fetch_add(1, Ordering::SeqCst);
            });
            let memory = crate::support::import(&queue, address, bytes.len(), release);
            let before = returned.load(Ordering::SeqCst);
            let gate = close_gate(&other);
            if in_queue_order {
                let after = other.record().unwrap();
                queue.free(memory, &[&after]).unwrap();
                assert_eq!(returned.load(Ordering::SeqCst), before);
            } else {
                drop(memory);
            }
            gate.open();
            device.wait().unwrap();
            while returned.load(Ordering::SeqCst) == before {
                std::thread::yield_now();
            }
            assert_eq!(returned.load(Ordering::SeqCst), before + 1);
        }
        drop(bytes);
    });
}

#[test]
fn f067_what_others_left_is_seen_by_nobody_who_asked_for_zeros() {
    watched(|| {
        let device = crate::support::device();
        let (a, b) = (in_order(&device), in_order(&device));
        let options = PoolOptions {
            zero: Zero::Always,
            min_driver_alloc: 1,
            ..at_most(4 * MIB)
        };
        let pool = pool(&device, options);
        let mut dice = Dice::new(11);
        // Fresh, used again, split, merged, had from others and behind their work.
        for turn in 0..200 {
            let queue = [&a, &b][dice.roll(2)];
            let bytes = 8 * (1 + dice.roll(256 * KIB));
            let memory = queue.allocate_from(&pool, bytes).unwrap();
            let seen = values(&memory);
            assert!(seen.iter().all(|&value| value == 0), "turn {turn}");
            memory.write_owned(0, vec![0xa5; bytes]).unwrap();
            if turn % 50 == 49 {
                pool.trim(0).unwrap();
            }
        }
    });
}
