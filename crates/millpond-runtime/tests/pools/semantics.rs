//! What a stream-ordered allocator promises.

use millpond_runtime::{
    AllocateOptions, Error, MemoryKind, PoolOptions, QueueOptions, Reuse, Status, Zero,
};
use millpond_testkit::watchdog::watched;

use crate::support::{in_order, out_of_order, stays_pending, values};
use crate::{GIB, KIB, MIB, at_once, check, close_gate, each, null, pool, use_on};

#[test]
fn an_in_order_queue_gets_the_address_it_freed_while_its_work_is_pending() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let gate = close_gate(&queue);
        let first = queue.allocate_from(&pool, 1000).unwrap();
        use_on(&queue, &first);
        let address = first.address();
        queue.free(first, &[]).unwrap();
        let second = queue.allocate_from(&pool, 1000).unwrap();
        assert_eq!(second.address(), address, "rule R1");
        gate.open();
        queue.wait().unwrap();
        check(&pool);
    });
}

#[test]
fn an_out_of_order_queue_gets_another_address_while_the_free_is_pending() {
    each(|device| {
        let queue = out_of_order(device);
        let pool = pool(device, PoolOptions::default());
        let memory = queue.allocate_from(&pool, 1000).unwrap();
        let address = memory.address();
        let gate = close_gate(&queue);
        let held = queue.record().unwrap();
        let freed = queue.free(memory, &[&held]).unwrap();
        let other = queue.allocate_from(&pool, 1000).unwrap();
        assert_ne!(other.address(), address);
        gate.open();
        freed.wait().unwrap();
        let again = queue.allocate_from(&pool, 1000).unwrap();
        assert_eq!(again.address(), address, "rule R3");
        check(&pool);
    });
}

#[test]
fn an_allocation_begins_behind_its_events_and_a_free_comes_behind_its_own() {
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
fn the_default_pool_is_one_and_cannot_be_closed() {
    each(|device| {
        for kind in MemoryKind::ALL {
            let default = device.default_pool(kind);
            assert_eq!(default, device.default_pool(kind));
            let answer = default.close().unwrap_err();
            assert!(answer.to_string().contains("can't be closed"), "{answer}");
            let queue = in_order(device);
            let memory = queue.allocate(kind, 100).unwrap();
            assert!(memory.is_from(&default));
        }
    });
}

#[test]
fn the_current_pool_serves_until_it_is_closed() {
    each(|device| {
        let queue = in_order(device);
        let own = pool(device, PoolOptions::default());
        device.set_current_pool(&own).unwrap();
        assert_eq!(device.current_pool(MemoryKind::Device), own);
        let memory = queue.allocate(MemoryKind::Device, 100).unwrap();
        assert!(memory.is_from(&own));
        assert_eq!(own.statistics().live, 1);
        let shared = queue.allocate(MemoryKind::Shared, 100).unwrap();
        assert!(shared.is_from(&device.default_pool(MemoryKind::Shared)));
        own.close().unwrap();
        let default = device.default_pool(MemoryKind::Device);
        assert_eq!(device.current_pool(MemoryKind::Device), default);
        let next = queue.allocate(MemoryKind::Device, 100).unwrap();
        assert!(next.is_from(&default));
        let answer = queue.allocate_from(&own, 100).unwrap_err();
        assert!(matches!(answer, Error::PoolClosed { .. }), "{answer}");
        assert!(matches!(
            device.set_current_pool(&own),
            Err(Error::PoolClosed { .. })
        ));
    });
}

#[test]
fn scopes_nest_and_belong_to_their_thread() {
    each(|device| {
        let queue = in_order(device);
        let (outer, inner) = (
            pool(device, PoolOptions::default()),
            pool(device, PoolOptions::default()),
        );
        let allocate = || queue.allocate(MemoryKind::Device, 100).unwrap();
        let outside = outer.scope();
        assert!(allocate().is_from(&outer));
        assert_eq!(device.current_pool(MemoryKind::Device), outer);
        let shared = device.default_pool(MemoryKind::Shared);
        assert_eq!(device.current_pool(MemoryKind::Shared), shared);
        {
            let _inside = inner.scope();
            assert!(allocate().is_from(&inner));
            let default = device.default_pool(MemoryKind::Device);
            std::thread::scope(|threads| {
                threads.spawn(|| assert!(allocate().is_from(&default)));
            });
        }
        assert!(allocate().is_from(&outer));
        // Scopes may end in any order.
        let inside = inner.scope();
        drop(outside);
        assert!(allocate().is_from(&inner));
        let again = outer.scope();
        drop(inside);
        assert!(allocate().is_from(&outer));
        drop(again);
        assert!(!allocate().is_from(&outer));
    });
}

#[test]
fn a_closed_pool_keeps_what_is_live_and_gives_all_back_at_last() {
    watched(|| {
        let (driver, device) = null(GIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        let queue = in_order(&device);
        let pool = pool(&device, PoolOptions::default());
        let gate = close_gate(&queue);
        let live = queue.allocate_from(&pool, 1000).unwrap();
        let pending = queue.allocate_from(&pool, 1000).unwrap();
        use_on(&queue, &pending);
        drop(pending);
        drop(pool);
        assert!(provider.allocated_bytes() > 0);
        use_on(&queue, &live);
        drop(live);
        assert!(provider.allocated_bytes() > 0, "its use is pending");
        gate.open();
        queue.wait().unwrap();
        assert_eq!(provider.allocated_bytes(), 0);
    });
}

#[test]
fn a_threshold_is_kept_to_at_the_next_wait() {
    watched(|| {
        let (driver, device) = null(GIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        let queue = in_order(&device);
        let pool = pool(
            &device,
            PoolOptions {
                release_threshold: Some(0),
                ..PoolOptions::default()
            },
        );
        drop(queue.allocate_from(&pool, MIB).unwrap());
        assert!(provider.allocated_bytes() > 0, "a free calls no driver");
        queue.wait().unwrap();
        assert_eq!(provider.allocated_bytes(), 0);
        pool.set_release_threshold(None);
        assert_eq!(pool.release_threshold(), None);
        drop(queue.allocate_from(&pool, MIB).unwrap());
        queue.wait().unwrap();
        assert!(provider.allocated_bytes() > 0);
        check(&pool);
    });
}

#[test]
fn trim_keeps_what_is_pending() {
    watched(|| {
        let (_driver, device) = null(GIB);
        let queue = in_order(&device);
        let pool = pool(&device, PoolOptions::default());
        let gate = close_gate(&queue);
        let memory = queue.allocate_from(&pool, MIB).unwrap();
        use_on(&queue, &memory);
        drop(memory);
        pool.trim(0).unwrap();
        assert!(pool.statistics().pending >= MIB);
        assert!(pool.statistics().reserved > 0);
        gate.open();
        queue.wait().unwrap();
        pool.trim(0).unwrap();
        assert_eq!(pool.statistics().reserved, 0);
    });
}

#[test]
fn high_marks_are_set_back_to_what_is_now() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let kept = queue.allocate_from(&pool, 1000).unwrap();
        drop(queue.allocate_from(&pool, MIB).unwrap());
        let before = pool.statistics();
        assert!(before.used_high > before.used);
        pool.reset_highs();
        let after = pool.statistics();
        assert_eq!(after.used_high, after.used);
        assert_eq!(after.reserved_high, after.reserved);
        drop(kept);
        check(&pool);
    });
}

