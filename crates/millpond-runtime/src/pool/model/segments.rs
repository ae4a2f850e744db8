//! Segments that go back to a driver while the same pool hands out memory.

use std::sync::Arc;

use millpond_types::MemoryKind;
use shuttle::thread;

use super::provider::{Provider, check, queue};
use crate::pool::{Pool, PoolOptions};

const MIB: usize = 1 << 20;

fn pool(device: &crate::Device) -> Pool {
    let options = PoolOptions {
        min_driver_alloc: 2 * MIB,
        ..PoolOptions::default()
    };
    device.create_pool(MemoryKind::Device, options).unwrap()
}

#[test]
fn a_segment_that_is_given_back_holds_nothing_that_another_thread_just_got() {
    check(3000, || {
        let (device, provider) = Provider::open(None, false);
        let pool = pool(&device);
        let threads = [MIB, 2 * MIB, MIB].map(|bytes| {
            let (pool, provider) = (pool.clone(), Arc::clone(&provider));
            let queue = queue(&device);
            thread::spawn(move || {
                for _ in 0..2 {
                    let memory = queue.allocate_from(&pool, bytes).unwrap();
                    drop(provider.watch(memory));
                    pool.trim(0).unwrap();
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        pool.trim(0).unwrap();
        assert_eq!((pool.statistics().reserved, provider.bytes()), (0, 0));
    });
}

#[test]
fn nobody_is_refused_what_another_thread_is_moving() {
    check(3000, || {
        let (device, _provider) = Provider::open(None, false);
        let options = PoolOptions {
            min_driver_alloc: 2 * MIB,
            maximum_size: Some(2 * MIB),
            ..PoolOptions::default()
        };
        let pool = device.create_pool(MemoryKind::Device, options).unwrap();
        let threads = [(); 2].map(|()| {
            let (pool, queue) = (pool.clone(), queue(&device));
            thread::spawn(move || {
                for _ in 0..2 {
                    // There is room for both at every moment.
                    drop(queue.allocate_from(&pool, MIB).unwrap());
                    pool.trim(0).unwrap();
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn threads_that_trim_at_once_keep_what_each_of_them_was_told_to() {
    check(2000, || {
        let (device, provider) = Provider::open(None, false);
        let (pool, queue) = (pool(&device), queue(&device));
        let held = [(); 4].map(|()| queue.allocate_from(&pool, 2 * MIB).unwrap());
        drop(held);
        let threads = [(); 2].map(|()| {
            let pool = pool.clone();
            thread::spawn(move || pool.trim(4 * MIB).unwrap())
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(provider.bytes(), 4 * MIB);
    });
}
