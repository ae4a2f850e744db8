//! Limits, room, and what is said when there is none.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use millpond_runtime::{AllocateOptions, Error, Fit, MemoryKind, PoolOptions, Wait};
use millpond_testkit::watchdog::watched;

use crate::support::in_order;
use crate::{
    GIB, KIB, MIB, at_most, at_once, check, close_gate, each, null, pool, use_on,
    without_inserted_waits,
};

#[test]
fn p10_a_pool_can_be_filled_exactly_and_no_further() {
    each(|device| {
        let queue = in_order(device);
        for maximum in [MIB, 40 * MIB] {
            let pool = pool(device, at_most(maximum));
            let mut live: Vec<_> = (0..maximum / MIB)
                .map(|_| queue.allocate_from(&pool, MIB).unwrap())
                .collect();
            assert_eq!(pool.statistics().reserved, maximum);
            let answer = queue.allocate_from(&pool, 1).unwrap_err();
            let Error::OutOfMemory(report) = answer else {
                panic!("{answer}")
            };
            assert_eq!(report.maximum_size, Some(maximum));
            assert_eq!(report.used, maximum);
            assert_eq!(report.fits_after, None);
            live.pop();
            live.push(queue.allocate_from(&pool, MIB).unwrap());
            check(&pool);
        }
    });
}

#[test]
fn f042_a_maximum_holds_at_every_moment_with_many_threads() {
    watched(|| {
        let (driver, device) = null(64 * GIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        for _ in 0..20 {
            let options = PoolOptions {
                min_driver_alloc: 1,
                ..at_most(100 * MIB)
            };
            let pool = pool(&device, options);
            let start = Barrier::new(8);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        let queue = in_order(&device);
                        let mut live = Vec::new();
                        start.wait();
                        for step in 0..40 {
                            if let Ok(memory) = queue.allocate_from(&pool, 3 * MIB) {
                                live.push(memory);
                            }
                            assert!(provider.allocated_bytes() <= 100 * MIB);
                            if step % 3 == 2 {
                                live.pop();
                            }
                        }
                    });
                }
            });
            check(&pool);
            let queue = in_order(&device);
            let all = queue.allocate_from(&pool, 96 * MIB).unwrap();
            drop(pool);
            drop(all);
            device.wait().unwrap();
            assert_eq!(provider.allocated_bytes(), 0);
        }
    });
}

#[test]
fn f026_room_is_found_whatever_size_it_was_freed_as() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = pool(device, at_most(32 * MIB));
        let small: Vec<_> = (0..32 * 1024)
            .map(|index| {
                let queue = if index % 3 == 0 { &a } else { &b };
                queue.allocate_from(&pool, 1000).unwrap()
            })
            .collect();
        assert!(a.allocate_from(&pool, 1).is_err());
        drop(small);
        let _one = a.allocate_from(&pool, 32 * MIB).unwrap();
        check(&pool);
    });
}

#[test]
fn a_limit_below_what_is_reserved_stops_growth_alone() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let memory = queue.allocate_from(&pool, 40 * MIB).unwrap();
        pool.set_maximum_size(Some(MIB));
        assert_eq!(pool.maximum_size(), Some(MIB));
        assert!(queue.allocate_from(&pool, 40 * MIB).is_err());
        assert_eq!(memory.bytes(), 40 * MIB);
        pool.set_maximum_size(None);
        queue.allocate_from(&pool, 40 * MIB).unwrap();
    });
}

