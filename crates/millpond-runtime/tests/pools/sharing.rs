//! Tags and reclaimers: how several users of one device get along.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use millpond_runtime::{Allocation, Error, Level, MemoryKind, PoolOptions, Tag};
use millpond_testkit::watchdog::watched;

use crate::support::in_order;
use crate::{
    GIB, KIB, MIB, at_most, at_once, check, close_gate, each, null, pool, use_on,
    without_inserted_waits,
};

#[test]
fn tags_count_what_is_live_also_for_their_parents() {
    each(|device| {
        let queue = in_order(device);
        let service = Tag::new("service");
        let (one, other) = (service.child("one"), service.child("other"));
        let mut live: Vec<Allocation> = Vec::new();
        for tag in [&one, &other, &one] {
            let _scope = tag.scope();
            live.push(queue.allocate(MemoryKind::Device, 1000).unwrap());
            live.push(queue.allocate(MemoryKind::Shared, MIB).unwrap());
        }
        live.push(queue.allocate(MemoryKind::Device, 1000).unwrap());
        assert_eq!((one.used(), one.live()), (2 * (MIB + 1024), 4));
        assert_eq!((other.used(), other.live()), (MIB + 1024, 2));
        assert_eq!((service.used(), service.live()), (3 * (MIB + 1024), 6));
        assert_eq!(one.name(), "service/one");
        drop(live);
        for tag in [&one, &other, &service] {
            assert_eq!((tag.used(), tag.live()), (0, 0));
        }
        assert_eq!(service.used_high(), 3 * (MIB + 1024));
    });
}

#[test]
fn a_budget_refuses_with_its_values_and_charges_nobody() {
    each(|device| {
        let queue = in_order(device);
        let parent = Tag::new("parent");
        let child = parent.child("child");
        parent.set_budget(Some(3 * MIB));
        let _scope = child.scope();
        let kept = queue.allocate(MemoryKind::Device, 2 * MIB).unwrap();
        let answer = queue.allocate(MemoryKind::Device, 2 * MIB).unwrap_err();
        let Error::Budget {
            tag, used, budget, ..
        } = &answer
        else {
            panic!("{answer}")
        };
        assert_eq!((tag.as_str(), *used, *budget), ("parent", 2 * MIB, 3 * MIB));
        assert_eq!((child.used(), child.live()), (2 * MIB, 1));
        // A refusal of the pool gives the charge back as well.
        let small = pool(
            device,
            PoolOptions {
                maximum_size: Some(MIB / 2),
                ..PoolOptions::default()
            },
        );
        queue.allocate_from(&small, MIB).unwrap_err();
        assert_eq!((parent.used(), parent.live()), (2 * MIB, 1));
        drop(kept);
        assert_eq!(parent.used(), 0);
    });
}

#[test]
fn budgets_hold_with_many_threads() {
    watched(|| {
        let (_driver, device) = null(64 * GIB);
        let tag = Tag::new("tenant");
        tag.set_budget(Some(100 * MIB));
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    let queue = in_order(&device);
                    let _scope = tag.scope();
                    let mut live = Vec::new();
                    for step in 0..200 {
                        live.extend(queue.allocate(MemoryKind::Device, 3 * MIB));
                        assert!(tag.used() <= 100 * MIB);
                        if step % 3 == 0 {
                            live.pop();
                        }
                    }
                });
            }
        });
        assert_eq!((tag.used(), tag.live()), (0, 0));
        assert!(tag.used_high() > 90 * MIB);
    });
}

#[test]
fn reclaimers_are_asked_in_levels_and_in_order() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(
            device,
            PoolOptions {
                maximum_size: Some(2 * MIB),
                ..PoolOptions::default()
            },
        );
        let levels = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&levels);
        let first = device.add_reclaimer(move |pressure| {
            told.lock().unwrap().push((pressure.level, pressure.wanted));
        });
        let cache = Arc::new(Mutex::new(vec![
            queue.allocate_from(&pool, MIB).unwrap(),
            queue.allocate_from(&pool, MIB).unwrap(),
        ]));
        let held = Arc::clone(&cache);
        let second = device.add_reclaimer(move |pressure| {
            if pressure.level >= Level::Critical {
                held.lock().unwrap().pop();
            }
        });
        let memory = queue.allocate_from(&pool, MIB).unwrap();
        assert_eq!(cache.lock().unwrap().len(), 1);
        assert_eq!(
            *levels.lock().unwrap(),
            [(Level::Growth, MIB), (Level::Critical, MIB)]
        );
        drop(second);
        queue.allocate_from(&pool, MIB).unwrap_err();
        assert_eq!(cache.lock().unwrap().len(), 1);
        drop(first);
        let before = levels.lock().unwrap().len();
        queue.allocate_from(&pool, MIB).unwrap_err();
        assert_eq!(levels.lock().unwrap().len(), before);
        drop(memory);
        check(&pool);
    });
}

