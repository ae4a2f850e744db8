//! Little memory left: what is free and large enough serves, to the last granule, and is counted
//! as what it is.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};

use millpond_runtime::{Device, Error, Fit, MemoryKind, PoolOptions, Tag};
use millpond_testkit::watchdog::watched;

use crate::support::in_order;
use crate::{Dice, GIB, KIB, MIB, at_most, at_once, check, close_gate, each, null, pool, use_on};

#[test]
fn p10_a_maximum_that_is_no_size_class_can_be_reached() {
    let fill = |device: &Device, maximums: &[usize]| {
        let queue = in_order(device);
        for &maximum in maximums {
            let pool = pool(device, at_most(maximum));
            assert_eq!(pool.fit(maximum), Fit::Growth);
            assert_eq!(pool.fit(maximum + 1), Fit::Never);
            for _ in 0..3 {
                let all = queue.allocate_from(&pool, maximum).unwrap();
                let now = pool.statistics();
                assert_eq!((now.used, now.reserved), (maximum, maximum));
                queue.allocate_from(&pool, 1).unwrap_err();
                drop(all);
                check(&pool);
                assert_eq!(pool.fit(maximum), Fit::Now);
            }
            queue.allocate_from(&pool, maximum + 1).unwrap_err();
        }
    };
    let pages = [4 * KIB, 1000 * KIB, 6 * MIB, 38 * MIB];
    each(move |device| fill(device, &pages));
    // A driver that doesn't round up itself.
    watched(move || fill(&null(GIB).1, &[256, 5 * 256, 5 * MIB + 256, 40 * MIB - 256]));
}

#[test]
fn nobody_is_asked_to_give_up_memory_for_more_than_a_pool_may_have() {
    each(|device| {
        let (queue, asked) = (in_order(device), Arc::new(AtomicUsize::new(0)));
        let pool = pool(device, at_most(4 * MIB));
        let _held = queue.allocate_from(&pool, MIB).unwrap();
        let counted = Arc::clone(&asked);
        let _reclaimer = device.add_reclaimer(move |_| {
            counted.fetch_add(1, Relaxed);
        });
        queue.allocate_from(&pool, 4 * MIB + 1).unwrap_err();
        assert_eq!(asked.load(Relaxed), 0);
        queue.allocate_from(&pool, 4 * MIB).unwrap_err();
        assert!(asked.load(Relaxed) > 0, "here they could help");
    });
}

#[test]
fn p15_a_pool_over_memory_can_be_used_to_its_last_granule() {
    each(|device| {
        let queue = in_order(device);
        let memory = queue.allocate(MemoryKind::Device, 1000 * KIB).unwrap();
        let pool = device
            .create_pool_over(&memory, 0..1000 * KIB, PoolOptions::default())
            .unwrap();
        drop(queue.allocate_from(&pool, 1000 * KIB).unwrap());
        let first = queue.allocate_from(&pool, 600 * KIB).unwrap();
        let rest = queue.allocate_from(&pool, pool.largest_free()).unwrap();
        let now = pool.statistics();
        assert_eq!((now.used, now.cached), (1000 * KIB, 0));
        drop((first, rest));
        drop(queue.allocate_from(&pool, 1000 * KIB).unwrap());
        check(&pool);
    });
}

#[test]
fn f026_what_fits_in_the_largest_piece_is_served_and_nothing_else() {
    each(|device| {
        let (queue, other) = (in_order(device), in_order(device));
        let mut dice = Dice::new(5);
        let pool = pool(device, at_most(8 * MIB));
        let (mut live, mut served, mut refused) = (Vec::new(), 0, 0);
        for step in 0..3_000 {
            let octave = dice.roll(13);
            let bytes = 1 + dice.roll(256 << octave);
            let largest = pool.largest_free();
            let may_grow = pool.statistics().reserved + bytes <= 8 * MIB;
            let on = [&queue, &other][step % 2];
            match on.allocate_from(&pool, bytes) {
                Ok(memory) => {
                    served += 1;
                    live.push(memory);
                }
                Err(Error::OutOfMemory(report)) => {
                    refused += 1;
                    assert!(bytes > largest && !may_grow, "{bytes} of {largest}");
                    assert_eq!(report.largest_free, largest);
                    assert_eq!(report.fits_after, None);
                }
                Err(error) => panic!("{error}"),
            }
            if live.len() > 100 + dice.roll(100) {
                live.swap_remove(dice.roll(live.len()));
            }
            check(&pool);
        }
        assert!(served > 1_000 && refused > 100, "{served} and {refused}");
        drop(live);
        assert_eq!(pool.largest_free(), 8 * MIB);
    });
}

