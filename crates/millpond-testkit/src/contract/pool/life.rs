//! How pools, and what comes from them, begin and end.

use millpond_runtime::{Error, PoolOptions};

use super::{Held, PIECE, Place, fill, holds, statistics, take};

/// A default pool can't be closed; a closed pool isn't current any more.
pub fn p05_p06_the_current_pool_serves_until_it_is_closed(place: &Place) {
    let (device, kind) = (&place.device, place.kind);
    let (pool, queue) = (place.pool(None), place.queue());
    let default = device.default_pool(kind);
    assert!(default.close().is_err());
    device.set_current_pool(&pool).expect("it is open");
    assert_eq!(device.current_pool(kind), pool);
    let memory = queue.allocate(kind, PIECE).expect("memory");
    assert!(memory.is_from(&pool));
    pool.close().expect("it isn't the default pool");
    assert_eq!(device.current_pool(kind), default);
    let other = queue.allocate(kind, PIECE).expect("memory");
    assert!(other.is_from(&default));
    let refused = device.set_current_pool(&pool);
    assert!(
        matches!(refused, Err(Error::PoolClosed { .. })),
        "{refused:?}"
    );
    device.set_current_pool(&default).expect("it is there");
}

/// What is live stays as it is, and is freed as ever.
pub fn p07_a_closed_pool_keeps_what_is_live(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    let memory = take(&queue, &pool, PIECE);
    fill(&queue, &memory, 7);
    drop(take(&queue, &pool, PIECE));
    pool.close().expect("it isn't the default pool");
    let refused = queue.allocate_from(&pool, PIECE);
    assert!(
        matches!(refused, Err(Error::PoolClosed { .. })),
        "{refused:?}"
    );
    assert!(holds(&memory, 7));
    drop(memory);
    queue.wait().expect("all went well");
    let now = statistics(&pool);
    assert_eq!((now.live, now.reserved), (0, 0), "{now:?}");
}

/// What is free beyond it goes back at a wait.
pub fn p08_a_threshold_is_kept_to_at_the_next_wait(place: &Place) {
    let queue = place.queue();
    let pool = place.pool_with(PoolOptions {
        release_threshold: Some(0),
        ..place.options.clone()
    });
    let memory = take(&queue, &pool, 4 * PIECE);
    fill(&queue, &memory, 1);
    drop(memory);
    queue.wait().expect("all went well");
    assert_eq!(statistics(&pool).reserved, 0);
    pool.set_release_threshold(None);
    assert_eq!(pool.release_threshold(), None);
    drop(take(&queue, &pool, 4 * PIECE));
    queue.wait().expect("all went well");
    assert!(statistics(&pool).reserved >= 4 * PIECE);
}

/// What is in use or pending stays.
pub fn p09_trim_gives_back_what_is_free_and_keeps_the_rest(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    let kept = take(&queue, &pool, PIECE);
    fill(&queue, &kept, 3);
    let gone = take(&queue, &pool, 64 * PIECE);
    {
        let _held = Held::back(&queue);
        fill(&queue, &gone, 1);
        drop(gone);
        pool.trim(0).expect("it can be trimmed");
        let now = statistics(&pool);
        assert!(now.pending >= 64 * PIECE, "{now:?}");
    }
    queue.wait().expect("all went well");
    pool.trim(0).expect("it can be trimmed");
    let now = statistics(&pool);
    assert!(
        now.reserved >= PIECE && now.reserved < 64 * PIECE,
        "{now:?}"
    );
    assert!(holds(&kept, 3));
    drop(kept);
    queue.wait().expect("all went well");
    pool.trim(0).expect("it can be trimmed");
    assert_eq!(statistics(&pool).reserved, 0);
}

/// By the call that frees in queue order, and by dropping it.
pub fn p13_memory_is_freed_in_either_way(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    let memory = take(&queue, &pool, PIECE);
    let freed = queue.free(memory, &[]).map_err(|(error, _)| error);
    let freed = freed.expect("nobody else has it");
    freed.wait().expect("a free goes well");
    drop(take(&queue, &pool, PIECE));
    assert_eq!(statistics(&pool).live, 0);
}

/// Nobody frees what somebody else has.
pub fn p14_memory_is_freed_by_its_only_holder(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    let memory = take(&queue, &pool, PIECE);
    let other = memory.clone();
    let (error, memory) = queue.free(memory, &[]).expect_err("there are two handles");
    assert!(
        matches!(error, Error::Shared { handles: 1, .. }),
        "{error:?}"
    );
    assert_eq!(statistics(&pool).live, 1);
    drop(other);
    let freed = queue.free(memory, &[]);
    assert!(freed.is_ok(), "{freed:?}");
    assert_eq!(statistics(&pool).live, 0);
}

/// No later queue takes them for its own.
pub fn p20_a_queue_that_is_gone_leaves_its_pending_frees_to_the_pool(place: &Place) {
    let pool = place.pool(None);
    for round in 0..20 {
        let queue = place.queue();
        let memory = take(&queue, &pool, PIECE);
        for _ in 0..4 {
            fill(&queue, &memory, round);
        }
        drop((memory, queue));
        let next = place.queue();
        let memory = take(&next, &pool, PIECE);
        fill(&next, &memory, round + 100);
        assert!(holds(&memory, round + 100), "round {round}");
    }
    place.device.wait().expect("all went well");
    pool.trim(0).expect("it can be trimmed");
    assert_eq!(statistics(&pool).reserved, 0);
}
