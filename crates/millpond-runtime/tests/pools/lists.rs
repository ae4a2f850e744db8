//! Free lists and sizes: what is found, cut, merged and wasted.

use std::sync::Arc;

use millpond_hal::null::NullDriver;
use millpond_runtime::{Buffer, Error, Fit, MemoryKind, PoolOptions, Status};
use millpond_testkit::watchdog::watched;

use crate::provider::Provider;
use crate::support::in_order;
use crate::{Dice, GIB, KIB, MIB, at_most, at_once, check, close_gate, each, null, pool, use_on};

#[test]
fn f024_a_huge_block_serves_no_tiny_request() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        drop(queue.allocate_from(&pool, GIB).unwrap());
        let reserved = pool.statistics().reserved;
        let _tiny = queue.allocate_from(&pool, 64).unwrap();
        let _huge = queue.allocate_from(&pool, GIB - 32 * MIB).unwrap();
        assert!(pool.statistics().reserved <= reserved + 32 * MIB);
    });
}

#[test]
fn f027_sizes_near_the_end_of_the_address_space_are_refused_and_change_nothing() {
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
fn f025_every_second_block_kept_leaves_the_others_to_who_fits() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, at_most(64 * MIB));
        let blocks: Vec<_> = (0..64)
            .map(|_| queue.allocate_from(&pool, MIB).unwrap())
            .collect();
        let kept: Vec<_> = blocks.into_iter().step_by(2).collect();
        // None of the gaps has more than one, and all of them are found.
        queue.allocate_from(&pool, 2 * MIB).unwrap_err();
        let again: Vec<_> = (0..128)
            .map(|_| queue.allocate_from(&pool, MIB / 4).unwrap())
            .collect();
        assert_eq!(pool.statistics().cached, 0);
        drop((kept, again));
        let _whole = queue.allocate_from(&pool, 32 * MIB).unwrap();
    });
}

#[test]
fn f026_whatever_is_free_and_large_enough_serves() {
    each(|device| {
        for seed in 1..12 {
            let mut dice = Dice::new(seed);
            let queues = [(); 3].map(|()| in_order(device));
            let pool = pool(device, at_most(48 * MIB));
            let mut live = Vec::new();
            let mut refused = 0;
            for _ in 0..200 {
                let queue = &queues[dice.roll(3)];
                let most = [4 * KIB, 600 * KIB, 9 * MIB][dice.roll(3)];
                let bytes = 1 + dice.roll(most);
                // Asked first of all that queues have, merged.
                let fits = pool.largest_free();
                let answer = queue.allocate_with(&pool, bytes, &at_once());
                match answer {
                    Ok((memory, _)) => live.push(memory),
                    Err(Error::OutOfMemory(report)) => {
                        refused += 1;
                        assert!(fits < report.granted, "seed {seed}: {report}");
                    }
                    Err(error) => panic!("{error}"),
                }
                if dice.roll(5) < 2 && !live.is_empty() {
                    live.swap_remove(dice.roll(live.len()));
                }
            }
            assert!(refused > 0, "the maximum was never met");
            check(&pool);
        }
    });
}

#[test]
fn f026_segments_that_can_go_back_make_room_for_what_fits_in_none() {
    each(|device| {
        let queue = in_order(device);
        let other = in_order(device);
        let options = PoolOptions {
            max_poolable: Some(20 * MIB),
            min_driver_alloc: 1,
            ..at_most(32 * MIB)
        };
        // Pooled after pooled, dedicated after dedicated, and each after the other.
        for (before, bytes) in [
            (16 * MIB, 20 * MIB),
            (30 * MIB, 30 * MIB),
            (16 * MIB, 30 * MIB),
            (30 * MIB, 20 * MIB),
        ] {
            let pool = pool(device, options.clone());
            let memory = queue.allocate_from(&pool, before).unwrap();
            let gate = close_gate(&queue);
            let used = use_on(&queue, &memory);
            drop(memory);
            other.allocate_with(&pool, bytes, &at_once()).unwrap_err();
            let fit = pool.fit(bytes);
            assert!(
                matches!(&fit, Fit::After(points) if points[..] == [used.point()]),
                "{fit:?}"
            );
            let opener = std::thread::spawn(move || gate.open());
            let memory = other.allocate_from(&pool, bytes).unwrap();
            assert_eq!(used.status(), Status::Complete, "it was waited for");
            opener.join().unwrap();
            drop(memory);
            check(&pool);
        }
    });
}

#[test]
fn f026_memory_that_reclaimers_give_up_serves_requests_of_any_size() {
    each(|device| {
        let queue = in_order(device);
        let options = PoolOptions {
            max_poolable: Some(MIB),
            ..at_most(2 * MIB)
        };
        for bytes in [MIB, 2 * MIB] {
            let pool = pool(device, options.clone());
            let kept = queue.allocate_from(&pool, 2 * MIB).unwrap();
            let kept = std::sync::Mutex::new(Some(kept));
            let _reclaimer = device.add_reclaimer(move |_| {
                drop(kept.lock().unwrap().take());
            });
            queue.allocate_from(&pool, bytes).unwrap();
        }
    });
}

