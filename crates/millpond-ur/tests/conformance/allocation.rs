//! Allocations and frees in the order of queues.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::{Code, Command, EventInfo, UsmAllocInfo, UsmType};

use crate::support::world::{OUT_OF_ORDER, World, fails, list, ok};

const BYTES: usize = 10_000;

fn info(world: &World, memory: *const c_void, what: UsmAllocInfo) -> Result<usize, Code> {
    let mut value = 0_usize;
    let code = (world.f.urUSMGetMemAllocInfo)(
        world.context,
        memory,
        what.0,
        8,
        (&raw mut value).cast(),
        ptr::null_mut(),
    );
    if code == 0 {
        Ok(value)
    } else {
        Err(Code(code))
    }
}

#[test]
fn memory_that_an_in_order_queue_freed_serves_it_again() {
    let world = World::new();
    let queue = world.queue(0);
    let first = world.alloc(queue, ptr::null_mut(), BYTES);
    world.free(queue, first, &[]);
    let second = world.alloc(queue, ptr::null_mut(), BYTES);
    assert_eq!(first, second);
    world.free(queue, second, &[]);
}

#[test]
fn every_kind_of_memory_is_allocated_in_order_and_known_by_its_address() {
    let world = World::new();
    for flags in [0, OUT_OF_ORDER] {
        let queue = world.queue(flags);
        let calls = [
            (
                world.f.urEnqueueUSMDeviceAllocExp,
                Command::ENQUEUE_USM_DEVICE_ALLOC_EXP,
                UsmType::DEVICE,
            ),
            (
                world.f.urEnqueueUSMSharedAllocExp,
                Command::ENQUEUE_USM_SHARED_ALLOC_EXP,
                UsmType::SHARED,
            ),
            (
                world.f.urEnqueueUSMHostAllocExp,
                Command::ENQUEUE_USM_HOST_ALLOC_EXP,
                UsmType::HOST,
            ),
        ];
        for (call, command, kind) in calls {
            let (mut memory, mut event) = (ptr::null_mut(), ptr::null_mut());
            ok(call(
                queue,
                ptr::null_mut(),
                BYTES,
                ptr::null(),
                0,
                ptr::null(),
                &raw mut memory,
                &raw mut event,
            ));
            world.event(event);
            assert_eq!(
                world.event_info(event, EventInfo::COMMAND_TYPE.0),
                command.0
            );
            assert_eq!(
                info(&world, memory, UsmAllocInfo::TYPE),
                Ok(kind.0 as usize)
            );
            assert_eq!(info(&world, memory, UsmAllocInfo::SIZE), Ok(BYTES));
            let inside = memory.wrapping_byte_add(BYTES / 2);
            assert_eq!(
                info(&world, inside, UsmAllocInfo::BASE_PTR),
                Ok(memory.addr())
            );
            assert_eq!(
                info(&world, inside, UsmAllocInfo::DEVICE),
                Ok(world.device.addr())
            );
            let filled = world.fill(queue, memory, 7, BYTES, &[event]);
            assert!(
                world
                    .read(queue, memory, BYTES, &[filled])
                    .iter()
                    .all(|&byte| byte == 7)
            );
            let freed = world.free(queue, memory, &[filled]);
            assert_eq!(
                world.event_info(freed, EventInfo::COMMAND_TYPE.0),
                Command::ENQUEUE_USM_FREE_EXP.0
            );
            assert_eq!(
                info(&world, memory, UsmAllocInfo::TYPE),
                Ok(UsmType::UNKNOWN.0 as usize)
            );
            assert_eq!(
                info(&world, memory, UsmAllocInfo::SIZE),
                Err(Code::INVALID_MEM_OBJECT)
            );
            world.wait(freed);
        }
    }
}

#[test]
fn memory_of_either_way_is_freed_either_way() {
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let mut memory = ptr::null_mut();
    ok((f.urUSMDeviceAlloc)(
        world.context,
        world.device,
        ptr::null(),
        ptr::null_mut(),
        BYTES,
        &raw mut memory,
    ));
    world.fill(queue, memory, 1, BYTES, &[]);
    world.free(queue, memory, &[]);
    let memory = world.alloc(queue, ptr::null_mut(), BYTES);
    world.fill(queue, memory, 1, BYTES, &[]);
    ok((f.urUSMFree)(world.context, memory));
    world.finish(queue);
}

