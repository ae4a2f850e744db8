//! Last handles that are dropped on several threads at once, and pools that are closed meanwhile:
//! nothing is left behind, and nothing goes back twice.

use std::sync::Arc;

use millpond_types::MemoryKind;
use shuttle::thread;

use super::provider::{Provider, check, queue};
use crate::memory::Release;
use crate::pool::PoolOptions;
use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[test]
fn the_last_two_handles_that_go_at_once_give_their_block_back_once() {
    check(3000, || {
        let (device, provider) = Provider::open(None, false);
        let queue = queue(&device);
        let memory = queue.allocate(MemoryKind::Device, 1000).unwrap();
        let address = memory.address();
        let threads = [memory.clone(), memory].map(|handle| thread::spawn(move || drop(handle)));
        let again = queue.allocate(MemoryKind::Device, 1000).unwrap();
        let again = provider.watch(again);
        for thread in threads {
            thread.join().unwrap();
        }
        let held = device.pool(MemoryKind::Device).statistics();
        assert_eq!((held.live, held.used, held.requested), (1, 1024, 1000));
        assert_eq!(held.used + held.cached, held.reserved);
        let other = queue.allocate(MemoryKind::Device, 1000).unwrap();
        let other = provider.watch(other);
        let addresses = [&again, &other].map(|block| block.allocation().address());
        assert!(addresses.contains(&address), "the block was lost");
    });
}

#[test]
fn the_owner_of_foreign_memory_is_told_once_by_handles_that_go_at_once() {
    check(500, || {
        let (device, _) = Provider::open(None, false);
        let queue = queue(&device);
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        let release = Release::anywhere(move || {
            count.fetch_add(1, SeqCst);
        });
        let base = millpond_hal::Address::new(1 << 20);
        let core = queue.core();
        let memory = core
            .import(MemoryKind::Host, base, 64, release, true)
            .unwrap();
        let threads = [memory.clone(), memory].map(|handle| thread::spawn(move || drop(handle)));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(told.load(SeqCst), 1);
    });
}

#[test]
fn a_pool_that_is_closed_while_its_blocks_are_freed_leaves_nothing_behind() {
    check(3000, || {
        let (device, provider) = Provider::open(None, false);
        let queues = [queue(&device), queue(&device)];
        let options = PoolOptions::default();
        let pool = device.create_pool(MemoryKind::Device, options).unwrap();
        let threads = queues.each_ref().map(|queue| {
            let memory = queue.allocate_from(&pool, 1000).unwrap();
            let (queue, pool) = (queue.clone(), pool.clone());
            thread::spawn(move || {
                drop(memory);
                // Refused, or had before the pool is closed.
                drop(queue.allocate_from(&pool, 1000));
            })
        });
        pool.close().unwrap();
        drop(pool);
        for thread in threads {
            thread.join().unwrap();
        }
        // Waiting has the device look after pools that are gone.
        for queue in &queues {
            queue.wait().unwrap();
        }
        assert_eq!(provider.bytes(), 0);
    });
}

#[test]
fn a_queue_that_ends_while_others_look_into_its_cache_gives_its_blocks_to_the_pool() {
    check(3000, || {
        let (device, provider) = Provider::open(None, false);
        let (ending, other) = (queue(&device), queue(&device));
        let memory = ending.allocate(MemoryKind::Device, 1000).unwrap();
        let thread = thread::spawn(move || {
            drop(memory);
            drop(ending);
        });
        let found = other.allocate(MemoryKind::Device, 1000).unwrap();
        let found = provider.watch(found);
        thread.join().unwrap();
        drop(found);
        let held = device.pool(MemoryKind::Device).statistics();
        assert_eq!((held.used, held.cached), (0, held.reserved));
    });
}
