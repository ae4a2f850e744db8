//! That uses of the same bytes have an order, through every end of an allocation and beginning of the
//! next.

use millpond_runtime::{AllocateOptions, PoolOptions, Queue, Status, Zero};

use super::{Held, PIECE, Place, fill, holds, statistics, take};
use crate::dice::Dice;

/// While the work that used it may be pending.
pub fn p01_an_in_order_queue_gets_the_address_it_freed(place: &Place) {
    let (pool, queue) = (place.pool(None), place.queue());
    let memory = take(&queue, &pool, PIECE);
    let address = memory.address();
    for round in 0..50 {
        fill(&queue, &memory, round);
    }
    drop(memory);
    for round in 0..50 {
        let memory = take(&queue, &pool, PIECE);
        assert_eq!(memory.address(), address);
        fill(&queue, &memory, round);
    }
    queue.wait().expect("all went well");
}

/// Both by events that are complete no sooner.
pub fn p03_an_allocation_begins_behind_its_events_and_a_free_comes_behind_its_own(place: &Place) {
    let (pool, queue, other) = (place.pool(None), place.queue(), place.queue());
    let held = Held::back(&other);
    let gate = held.event.clone();
    let options = AllocateOptions {
        after: &[&gate],
        ..AllocateOptions::default()
    };
    let made = queue.allocate_with(&pool, PIECE, &options);
    let (memory, begun) = made.expect("the pool has memory");
    assert_eq!(begun.status(), Status::Pending);
    let freed = queue.free(memory, &[&gate]).map_err(|(error, _)| error);
    let freed = freed.expect("nobody else has it");
    assert_eq!(freed.status(), Status::Pending);
    drop(held);
    begun.wait().expect("the gate is open");
    freed.wait().expect("the gate is open");
    assert_eq!(statistics(&pool).live, 0);
}

/// By what one writes and the other reads, and by who has the memory next.
pub fn p16_memory_goes_from_queue_to_queue_in_order(place: &Place) {
    let pool = place.pool(None);
    let queues = [place.queue(), place.queue(), place.unordered()];
    let mut memory = take(&queues[0], &pool, PIECE);
    fill(&queues[0], &memory, 0);
    for step in 1..40_usize {
        let queue = &queues[step % queues.len()];
        let next = take(queue, &pool, PIECE);
        let copied = queue.copy(&memory, 0, &next, 0, PIECE);
        copied.expect("the queue takes a copy");
        memory = next;
        if step % 10 == 0 {
            assert!(holds(&memory, step as u8 / 10 - 1), "step {step}");
            fill(queue, &memory, step as u8 / 10);
        }
    }
    assert!(holds(&memory, 3));
}

/// Though its own queue has long been done with it.
pub fn f014_memory_freed_by_dropping_it_waits_for_every_queue_that_used_it(place: &Place) {
    let (pool, queue, other) = (place.pool(None), place.queue(), place.queue());
    let result = take(&other, &pool, PIECE);
    for round in 0..20_u8 {
        let memory = take(&queue, &pool, PIECE);
        fill(&queue, &memory, round);
        let held = Held::back(&other);
        let copied = other.copy(&memory, 0, &result, 0, PIECE);
        copied.expect("the queue takes a copy");
        drop(memory);
        let next = take(&queue, &pool, PIECE);
        fill(&queue, &next, 255 - round);
        drop(held);
        assert!(holds(&result, round) && holds(&next, 255 - round));
    }
}

/// A program that chance writes, on several queues: what it writes is what is read.
pub fn f016_no_two_uses_of_the_same_bytes_are_unordered(place: &Place) {
    let pool = place.pool(None);
    let queues: Vec<Queue> = vec![
        place.queue(),
        place.queue(),
        place.queue(),
        place.unordered(),
    ];
    let mut dice = Dice::numbered(31);
    let mut live = Vec::new();
    for step in 0..300_usize {
        let queue = &queues[dice.roll(queues.len())];
        match dice.roll(4) {
            0 | 1 => {
                let bytes = 4096 << dice.roll(4);
                let memory = take(queue, &pool, bytes);
                fill(queue, &memory, step as u8);
                live.push((memory, step as u8));
            }
            2 if !live.is_empty() => {
                let (memory, byte) = live.swap_remove(dice.roll(live.len()));
                let copy = take(queue, &pool, memory.bytes());
                let copied = queue.copy(&memory, 0, &copy, 0, memory.bytes());
                copied.expect("the queue takes a copy");
                live.push((copy, byte));
            }
            _ if !live.is_empty() => {
                let (memory, byte) = live.swap_remove(dice.roll(live.len()));
                if dice.roll(4) == 0 {
                    assert!(holds(&memory, byte), "step {step}");
                } else if dice.roll(2) == 0 {
                    let freed = queue.free(memory, &[]);
                    assert!(freed.is_ok(), "{freed:?}");
                }
            }
            _ => {}
        }
    }
    for (memory, byte) in live {
        assert!(holds(&memory, byte));
    }
    place.device.wait().expect("all went well");
    assert_eq!(statistics(&pool).live, 0);
}

/// Whatever was there before.
pub fn zeros_are_there_on_reuse_as_well(place: &Place) {
    let queue = place.queue();
    let pool = place.pool_with(PoolOptions {
        zero: Zero::Always,
        ..place.options.clone()
    });
    for _ in 0..5 {
        let memory = take(&queue, &pool, PIECE);
        assert!(holds(&memory, 0));
        fill(&queue, &memory, 9);
    }
}
