//! Statistics, high marks and driver calls: what is counted, and that it is true.

use std::sync::Arc;

use millpond_hal::null::NullDriver;
use millpond_runtime::{MemoryKind, Pool, PoolOptions, Tag};
use millpond_testkit::watchdog::watched;

use crate::provider::Provider;
use crate::support::in_order;
use crate::{Dice, GIB, KIB, MIB, at_most, check, close_gate, each, null, pool, use_on};

#[test]
fn p12_high_marks_are_set_back_to_what_is_now() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let kept = queue.allocate_from(&pool, 1000).unwrap();
        drop(queue.allocate_from(&pool, MIB).unwrap());
        let before = pool.statistics();
        assert!(before.used_high > before.used);
        pool.reset_used_high();
        let after = pool.statistics();
        assert_eq!(after.used_high, after.used);
        assert_eq!(after.reserved_high, before.reserved_high);
        pool.trim(0).unwrap();
        pool.reset_highs();
        let after = pool.statistics();
        assert_eq!(after.used_high, after.used);
        assert_eq!(after.reserved_high, after.reserved);
        drop(kept);
        check(&pool);
    });
}

#[test]
fn f055_a_stuck_queue_delays_only_its_own_frees() {
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
fn f043_budgets_and_limits_count_what_is_granted() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, at_most(64 * MIB));
        let tag = Tag::new("tenant");
        let _scope = tag.scope();
        for _ in 0..2 {
            let live: Vec<_> = [1, 257, 1025, 5 * MIB + 1, 9 * MIB]
                .iter()
                .map(|&bytes| queue.allocate_from(&pool, bytes).unwrap())
                .collect();
            assert_eq!(tag.used(), pool.statistics().used);
            drop(live);
            // A cached block that is a little larger is another size.
            let close = queue.allocate_from(&pool, 9 * MIB - 1000 * KIB).unwrap();
            assert_eq!(tag.used(), pool.statistics().used);
            drop(close);
            assert_eq!(tag.used(), 0);
        }
    });
}

#[test]
fn f045_each_pool_tells_of_its_own_memory() {
    each(|device| {
        let queue = in_order(device);
        let own = pool(device, PoolOptions::default());
        let default = device.default_pool(MemoryKind::Device);
        let before = default.statistics();
        device.set_current_pool(&own).unwrap();
        let memory = queue.allocate(MemoryKind::Device, MIB).unwrap();
        let now = device.pool(MemoryKind::Device).statistics();
        assert_eq!((now.used, now.live), (MIB, 1));
        assert!(now.reserved >= 32 * MIB, "what was had is not what is used");
        assert_eq!(default.statistics(), before);
        device.set_current_pool(&default).unwrap();
        assert_eq!(device.pool(MemoryKind::Device).statistics(), before);
        assert_eq!(own.statistics(), now);
        drop(memory);
    });
}

#[test]
fn f046_every_way_to_memory_is_counted() {
    watched(|| {
        let (provider, device) = Provider::over(Arc::new(NullDriver::default()));
        let (a, b) = (in_order(&device), in_order(&device));
        let options = PoolOptions {
            max_poolable: Some(16 * MIB),
            min_driver_alloc: 1,
            ..PoolOptions::default()
        };
        let pools = [(); 2].map(|()| pool(&device, options.clone()));
        let ledger = |live: usize| {
            let sums = pools.each_ref().map(|pool| {
                check(pool);
                pool.statistics()
            });
            assert_eq!(sums[0].reserved + sums[1].reserved, provider.bytes());
            assert_eq!(sums[0].live, live);
        };
        let [pool, other] = &pools;
        let fresh = a.allocate_from(pool, 4 * MIB).unwrap();
        ledger(1);
        drop(fresh);
        ledger(0);
        let again = a.allocate_from(pool, 4 * MIB).unwrap();
        ledger(1);
        drop(again);
        let stolen = b.allocate_from(pool, 4 * MIB).unwrap();
        ledger(1);
        drop(stolen);
        pool.largest_free();
        let split = a.allocate_from(pool, MIB).unwrap();
        ledger(1);
        let dedicated = a.allocate_from(pool, 20 * MIB).unwrap();
        ledger(2);
        let elsewhere = b.allocate_from(other, 100).unwrap();
        ledger(2);
        let over = device
            .create_pool_over(&dedicated, 0..MIB, PoolOptions::default())
            .unwrap();
        let inside = a.allocate_from(&over, 1000).unwrap();
        check(&over);
        ledger(2);
        drop((split, inside, over, elsewhere));
        ledger(1);
        drop(dedicated);
        device.wait().unwrap();
        ledger(0);
        for pool in &pools {
            pool.trim(0).unwrap();
        }
        ledger(0);
        assert_eq!(provider.bytes(), 0);
    });
}

