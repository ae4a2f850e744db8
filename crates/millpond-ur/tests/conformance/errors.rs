//! Requests that can't be served, and what they are told.

use std::ptr;

use ur_adapter_millpond::numbers::Code;

use crate::support::shapes::{ASYNC_PROPERTIES, Flags, Header, POOL_DESC};
use crate::support::world::{World, fails, ok};

#[test]
fn sizes_are_some_and_no_more_than_the_device_has() {
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let mut memory = ptr::null_mut();
    for size in [0, usize::MAX, usize::MAX - 255, 1 << 60] {
        let (_, code, _) = world.try_alloc(queue, ptr::null_mut(), size, &[]);
        fails(code, Code::INVALID_USM_SIZE);
        let code = (f.urUSMHostAlloc)(
            world.context,
            ptr::null(),
            ptr::null_mut(),
            size,
            &raw mut memory,
        );
        fails(code, Code::INVALID_USM_SIZE);
    }
}

#[test]
fn flags_that_mean_nothing_are_refused() {
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let properties = Flags {
        header: Header::new(ASYNC_PROPERTIES),
        flags: 2,
    };
    let known = Flags {
        header: Header::new(ASYNC_PROPERTIES),
        flags: 1,
    };
    let desc = Flags {
        header: Header::new(POOL_DESC),
        flags: 8,
    };
    let (mut memory, mut pool) = (ptr::null_mut(), ptr::null_mut());
    for call in [
        f.urEnqueueUSMDeviceAllocExp,
        f.urEnqueueUSMSharedAllocExp,
        f.urEnqueueUSMHostAllocExp,
    ] {
        let code = call(
            queue,
            ptr::null_mut(),
            100,
            &raw const properties,
            0,
            ptr::null(),
            &raw mut memory,
            ptr::null_mut(),
        );
        fails(code, Code::INVALID_ENUMERATION);
        let code = call(
            queue,
            ptr::null_mut(),
            100,
            ptr::null(),
            0,
            ptr::null(),
            ptr::null_mut(),
            ptr::null_mut(),
        );
        fails(code, Code::INVALID_NULL_POINTER);
        ok(call(
            queue,
            ptr::null_mut(),
            100,
            &raw const known,
            0,
            ptr::null(),
            &raw mut memory,
            ptr::null_mut(),
        ));
        world.free(queue, memory, &[]);
    }
    let code = (f.urUSMPoolCreateExp)(world.context, world.device, &raw const desc, &raw mut pool);
    fails(code, Code::INVALID_ENUMERATION);
    let code = (f.urUSMPoolCreateExp)(world.context, world.device, ptr::null(), &raw mut pool);
    fails(code, Code::INVALID_NULL_POINTER);
    let odd = Flags {
        header: Header::before(POOL_DESC, &properties),
        flags: 0,
    };
    let code = (f.urUSMPoolCreateExp)(world.context, world.device, &raw const odd, &raw mut pool);
    fails(code, Code::INVALID_ARGUMENT);
}

#[test]
fn a_chain_without_an_end_is_refused() {
    let world = World::new();
    let mut desc = Flags {
        header: Header::new(POOL_DESC),
        flags: 0,
    };
    desc.header.next = (&raw const desc).cast();
    let mut pool = ptr::null_mut();
    let code =
        (world.f.urUSMPoolCreateExp)(world.context, world.device, &raw const desc, &raw mut pool);
    assert_ne!(Code(code), Code::SUCCESS);
}

#[test]
fn a_pool_serves_its_context_only() {
    let world = World::new();
    let f = world.f;
    let pool = world.pool(0, 0);
    let (mut other, mut queue, mut memory) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    ok((f.urContextCreate)(
        1,
        &raw const world.device,
        ptr::null(),
        &raw mut other,
    ));
    ok((f.urQueueCreate)(
        other,
        world.device,
        ptr::null(),
        &raw mut queue,
    ));
    let code = (f.urEnqueueUSMDeviceAllocExp)(
        queue,
        pool,
        100,
        ptr::null(),
        0,
        ptr::null(),
        &raw mut memory,
        ptr::null_mut(),
    );
    fails(code, Code::INVALID_CONTEXT);
    let code = (f.urUSMDeviceAlloc)(other, world.device, ptr::null(), pool, 100, &raw mut memory);
    fails(code, Code::INVALID_CONTEXT);
    fails(
        (f.urUSMPoolTrimToExp)(other, world.device, pool, 0),
        Code::INVALID_CONTEXT,
    );
    fails(
        (f.urUSMPoolSetDevicePoolExp)(other, world.device, pool),
        Code::INVALID_CONTEXT,
    );
    fails(
        (f.urUSMPoolDestroyExp)(other, world.device, pool),
        Code::INVALID_CONTEXT,
    );
    ok((f.urQueueRelease)(queue));
    ok((f.urContextRelease)(other));
}

#[test]
fn a_free_names_memory_and_a_queue() {
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let code = (f.urEnqueueUSMFreeExp)(
        queue,
        ptr::null_mut(),
        ptr::null_mut(),
        0,
        ptr::null(),
        ptr::null_mut(),
    );
    fails(code, Code::INVALID_NULL_POINTER);
    let memory = world.alloc(queue, ptr::null_mut(), 100);
    let code = (f.urEnqueueUSMFreeExp)(
        ptr::null_mut(),
        ptr::null_mut(),
        memory,
        0,
        ptr::null(),
        ptr::null_mut(),
    );
    fails(code, Code::INVALID_NULL_HANDLE);
    world.free(queue, memory, &[]);
}