#[test]
fn a_wait_for_memory_is_for_the_smallest_sufficient_set() {
    watched(|| {
        let (_driver, device) = null(GIB);
        let (stuck, slow, asking) = (in_order(&device), in_order(&device), in_order(&device));
        let pool = pool(&device, at_most(4 * MIB));
        let reuse = Some(without_inserted_waits());
        let blocks: Vec<_> = [&stuck, &slow, &stuck, &slow]
            .iter()
            .map(|queue| queue.allocate_from(&pool, MIB).unwrap())
            .collect();
        let (never, soon) = (close_gate(&stuck), close_gate(&slow));
        for (block, queue) in blocks.into_iter().zip([&stuck, &slow, &stuck, &slow]) {
            use_on(queue, &block);
            drop(block);
        }
        let fit = pool.fit(MIB);
        assert!(
            matches!(&fit, Fit::After(points) if points.len() == 1),
            "{fit:?}"
        );
        assert_eq!(pool.fit(5 * MIB), Fit::Never);
        let options = AllocateOptions {
            reuse,
            wait: Wait::Until(Instant::now() + Duration::from_millis(20)),
            ..AllocateOptions::default()
        };
        let answer = asking.allocate_with(&pool, 2 * MIB, &options).unwrap_err();
        assert!(matches!(answer, Error::TimedOut { .. }), "{answer}");
        let options = AllocateOptions {
            reuse,
            ..AllocateOptions::default()
        };
        let opener = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            soon.open();
        });
        // The other queue stays held: a wait for everything would never end.
        let (_memory, _) = asking.allocate_with(&pool, MIB, &options).unwrap();
        opener.join().unwrap();
        check(&pool);
        never.open();
        device.wait().unwrap();
        assert_eq!(pool.fit(3 * MIB), Fit::Never, "a live block lies between");
    });
}

#[test]
fn an_out_of_memory_report_names_what_holds_the_memory() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let options = PoolOptions {
            name: Some("pool of the model".to_owned()),
            ..at_most(4 * MIB)
        };
        let pool = pool(device, options);
        let neighbour = crate::pool(device, PoolOptions::default());
        let _other = a.allocate_from(&neighbour, MIB).unwrap();
        let _live = a.allocate_from(&pool, MIB).unwrap();
        let pending = a.allocate_from(&pool, 2 * MIB).unwrap();
        let gate = close_gate(&a);
        use_on(&a, &pending);
        drop(pending);
        let answer = b.allocate_with(&pool, 2 * MIB, &at_once()).unwrap_err();
        let Error::OutOfMemory(report) = &answer else {
            panic!("{answer}")
        };
        assert_eq!(report.requested, 2 * MIB);
        assert_eq!(
            (report.used, report.pending, report.cached),
            (MIB, 2 * MIB, MIB)
        );
        assert_eq!(report.pending_by_queue, [(a.id(), 2 * MIB)]);
        assert_eq!(report.largest_free, MIB);
        let points = report.fits_after.clone().unwrap();
        assert_eq!(points.len(), 1);
        assert_eq!(points[0].queue.get(), a.id());
        assert!(report.other_pools.iter().any(|(_, bytes)| *bytes >= MIB));
        let text = answer.to_string();
        for part in [
            "pool of the model",
            "2097152 bytes asked for",
            "maximum size is 4194304",
        ] {
            assert!(text.contains(part), "{text}");
        }
        gate.open();
        a.wait().unwrap();
        b.allocate_with(&pool, 2 * MIB, &at_once()).unwrap();
    });
}

#[test]
fn a_maximum_is_no_less_for_being_no_multiple_of_anything() {
    let device = crate::support::device();
    let queue = in_order(&device);
    for bytes in [5 * MIB + 4 * KIB, 3 * MIB + 256, 700 * KIB + 256] {
        let pool = device
            .create_pool(MemoryKind::Device, at_most(bytes))
            .unwrap();
        let whole = queue.allocate_from(&pool, bytes).unwrap();
        assert_eq!(pool.statistics().reserved, bytes);
        queue.allocate_from(&pool, 1).unwrap_err();
        drop(whole);
    }
}

#[test]
fn a_maximum_below_what_the_driver_gives_at_least_is_said_to_be() {
    watched(|| {
        let device = crate::support::device();
        let queue = in_order(&device);
        let options = PoolOptions {
            shareable: true,
            ..at_most(KIB)
        };
        let pool = device.create_pool(MemoryKind::Shared, options).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let answer = queue.allocate_from(&pool, KIB).unwrap_err();
                    let Error::OutOfMemory(report) = answer else {
                        panic!("{answer}")
                    };
                    assert!(report.reason.contains("gives at least"), "{report}");
                });
            }
        });
        assert_eq!(pool.statistics().reserved, 0);
    });
}
