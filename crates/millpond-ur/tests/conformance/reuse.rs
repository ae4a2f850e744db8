//! Who gets memory that was freed, and when: never while somebody may use it still.

use std::ptr;

use ur_adapter_millpond::numbers::Code;

use crate::support::gate::Gate;
use crate::support::world::{MOMENT, OUT_OF_ORDER, World, ok};

const BYTES: usize = 1 << 20;

#[test]
fn an_out_of_order_queue_gets_memory_again_once_its_free_is_done() {
    let world = World::new();
    let (queue, other) = (world.queue(OUT_OF_ORDER), world.queue(0));
    let pool = world.pool(0, usize::MAX);
    let (first, code, ready) = world.try_alloc(queue, pool, BYTES, &[]);
    ok(code);
    let Some(gate) = Gate::close(other) else {
        return;
    };
    let freed = world.free(queue, first, &[ready, gate.event]);
    assert!(world.stays_pending(freed));
    let second = world.alloc(queue, pool, BYTES);
    assert_ne!(first, second, "the free has not been reached");
    gate.open();
    world.wait(freed);
    let reserved = world.reserved(pool);
    let (third, code, _) = world.try_alloc(queue, pool, BYTES, &[freed]);
    ok(code);
    assert_eq!(world.reserved(pool), reserved);
    world.free(queue, second, &[]);
    world.free(queue, third, &[]);
}

#[test]
fn another_queue_gets_memory_that_it_is_ordered_behind_the_free_of() {
    let world = World::new();
    let queues = [world.queue(0), world.queue(0), world.queue(0)];
    let pool = world.pool(0, usize::MAX);
    let memory = world.alloc(queues[0], pool, BYTES);
    let Some(gate) = Gate::close(queues[0]) else {
        return;
    };
    let freed = world.free(queues[0], memory, &[]);
    // By way of the second queue, the third comes behind the free.
    let mut between = ptr::null_mut();
    ok((world.f.urEnqueueEventsWaitWithBarrier)(
        queues[1],
        1,
        &raw const freed,
        &raw mut between,
    ));
    ok((world.f.urEnqueueEventsWaitWithBarrier)(
        queues[2],
        1,
        &raw const between,
        ptr::null_mut(),
    ));
    world.event(between);
    let (again, code, ready) = world.try_alloc(queues[2], pool, BYTES, &[]);
    ok(code);
    assert_eq!(again, memory);
    assert!(world.stays_pending(ready), "the free has not been reached");
    let elsewhere = world.alloc(queues[1], pool, BYTES);
    assert_ne!(elsewhere, memory, "it is in use");
    gate.open();
    world.wait(ready);
    world.free(queues[2], again, &[]);
    world.free(queues[1], elsewhere, &[]);
}

#[test]
fn an_event_from_before_a_free_allows_nothing() {
    let world = World::new();
    let (one, two) = (world.queue(0), world.queue(0));
    let pool = world.pool(0, usize::MAX);
    let memory = world.alloc(one, pool, BYTES);
    let before = world.fill(one, memory, 1, BYTES, &[]);
    let Some(gate) = Gate::close(one) else { return };
    world.free(one, memory, &[]);
    ok((world.f.urEnqueueEventsWaitWithBarrier)(
        two,
        1,
        &raw const before,
        ptr::null_mut(),
    ));
    let (other, code, _) = world.try_alloc(two, pool, BYTES, &[before]);
    ok(code);
    assert_ne!(other, memory);
    gate.open();
    world.free(two, other, &[]);
}

#[test]
fn a_pool_that_can_not_grow_has_the_queue_wait_for_the_free() {
    let world = World::new();
    let (one, two) = (world.queue(0), world.queue(0));
    let pool = world.pool(BYTES, usize::MAX);
    let memory = world.alloc(one, pool, BYTES);
    let (_, code, _) = world.try_alloc(two, pool, BYTES, &[]);
    assert_eq!(Code(code), Code::OUT_OF_RESOURCES);
    let Some(gate) = Gate::close(one) else { return };
    world.free(one, memory, &[]);
    let (again, code, ready) = world.try_alloc(two, pool, BYTES, &[]);
    ok(code);
    assert_eq!(again, memory);
    assert!(world.stays_pending(ready));
    gate.open();
    world.wait(ready);
    world.free(two, again, &[]);
}

