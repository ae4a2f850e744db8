//! Pools over memory that a program has already.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use millpond_hal::layers::{Layered, Order};
use millpond_hal::null::NullDriver;
use millpond_hal::{Access, Address, Driver};
use millpond_runtime::{
    AllocateOptions, Allocation, Error, MemoryKind, PoolOptions, Queue, Registry, Release, Use,
};
use millpond_testkit::watchdog::watched;

use crate::support::{import, in_order, out_of_order, stays_pending};
use crate::{GIB, KIB, at_most, at_once, check, close_gate, each, null, pool, use_on};

#[test]
fn p15_a_pool_over_memory_stays_in_it_and_comes_after_its_earlier_uses() {
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
fn p15_who_uses_the_memory_when_the_pool_is_gone_comes_behind_its_allocations() {
    each(|device| {
        for home in [in_order(device), out_of_order(device)] {
            for user in [home.clone(), in_order(device), out_of_order(device)] {
                let whole = pool(device, PoolOptions::default());
                let memory = home.allocate_from(&whole, 64 * KIB).unwrap();
                let part = device
                    .create_pool_over(&memory, KIB..8 * KIB, PoolOptions::default())
                    .unwrap();
                let gate = close_gate(&user);
                user.barrier(&[]).unwrap();
                let blocks = [(); 2].map(|()| user.allocate_from(&part, KIB).unwrap());
                for block in &blocks {
                    use_on(&user, block);
                }
                drop((part, blocks));
                let after = use_on(&in_order(device), &memory);
                assert!(stays_pending(&after));
                // Nothing keeps the memory any more but its own handle.
                let freed = home.free(memory, &[]).unwrap();
                assert!(stays_pending(&freed));
                let answer = in_order(device).allocate_with(&whole, 64 * KIB, &at_once());
                let (next, _) = answer.unwrap();
                gate.open();
                device.wait().unwrap();
                drop(next);
                check(&whole);
            }
        }
    });
}

/// Whether a command that is submitted now is done when the call returns. On a device that is only
/// counters, tasks run when somebody waits.
fn finishes_at_once(queue: &Queue, memory: &Allocation) -> bool {
    let uses = [Use {
        allocation: memory,
        access: Access::Write,
    }];
    let is_done = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&is_done);
    let task = move || {
        done.store(true, SeqCst);
        Ok(())
    };
    queue.task("use", &uses, task).unwrap();
    is_done.load(SeqCst)
}

#[test]
fn o5_commands_on_memory_of_a_pool_over_memory_of_the_host_finish_before_they_return() {
    watched(|| {
        let (_driver, device) = null(GIB);
        let queue = in_order(&device);
        let over = |memory: &Allocation| {
            let options = PoolOptions::default();
            device.create_pool_over(memory, 0..memory.bytes(), options)
        };
        let base = Address::new(1 << 40);
        let imported = import(&queue, base, 16 * KIB, Release::anywhere(|| ()));
        let pool = over(&imported).unwrap();
        let block = queue.allocate_from(&pool, KIB).unwrap();
        assert!(block.is_host_shared() && finishes_at_once(&queue, &block));
        drop(block);
        // From the cache of the queue.
        let block = queue.allocate_from(&pool, 8 * KIB).unwrap();
        assert!(finishes_at_once(&queue, &block));
        let nested = over(&block).unwrap();
        let inner = queue.allocate_from(&nested, KIB).unwrap();
        assert!(inner.is_host_shared() && finishes_at_once(&queue, &inner));

        // The memory is shared while the pool has handed some of it out.
        let own = queue.allocate(MemoryKind::Shared, 16 * KIB).unwrap();
        let pool = over(&own).unwrap();
        let block = queue.allocate_from(&pool, KIB).unwrap();
        assert!(!block.is_host_shared() && !finishes_at_once(&queue, &block));
        own.share_with_host(false).unwrap();
        assert!(block.is_host_shared() && finishes_at_once(&queue, &block));

        // What lies in memory that isn't shared is the host's for itself.
        let own = queue.allocate(MemoryKind::Shared, 16 * KIB).unwrap();
        let pool = over(&own).unwrap();
        let blocks = [(); 2].map(|()| queue.allocate_from(&pool, KIB).unwrap());
        blocks[0].share_with_host(false).unwrap();
        assert!(finishes_at_once(&queue, &blocks[0]));
        assert!(!own.is_host_shared() && !finishes_at_once(&queue, &blocks[1]));
    });
}

#[test]
fn memory_of_a_pool_that_is_gone_is_handed_out_behind_its_allocations() {
    watched(|| {
        let driver = Arc::new(Layered::new(
            Arc::new(NullDriver::default()),
            Order::default(),
        ));
        let devices = Registry::new(&[Arc::clone(&driver) as Arc<dyn Driver>]);
        let device = devices.default_device().unwrap();
        let (queue, user) = (in_order(&device), in_order(&device));
        let pool = pool(&device, at_most(64 * KIB));
        for _ in 0..3 {
            let memory = queue.allocate_from(&pool, 64 * KIB).unwrap();
            let part = device
                .create_pool_over(&memory, 0..64 * KIB, PoolOptions::default())
                .unwrap();
            let block = user.allocate_from(&part, KIB).unwrap();
            let gate = close_gate(&user);
            use_on(&user, &block);
            drop((block, part, memory));
            let options = AllocateOptions::default();
            let (next, begun) = queue.allocate_with(&pool, 64 * KIB, &options).unwrap();
            use_on(&queue, &next);
            assert!(stays_pending(&begun));
            gate.open();
            device.wait().unwrap();
        }
        let races = driver.layer().take_races();
        assert!(races.is_empty(), "{}", races[0]);
    });
}