#[test]
fn f047_high_marks_are_never_below_and_settings_take_effect() {
    each(|device| {
        let (queue, other) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let mut dice = Dice::new(7);
        let mut live = Vec::new();
        for step in 0..300 {
            let on = [&queue, &other][step % 2];
            live.push(on.allocate_from(&pool, dice.roll(3 * MIB)).unwrap());
            if dice.roll(2) == 0 {
                live.swap_remove(dice.roll(live.len()));
            }
            if step % 50 == 0 {
                pool.reset_highs();
            }
            check(&pool);
        }
        drop(live);
        pool.set_maximum_size(Some(1000));
        pool.set_release_threshold(Some(0));
        pool.set_idle_release(Some(std::time::Duration::from_secs(1)));
        assert_eq!(pool.maximum_size(), Some(1000));
        assert_eq!(pool.release_threshold(), Some(0));
        assert!(pool.idle_release().is_some());
        queue.allocate_from(&pool, 200 * MIB).unwrap_err();
        device.wait().unwrap();
        use_on(&queue, &queue.allocate(MemoryKind::Device, 1).unwrap());
        queue.wait().unwrap();
        assert!(pool.statistics().reserved < pool.statistics().reserved_high);
    });
}

#[test]
fn f050_an_allocation_at_the_limit_asks_the_driver_a_few_times() {
    watched(|| {
        let (provider, device) = Provider::over(Arc::new(NullDriver::default()));
        let queue = in_order(&device);
        let pool = pool(
            &device,
            PoolOptions {
                min_driver_alloc: 1,
                ..at_most(256 * MIB)
            },
        );
        // Segments of two MiB each, all of them idle.
        let blocks: Vec<_> = (0..128)
            .map(|_| queue.allocate_from(&pool, 2 * MIB).unwrap())
            .collect();
        drop(blocks);
        let before = provider.calls();
        let memory = queue.allocate_from(&pool, 6 * MIB).unwrap();
        assert!(provider.calls() - before <= 4, "what was needed went back");
        drop(memory);
        let mut live = Vec::new();
        let mut dice = Dice::new(5);
        for _ in 0..2_000 {
            let before = provider.calls();
            // Within the maximum or not, and whatever has to go back first.
            live.extend(
                queue
                    .allocate_from(&pool, (1 + dice.roll(4)) * 2 * MIB)
                    .ok(),
            );
            assert!(provider.calls() - before <= 8);
            while live.len() > 20 {
                live.swap_remove(dice.roll(live.len()));
            }
        }
    });
}

#[test]
fn f053_pools_that_hold_nothing_take_nothing() {
    watched(|| {
        let (driver, device) = null(GIB);
        let provider = Arc::clone(&driver.null_devices()[0]);
        let pools: Vec<_> = (0..100).map(|_| pool(&device, at_most(64 * GIB))).collect();
        assert_eq!(provider.allocated_bytes(), 0, "a maximum reserves nothing");
        let queue = in_order(&device);
        let all = queue.allocate_from(&pools[99], GIB).unwrap();
        drop((all, pools));
        queue.wait().unwrap();
        assert_eq!(provider.allocated_bytes(), 0);
    });
}

#[test]
fn f054_tags_and_pools_sum_to_what_the_driver_gave() {
    watched(|| {
        let (provider, device) = Provider::over(Arc::new(NullDriver::default()));
        let queue = in_order(&device);
        let root = Tag::new("process");
        let tenants = ["one", "two", "three"].map(|name| root.child(name));
        let pools = [(); 3].map(|()| pool(&device, PoolOptions::default()));
        let mut live = Vec::new();
        let mut dice = Dice::new(3);
        for step in 0..600 {
            let _scope = tenants[dice.roll(3)].scope();
            let pool = &pools[dice.roll(3)];
            live.push(queue.allocate_from(pool, dice.roll(9 * MIB)).unwrap());
            if live.len() > 12 {
                live.swap_remove(dice.roll(live.len()));
            }
            if step % 20 == 0 {
                let sums = pools.each_ref().map(Pool::statistics);
                let used: usize = sums.iter().map(|now| now.used).sum();
                let reserved: usize = sums.iter().map(|now| now.reserved).sum();
                let tagged: usize = tenants.iter().map(Tag::used).sum();
                assert_eq!((tagged, root.used()), (used, used));
                assert_eq!(reserved, provider.bytes());
            }
        }
    });
}

#[test]
fn f094_a_free_calls_no_driver_whatever_its_size() {
    watched(|| {
        let (provider, device) = Provider::over(Arc::new(NullDriver::default()));
        let (queue, other) = (in_order(&device), in_order(&device));
        let pools = [
            PoolOptions::default(),
            PoolOptions {
                max_poolable: Some(MIB),
                ..PoolOptions::default()
            },
            PoolOptions {
                release_threshold: Some(0),
                ..PoolOptions::default()
            },
        ]
        .map(|options| pool(&device, options));
        for pool in &pools {
            for bytes in [0, 1, KIB, MIB, 64 * MIB, GIB, 64 * GIB] {
                let memory = queue.allocate_from(pool, bytes).unwrap();
                use_on(&other, &memory);
                let clone = memory.clone();
                let before = provider.calls();
                drop(memory);
                drop(clone);
                assert_eq!(provider.calls(), before, "{bytes} bytes");
            }
        }
        // As little when the pool has been closed, or is gone.
        let live = pools
            .each_ref()
            .map(|pool| queue.allocate_from(pool, MIB).unwrap());
        pools[0].close().unwrap();
        drop(pools);
        let before = provider.calls();
        drop(live);
        assert_eq!(provider.calls(), before);
    });
}