#[test]
fn f043_tags_count_what_is_granted_where_memory_is_short() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, at_most(MIB));
        let tag = Tag::new("tenant");
        let _scope = tag.scope();
        let allocate = |some: usize| queue.allocate_from(&pool, some * KIB).unwrap();
        let rounded = [310, 90].map(allocate);
        assert_eq!(tag.used(), (320 + 96) * KIB);
        let exact = [601, 7].map(allocate);
        assert_eq!((tag.used(), tag.live()), (MIB, 4));
        assert_eq!(pool.statistics().used, MIB);
        queue.allocate_from(&pool, 1).unwrap_err();
        assert_eq!((tag.used(), tag.live()), (MIB, 4));
        drop((rounded, exact));
        assert_eq!((tag.used(), tag.live()), (0, 0));
        tag.set_budget(Some(310 * KIB));
        let all = allocate(310);
        assert_eq!(tag.used(), 310 * KIB);
        queue.allocate_from(&pool, 1).unwrap_err();
        drop(all);
        assert_eq!(tag.used(), 0);
        check(&pool);
    });
}

#[test]
fn what_is_freed_where_memory_is_short_is_pending_until_its_use_is_over() {
    watched(|| {
        let (_driver, device) = null(GIB);
        let (queue, other) = (in_order(&device), in_order(&device));
        let pool = pool(&device, at_most(1000 * KIB));
        let gate = close_gate(&queue);
        let memory = queue.allocate_from(&pool, 1000 * KIB).unwrap();
        let place = memory.address();
        use_on(&queue, &memory);
        drop(memory);
        let now = pool.statistics();
        assert_eq!((now.pending, now.cached), (1000 * KIB, 0));
        assert!(matches!(pool.fit(900 * KIB), Fit::After(points) if points.len() == 1));
        other.allocate_with(&pool, KIB, &at_once()).unwrap_err();
        // Its own queue is behind the use anyway.
        let (again, _) = queue.allocate_with(&pool, 990 * KIB, &at_once()).unwrap();
        assert_eq!(again.address(), place);
        let now = pool.statistics();
        assert_eq!((now.used, now.pending), (990 * KIB, 10 * KIB));
        drop(again);
        gate.open();
        device.wait().unwrap();
        let (all, _) = other.allocate_with(&pool, 1000 * KIB, &at_once()).unwrap();
        drop(all);
        check(&pool);
    });
}

#[test]
fn sizes_are_rounded_up_again_when_there_is_plenty() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, at_most(8 * MIB));
        let most = queue.allocate_from(&pool, 7 * MIB + 512 * KIB).unwrap();
        queue.allocate_from(&pool, MIB).unwrap_err();
        let short = queue.allocate_from(&pool, 400 * KIB).unwrap();
        let shorter = queue.allocate_from(&pool, 50 * KIB).unwrap();
        let used = most.bytes() + 450 * KIB;
        assert_eq!(pool.statistics().used, used, "both as asked for");
        drop(most);
        let rounded = queue.allocate_from(&pool, 400 * KIB).unwrap();
        assert_eq!(pool.statistics().used, 450 * KIB + 416 * KIB);
        drop((short, shorter, rounded));
        check(&pool);
    });
}

#[test]
fn f042_a_maximum_that_is_no_size_class_holds_with_many_threads() {
    const MOST: usize = 30 * MIB - 256;
    watched(|| {
        let (driver, device) = null(64 * GIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        for round in 0..10 {
            let pool = pool(&device, at_most(MOST));
            let start = Barrier::new(8);
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    let (pool, device, start, provider) = (&pool, &device, &start, &provider);
                    scope.spawn(move || {
                        let queue = in_order(device);
                        let mut dice = Dice::new(1 + thread + 8 * round);
                        let mut live = Vec::new();
                        start.wait();
                        for _ in 0..200 {
                            let bytes = 1 + dice.roll(2 * MIB);
                            live.extend(queue.allocate_from(pool, bytes));
                            assert!(provider.allocated_bytes() <= MOST);
                            assert!(pool.statistics().reserved <= MOST);
                            if live.len() > 4 {
                                live.swap_remove(dice.roll(live.len()));
                            }
                        }
                    });
                }
            });
            check(&pool);
            device.wait().unwrap();
            let queue = in_order(&device);
            let all = queue.allocate_from(&pool, MOST).unwrap();
            assert_eq!(pool.statistics().used, MOST);
            drop((pool, all));
            device.wait().unwrap();
            assert_eq!(provider.allocated_bytes(), 0);
        }
    });
}

#[test]
fn blocks_that_are_not_rounded_up_are_used_again_like_others() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, at_most(8 * MIB));
        let most = queue.allocate_from(&pool, 7 * MIB + 512 * KIB).unwrap();
        queue.allocate_from(&pool, MIB).unwrap_err();
        let gate = close_gate(&queue);
        let mut places = std::collections::HashSet::new();
        for _ in 0..100 {
            let memory = queue.allocate_from(&pool, 400 * KIB).unwrap();
            assert_eq!(pool.statistics().used, most.bytes() + 400 * KIB);
            places.insert(memory.address().get());
            use_on(&queue, &memory);
        }
        assert_eq!(places.len(), 1);
        gate.open();
        device.wait().unwrap();
        check(&pool);
    });
}
