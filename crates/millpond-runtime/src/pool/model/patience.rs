//! Requests that wait for memory on the host: for the least that serves them, and for nobody else.

use std::sync::Arc;
use std::time::Instant;

use millpond_hal::{Access, Gate};
use millpond_types::MemoryKind;
use shuttle::thread;

use super::provider::{Provider, check, queue};
use crate::error::Error;
use crate::memory::Allocation;
use crate::pool::{AllocateOptions, Pool, PoolOptions, Reuse, Wait};
use crate::queue::{Queue, Use};

const MIB: usize = 1 << 20;

/// A pool of so many blocks, whose queues are made to wait for nothing.
fn pool(device: &crate::Device, blocks: usize) -> Pool {
    let options = PoolOptions {
        maximum_size: Some(blocks * MIB),
        min_driver_alloc: 1,
        reuse: Reuse {
            internal_dependencies: false,
            ..Reuse::default()
        },
        ..PoolOptions::default()
    };
    device.create_pool(MemoryKind::Device, options).unwrap()
}

fn use_on(queue: &Queue, allocation: &Allocation) {
    let access = Access::Write;
    let uses = [Use { allocation, access }];
    queue.task("use", &uses, || Ok(())).unwrap();
}

/// One queue is held until all requests have their memory: whoever waits for it never ends.
#[test]
fn requests_wait_for_the_queue_that_is_nearest_and_not_for_one_that_is_stuck() {
    check(1500, || {
        let (device, provider) = Provider::open(None, true);
        let pool = pool(&device, 3);
        let (stuck, soon) = (queue(&device), [queue(&device), queue(&device)]);
        let gate = Gate::new();
        stuck.gate(&gate, &[]).unwrap();
        for queue in [&stuck, &soon[0], &soon[1]] {
            use_on(queue, &queue.allocate_from(&pool, MIB).unwrap());
        }
        let asking = [(); 2].map(|()| {
            let (queue, pool) = (queue(&device), pool.clone());
            let provider = Arc::clone(&provider);
            thread::spawn(move || provider.watch(queue.allocate_from(&pool, MIB).unwrap()))
        });
        for queue in &soon {
            let (driver, id) = (provider.driver.clone(), queue.core().native().id());
            thread::spawn(move || assert_eq!(driver.step(id), Some(1)));
        }
        let had = asking.map(|thread| thread.join().unwrap());
        let addresses = had.each_ref().map(|block| block.allocation().address());
        assert_ne!(addresses[0], addresses[1]);
        drop(had);
        gate.open(Ok(()));
        provider.driver.run_all();
        stuck.wait().unwrap();
        let held = pool.statistics();
        assert_eq!(
            (held.used, held.pending, held.cached),
            (0, 0, held.reserved)
        );
    });
}

/// A request whose time is over, or that has none, isn't left waiting, whatever others do.
#[test]
fn a_request_without_time_is_answered_at_once() {
    check(1500, || {
        let (device, provider) = Provider::open(None, true);
        let pool = pool(&device, 1);
        let (user, other) = (queue(&device), queue(&device));
        use_on(&user, &user.allocate_from(&pool, MIB).unwrap());
        let threads = [Wait::Never, Wait::Until(Instant::now())].map(|wait| {
            let (queue, pool) = (other.clone(), pool.clone());
            thread::spawn(move || {
                let options = AllocateOptions {
                    wait,
                    ..AllocateOptions::default()
                };
                match queue.allocate_with(&pool, MIB, &options) {
                    Ok(_) => {}
                    Err(Error::OutOfMemory(_)) => assert_eq!(wait, Wait::Never),
                    Err(Error::TimedOut { .. }) => assert_ne!(wait, Wait::Never),
                    Err(error) => panic!("{error}"),
                }
            })
        });
        // That these end first is all: the work never does by itself.
        for thread in threads {
            thread.join().unwrap();
        }
        provider.driver.run_all();
        other.allocate_from(&pool, MIB).unwrap();
    });
}
