//! Several allocations and frees under one lock: as one by one, but for the time.

use millpond_runtime::{Allocation, Error, MemoryKind, PoolOptions};

use crate::support::in_order;
use crate::{GIB, KIB, MIB, at_most, check, each, pool};

#[test]
fn many_are_had_and_freed_as_one_by_one() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let _scope = pool.scope();
        let sizes = [KIB, 3 * KIB, MIB, 5 * MIB];
        let first = queue.allocate_many(MemoryKind::Device, sizes).unwrap();
        let addresses = first.each_ref().map(Allocation::address);
        for (memory, bytes) in first.iter().zip(sizes) {
            assert_eq!((memory.bytes(), memory.is_from(&pool)), (bytes, true));
            assert!(memory.is_on(&queue));
        }
        let held = pool.statistics();
        let sum = sizes.iter().sum();
        assert_eq!((held.live, held.requested), (sizes.len(), sum));
        queue.free_many(first);
        let held = pool.statistics();
        assert_eq!((held.live, held.used, held.requested), (0, 0, 0));
        check(&pool);
        // Each finds what was freed of its class.
        let second = queue.allocate_many(MemoryKind::Device, sizes).unwrap();
        assert_eq!(second.each_ref().map(Allocation::address), addresses);
        let all = second.map(|memory| [memory.clone(), memory]);
        queue.free_many(all.into_iter().flatten());
        assert_eq!(pool.statistics().live, 0);
        check(&pool);
    });
}

#[test]
fn all_are_had_or_none() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, at_most(64 * MIB));
        let _scope = pool.scope();
        for _ in 0..2 {
            let answer = queue.allocate_many(MemoryKind::Device, [KIB, MIB, GIB]);
            assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
            assert_eq!(pool.statistics().live, 0);
        }
        queue.close();
        let answer = queue.allocate_many(MemoryKind::Device, [KIB, MIB]);
        assert!(matches!(answer, Err(Error::Closed { .. })), "{answer:?}");
        check(&pool);
    });
}

#[test]
fn what_others_hold_or_have_at_home_is_dropped_as_ever() {
    each(|device| {
        let (queue, other) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let shared = queue.allocate_from(&pool, KIB).unwrap();
        let strange = other.allocate_from(&pool, 3 * KIB).unwrap();
        let address = strange.address();
        queue.free_many([shared.clone(), strange]);
        assert_eq!(pool.statistics().live, 1);
        assert_eq!(shared.bytes(), KIB);
        let again = other.allocate_from(&pool, 3 * KIB).unwrap();
        assert_eq!(again.address(), address);
        drop((shared, again));
        assert_eq!(pool.statistics().live, 0);
        check(&pool);
    });
}
