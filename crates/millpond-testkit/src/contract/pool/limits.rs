//! What a pool grants and what it refuses.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use millpond_runtime::pool::LARGEST_ALIGNMENT;
use millpond_runtime::{AllocateOptions, Error, Wait};

use super::{Held, PIECE, Place, fill, holds, statistics, take};

/// Exactly as much as it may have, not a byte more, and again after a free.
pub fn p10_a_maximum_is_reached_exactly_and_no_further(place: &Place) {
    let maximum = 32 * PIECE;
    let (pool, queue) = (place.pool(Some(maximum)), place.queue());
    for _ in 0..3 {
        let half = take(&queue, &pool, maximum / 2);
        let rest = take(&queue, &pool, maximum / 2);
        fill(&queue, &rest, 1);
        let refused = queue.allocate_from(&pool, 1);
        let Err(Error::OutOfMemory(report)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((report.requested, report.live), (1, 2));
        assert_eq!(report.maximum_size, Some(maximum));
        assert!(report.used <= maximum, "{report}");
        drop((half, rest));
    }
    let whole = take(&queue, &pool, maximum);
    assert!(statistics(&pool).used <= maximum);
    drop(whole);
}

/// At every moment, whatever many threads ask for at once.
pub fn f042_a_maximum_holds_with_many_threads(place: &Place) {
    let maximum = 16 * PIECE;
    let pool = place.pool(Some(maximum));
    thread::scope(|scope| {
        for number in 0..4_usize {
            let (pool, queue) = (pool.clone(), place.queue());
            scope.spawn(move || {
                for round in 0..40 {
                    let bytes = PIECE * (1 + (number + round) % 3);
                    if let Ok(memory) = queue.allocate_from(&pool, bytes) {
                        fill(&queue, &memory, number as u8);
                        let now = pool.statistics();
                        assert!(now.used <= maximum, "{now:?}");
                    }
                }
                queue.wait().expect("all went well");
            });
        }
    });
    assert_eq!(statistics(&pool).live, 0);
}

/// With an error that says so, and without a trace.
pub fn f027_sizes_near_the_end_of_the_address_space_are_refused(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    drop(take(&queue, &pool, PIECE));
    queue.wait().expect("all went well");
    let before = statistics(&pool);
    for bytes in [usize::MAX, usize::MAX - 511, isize::MAX as usize, 1 << 60] {
        let refused = queue.allocate_from(&pool, bytes);
        let Err(Error::OutOfMemory(report)) = refused else {
            panic!("{bytes} bytes: {refused:?}");
        };
        assert_eq!(report.requested, bytes);
    }
    let now = statistics(&pool);
    assert_eq!((now.live, now.used), (before.live, before.used));
    drop(take(&queue, &pool, PIECE));
}

/// And is freed like any other.
pub fn f029_size_zero_has_an_address_of_its_own(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    let (one, other) = (take(&queue, &pool, 0), take(&queue, &pool, 0));
    assert_ne!(one.address(), other.address());
    assert_eq!(one.bytes(), 0);
    drop((one, other));
    assert_eq!(statistics(&pool).live, 0);
}

/// From the least to the largest, on reuse as well; what isn't one is refused.
pub fn every_alignment_is_kept_to(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    for _ in 0..2 {
        let mut held = Vec::new();
        for alignment in [1, 256, 512, 4096, 1 << 16, LARGEST_ALIGNMENT] {
            let options = AllocateOptions {
                alignment,
                ..AllocateOptions::default()
            };
            let made = queue.allocate_with(&pool, 1000, &options);
            let (memory, _) = made.expect("the pool has memory");
            let address = memory.address().get();
            assert!(address.is_multiple_of(alignment.max(256)), "{alignment}");
            fill(&queue, &memory, alignment.ilog2() as u8);
            held.push((memory, alignment.ilog2() as u8));
        }
        for (memory, byte) in held {
            assert!(holds(&memory, byte));
        }
    }
    let odd = AllocateOptions {
        alignment: 3,
        ..AllocateOptions::default()
    };
    assert!(queue.allocate_with(&pool, 1000, &odd).is_err());
    queue.wait().expect("all went well");
    pool.trim(0).expect("it can be trimmed");
    assert_eq!(statistics(&pool).reserved, 0);
}

/// Or says that it may not.
pub fn p18_where_the_pool_cannot_grow_a_request_waits_for_frees(place: &Place) {
    let maximum = 32 * PIECE;
    let pool = place.pool(Some(maximum));
    let (one, other) = (place.queue(), place.queue());
    // Where the queue could be made to wait that is what would be done.
    let mut reuse = pool.reuse();
    reuse.internal_dependencies = false;
    pool.set_reuse(reuse);
    let memory = take(&one, &pool, maximum);
    let held = Held::back(&one);
    fill(&one, &memory, 1);
    drop(memory);
    let ask = |wait| {
        let options = AllocateOptions {
            wait,
            ..AllocateOptions::default()
        };
        other.allocate_with(&pool, maximum, &options)
    };
    let refused = ask(Wait::Never);
    assert!(matches!(refused, Err(Error::OutOfMemory(_))), "{refused:?}");
    let refused = ask(Wait::Until(Instant::now() + Duration::from_millis(5)));
    assert!(
        matches!(refused, Err(Error::TimedOut { .. })),
        "{refused:?}"
    );
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(20));
            drop(held);
        });
        let (memory, _) = ask(Wait::Forever).expect("the free is waited for");
        fill(&other, &memory, 2);
        assert!(holds(&memory, 2));
    });
}

/// By what they give up, where a request would fail.
pub fn reclaimers_make_room(place: &Place) {
    let maximum = 32 * PIECE;
    let (pool, queue) = (place.pool(Some(maximum)), place.queue());
    let cache = Arc::new(std::sync::Mutex::new(Some(take(&queue, &pool, maximum))));
    let held = Arc::clone(&cache);
    let _reclaimer = place.device.add_reclaimer(move |_| {
        let given_up = held.lock().expect("nobody panics").take();
        drop(given_up);
    });
    let memory = take(&queue, &pool, maximum);
    assert!(cache.lock().expect("nobody panics").is_none());
    drop(memory);
}