#[test]
fn what_a_reclaimer_frees_may_be_pending_and_a_reclaimer_may_allocate() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(
            device,
            PoolOptions {
                maximum_size: Some(2 * MIB),
                reuse: without_inserted_waits(),
                ..PoolOptions::default()
            },
        );
        let other = in_order(device);
        let big = queue.allocate_from(&pool, 2 * MIB).unwrap();
        let gate = close_gate(&queue);
        use_on(&queue, &big);
        let gate = Mutex::new(Some(gate));
        let big = Mutex::new(Some(big));
        let (own, inner) = (pool.clone(), in_order(device));
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let _reclaimer = device.add_reclaimer(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            // Its own request finds nothing, and asks no reclaimer.
            inner.allocate_from(&own, 2 * MIB).unwrap_err();
            drop(big.lock().unwrap().take());
            if let Some(gate) = gate.lock().unwrap().take() {
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(20));
                    gate.open();
                });
            }
        });
        other.allocate_from(&pool, 2 * MIB).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_soft_budget_is_told_and_lets_the_allocation_be() {
    each(|device| {
        let queue = in_order(device);
        let tag = Tag::new("phase");
        tag.set_soft_budget(Some(MIB));
        let told = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&told);
        let _reclaimer = device.add_reclaimer(move |pressure| {
            sink.lock()
                .unwrap()
                .push((pressure.level, pressure.tag.clone()));
        });
        let _scope = tag.scope();
        let _one = queue.allocate(MemoryKind::Device, MIB).unwrap();
        assert!(told.lock().unwrap().is_empty());
        let _two = queue.allocate(MemoryKind::Device, MIB).unwrap();
        assert_eq!(
            *told.lock().unwrap(),
            [(Level::Soft, Some("phase".to_owned()))]
        );
    });
}

#[test]
fn a_reclaimer_that_panics_ends_its_request_and_leaves_nothing_charged() {
    each(|device| {
        let queue = in_order(device);
        let parent = Tag::new("tenant");
        let tag = parent.child("phase");
        let pool = pool(device, at_most(MIB));
        let reclaimer = device.add_reclaimer(|pressure| panic!("{:?}", pressure.level));
        let held = queue.allocate_from(&pool, MIB).unwrap();
        let scope = tag.scope();
        let panics = |level: Level, bytes| {
            let request = || queue.allocate_from(&pool, bytes);
            let caught = catch_unwind(AssertUnwindSafe(request)).unwrap_err();
            let told = caught.downcast_ref::<String>();
            assert_eq!(told.map(String::as_str), Some(&*format!("{level:?}")));
            assert_eq!((tag.used(), tag.live()), (0, 0));
            assert_eq!((parent.used(), parent.live()), (0, 0));
            check(&pool);
        };
        panics(Level::Growth, MIB);
        tag.set_soft_budget(Some(KIB));
        panics(Level::Soft, 2 * KIB);
        drop((reclaimer, held));
        let memory = queue.allocate_from(&pool, MIB).unwrap();
        assert_eq!((tag.used(), parent.live()), (MIB, 1));
        drop(memory);
        assert_eq!((tag.used(), parent.live()), (0, 0));
        drop(scope);
    });
}

#[test]
fn idle_segments_that_are_enough_go_back_before_reclaimers_are_asked() {
    each(|device| {
        let queue = in_order(device);
        let options = PoolOptions {
            min_driver_alloc: 1,
            ..at_most(96 * MIB)
        };
        let pool = pool(device, options);
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let _reclaimer = device.add_reclaimer(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let parts = [(); 3].map(|()| queue.allocate_from(&pool, 32 * MIB).unwrap());
        let [_kept, first, second] = parts;
        drop((first, second));
        let whole = queue.allocate_from(&pool, 64 * MIB).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        drop(whole);
        // Those that aren't enough stay, and reclaimers are asked.
        let before = pool.statistics().reserved;
        queue
            .allocate_with(&pool, 96 * MIB, &at_once())
            .unwrap_err();
        assert!(calls.load(Ordering::Relaxed) > 0);
        assert!(pool.statistics().reserved <= before);
        check(&pool);
    });
}