#[test]
fn f031_segments_given_back_and_had_again_at_once_are_nobodys_twice() {
    watched(|| {
        let (provider, device) = Provider::over(Arc::new(NullDriver::default()));
        let options = PoolOptions {
            release_threshold: Some(0),
            min_driver_alloc: 1,
            ..PoolOptions::default()
        };
        let pool = pool(&device, options);
        let taken = std::sync::Mutex::new(std::collections::BTreeSet::new());
        std::thread::scope(|threads| {
            for thread in 0..4 {
                let (device, pool, taken) = (&device, &pool, &taken);
                threads.spawn(move || {
                    let queue = in_order(device);
                    for step in 0..1_500 {
                        let memory = queue.allocate_from(pool, 2 * MIB).unwrap();
                        let address = memory.address().get();
                        assert!(taken.lock().unwrap().insert(address), "had twice");
                        use_on(&queue, &memory);
                        taken.lock().unwrap().remove(&address);
                        drop(memory);
                        if (step + thread) % 3 == 0 {
                            pool.trim(0).unwrap();
                        } else {
                            queue.wait().unwrap();
                        }
                    }
                });
            }
        });
        device.wait().unwrap();
        check(&pool);
        pool.trim(0).unwrap();
        assert_eq!((pool.statistics().reserved, provider.bytes()), (0, 0));
    });
}

#[test]
fn f032_two_sizes_and_room_for_one_block_never_lock_up() {
    watched(|| {
        let (driver, device) = null(GIB);
        let provider = Arc::clone(&driver.null_devices()[0]);
        let pool = pool(&device, at_most(2 * MIB));
        std::thread::scope(|threads| {
            for seed in 1..5 {
                let (device, pool) = (&device, &pool);
                threads.spawn(move || {
                    let (queue, mut dice) = (in_order(device), Dice::new(seed));
                    for _ in 0..1_000 {
                        let bytes = [MIB, 3 * MIB / 2][dice.roll(2)];
                        if let Ok(memory) = queue.allocate_from(pool, bytes) {
                            use_on(&queue, &memory);
                        }
                    }
                });
            }
        });
        device.wait().unwrap();
        let now = pool.statistics();
        assert_eq!((now.used, now.live, now.pending), (0, 0, 0));
        pool.trim(0).unwrap();
        assert_eq!(provider.allocated_bytes(), 0);
    });
}

#[test]
fn f036_memory_is_freed_in_any_order() {
    each(|device| {
        for seed in 1..6 {
            let (queue, mut dice) = (in_order(device), Dice::new(seed));
            let pool = pool(device, at_most(64 * MIB));
            let mut live: Vec<_> = (1..=60)
                .map(|step| queue.allocate_from(&pool, step * 16 * KIB).unwrap())
                .collect();
            while !live.is_empty() {
                live.swap_remove(dice.roll(live.len()));
                check(&pool);
            }
            let _whole = queue.allocate_from(&pool, 64 * MIB).unwrap();
        }
    });
}

#[test]
fn f038_parts_of_memory_are_the_bytes_they_say() {
    watched(|| {
        let device = crate::support::device();
        let queue = in_order(&device);
        // Around the ends of pages, granules and classes.
        for len in [255, 256, 257, 4095, 4096, 4097, 5 * MIB + 1] {
            let numbers: Vec<u8> = (0..len).map(|index| (index % 251) as u8).collect();
            let buffer = Buffer::from_slice(&queue, MemoryKind::Device, &numbers).unwrap();
            for begin in [0, 1, len / 2, len - 1, len] {
                for end in [begin, (begin + 1).min(len), len] {
                    let part = buffer.view(begin..end).unwrap();
                    let expected = numbers[begin..end].to_vec();
                    let same = move |part: &[u8]| assert_eq!(part, expected);
                    queue
                        .call("compare", (part,), move |(part,)| same(part))
                        .unwrap();
                    let mut bytes = vec![0; end - begin];
                    buffer.memory().read(begin, &mut bytes).unwrap();
                    assert_eq!(bytes, numbers[begin..end]);
                }
            }
            queue.wait().unwrap();
            let error = buffer.view(1..=len).map(drop).unwrap_err();
            assert!(matches!(error, Error::Bounds { .. }), "{error}");
        }
    });
}

#[test]
fn f025_segments_that_are_too_small_make_way_for_those_that_are_not() {
    each(|device| {
        let queue = in_order(device);
        let options = PoolOptions {
            min_driver_alloc: 1,
            ..PoolOptions::default()
        };
        let pool = pool(device, options);
        let kept = queue.allocate_from(&pool, 2 * MIB).unwrap();
        for size in (4..=40).step_by(4) {
            drop(queue.allocate_from(&pool, size * MIB).unwrap());
            assert!(
                pool.largest_free() >= size * MIB,
                "it isn't cached any more"
            );
            check(&pool);
        }
        let now = pool.statistics();
        assert_eq!(now.reserved_high, 42 * MIB, "{now:?}");
        // What has been reserved once may be reserved again without that.
        let large = queue.allocate_from(&pool, 38 * MIB).unwrap();
        assert_eq!(pool.statistics().reserved, 42 * MIB);
        drop((kept, large));
        check(&pool);
    });
}
