//! What comes after what.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::gate::Gate;
use crate::support::shapes::Handle;
use crate::support::world::{OUT_OF_ORDER, World, ok};

const BYTES: usize = 4096;

/// Shared memory of the test, and a queue that is held.
fn held(world: &World) -> Option<(*mut c_void, Handle, Gate)> {
    let queue = world.queue(0);
    let mut memory = ptr::null_mut();
    ok((world.f.urUSMSharedAlloc)(
        world.context,
        world.device,
        ptr::null(),
        ptr::null_mut(),
        BYTES,
        &raw mut memory,
    ));
    let gate = Gate::close(queue)?;
    Some((memory, queue, gate))
}

fn give_back(world: &World, memory: *mut c_void) {
    ok((world.f.urUSMFree)(world.context, memory));
}

#[test]
fn commands_come_after_the_events_that_they_wait_for() {
    let world = World::new();
    let Some((memory, one, gate)) = held(&world) else {
        return;
    };
    let mut all = Vec::new();
    for flags in [0, OUT_OF_ORDER] {
        let two = world.queue(flags);
        let first = world.fill(one, memory, 1, BYTES, &[]);
        let second = world.fill(two, memory, 2, BYTES, &[first]);
        assert!(world.stays_pending(first) && world.stays_pending(second));
        all.push(second);
        if flags == OUT_OF_ORDER {
            gate.open();
        }
    }
    world.finish(one);
    for second in all {
        world.wait(second);
    }
    let queue = world.queue(0);
    let last = world.fill(one, memory, 9, BYTES, &[]);
    assert!(
        world
            .read(queue, memory, BYTES, &[last])
            .iter()
            .all(|&byte| byte == 9)
    );
    give_back(&world, memory);
}

#[test]
fn an_allocation_and_what_follows_it_wait_for_its_events() {
    let world = World::new();
    let Some((memory, held_queue, gate)) = held(&world) else {
        return;
    };
    for flags in [0, OUT_OF_ORDER] {
        let queue = world.queue(flags);
        let (got, code, ready) = world.try_alloc(queue, ptr::null_mut(), BYTES, &[gate.event]);
        ok(code);
        let filled = world.fill(queue, got, 1, BYTES, &[ready]);
        let freed = world.free(queue, got, &[filled]);
        for event in [ready, filled, freed] {
            assert!(world.stays_pending(event));
        }
    }
    gate.open();
    world.finish(held_queue);
    give_back(&world, memory);
}

#[test]
fn an_out_of_order_queue_keeps_no_order_but_that_of_events_and_barriers() {
    let world = World::new();
    let Some((memory, other, gate)) = held(&world) else {
        return;
    };
    let queue = world.queue(OUT_OF_ORDER);
    let held = world.fill(queue, memory, 1, BYTES / 2, &[gate.event]);
    let free = world.fill(
        queue,
        memory.wrapping_byte_add(BYTES / 2),
        2,
        BYTES / 2,
        &[],
    );
    world.wait(free);
    assert!(world.stays_pending(held));
    let mut barrier = ptr::null_mut();
    ok((world.f.urEnqueueEventsWaitWithBarrier)(
        queue,
        0,
        ptr::null(),
        &raw mut barrier,
    ));
    world.event(barrier);
    let behind = world.fill(queue, memory, 3, BYTES, &[]);
    assert!(world.stays_pending(barrier) && world.stays_pending(behind));
    gate.open();
    world.wait(behind);
    assert!(world.is_complete(held) && world.is_complete(barrier));
    assert!(
        world
            .read(queue, memory, BYTES, &[])
            .iter()
            .all(|&byte| byte == 3)
    );
    world.finish(other);
    give_back(&world, memory);
}

#[test]
fn a_wait_for_events_ends_with_the_last_of_them_and_one_for_nothing_with_the_queue() {
    let world = World::new();
    let Some((memory, held_queue, gate)) = held(&world) else {
        return;
    };
    let queue = world.queue(OUT_OF_ORDER);
    let done = world.fill(queue, memory, 1, BYTES, &[]);
    let mut waits = [ptr::null_mut(); 2];
    let both = [done, gate.event];
    ok((world.f.urEnqueueEventsWait)(
        queue,
        2,
        both.as_ptr(),
        &raw mut waits[0],
    ));
    ok((world.f.urEnqueueEventsWait)(
        held_queue,
        0,
        ptr::null(),
        &raw mut waits[1],
    ));
    for wait in waits {
        world.event(wait);
        assert!(world.stays_pending(wait));
    }
    world.wait(done);
    assert!(world.stays_pending(waits[0]));
    gate.open();
    for wait in waits {
        world.wait(wait);
        assert!(world.is_complete(wait));
    }
    give_back(&world, memory);
}

#[test]
fn a_wait_for_nothing_ends_with_all_that_is_before_it_also_without_an_order() {
    let world = World::new();
    let Some((memory, held_queue, gate)) = held(&world) else {
        return;
    };
    let queue = world.queue(OUT_OF_ORDER);
    let before = world.fill(queue, memory, 1, BYTES, &[gate.event]);
    let mut wait = ptr::null_mut();
    ok((world.f.urEnqueueEventsWait)(
        queue,
        0,
        ptr::null(),
        &raw mut wait,
    ));
    world.event(wait);
    assert!(world.stays_pending(wait));
    gate.open();
    world.wait(wait);
    assert!(world.is_complete(before));
    world.finish(held_queue);
    give_back(&world, memory);
}

#[test]
fn callbacks_are_called_once_when_the_command_is_done() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn count(_: Handle, status: u32, data: *mut c_void) {
        assert_eq!(status, 0);
        assert_eq!(data.addr(), 0x55);
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
    let world = World::new();
    let Some((memory, queue, gate)) = held(&world) else {
        return;
    };
    let event = world.fill(queue, memory, 1, BYTES, &[]);
    let data = ptr::without_provenance_mut(0x55);
    ok((world.f.urEventSetCallback)(event, 0, count, data));
    assert_eq!(CALLS.load(Ordering::SeqCst), 0);
    gate.open();
    world.finish(queue);
    ok((world.f.urEventSetCallback)(event, 0, count, data));
    while CALLS.load(Ordering::SeqCst) < 2 {
        std::thread::yield_now();
    }
    give_back(&world, memory);
}
