//! Pools of a device: default and current ones, limits, trimming, and what ends them.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::{Code, UsmAllocInfo, UsmPoolInfo};

use crate::support::gate::Gate;
use crate::support::shapes::Handle;
use crate::support::world::{World, fails, ok};

const BYTES: usize = 1 << 20;

fn default_pool(world: &World) -> Handle {
    let mut pool = ptr::null_mut();
    ok((world.f.urUSMPoolGetDefaultDevicePoolExp)(
        world.context,
        world.device,
        &raw mut pool,
    ));
    pool
}

fn current_pool(world: &World) -> Handle {
    let mut pool = ptr::null_mut();
    ok((world.f.urUSMPoolGetDevicePoolExp)(
        world.context,
        world.device,
        &raw mut pool,
    ));
    pool
}

fn set_current(world: &World, pool: Handle) -> u32 {
    (world.f.urUSMPoolSetDevicePoolExp)(world.context, world.device, pool)
}

fn destroy(world: &World, pool: Handle) -> u32 {
    (world.f.urUSMPoolDestroyExp)(world.context, world.device, pool)
}

fn pool_of(world: &World, memory: *const c_void) -> Handle {
    let mut pool = ptr::null_mut::<c_void>();
    ok((world.f.urUSMGetMemAllocInfo)(
        world.context,
        memory,
        UsmAllocInfo::POOL.0,
        size_of::<Handle>(),
        (&raw mut pool).cast(),
        ptr::null_mut(),
    ));
    pool
}

#[test]
fn a_device_has_one_default_pool_that_nobody_destroys() {
    let world = World::new();
    let pool = default_pool(&world);
    assert_eq!(pool, default_pool(&world));
    assert_eq!(current_pool(&world), pool);
    fails(destroy(&world, pool), Code::INVALID_OPERATION);
    let queue = world.queue(0);
    for named in [pool, ptr::null_mut()] {
        let used = world.used(pool);
        let memory = world.alloc(queue, named, BYTES);
        assert_eq!(world.used(pool), used + BYTES);
        assert_eq!(pool_of(&world, memory), pool);
        world.free(queue, memory, &[]);
    }
}

#[test]
fn every_context_has_a_handle_of_its_own_for_the_default_pool() {
    let one = World::new();
    let (f, mut other) = (one.f, ptr::null_mut());
    ok((f.urContextCreate)(
        1,
        &raw const one.device,
        ptr::null(),
        &raw mut other,
    ));
    ok(set_current(&one, default_pool(&one)));
    let (mut standard, mut current) = (ptr::null_mut(), ptr::null_mut());
    ok((f.urUSMPoolGetDefaultDevicePoolExp)(
        other,
        one.device,
        &raw mut standard,
    ));
    ok((f.urUSMPoolGetDevicePoolExp)(
        other,
        one.device,
        &raw mut current,
    ));
    assert_eq!(current, standard);
    assert_ne!(current, default_pool(&one));
    ok((f.urContextRelease)(other));
}

#[test]
fn allocations_that_name_no_pool_come_from_the_current_one() {
    let world = World::new();
    let queue = world.queue(0);
    let pool = world.pool(0, usize::MAX);
    ok(set_current(&world, pool));
    assert_eq!(current_pool(&world), pool);
    let enqueued = world.alloc(queue, ptr::null_mut(), BYTES);
    let mut at_once = ptr::null_mut();
    ok((world.f.urUSMSharedAlloc)(
        world.context,
        world.device,
        ptr::null(),
        ptr::null_mut(),
        BYTES,
        &raw mut at_once,
    ));
    assert_eq!(world.used(pool), 2 * BYTES);
    assert_eq!(pool_of(&world, enqueued), pool);
    ok(set_current(&world, default_pool(&world)));
    assert_eq!(current_pool(&world), default_pool(&world));
    // One that is destroyed is current no more.
    ok(set_current(&world, pool));
    world.forget_pool(pool);
    ok(destroy(&world, pool));
    assert_eq!(current_pool(&world), default_pool(&world));
    let elsewhere = world.alloc(queue, ptr::null_mut(), BYTES);
    assert_eq!(pool_of(&world, elsewhere), default_pool(&world));
    world.free(queue, elsewhere, &[]);
    world.free(queue, enqueued, &[]);
    ok((world.f.urUSMFree)(world.context, at_once));
}