#[test]
fn what_a_queue_freed_is_not_reused_too_early_when_the_queue_is_gone() {
    let world = World::new();
    let (one, other) = (world.queue(0), world.queue(0));
    let pool = world.pool(0, usize::MAX);
    let memory = world.alloc(one, pool, BYTES);
    let Some(gate) = Gate::close(other) else {
        return;
    };
    world.free(one, memory, &[gate.event]);
    world.release_queue(one);
    let new = world.queue(0);
    let second = world.alloc(new, pool, BYTES);
    assert_ne!(second, memory);
    gate.open();
    world.finish(other);
    world.free(new, second, &[]);
}

#[test]
fn a_free_without_a_queue_comes_behind_what_was_enqueued_and_does_not_wait() {
    let world = World::new();
    let queue = world.queue(0);
    let pool = world.pool(0, usize::MAX);
    let mut memory = [ptr::null_mut(); 2];
    let allocate = |place: &mut *mut _| {
        ok((world.f.urUSMDeviceAlloc)(
            world.context,
            world.device,
            ptr::null(),
            pool,
            BYTES,
            place,
        ));
    };
    allocate(&mut memory[0]);
    let Some(gate) = Gate::close(queue) else {
        return;
    };
    let filled = world.fill(queue, memory[0], 3, BYTES, &[]);
    ok((world.f.urUSMFree)(world.context, memory[0]));
    assert!(world.stays_pending(filled));
    allocate(&mut memory[1]);
    assert_ne!(memory[0], memory[1], "a command uses it still");
    gate.open();
    world.finish(queue);
    ok((world.f.urUSMFree)(world.context, memory[1]));
}

#[test]
fn a_free_without_a_queue_comes_behind_what_queues_have_left_that_are_gone() {
    let world = World::new();
    // What holds the work back isn't of the context, so that nothing else waits for it.
    let (mut elsewhere, mut other) = (ptr::null_mut(), ptr::null_mut());
    let device = &raw const world.device;
    ok((world.f.urContextCreate)(
        1,
        device,
        ptr::null(),
        &raw mut elsewhere,
    ));
    ok((world.f.urQueueCreate)(
        elsewhere,
        world.device,
        ptr::null(),
        &raw mut other,
    ));
    let gone = world.queue(0);
    let pool = world.pool(0, usize::MAX);
    let allocate = || {
        let mut memory = ptr::null_mut();
        ok((world.f.urUSMDeviceAlloc)(
            world.context,
            world.device,
            ptr::null(),
            pool,
            BYTES,
            &raw mut memory,
        ));
        memory
    };
    let memory = allocate();
    if let Some(gate) = Gate::close(other) {
        // An event would keep the queue.
        let value = 3_u8;
        ok((world.f.urEnqueueUSMFill)(
            gone,
            memory,
            1,
            (&raw const value).cast(),
            BYTES,
            1,
            &raw const gate.event,
            ptr::null_mut(),
        ));
        world.release_queue(gone);
        ok((world.f.urUSMFree)(world.context, memory));
        assert!(
            world.stays_pending(gate.event),
            "time for the free to be reached"
        );
        let second = allocate();
        assert_ne!(memory, second, "a command uses it still");
        gate.open();
        world.finish(other);
        ok((world.f.urUSMFree)(world.context, second));
    }
    ok((world.f.urQueueRelease)(other));
    ok((world.f.urContextRelease)(elsewhere));
}

#[test]
fn memory_that_is_had_without_a_queue_may_be_used_at_once() {
    let world = World::new();
    let queue = world.queue(0);
    let pool = world.pool(BYTES, usize::MAX);
    let memory = world.alloc(queue, pool, BYTES);
    let Some(gate) = Gate::close(queue) else {
        return;
    };
    let filled = world.fill(queue, memory, 3, BYTES, &[]);
    world.free(queue, memory, &[]);
    let (open, mut now) = (gate.opener(), ptr::null_mut());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(MOMENT);
            open();
        });
        // The pool has no other memory.
        ok((world.f.urUSMDeviceAlloc)(
            world.context,
            world.device,
            ptr::null(),
            pool,
            BYTES,
            &raw mut now,
        ));
        assert!(world.is_complete(filled), "a command uses it still");
    });
    assert_eq!(memory, now);
    ok((world.f.urUSMFree)(world.context, now));
}
