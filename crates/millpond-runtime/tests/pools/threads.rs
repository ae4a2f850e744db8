//! Threads, locks and re-entrance.

use std::sync::{Arc, Mutex};

use millpond_hal::null::NullDriver;
use millpond_runtime::{Allocation, Event, MemoryKind, PoolOptions};
use millpond_testkit::watchdog::watched;

use crate::provider::Provider;
use crate::support::in_order;
use crate::{Dice, GIB, MIB, at_most, at_once, check, close_gate, each, null, pool, use_on};

#[test]
fn f060_memory_of_threads_that_ended_is_there_for_others() {
    each(|device| {
        let pool = pool(device, PoolOptions::default());
        for _ in 0..20 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let queue = in_order(device);
                        drop(queue.allocate_from(&pool, 8 * MIB).unwrap());
                    });
                }
            });
        }
        let held = pool.statistics();
        assert_eq!(held.used, 0);
        assert!(held.reserved <= 4 * 32 * MIB, "{held:?}");
        pool.trim(0).unwrap();
        assert_eq!(pool.statistics().reserved, 0);
    });
}

#[test]
fn f057_reclaimers_free_allocate_and_ask_while_eight_threads_do_the_same() {
    watched(|| {
        let (driver, device) = null(64 * GIB);
        let provider = Arc::clone(&driver.null_devices()[0]);
        let pool = pool(&device, at_most(32 * MIB));
        let cache: Arc<Mutex<Vec<Allocation>>> = Arc::default();
        let (held, own, inner) = (Arc::clone(&cache), pool.clone(), in_order(&device));
        let reclaimer = device.add_reclaimer(move |_| {
            let some: Vec<_> = held.lock().unwrap().drain(..).collect();
            drop(some);
            drop(inner.allocate_with(&own, MIB, &at_once()));
            own.statistics();
            own.trim(0).unwrap();
        });
        std::thread::scope(|threads| {
            for seed in 1..9 {
                let (device, pool, cache) = (&device, &pool, &cache);
                threads.spawn(move || {
                    let (queue, mut dice) = (in_order(device), Dice::new(seed));
                    let mut live = Vec::new();
                    for _ in 0..300 {
                        let bytes = (1 + dice.roll(6)) * MIB;
                        match queue.allocate_from(pool, bytes) {
                            Ok(memory) if dice.roll(3) == 0 => cache.lock().unwrap().push(memory),
                            Ok(memory) => {
                                use_on(&queue, &memory);
                                live.push(memory);
                            }
                            Err(_) => live.clear(),
                        }
                        if live.len() > 2 {
                            live.swap_remove(dice.roll(live.len()));
                        }
                    }
                });
            }
        });
        drop(reclaimer);
        cache.lock().unwrap().clear();
        device.wait().unwrap();
        check(&pool);
        assert_eq!(pool.statistics().live, 0);
        pool.trim(0).unwrap();
        assert_eq!(provider.allocated_bytes(), 0);
    });
}

#[test]
fn f058_waits_events_queues_pools_and_allocations_never_lock_each_other_up() {
    each(|device| {
        let pool = pool(device, at_most(64 * MIB));
        let _reclaimer = device.add_reclaimer(|_| {});
        let turns = || 0..400;
        let (pool, queue) = (&pool, &in_order(device));
        std::thread::scope(|threads| {
            threads.spawn(move || turns().for_each(|_| queue.wait().unwrap()));
            threads.spawn(move || turns().for_each(|_| device.wait().unwrap()));
            for bytes in [MIB, 9 * MIB] {
                threads.spawn(move || {
                    let other = in_order(device);
                    for _ in turns() {
                        if let Ok(memory) = queue.allocate_from(pool, bytes) {
                            use_on(&other, &memory);
                            drop(other.free(memory, &[]));
                        }
                    }
                });
            }
            threads.spawn(move || {
                for _ in turns() {
                    let short = in_order(device);
                    let events: Vec<Event> = (0..4).map(|_| short.record().unwrap()).collect();
                    queue.barrier(&events.iter().collect::<Vec<_>>()).unwrap();
                    drop(short.allocate_from(pool, MIB));
                }
            });
            threads.spawn(move || {
                for _ in turns() {
                    let short = crate::pool(device, PoolOptions::default());
                    let recorder = pool.record();
                    drop(queue.allocate_from(&short, 100).unwrap());
                    pool.statistics();
                    pool.fit(MIB);
                    drop(recorder.finish());
                    pool.trim(0).unwrap();
                }
            });
        });
        device.wait().unwrap();
        check(pool);
    });
}

#[test]
fn f062_a_wait_looks_after_every_pool_and_not_just_the_first() {
    watched(|| {
        let (provider, device) = Provider::over(Arc::new(NullDriver::default()));
        let (queue, waiting) = (in_order(&device), in_order(&device));
        let options = PoolOptions {
            release_threshold: Some(0),
            ..PoolOptions::default()
        };
        let pools = [(); 3].map(|()| pool(&device, options.clone()));
        for last in 0..3 {
            let memory = queue.allocate_from(&pools[last], MIB).unwrap();
            let gate = close_gate(&queue);
            use_on(&queue, &memory);
            drop(memory);
            gate.open();
            use_on(&waiting, &waiting.allocate(MemoryKind::Host, 1).unwrap());
            device.wait().unwrap();
            let held = pools.each_ref().map(|pool| pool.statistics().reserved);
            assert_eq!(held, [0; 3]);
        }
        let host = device.default_pool(MemoryKind::Host);
        assert_eq!(provider.bytes(), host.statistics().reserved);
    });
}
