//! What a pool says that it has.

use millpond_runtime::{Allocation, Tag};

use super::{PIECE, Place, fill, statistics, take};

/// Used, pending and cached bytes are all that is reserved, at any step.
pub fn what_a_pool_has_adds_up(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    assert_eq!(statistics(&pool).reserved, 0, "nothing is had in advance");
    let mut held = Vec::new();
    for (count, bytes) in [1, 1000, PIECE, 3 * PIECE + 5].into_iter().enumerate() {
        let memory = take(&queue, &pool, bytes);
        fill(&queue, &memory, 1);
        held.push(memory);
        let now = statistics(&pool);
        assert_eq!(now.live, count + 1);
        assert_eq!(
            now.requested,
            held.iter().map(Allocation::bytes).sum::<usize>()
        );
    }
    while let Some(memory) = held.pop() {
        drop(memory);
        assert_eq!(statistics(&pool).live, held.len());
    }
    queue.wait().expect("all went well");
    let now = statistics(&pool);
    assert_eq!((now.used, now.requested, now.pending), (0, 0, 0), "{now:?}");
}

/// They count on from there.
pub fn p12_high_marks_are_set_back_to_what_is_now(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    let kept = take(&queue, &pool, PIECE);
    drop(take(&queue, &pool, 8 * PIECE));
    queue.wait().expect("all went well");
    let before = statistics(&pool);
    assert!(
        before.used_high >= 9 * PIECE && before.used < 8 * PIECE,
        "{before:?}"
    );
    pool.trim(0).expect("it can be trimmed");
    pool.reset_highs();
    let after = statistics(&pool);
    assert_eq!(after.used_high, after.used, "{after:?}");
    assert_eq!(after.reserved_high, after.reserved, "{after:?}");
    let more = take(&queue, &pool, 2 * PIECE);
    assert!(statistics(&pool).used_high >= 3 * PIECE);
    drop((kept, more));
}

/// A tag counts an allocation until it is freed, as granted.
pub fn tags_count_what_is_granted(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    let tag = Tag::new("counted");
    let memory = {
        let _scope = tag.scope();
        take(&queue, &pool, PIECE + 1)
    };
    assert_eq!(tag.used(), statistics(&pool).used);
    assert!(tag.used() > PIECE);
    tag.set_budget(Some(tag.used() + PIECE / 2));
    let beyond = {
        let _scope = tag.scope();
        queue.allocate_from(&pool, PIECE)
    };
    assert!(beyond.is_err(), "{beyond:?}");
    drop(memory);
    assert_eq!(tag.used(), 0);
    assert_eq!(statistics(&pool).live, 0);
}

/// Two pools of a kind count apart, and neither counts what the default pool has.
pub fn f045_each_pool_tells_of_its_own_memory(place: &Place) {
    let (one, other, queue) = (place.pool(None), place.pool(None), place.queue());
    let memory = take(&queue, &one, PIECE);
    assert_eq!((one.statistics().live, other.statistics().live), (1, 0));
    assert_eq!(statistics(&other).reserved, 0);
    assert!(memory.is_from(&one) && !memory.is_from(&other));
    assert_ne!(one, other);
}
