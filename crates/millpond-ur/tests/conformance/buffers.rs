//! Pools over memory of a program's own.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::{Code, UsmPoolInfo, UsmType};

use crate::support::shapes::{
    Flags, Handle, Header, LIMITS_DESC, Limits, POOL_BUFFER_DESC, POOL_DESC, PoolBuffer,
};
use crate::support::world::{World, fails, ok};

const BYTES: usize = 1 << 20;

fn memory(world: &World, kind: UsmType) -> *mut c_void {
    let mut memory = ptr::null_mut();
    let f = world.f;
    ok(match kind {
        UsmType::HOST => (f.urUSMHostAlloc)(
            world.context,
            ptr::null(),
            ptr::null_mut(),
            BYTES,
            &raw mut memory,
        ),
        UsmType::DEVICE => (f.urUSMDeviceAlloc)(
            world.context,
            world.device,
            ptr::null(),
            ptr::null_mut(),
            BYTES,
            &raw mut memory,
        ),
        _ => (f.urUSMSharedAlloc)(
            world.context,
            world.device,
            ptr::null(),
            ptr::null_mut(),
            BYTES,
            &raw mut memory,
        ),
    });
    memory
}

fn over(world: &World, memory: *mut c_void, size: usize, kind: UsmType) -> Result<Handle, Code> {
    let buffer = PoolBuffer {
        header: Header::new(POOL_BUFFER_DESC),
        memory,
        size,
        kind: kind.0,
        device: if kind == UsmType::HOST {
            ptr::null_mut()
        } else {
            world.device
        },
    };
    let desc = Flags {
        header: Header::before(POOL_DESC, &buffer),
        flags: 2,
    };
    let mut pool = ptr::null_mut();
    let code =
        (world.f.urUSMPoolCreateExp)(world.context, world.device, &raw const desc, &raw mut pool);
    if code == 0 { Ok(pool) } else { Err(Code(code)) }
}

#[test]
fn a_pool_over_memory_gives_out_that_memory_and_no_other() {
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let kinds = [
        (UsmType::DEVICE, f.urEnqueueUSMDeviceAllocExp),
        (UsmType::SHARED, f.urEnqueueUSMSharedAllocExp),
        (UsmType::HOST, f.urEnqueueUSMHostAllocExp),
    ];
    for (kind, call) in kinds {
        let buffer = memory(&world, kind);
        let pool = over(&world, buffer, BYTES, kind).unwrap();
        assert_eq!(world.reserved(pool), BYTES);
        assert_eq!(world.pool_info(pool, UsmPoolInfo::MAXIMUM_SIZE_EXP), BYTES);
        let mut parts = Vec::new();
        loop {
            let mut part = ptr::null_mut();
            let code = call(
                queue,
                pool,
                BYTES / 4,
                ptr::null(),
                0,
                ptr::null(),
                &raw mut part,
                ptr::null_mut(),
            );
            if code != 0 {
                break;
            }
            let offset = part.addr() - buffer.addr();
            assert!(
                offset + BYTES / 4 <= BYTES,
                "{offset} in a buffer of {BYTES}"
            );
            parts.push(part);
        }
        assert_eq!(parts.len(), 4);
        for (kind, other) in kinds {
            let mut part = ptr::null_mut();
            let code = other(
                queue,
                pool,
                256,
                ptr::null(),
                0,
                ptr::null(),
                &raw mut part,
                ptr::null_mut(),
            );
            assert_ne!(code, 0, "{kind:?}");
        }
        for part in parts {
            world.free(queue, part, &[]);
        }
        world.finish(queue);
        world.trim(pool, 0);
        assert_eq!(
            world.reserved(pool),
            BYTES,
            "the memory isn't the pool's to give back"
        );
        fails(
            world.set_pool_info(pool, UsmPoolInfo::MAXIMUM_SIZE_EXP, 1),
            Code::INVALID_OPERATION,
        );
        fails(
            (f.urUSMFree)(world.context, buffer),
            Code::HANDLE_OBJECT_IN_USE,
        );
        ok((f.urUSMPoolDestroyExp)(world.context, world.device, pool));
        ok((f.urUSMFree)(world.context, buffer));
    }
}

#[test]
fn a_pool_over_a_part_of_memory_stays_in_that_part() {
    let world = World::new();
    let (queue, half) = (world.queue(0), BYTES / 2);
    let buffer = memory(&world, UsmType::DEVICE);
    let second = buffer.wrapping_byte_add(half);
    let pool = over(&world, second, half, UsmType::DEVICE).unwrap();
    let part = world.alloc(queue, pool, half);
    assert_eq!(part, second);
    assert_ne!(world.try_alloc(queue, pool, 256, &[]).1, 0);
    world.free(queue, part, &[]);
    world.finish(queue);
    ok((world.f.urUSMPoolDestroyExp)(
        world.context,
        world.device,
        pool,
    ));
    ok((world.f.urUSMFree)(world.context, buffer));
}

#[test]
fn a_pool_is_over_memory_of_its_context_that_has_as_much_of_that_kind() {
    let world = World::new();
    let buffer = memory(&world, UsmType::DEVICE);
    let mut on_host = [0_u64; 64];
    let wrong = [
        (
            ptr::null_mut(),
            BYTES,
            UsmType::DEVICE,
            Code::INVALID_NULL_POINTER,
        ),
        (
            on_host.as_mut_ptr().cast(),
            512,
            UsmType::DEVICE,
            Code::INVALID_MEM_OBJECT,
        ),
        (buffer, BYTES + 1, UsmType::DEVICE, Code::INVALID_SIZE),
        (buffer, 0, UsmType::DEVICE, Code::INVALID_SIZE),
        (buffer, usize::MAX, UsmType::DEVICE, Code::INVALID_SIZE),
        (buffer, BYTES, UsmType::SHARED, Code::INVALID_ARGUMENT),
        (buffer, BYTES, UsmType(9), Code::INVALID_ENUMERATION),
    ];
    for (memory, size, kind, expected) in wrong {
        assert_eq!(over(&world, memory, size, kind), Err(expected));
    }
    let limits = Limits {
        header: Header::new(LIMITS_DESC),
        first: 1,
        second: 1,
    };
    let both = PoolBuffer {
        header: Header::before(POOL_BUFFER_DESC, &limits),
        memory: buffer,
        size: BYTES,
        kind: UsmType::DEVICE.0,
        device: world.device,
    };
    let desc = Flags {
        header: Header::before(POOL_DESC, &both),
        flags: 2,
    };
    let mut pool = ptr::null_mut();
    let code =
        (world.f.urUSMPoolCreateExp)(world.context, world.device, &raw const desc, &raw mut pool);
    fails(code, Code::INVALID_ARGUMENT);
    ok((world.f.urUSMFree)(world.context, buffer));
}
