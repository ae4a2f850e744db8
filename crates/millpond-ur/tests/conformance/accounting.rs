//! What pools say of themselves.

use std::ptr;

use ur_adapter_millpond::numbers::{Code, UsmPoolInfo};

use crate::support::world::{World, fails, ok};

const BYTES: usize = 1 << 20;

#[test]
fn used_counts_what_is_allocated_and_reserved_what_the_pool_has() {
    let world = World::new();
    let queue = world.queue(0);
    let pool = world.pool(0, usize::MAX);
    assert_eq!((world.used(pool), world.reserved(pool)), (0, 0));
    let sizes = [1, 1000, BYTES, 3 * BYTES + 5];
    let mut held = Vec::new();
    let mut requested = 0;
    for size in sizes {
        held.push(world.alloc(queue, pool, size));
        requested += size;
        let used = world.used(pool);
        assert!(used >= requested && used <= world.reserved(pool));
    }
    for (memory, size) in held.into_iter().zip(sizes) {
        let before = world.used(pool);
        world.free(queue, memory, &[]);
        assert!(world.used(pool) <= before - size);
    }
    assert_eq!(world.used(pool), 0);
}

#[test]
fn highs_are_the_most_there_was_and_are_reset_one_by_one() {
    let world = World::new();
    let queue = world.queue(0);
    let pool = world.pool(0, usize::MAX);
    let memory = world.alloc(queue, pool, 4 * BYTES);
    world.free(queue, memory, &[]);
    world.finish(queue);
    world.trim(pool, 0);
    let high = |what| world.pool_info(pool, what);
    assert_eq!(high(UsmPoolInfo::USED_HIGH_EXP), 4 * BYTES);
    assert!(high(UsmPoolInfo::RESERVED_HIGH_EXP) >= 4 * BYTES);
    for what in [UsmPoolInfo::USED_HIGH_EXP, UsmPoolInfo::RESERVED_HIGH_EXP] {
        fails(world.set_pool_info(pool, what, 1), Code::INVALID_VALUE);
    }
    let reserved_high = high(UsmPoolInfo::RESERVED_HIGH_EXP);
    ok(world.set_pool_info(pool, UsmPoolInfo::USED_HIGH_EXP, 0));
    assert_eq!(high(UsmPoolInfo::USED_HIGH_EXP), 0);
    assert_eq!(high(UsmPoolInfo::RESERVED_HIGH_EXP), reserved_high);
    ok(world.set_pool_info(pool, UsmPoolInfo::RESERVED_HIGH_EXP, 0));
    assert_eq!(high(UsmPoolInfo::RESERVED_HIGH_EXP), 0);
    let memory = world.alloc(queue, pool, BYTES);
    assert!(high(UsmPoolInfo::USED_HIGH_EXP) >= world.used(pool));
    world.free(queue, memory, &[]);
}

#[test]
fn questions_that_make_no_sense_are_errors() {
    let world = World::new();
    let f = world.f;
    let pool = world.pool(0, usize::MAX);
    let mut value = 0_usize;
    let mut size = 0_usize;
    let place = (&raw mut value).cast();
    let what = UsmPoolInfo::USED_CURRENT_EXP.0;
    fails(
        (f.urUSMPoolGetInfoExp)(pool, what, ptr::null_mut(), ptr::null_mut()),
        Code::INVALID_NULL_POINTER,
    );
    fails(
        (f.urUSMPoolGetInfoExp)(ptr::null_mut(), what, place, ptr::null_mut()),
        Code::INVALID_NULL_HANDLE,
    );
    fails(
        (f.urUSMPoolGetInfoExp)(pool, 0x2056, place, ptr::null_mut()),
        Code::INVALID_ENUMERATION,
    );
    ok((f.urUSMPoolGetInfoExp)(
        pool,
        what,
        ptr::null_mut(),
        &raw mut size,
    ));
    assert_eq!(size, size_of::<usize>());
    fails(
        (f.urUSMPoolGetInfo)(pool, 0, 0, place, ptr::null_mut()),
        Code::INVALID_SIZE,
    );
    fails(
        (f.urUSMPoolGetInfo)(pool, 1, 4, place, ptr::null_mut()),
        Code::INVALID_SIZE,
    );
    ok((f.urUSMPoolGetInfo)(pool, 1, 8, place, ptr::null_mut()));
    assert_eq!(value, world.context.addr());
    let threshold = UsmPoolInfo::RELEASE_THRESHOLD_EXP.0;
    fails(
        (f.urUSMPoolSetInfoExp)(pool, threshold, ptr::null(), 8),
        Code::INVALID_NULL_POINTER,
    );
    fails(
        (f.urUSMPoolSetInfoExp)(pool, threshold, place, 4),
        Code::INVALID_SIZE,
    );
    fails(
        (f.urUSMPoolSetInfoExp)(pool, 0x2056, place, 8),
        Code::INVALID_ENUMERATION,
    );
    fails(
        (f.urUSMPoolSetInfoExp)(pool, what, place, 8),
        Code::UNSUPPORTED_ENUMERATION,
    );
}
