//! What a pool keeps, and when it gives memory back.

use std::sync::Arc;
use std::time::Duration;

use millpond_runtime::{MemoryKind, PoolOptions};
use millpond_testkit::watchdog::watched;

use crate::support::{in_order, values};
use crate::{GIB, KIB, MIB, at_once, check, close_gate, null, pool, use_on};

#[test]
fn p07_a_closed_pool_keeps_what_is_live_and_gives_all_back_at_last() {
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
fn p07_a_closed_pool_that_is_still_held_gives_back_at_a_wait_what_becomes_free() {
    watched(|| {
        let (driver, device) = null(GIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        let queue = in_order(&device);
        let pool = pool(&device, PoolOptions::default());
        let live = queue.allocate_from(&pool, 1000).unwrap();
        pool.close().unwrap();
        drop(live);
        assert!(provider.allocated_bytes() > 0, "a free calls no driver");
        queue.wait().unwrap();
        assert_eq!(
            (provider.allocated_bytes(), pool.statistics().reserved),
            (0, 0)
        );
    });
}

#[test]
fn p08_a_threshold_is_kept_to_at_the_next_wait() {
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
fn p09_trim_keeps_what_is_pending() {
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
fn a_request_beyond_the_largest_poolable_goes_back_to_the_driver() {
    watched(|| {
        let (driver, device) = null(GIB);
        let provider = std::sync::Arc::clone(&driver.null_devices()[0]);
        let queue = in_order(&device);
        let options = PoolOptions {
            max_poolable: Some(MIB),
            ..PoolOptions::default()
        };
        let pool = pool(&device, options);
        let memory = queue.allocate_from(&pool, 10 * MIB).unwrap();
        let gate = close_gate(&queue);
        use_on(&queue, &memory);
        drop(memory);
        let other = queue.allocate_from(&pool, 10 * MIB).unwrap();
        check(&pool);
        drop(other);
        gate.open();
        queue.wait().unwrap();
        assert_eq!(provider.allocated_bytes(), 0);
        queue.allocate_from(&pool, MIB).unwrap();
        queue.wait().unwrap();
        assert!(provider.allocated_bytes() >= MIB, "a pooled size stays");
    });
}

#[test]
fn f021_no_memory_goes_back_while_a_command_uses_it() {
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
fn f049_a_loop_that_waits_asks_the_driver_once() {
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
fn f069_pools_made_and_dropped_leave_nothing() {
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
fn f078_idle_memory_goes_back_and_busy_memory_stays() {
    watched(|| {
        let (driver, device) = null(64 * GIB);
        let provider = Arc::clone(&driver.null_devices()[0]);
        let queue = in_order(&device);
        let options = PoolOptions {
            idle_release: Some(Duration::from_millis(40)),
            min_driver_alloc: 2 * MIB,
            ..PoolOptions::default()
        };
        let pool = pool(&device, options);
        assert_eq!(pool.idle_release(), Some(Duration::from_millis(40)));
        let live: Vec<_> = (0..8)
            .map(|_| queue.allocate_from(&pool, 8 * MIB).unwrap())
            .collect();
        let busy = in_order(&device);
        drop(live);
        let allocations = provider.allocations();
        assert!(allocations >= 8);
        let mut fewest_calls = allocations;
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(5));
            drop(busy.allocate_from(&pool, MIB).unwrap());
            let before = provider.allocations();
            busy.wait().unwrap();
            assert!(
                before - provider.allocations() <= 4,
                "bounded work per call"
            );
            fewest_calls = fewest_calls.min(provider.allocations());
        }
        assert_eq!(fewest_calls, 1, "the segment in use stays, the others go");
        check(&pool);
    });
}

#[test]
fn f078_a_copy_keeps_its_source_until_it_is_done() {
    watched(|| {
        let device = crate::support::device();
        let (queue, other) = (in_order(&device), in_order(&device));
        let pool = pool(&device, PoolOptions::default());
        let words: Vec<u64> = (0..64 * KIB as u64).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let source = queue.allocate_from(&pool, bytes.len()).unwrap();
        let target = queue.allocate_from(&pool, bytes.len()).unwrap();
        let gate = close_gate(&queue);
        use_on(&queue, &source);
        // Neither the vector nor the memory is anybody's but the copies'.
        source.write_owned(0, bytes.clone()).unwrap();
        queue.copy(&source, 0, &target, 0, bytes.len()).unwrap();
        let address = source.address();
        drop(source);
        let scribbled = other.allocate_from(&pool, bytes.len()).unwrap();
        assert_ne!(scribbled.address(), address);
        scribbled.write(0, &vec![0xa5; bytes.len()]).unwrap();
        gate.open();
        assert_eq!(values(&target), words);
    });
}