#[test]
fn what_a_destroyed_pool_gave_out_stays_valid_and_goes_with_the_last() {
    let world = World::new();
    let queue = world.queue(0);
    let pool = world.pool(0, usize::MAX);
    let (live, pending) = (
        world.alloc(queue, pool, BYTES),
        world.alloc(queue, pool, BYTES),
    );
    let gate = Gate::close(queue);
    world.free(queue, pending, &[]);
    ok((world.f.urUSMPoolRetain)(pool));
    ok(destroy(&world, pool));
    let (_, code, _) = world.try_alloc(queue, pool, BYTES, &[]);
    fails(code, Code::INVALID_OPERATION);
    world.fill(queue, live, 5, BYTES, &[]);
    drop(gate);
    assert!(
        world
            .read(queue, live, BYTES, &[])
            .iter()
            .all(|&byte| byte == 5)
    );
    world.free(queue, live, &[]);
    world.finish(queue);
    assert_eq!((world.used(pool), world.reserved(pool)), (0, 0));
}

#[test]
fn a_handle_is_of_no_use_once_its_pool_is_gone() {
    let world = World::new();
    let pool = world.pool(0, 0);
    world.forget_pool(pool);
    ok(destroy(&world, pool));
    let mut value = 0_usize;
    let code = (world.f.urUSMPoolGetInfoExp)(
        pool,
        UsmPoolInfo::USED_CURRENT_EXP.0,
        (&raw mut value).cast(),
        ptr::null_mut(),
    );
    assert_ne!(Code(code), Code::SUCCESS);
    assert_ne!(Code(destroy(&world, pool)), Code::SUCCESS);
    assert_ne!(Code(set_current(&world, pool)), Code::SUCCESS);
}

#[test]
fn what_is_above_the_threshold_goes_back_at_a_wait() {
    let world = World::new();
    let queue = world.queue(0);
    for threshold in [0, 64 * BYTES, usize::MAX] {
        let pool = world.pool(0, threshold);
        assert_eq!(
            world.pool_info(pool, UsmPoolInfo::RELEASE_THRESHOLD_EXP),
            threshold
        );
        let memory = world.alloc(queue, pool, BYTES);
        world.free(queue, memory, &[]);
        assert!(
            world.reserved(pool) >= BYTES,
            "nothing goes back before a wait"
        );
        world.finish(queue);
        let reserved = world.reserved(pool);
        if threshold == 0 {
            assert_eq!(reserved, 0);
        } else {
            assert!(reserved >= BYTES);
        }
        ok(world.set_pool_info(pool, UsmPoolInfo::RELEASE_THRESHOLD_EXP, 0));
        world.finish(queue);
        assert_eq!(world.reserved(pool), 0, "a threshold can be lowered");
    }
}

#[test]
fn trimming_gives_back_what_is_free_and_leaves_what_is_used_or_about_to_be_free() {
    let world = World::new();
    let queue = world.queue(0);
    let pool = world.pool(0, usize::MAX);
    let (used, freed) = (
        world.alloc(queue, pool, BYTES),
        world.alloc(queue, pool, 64 * BYTES),
    );
    let Some(gate) = Gate::close(queue) else {
        return;
    };
    world.free(queue, freed, &[]);
    let reserved = world.reserved(pool);
    world.trim(pool, 0);
    assert_eq!(world.reserved(pool), reserved);
    gate.open();
    world.finish(queue);
    world.trim(pool, reserved);
    assert_eq!(world.reserved(pool), reserved, "it may keep as much");
    world.trim(pool, 0);
    let left = world.reserved(pool);
    assert!(
        (BYTES..65 * BYTES).contains(&left),
        "{left} bytes of which {BYTES} are used"
    );
    world.fill(queue, used, 1, BYTES, &[]);
    world.free(queue, used, &[]);
    world.finish(queue);
    world.trim(pool, 0);
    assert_eq!(world.reserved(pool), 0);
}

#[test]
fn a_pool_reserves_no_more_than_its_maximum() {
    let world = World::new();
    let queue = world.queue(0);
    let pool = world.pool(4 * BYTES, usize::MAX);
    assert_eq!(
        world.pool_info(pool, UsmPoolInfo::MAXIMUM_SIZE_EXP),
        4 * BYTES
    );
    let all = world.alloc(queue, pool, 4 * BYTES);
    for size in [1, BYTES, 4 * BYTES] {
        let (_, code, _) = world.try_alloc(queue, pool, size, &[]);
        fails(code, Code::OUT_OF_RESOURCES);
    }
    world.free(queue, all, &[]);
    let again = world.alloc(queue, pool, 4 * BYTES);
    ok(world.set_pool_info(pool, UsmPoolInfo::MAXIMUM_SIZE_EXP, BYTES));
    world.fill(queue, again, 1, 4 * BYTES, &[]);
    world.free(queue, again, &[]);
    world.finish(queue);
    world.trim(pool, 0);
    let (_, code, _) = world.try_alloc(queue, pool, 2 * BYTES, &[]);
    fails(code, Code::OUT_OF_RESOURCES);
    ok(world.set_pool_info(pool, UsmPoolInfo::MAXIMUM_SIZE_EXP, 0));
    let many = world.alloc(queue, pool, 8 * BYTES);
    world.free(queue, many, &[]);
}

