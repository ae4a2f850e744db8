//! No driver is called while a lock of a pool is held, and no lock is shared by all.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use millpond_hal::Driver;
use millpond_hal::null::NullDriver;
use millpond_runtime::{AllocateOptions, Error, MemoryKind, PoolOptions, QueueOptions, Reuse};
use millpond_testkit::watchdog::watched;

use crate::provider::Provider;
use crate::support::{driver, in_order};
use crate::{KIB, MIB, at_most, at_once, close_gate, use_on};

thread_local! {
    /// Whether this is the thread that calls of the driver wait for.
    static IS_HELPER: Cell<bool> = const { Cell::new(false) };
}

/// While a driver is in a call, another thread does all that a pool offers, and the call doesn't
/// return before: with a lock held neither would ever end.
#[test]
fn f059_a_driver_may_be_slow_and_pools_go_on() {
    watched(|| {
        for driver in [Arc::new(NullDriver::default()) as Arc<dyn Driver>, driver()] {
            let (provider, device) = Provider::over(driver);
            let queue = in_order(&device);
            let pools = [
                PoolOptions {
                    max_poolable: Some(9 * MIB),
                    release_threshold: Some(0),
                    min_driver_alloc: 1,
                    ..at_most(64 * MIB)
                },
                PoolOptions::default(),
            ]
            .map(|options| crate::pool(&device, options));
            let (ask, asked) = channel::<()>();
            let (answer, answered) = channel::<()>();
            let (helped, wanted) = (device.clone(), pools.clone());
            let own = queue.clone();
            let helper = std::thread::spawn(move || {
                IS_HELPER.set(true);
                let other = in_order(&helped);
                let mut helps = 0;
                while asked.recv().is_ok() {
                    for pool in &wanted {
                        for queue in [&own, &other] {
                            // Its own driver calls return at once.
                            drop(queue.allocate_with(pool, 10 * KIB, &at_once()));
                        }
                        pool.statistics();
                        pool.fit(MIB);
                        let _ = pool.trim(MIB);
                    }
                    helped.default_pool(MemoryKind::Device).statistics();
                    drop(helped.create_queue(&QueueOptions::default()));
                    own.record().unwrap();
                    helps += 1;
                    answer.send(()).unwrap();
                }
                helps
            });
            let turn = Mutex::new((ask, answered));
            provider.set_hook(Some(Arc::new(move || {
                if IS_HELPER.get() {
                    return;
                }
                let turn = turn.lock().unwrap();
                turn.0.send(()).unwrap();
                turn.1.recv().unwrap();
            })));
            for pool in &pools {
                for bytes in [100, MIB, 7 * MIB, 30 * MIB] {
                    let memory = queue.allocate_from(pool, bytes).unwrap();
                    use_on(&queue, &memory);
                    drop(memory);
                    queue.wait().unwrap();
                }
                pool.trim(0).unwrap();
                let held: Vec<_> = std::iter::from_fn(|| {
                    let options = AllocateOptions { ..at_once() };
                    queue.allocate_with(pool, 8 * MIB, &options).ok()
                })
                .take(20)
                .collect();
                let answer = queue.allocate_with(pool, 60 * MIB, &at_once());
                if let Err(error) = answer {
                    assert!(matches!(error, Error::OutOfMemory(_)), "{error}");
                }
                let gate = close_gate(&queue);
                for (memory, _) in &held {
                    use_on(&queue, memory);
                }
                drop(held);
                gate.open();
                queue.wait().unwrap();
            }
            drop(device.create_queue(&QueueOptions::default()).unwrap());
            let [first, second] = pools;
            first.close().unwrap();
            drop((first, second));
            queue.wait().unwrap();
            provider.set_hook(None);
            assert!(helper.join().unwrap() > 8);
        }
    });
}

/// Pools and records of uses refer to queues whose handles are gone, and let go of them under their
/// locks. A queue of a driver ends without any.
#[test]
fn f059_no_queue_of_a_driver_ends_while_a_lock_is_held() {
    watched(|| {
        let (provider, device) = Provider::over(Arc::new(NullDriver::default()));
        let options = PoolOptions {
            reuse: Reuse {
                opportunistic: false,
                ..Reuse::default()
            },
            ..PoolOptions::default()
        };
        let pool = crate::pool(&device, options);
        let home = in_order(&device);
        let ends = Arc::new(AtomicUsize::new(0));
        let (count, asked, line) = (Arc::clone(&ends), pool.clone(), home.clone());
        let look = Arc::new(move || {
            asked.statistics();
            line.record().unwrap();
            count.fetch_add(1, SeqCst);
        });
        // The store lets go of the last reference, or the record of memory that is in use.
        for is_freed in [true, false] {
            let user = in_order(&device);
            let mut memory = Some(home.allocate_from(&pool, MIB).unwrap());
            let gate = close_gate(&user);
            use_on(&user, memory.as_ref().unwrap());
            if is_freed {
                memory = None;
                pool.largest_free();
            }
            drop((user, gate));
            provider.set_hook(Some(Arc::clone(&look) as _));
            device.wait().unwrap();
            pool.largest_free();
            if let Some(memory) = memory {
                use_on(&home, &memory);
            }
            device.wait().unwrap();
            provider.set_hook(None);
            assert_eq!(ends.swap(0, SeqCst), 1);
        }
    });
}

/// Memory that goes to the store may have been used by other queues, whose driver is asked first.
#[test]
fn f059_no_queue_is_asked_how_far_it_is_while_the_store_is_locked() {
    watched(|| {
        let (provider, device) = Provider::over(Arc::new(NullDriver::default()));
        let pool = crate::pool(&device, PoolOptions::default());
        let (home, user) = (in_order(&device), in_order(&device));
        let memory = home.allocate_from(&pool, MIB).unwrap();
        let gate = close_gate(&user);
        use_on(&user, &memory);
        drop(memory);
        let asked = Arc::new(AtomicUsize::new(0));
        let (count, looked_at) = (Arc::clone(&asked), pool.clone());
        provider.set_question(Some(Arc::new(move || {
            // What this asks itself is no question to ask again at.
            if IS_HELPER.replace(true) {
                return;
            }
            looked_at.statistics();
            count.fetch_add(1, SeqCst);
            IS_HELPER.set(false);
        })));
        pool.trim(0).unwrap();
        provider.set_question(None);
        assert!(asked.load(SeqCst) > 1, "of the block and of the store");
        gate.open();
        device.wait().unwrap();
    });
}