#[test]
fn memory_is_freed_once_and_by_its_only_holder() {
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
fn a_pool_over_memory_stays_in_it_and_comes_after_its_earlier_uses() {
    watched(|| {
        let device = crate::support::device();
        let queue = in_order(&device);
        for kind in MemoryKind::ALL {
            let memory = queue.allocate(kind, 4 * KIB + 100).unwrap();
            let begin = memory.address().get();
            let gate = close_gate(&queue);
            use_on(&queue, &memory);
            let pool = device
                .create_pool_over(&memory, 100..memory.bytes(), PoolOptions::default())
                .unwrap();
            assert!(pool.is_over_buffer());
            let other = in_order(&device);
            let answer = other.allocate_with(&pool, KIB, &at_once());
            assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
            gate.open();
            queue.wait().unwrap();
            let parts: Vec<_> = (0..3)
                .map(|_| other.allocate_from(&pool, KIB).unwrap())
                .collect();
            for part in &parts {
                assert!(part.address().get() >= begin + 100);
                assert!(part.address().get() + KIB <= begin + 4 * KIB + 100);
                assert_eq!(part.kind(), kind);
            }
            let answer = other.allocate_from(&pool, KIB).unwrap_err();
            let Error::OutOfMemory(report) = answer else {
                panic!("{answer}")
            };
            assert!(report.reason.contains("can't grow"), "{report}");
            pool.trim(0).unwrap();
            check(&pool);
            drop(memory);
            drop(pool);
            drop(parts);
        }
    });
}

#[test]
fn a_queue_ordered_behind_a_free_may_have_the_memory() {
    each(|device| {
        let (a, b, c) = (in_order(device), in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let gate = close_gate(&a);
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let address = memory.address();
        use_on(&a, &memory);
        a.free(memory, &[]).unwrap();
        // Through three queues.
        b.wait_for(&a.record().unwrap()).unwrap();
        let event = b.barrier(&[]).unwrap();
        c.wait_for(&event).unwrap();
        let again = c.allocate_from(&pool, 1000).unwrap();
        assert_eq!(again.address(), address, "rule R2");
        gate.open();
        a.wait().unwrap();
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
fn an_event_older_than_the_free_legalises_nothing() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let old = a.record().unwrap();
        let gate = close_gate(&a);
        use_on(&a, &memory);
        let address = memory.address();
        a.free(memory, &[]).unwrap();
        b.wait_for(&old).unwrap();
        let other = b.allocate_from(&pool, 1000).unwrap();
        assert_ne!(other.address(), address);
        gate.open();
        a.wait().unwrap();
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
fn rule_r2_can_be_switched_off() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let reuse = Reuse {
            follow_events: false,
            ..Reuse::default()
        };
        let pool = pool(
            device,
            PoolOptions {
                reuse,
                ..PoolOptions::default()
            },
        );
        let gate = close_gate(&a);
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let address = memory.address();
        use_on(&a, &memory);
        drop(memory);
        b.wait_for(&a.record().unwrap()).unwrap();
        let other = b.allocate_from(&pool, 1000).unwrap();
        assert_ne!(other.address(), address);
        pool.set_reuse(Reuse::default());
        assert_eq!(b.allocate_from(&pool, 1000).unwrap().address(), address);
        gate.open();
        a.wait().unwrap();
    });
}

#[test]
fn rule_r3_can_be_switched_off() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        // What was freed lies in its queue's cache, or in the store.
        for (opportunistic, in_store) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let options = PoolOptions {
                // Each block has a segment of its own, so that nothing else is free.
                min_driver_alloc: 1,
                reuse: Reuse {
                    opportunistic,
                    ..Reuse::default()
                },
                ..PoolOptions::default()
            };
            let pool = pool(device, options);
            let memory = a.allocate_from(&pool, 2 * MIB).unwrap();
            let address = memory.address();
            let gate = close_gate(&a);
            let used = use_on(&a, &memory);
            drop(memory);
            if in_store {
                pool.largest_free();
            }
            gate.open();
            // Done, but nobody has waited for it.
            while used.status() == Status::Pending {
                std::thread::yield_now();
            }
            let other = b.allocate_from(&pool, 2 * MIB).unwrap();
            assert_eq!(
                other.address() == address,
                opportunistic,
                "in the store: {in_store}"
            );
        }
    });
}