#[test]
fn memory_is_freed_once_by_its_first_byte_in_its_context() {
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let memory = world.alloc(queue, ptr::null_mut(), BYTES);
    let mut on_host = 0_u64;
    let mut other = ptr::null_mut();
    ok((f.urContextCreate)(
        1,
        &raw const world.device,
        ptr::null(),
        &raw mut other,
    ));
    for wrong in [memory.wrapping_byte_add(256), (&raw mut on_host).cast()] {
        let mut event = ptr::null_mut();
        let code = (f.urEnqueueUSMFreeExp)(
            queue,
            ptr::null_mut(),
            wrong,
            0,
            ptr::null(),
            &raw mut event,
        );
        fails(code, Code::INVALID_MEM_OBJECT);
        assert!(event.is_null());
        fails(
            (f.urUSMFree)(world.context, wrong),
            Code::INVALID_MEM_OBJECT,
        );
    }
    fails((f.urUSMFree)(other, memory), Code::INVALID_MEM_OBJECT);
    ok((f.urContextRelease)(other));
    world.free(queue, memory, &[]);
    let code = (f.urEnqueueUSMFreeExp)(
        queue,
        ptr::null_mut(),
        memory,
        0,
        ptr::null(),
        ptr::null_mut(),
    );
    fails(code, Code::INVALID_MEM_OBJECT);
    fails(
        (f.urUSMFree)(world.context, memory),
        Code::INVALID_MEM_OBJECT,
    );
}

#[test]
fn wait_lists_have_events_or_are_none() {
    let world = World::new();
    let queue = world.queue(0);
    let f = world.f;
    let memory = world.alloc(queue, ptr::null_mut(), BYTES);
    let event = world.fill(queue, memory, 1, BYTES, &[]);
    let (good, null, wrong) = ([event], [ptr::null_mut()], [queue]);
    for (count, events) in [
        (1, ptr::null()),
        (0, good.as_ptr()),
        (1, null.as_ptr()),
        (1, wrong.as_ptr()),
    ] {
        for call in [
            f.urEnqueueUSMDeviceAllocExp,
            f.urEnqueueUSMSharedAllocExp,
            f.urEnqueueUSMHostAllocExp,
        ] {
            let untouched = ptr::without_provenance_mut(0x55);
            let (mut got, mut made) = (untouched, ptr::null_mut());
            let code = call(
                queue,
                ptr::null_mut(),
                BYTES,
                ptr::null(),
                count,
                events,
                &raw mut got,
                &raw mut made,
            );
            fails(code, Code::INVALID_EVENT_WAIT_LIST);
            assert_eq!((got, made), (untouched, ptr::null_mut()));
        }
        let code = (f.urEnqueueUSMFreeExp)(
            queue,
            ptr::null_mut(),
            memory,
            count,
            events,
            ptr::null_mut(),
        );
        fails(code, Code::INVALID_EVENT_WAIT_LIST);
    }
    world.free(queue, memory, &[event]);
    assert!(list(&[]).is_null());
}

#[test]
fn alignment_is_kept() {
    use crate::support::shapes::{Header, USM_DESC, UsmDesc};
    let world = World::new();
    let f = world.f;
    let mut held = Vec::new();
    for power in 0..=21 {
        let desc = UsmDesc {
            header: Header::new(USM_DESC),
            hints: 0,
            align: 1 << power,
        };
        let mut memory = ptr::null_mut();
        ok((f.urUSMSharedAlloc)(
            world.context,
            world.device,
            &raw const desc,
            ptr::null_mut(),
            100,
            &raw mut memory,
        ));
        assert!(
            memory.addr().is_multiple_of(1 << power),
            "{memory:p} for 2^{power}"
        );
        held.push(memory);
    }
    for (align, expected) in [
        (3, Code::INVALID_VALUE),
        (1 << 30, Code::UNSUPPORTED_ALIGNMENT),
    ] {
        let desc = UsmDesc {
            header: Header::new(USM_DESC),
            hints: 0,
            align,
        };
        let mut memory = ptr::null_mut();
        let code = (f.urUSMHostAlloc)(
            world.context,
            &raw const desc,
            ptr::null_mut(),
            100,
            &raw mut memory,
        );
        fails(code, expected);
    }
    for memory in held {
        ok((f.urUSMFree)(world.context, memory));
    }
}
