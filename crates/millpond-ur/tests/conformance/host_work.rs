//! Functions of the program on queues, the clock, and events that are used again.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::{Code, Command, EventInfo};

use crate::support::gate::Gate;
use crate::support::shapes::{EVENT_DESC, Flags, Handle, Header};
use crate::support::world::{OUT_OF_ORDER, PROFILING, World, fails, list, ok};
use crate::times::time;

const BYTES: usize = 4096;

fn timestamp(world: &World, queue: Handle, blocking: bool, waits: &[Handle]) -> Option<Handle> {
    let mut event = ptr::null_mut();
    let code = (world.f.urEnqueueTimestampRecordingExp)(
        queue,
        blocking,
        waits.len() as u32,
        list(waits),
        &raw mut event,
    );
    if code == Code::UNSUPPORTED_FEATURE.0 {
        eprintln!("skipped: there are no timestamps");
        return None;
    }
    ok(code);
    Some(world.event(event))
}

#[test]
fn a_timestamp_tells_when_the_queue_came_so_far() {
    let world = World::new();
    for flags in [0, OUT_OF_ORDER, PROFILING] {
        let (queue, other) = (world.queue(flags), world.queue(0));
        let Some(first) = timestamp(&world, queue, true, &[]) else {
            return;
        };
        assert!(world.is_complete(first));
        let times = [0, 1, 2, 3].map(|moment| time(&world, first, moment).unwrap());
        assert!(times[0] > 0 && times[0] == times[1] && times[2] == times[3]);
        assert!(times[1] <= times[2]);
        let Some(gate) = Gate::close(other) else {
            return;
        };
        let held = timestamp(&world, queue, false, &[gate.event]).unwrap();
        assert!(time(&world, held, 0).unwrap() >= times[3], "known at once");
        assert_eq!(
            time(&world, held, 3),
            Err(Code::PROFILING_INFO_NOT_AVAILABLE)
        );
        assert_eq!(
            world.event_info(held, EventInfo::COMMAND_TYPE.0),
            Command::TIMESTAMP_RECORDING_EXP.0
        );
        let (mut memory, mut behind) = (0_u64, ptr::null_mut());
        if flags != OUT_OF_ORDER {
            behind = world.fill(queue, (&raw mut memory).cast(), 1, 8, &[]);
            assert!(world.stays_pending(behind), "the queue's order holds");
        }
        let opened = timestamp(&world, world.queue(0), true, &[]).unwrap();
        gate.open();
        world.finish(queue);
        assert!(time(&world, held, 3).unwrap() >= time(&world, opened, 3).unwrap());
        assert!(behind.is_null() || world.is_complete(behind));
    }
}

#[test]
fn a_timestamp_comes_behind_what_is_before_it() {
    let world = World::new();
    for flags in [0, OUT_OF_ORDER] {
        let queue = world.queue(flags);
        let Some(gate) = Gate::close(queue) else {
            return;
        };
        let Some(held) = timestamp(&world, queue, false, &[]) else {
            return;
        };
        assert!(world.stays_pending(held));
        gate.open();
        world.wait(held);
    }
    let code = (world.f.urEnqueueTimestampRecordingExp)(
        world.queue(0),
        false,
        0,
        ptr::null(),
        ptr::null_mut(),
    );
    fails(code, Code::INVALID_NULL_POINTER);
}

/// What a native command enqueues: a fill of the bytes.
struct Native<'w> {
    world: &'w World,
    memory: *mut c_void,
    calls: usize,
}

extern "C" fn enqueue(queue: Handle, data: *mut c_void) {
    // SAFETY: what the test passes, for the time of the call.
    let native = unsafe { &mut *data.cast::<Native<'_>>() };
    native.calls += 1;
    native.world.fill(queue, native.memory, 4, BYTES, &[]);
}

#[test]
fn what_a_program_enqueues_itself_has_the_commands_place() {
    let world = World::new();
    for flags in [0, OUT_OF_ORDER] {
        let (queue, other) = (world.queue(flags), world.queue(0));
        let mut bytes = vec![0_u8; BYTES];
        let memory = bytes.as_mut_ptr().cast();
        let mut native = Native {
            world: &world,
            memory,
            calls: 0,
        };
        let Some(gate) = Gate::close(other) else {
            return;
        };
        let mut event = ptr::null_mut();
        ok((world.f.urEnqueueNativeCommandExp)(
            queue,
            enqueue,
            (&raw mut native).cast(),
            0,
            ptr::null(),
            ptr::null(),
            1,
            &raw const gate.event,
            &raw mut event,
        ));
        world.event(event);
        assert_eq!(native.calls, 1, "called at once");
        assert!(world.stays_pending(event));
        assert_eq!(world.read(other_queue(&world), memory, 1, &[]), [0]);
        gate.open();
        world.wait(event);
        assert!(
            world
                .read(other_queue(&world), memory, BYTES, &[])
                .iter()
                .all(|&byte| byte == 4)
        );
        assert_eq!(
            world.event_info(event, EventInfo::COMMAND_TYPE.0),
            Command::ENQUEUE_NATIVE_EXP.0
        );
    }
}

/// A queue on which nothing waits.
fn other_queue(world: &World) -> Handle {
    world.queue(0)
}

#[test]
fn an_event_is_used_again_for_one_barrier_after_the_other() {
    let world = World::new();
    let f = world.f;
    let desc = |flags| Flags {
        header: Header::new(EVENT_DESC),
        flags,
    };
    let (plain, unknown, mut event) = (desc(0), desc(4), ptr::null_mut());
    let create =
        |desc: *const Flags, event| (f.urEventCreateExp)(world.context, world.device, desc, event);
    let code = create(&raw const plain, &raw mut event);
    if code == Code::UNSUPPORTED_FEATURE.0 {
        eprintln!("skipped: events aren't used again");
        return;
    }
    ok(code);
    world.event(event);
    assert!(world.is_complete(event), "it stands for nothing yet");
    let mut wrong = ptr::null_mut();
    fails(
        create(&raw const unknown, &raw mut wrong),
        Code::INVALID_ENUMERATION,
    );
    let barrier = |queue: Handle, event: &mut Handle| {
        let code = (f.urEnqueueEventsWaitWithBarrierExt)(queue, ptr::null(), 0, ptr::null(), event);
        ok(code);
    };
    for _ in 0..2 {
        let queue = world.queue(0);
        let Some(gate) = Gate::close(queue) else {
            return;
        };
        let mut same = event;
        barrier(queue, &mut same);
        assert_eq!(same, event);
        assert!(world.stays_pending(event));
        let behind = world.queue(0);
        let mut value = 0_u64;
        let filled = world.fill(behind, (&raw mut value).cast(), 1, 8, &[event]);
        assert!(world.stays_pending(filled));
        gate.open();
        world.wait(filled);
        assert!(world.is_complete(event));
    }
    // Another event is not: the call makes its own.
    let queue = world.queue(0);
    let mut value = 0_u64;
    let usual = world.fill(queue, (&raw mut value).cast(), 1, 8, &[]);
    let mut made = usual;
    barrier(queue, &mut made);
    assert_ne!(made, usual);
    world.event(made);
    world.finish(queue);
}
