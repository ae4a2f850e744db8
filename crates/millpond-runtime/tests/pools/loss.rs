//! What becomes of pools whose device is lost.

use std::sync::Arc;

use millpond_hal::layers::{Fault, Layered};
use millpond_hal::null::NullDriver;
use millpond_hal::{DeviceError, Driver};
use millpond_runtime::{
    AllocateOptions, Allocation, Device, Error, MemoryKind, Pool, PoolOptions, Queue, QueueOptions,
    Registry, Zero,
};
use millpond_testkit::watchdog::watched;

use crate::support::{driver, in_order, out_of_order};
use crate::{MIB, at_most, check, close_gate, pool, use_on, without_inserted_waits};

#[expect(clippy::needless_pass_by_value, reason = "it is asked about a call")]
fn is_lost<T>(answer: Result<T, Error>) -> bool {
    matches!(answer, Err(Error::Device(DeviceError::Lost { .. })))
}

fn lossy(driver: Arc<dyn Driver>) -> (Arc<Fault>, Device) {
    let layered = Arc::new(Layered::new(driver, Fault::default()));
    let fault = Arc::clone(layered.layer());
    let devices = Registry::new(&[layered as Arc<dyn Driver>]);
    (fault, devices.default_device().unwrap())
}

fn pools(device: &Device) -> Vec<Pool> {
    let mut pools: Vec<Pool> = [
        PoolOptions::default(),
        PoolOptions {
            zero: Zero::Always,
            ..PoolOptions::default()
        },
        PoolOptions {
            max_poolable: Some(MIB),
            release_threshold: Some(0),
            ..PoolOptions::default()
        },
    ]
    .map(|options| pool(device, options))
    .into();
    pools.push(device.default_pool(MemoryKind::Device));
    pools
}

/// Live blocks, one for each way to be freed, with another freed already.
fn blocks(queue: &Queue, pool: &Pool) -> Vec<Allocation> {
    let mut blocks: Vec<_> = (0..5)
        .map(|_| queue.allocate_from(pool, 2 * MIB).unwrap())
        .collect();
    blocks.pop();
    blocks
}

#[test]
fn on_a_lost_device_frees_succeed_and_allocations_say_why_they_do_not() {
    watched(|| {
        for driver in [Arc::new(NullDriver::default()) as Arc<dyn Driver>, driver()] {
            let (fault, device) = lossy(driver);
            let (queue, other) = (in_order(&device), in_order(&device));
            let unordered = out_of_order(&device);
            let pools = pools(&device);
            let gate = close_gate(&queue);
            let live: Vec<_> = pools.iter().map(|pool| blocks(&queue, pool)).collect();
            for block in live.iter().flatten() {
                use_on(&queue, block);
            }
            let event = queue.record().unwrap();
            fault.lose();
            // A request that the driver is asked for tells; then all pools know.
            assert!(is_lost(other.allocate_from(&pools[0], 100 * MIB)));
            for pool in &pools {
                for bytes in [100, 2 * MIB, 100 * MIB] {
                    assert!(is_lost(queue.allocate_from(pool, bytes)));
                    let options = AllocateOptions::default();
                    assert!(is_lost(other.allocate_with(pool, bytes, &options)));
                }
                check(pool);
            }
            assert!(is_lost(queue.allocate(MemoryKind::Device, 100)));
            assert!(is_lost(device.create_queue(&QueueOptions::default())));
            for (pool, blocks) in pools.iter().zip(live) {
                let mut blocks = blocks.into_iter();
                let mut next = || blocks.next().unwrap();
                queue.free(next(), &[]).unwrap();
                other.free(next(), &[&event]).unwrap();
                unordered.free(next(), &[&event]).unwrap();
                drop(next());
                assert_eq!(pool.statistics().live, 0);
                check(pool);
            }
            // What was submitted before goes on, so all of it is given back.
            gate.open();
            event.wait().unwrap();
            for pool in &pools {
                pool.trim(0).unwrap();
                assert_eq!(pool.statistics().reserved, 0);
                if !pool.is_default() {
                    pool.close().unwrap();
                }
            }
            assert!(is_lost(
                pools[3].device().create_queue(&QueueOptions::default())
            ));
        }
    });
}

#[test]
fn a_refused_submission_tells_of_the_loss_as_well() {
    watched(|| {
        let (fault, device) = lossy(Arc::new(NullDriver::default()));
        let queue = in_order(&device);
        let pool = pool(&device, PoolOptions::default());
        drop(queue.allocate_from(&pool, 100).unwrap());
        fault.lose();
        assert!(is_lost(queue.barrier(&[])));
        assert!(is_lost(queue.allocate_from(&pool, 100)), "although cached");
        let later = crate::pool(&device, PoolOptions::default());
        assert!(is_lost(queue.allocate_from(&later, 100)));
        queue.wait().unwrap();
    });
}

#[test]
fn whoever_waits_for_memory_of_a_lost_device_is_not_left_waiting() {
    watched(|| {
        let device = crate::support::device();
        let (stuck, asking) = (in_order(&device), in_order(&device));
        let options = PoolOptions {
            reuse: without_inserted_waits(),
            ..at_most(MIB)
        };
        let pool = pool(&device, options);
        let memory = stuck.allocate_from(&pool, MIB).unwrap();
        // Nobody opens it.
        let _gate = close_gate(&stuck);
        use_on(&stuck, &memory);
        drop(memory);
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| asking.allocate_from(&pool, MIB).map(drop));
            device.shutdown();
            let answer = waiting.join().unwrap();
            assert!(answer.is_ok() || is_lost(answer));
        });
        assert!(is_lost(asking.allocate_from(&pool, MIB)));
        check(&pool);
        pool.trim(0).unwrap();
        assert_eq!(pool.statistics().reserved, 0);
    });
}