#[test]
fn a_wait_is_inserted_only_where_the_pool_cannot_grow() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let options = PoolOptions {
            maximum_size: Some(2 * MIB),
            ..PoolOptions::default()
        };
        let pool = pool(device, options);
        let gate = close_gate(&a);
        let memory = a.allocate_from(&pool, MIB).unwrap();
        let address = memory.address();
        use_on(&a, &memory);
        drop(memory);
        let first = b.allocate_from(&pool, MIB).unwrap();
        assert_ne!(first.address(), address, "there was room");
        let (second, begun) = b
            .allocate_with(&pool, MIB, &AllocateOptions::default())
            .unwrap();
        assert_eq!(second.address(), address, "rule R5");
        assert!(
            stays_pending(&begun),
            "ordered behind the other queue's use"
        );
        use_on(&a, &second);
        drop(second);
        // Without an event of its own: the queue waits.
        let c = in_order(device);
        let third = c.allocate_from(&pool, MIB).unwrap();
        assert_eq!(third.address(), address, "rule R5");
        assert!(stays_pending(&c.record().unwrap()));
        use_on(&a, &third);
        drop(third);
        let answer = b.allocate_with(&pool, MIB, &at_once());
        assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
        gate.open();
        device.wait().unwrap();
    });
}

#[test]
fn a_queue_that_is_gone_leaves_its_pending_frees_to_the_pool() {
    each(|device| {
        let options = PoolOptions {
            maximum_size: Some(MIB),
            ..PoolOptions::default()
        };
        let pool = pool(device, options);
        let a = device.create_queue(&QueueOptions::default()).unwrap();
        let gate = close_gate(&a);
        let memory = a.allocate_from(&pool, MIB).unwrap();
        use_on(&a, &memory);
        drop(memory);
        drop(a);
        let b = device.create_queue(&QueueOptions::default()).unwrap();
        let (_memory, begun) = b
            .allocate_with(&pool, MIB, &AllocateOptions::default())
            .unwrap();
        assert!(stays_pending(&begun));
        gate.open();
        begun.wait().unwrap();
        check(&pool);
    });
}

#[test]
fn zeros_are_promised_also_where_memory_was_used_before() {
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
fn size_zero_has_an_address_of_its_own() {
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
fn pools_of_other_devices_are_refused() {
    watched(|| {
        let ((_a, one), (_b, other)) = (null(GIB), null(GIB));
        let pool = pool(&one, PoolOptions::default());
        let answer = in_order(&other).allocate_from(&pool, 100).unwrap_err();
        assert!(matches!(answer, Error::DeviceMismatch { .. }), "{answer}");
        let answer = other.set_current_pool(&pool).unwrap_err();
        assert!(matches!(answer, Error::DeviceMismatch { .. }), "{answer}");
    });
}
