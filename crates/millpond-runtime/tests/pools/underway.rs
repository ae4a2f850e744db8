//! Memory that is on its way: from the driver to a pool, or back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use millpond_hal::Driver;
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{AllocateOptions, Device, Error, Pool, PoolOptions, Queue, Wait};
use millpond_testkit::watchdog::watched;

use crate::provider::Provider;
use crate::support::in_order;
use crate::{KIB, MIB, at_most, check, pool};

fn slow(memory: usize) -> (Arc<Provider>, Device) {
    let driver = NullDriver::with(NullOptions {
        memory,
        ..NullOptions::default()
    });
    Provider::over(Arc::new(driver) as Arc<dyn Driver>)
}

/// A pool of a slow device, and two queues.
struct Scene {
    provider: Arc<Provider>,
    device: Device,
    pool: Pool,
    one: Queue,
    other: Queue,
}

fn scene(memory: usize, options: PoolOptions) -> Scene {
    let (provider, device) = slow(memory);
    Scene {
        pool: pool(&device, options),
        one: in_order(&device),
        other: in_order(&device),
        provider,
        device,
    }
}

/// Runs `first` on a thread of its own, holds it in its first call of the driver, runs `second`
/// meanwhile, and lets the call return some time after `second` began.
fn meanwhile<T>(
    provider: &Provider,
    first: impl FnOnce() + Send,
    second: impl FnOnce() -> T + Send,
) -> T
where
    T: Send,
{
    let (entered, enter) = channel();
    let (open, opened) = channel::<()>();
    let once = std::sync::Mutex::new(Some((entered, opened)));
    provider.set_hook(Some(Arc::new(move || {
        if let Some((entered, opened)) = once.lock().unwrap().take() {
            entered.send(()).unwrap();
            let _ = opened.recv();
        }
    })));
    let answer = thread::scope(|scope| {
        scope.spawn(first);
        enter.recv().unwrap();
        let second = scope.spawn(second);
        // Long enough to be refused by whoever doesn't wait.
        thread::sleep(Duration::from_millis(50));
        drop(open);
        second.join().unwrap()
    });
    provider.set_hook(None);
    answer
}

#[test]
fn a_request_that_growth_underway_would_serve_waits_for_it() {
    watched(|| {
        let scene = scene(64 * MIB, at_most(32 * MIB));
        let (pool, one, other) = (&scene.pool, &scene.one, &scene.other);
        let _memory = meanwhile(
            &scene.provider,
            || drop(one.allocate_from(pool, KIB).unwrap()),
            || other.allocate_from(pool, KIB),
        )
        .unwrap();
        check(pool);
    });
}

#[test]
fn reclaimers_are_asked_for_nothing_that_is_underway_already() {
    watched(|| {
        let scene = scene(64 * MIB, at_most(32 * MIB));
        let (pool, one, other) = (&scene.pool, &scene.one, &scene.other);
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let _reclaimer = scene.device.add_reclaimer(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        let _memory = meanwhile(
            &scene.provider,
            || drop(one.allocate_from(pool, KIB).unwrap()),
            || other.allocate_from(pool, KIB),
        )
        .unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        check(pool);
    });
}

#[test]
fn a_request_that_memory_going_back_makes_room_for_waits_for_it() {
    watched(|| {
        let options = PoolOptions {
            min_driver_alloc: 1,
            ..at_most(32 * MIB)
        };
        let scene = scene(64 * MIB, options);
        let (pool, one, other) = (&scene.pool, &scene.one, &scene.other);
        drop(one.allocate_from(pool, 16 * MIB).unwrap());
        let _memory = meanwhile(
            &scene.provider,
            || pool.trim(0).unwrap(),
            || other.allocate_from(pool, 32 * MIB),
        )
        .unwrap();
        check(pool);
    });
}

#[test]
fn a_request_finds_what_another_pool_is_giving_back() {
    watched(|| {
        let scene = scene(32 * MIB, PoolOptions::default());
        let (mine, one, other) = (&scene.pool, &scene.one, &scene.other);
        let theirs = pool(&scene.device, PoolOptions::default());
        drop(one.allocate_from(&theirs, 32 * MIB).unwrap());
        let _memory = meanwhile(
            &scene.provider,
            || theirs.trim(0).unwrap(),
            || other.allocate_from(mine, 32 * MIB),
        )
        .unwrap();
        check(mine);
    });
}

#[test]
fn a_request_finds_what_is_going_back_of_a_pool_that_is_gone() {
    watched(|| {
        let scene = scene(32 * MIB, PoolOptions::default());
        let (mine, one, other) = (&scene.pool, &scene.one, &scene.other);
        let theirs = pool(&scene.device, PoolOptions::default());
        let last = one.allocate_from(&theirs, 32 * MIB).unwrap();
        drop(theirs);
        drop(last);
        let _memory = meanwhile(
            &scene.provider,
            || one.wait().unwrap(),
            || other.allocate_from(mine, 32 * MIB),
        )
        .unwrap();
        check(mine);
    });
}

#[test]
fn a_request_that_may_not_wait_doesnt_wait_for_the_driver_either() {
    watched(|| {
        let scene = scene(64 * MIB, at_most(32 * MIB));
        let (pool, one, other) = (&scene.pool, &scene.one, &scene.other);
        let ask = |wait| AllocateOptions {
            wait,
            ..AllocateOptions::default()
        };
        let (never, until) = meanwhile(
            &scene.provider,
            || drop(one.allocate_from(pool, KIB).unwrap()),
            || {
                let never = other.allocate_with(pool, KIB, &ask(Wait::Never));
                let soon = Instant::now() + Duration::from_millis(1);
                (
                    never,
                    other.allocate_with(pool, KIB, &ask(Wait::Until(soon))),
                )
            },
        );
        assert!(matches!(never, Err(Error::OutOfMemory(_))), "{never:?}");
        assert!(matches!(until, Err(Error::TimedOut { .. })), "{until:?}");
        check(pool);
    });
}