#[test]
fn a_maximum_holds_for_many_threads() {
    struct Shared(World, Handle);
    // SAFETY: handles may be used by all threads at once; the list of what was made isn't touched.
    unsafe impl Sync for Shared {}
    let world = World::new();
    let pool = world.pool(8 * BYTES, usize::MAX);
    let shared = Shared(world, pool);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let shared = &shared;
            scope.spawn(move || {
                let Shared(world, pool) = shared;
                let mut queue = ptr::null_mut();
                ok((world.f.urQueueCreate)(
                    world.context,
                    world.device,
                    ptr::null(),
                    &raw mut queue,
                ));
                for _ in 0..50 {
                    let mut memory = ptr::null_mut();
                    let code = (world.f.urEnqueueUSMDeviceAllocExp)(
                        queue,
                        *pool,
                        BYTES,
                        ptr::null(),
                        0,
                        ptr::null(),
                        &raw mut memory,
                        ptr::null_mut(),
                    );
                    if code == 0 {
                        let freed = (world.f.urEnqueueUSMFreeExp)(
                            queue,
                            ptr::null_mut(),
                            memory,
                            0,
                            ptr::null(),
                            ptr::null_mut(),
                        );
                        ok(freed);
                    } else {
                        fails(code, Code::OUT_OF_RESOURCES);
                    }
                }
                ok((world.f.urQueueFinish)(queue));
                ok((world.f.urQueueRelease)(queue));
            });
        }
    });
    let Shared(world, pool) = shared;
    assert!(world.pool_info(pool, UsmPoolInfo::RESERVED_HIGH_EXP) <= 8 * BYTES);
    assert_eq!(world.used(pool), 0);
}

#[test]
fn a_pool_of_a_context_gives_out_every_kind() {
    use crate::support::shapes::{Flags, Header, POOL_DESC};
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let desc = Flags {
        header: Header::new(POOL_DESC),
        flags: 0,
    };
    let mut pool = ptr::null_mut();
    ok((f.urUSMPoolCreate)(
        world.context,
        &raw const desc,
        &raw mut pool,
    ));
    for call in [
        f.urEnqueueUSMDeviceAllocExp,
        f.urEnqueueUSMSharedAllocExp,
        f.urEnqueueUSMHostAllocExp,
    ] {
        let mut memory = ptr::null_mut();
        ok(call(
            queue,
            pool,
            BYTES,
            ptr::null(),
            0,
            ptr::null(),
            &raw mut memory,
            ptr::null_mut(),
        ));
        assert_eq!((world.used(pool), pool_of(&world, memory)), (BYTES, pool));
        world.free(queue, memory, &[]);
    }
    let device_pool = world.pool(0, 0);
    let mut memory = ptr::null_mut();
    let code = (f.urEnqueueUSMHostAllocExp)(
        queue,
        device_pool,
        BYTES,
        ptr::null(),
        0,
        ptr::null(),
        &raw mut memory,
        ptr::null_mut(),
    );
    fails(code, Code::INVALID_ARGUMENT);
    ok((f.urUSMPoolRelease)(pool));
}

#[test]
fn fresh_memory_of_a_zeroing_pool_is_zero() {
    use crate::support::shapes::{Flags, Header, POOL_DESC};
    let world = World::new();
    let queue = world.queue(0);
    let desc = Flags {
        header: Header::new(POOL_DESC),
        flags: 0b111,
    };
    let mut pool = ptr::null_mut();
    ok((world.f.urUSMPoolCreateExp)(
        world.context,
        world.device,
        &raw const desc,
        &raw mut pool,
    ));
    let memory = world.alloc(queue, pool, BYTES);
    assert!(
        world
            .read(queue, memory, BYTES, &[])
            .iter()
            .all(|&byte| byte == 0)
    );
    world.free(queue, memory, &[]);
    ok(destroy(&world, pool));
}
