//! Queues that threads hold while others use them, and while they use others themselves.

use std::sync::Arc;

use millpond_types::MemoryKind;
use shuttle::thread;

use super::provider::{Provider, check, queue};
use crate::queue::Queue;

const KIND: MemoryKind = MemoryKind::Device;

/// Holds two queues, one inside of the other, and allocates and frees across.
fn hold_both(first: &Queue, second: &Queue) {
    first.hold(|first| {
        let one = first.allocate(KIND, 1000).unwrap();
        second.hold(|second| {
            let two = second.allocate(KIND, 1000).unwrap();
            first.free(two);
            second.free(one);
        });
    });
}

#[test]
fn threads_that_hold_two_queues_in_opposite_orders_take_turns() {
    check(2000, || {
        let (device, _provider) = Provider::open(None, false);
        let queues = Arc::new([queue(&device), queue(&device)]);
        let other = Arc::clone(&queues);
        let thread = thread::spawn(move || hold_both(&other[1], &other[0]));
        hold_both(&queues[0], &queues[1]);
        thread.join().unwrap();
        let held = device.pool(KIND).statistics();
        assert_eq!((held.live, held.used, held.requested), (0, 0, 0));
        assert_eq!(held.cached, held.reserved);
    });
}

#[test]
fn a_queue_that_is_held_gives_way_to_destructors_and_waits() {
    check(2000, || {
        let (device, provider) = Provider::open(None, false);
        let shared = queue(&device);
        let other = shared.clone();
        let memory = shared.allocate(KIND, 1000).unwrap();
        let thread = thread::spawn(move || {
            drop(memory);
            provider.watch(other.allocate(KIND, 1000).unwrap());
        });
        shared.hold(|held| {
            let kept = held.allocate(KIND, 1000).unwrap();
            drop(held.allocate(KIND, 500).unwrap());
            held.free(held.allocate(KIND, 1000).unwrap());
            shared.wait().unwrap();
            held.free(kept);
        });
        thread.join().unwrap();
        let held = device.pool(KIND).statistics();
        assert_eq!((held.live, held.cached), (0, held.reserved));
    });
}
