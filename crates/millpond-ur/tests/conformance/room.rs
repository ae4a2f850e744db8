//! What is held back holds nothing else back: neither what isn't ordered behind it, nor calls that promise not
//! to wait, however much there is already.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ur_adapter_millpond::numbers::Code;

use crate::support::functions::Functions;
use crate::support::gate::Gate;
use crate::support::launch::{Group, Items, kernel, launch};
use crate::support::shapes::{EVENT_DESC, Flags, Handle, Header, LIST_DESC, ListDesc};
use crate::support::watch::watched;
use crate::support::world::{MOMENT, OUT_OF_ORDER, World, ok};

/// More commands than a queue takes before a submission waits.
const MANY: usize = 5000;

fn usm(world: &World) -> *mut c_void {
    let mut memory = ptr::null_mut();
    let none = ptr::null_mut();
    let place = &raw mut memory;
    ok((world.f.urUSMDeviceAlloc)(
        world.context,
        world.device,
        ptr::null(),
        none,
        256,
        place,
    ));
    memory
}

fn give_back(world: &World, memory: *mut c_void) {
    ok((world.f.urUSMFree)(world.context, memory));
}

/// A gate on a queue of its own.
fn gate(world: &World) -> Option<Gate> {
    Gate::close(world.queue(0))
}

#[test]
fn what_frees_and_waits_for_all_come_behind_holds_back_nothing_that_is_enqueued_later() {
    watched(|| {
        let world = World::new();
        let Some(gate) = gate(&world) else { return };
        let queue = world.queue(OUT_OF_ORDER);
        let [one, other, freed] = [(); 3].map(|()| usm(&world));
        let held = world.fill(queue, one, 1, 256, &[gate.event]);
        give_back(&world, freed);
        world.wait(world.fill(queue, other, 2, 256, &[]));
        let mut all = ptr::null_mut();
        ok((world.f.urEnqueueEventsWait)(
            queue,
            0,
            ptr::null(),
            &raw mut all,
        ));
        world.event(all);
        world.wait(world.fill(queue, other, 3, 256, &[]));
        assert!(world.stays_pending(all) && world.stays_pending(held));
        gate.open();
        world.wait(all);
        assert!(world.is_complete(held));
        assert_eq!(world.read(queue, other, 256, &[]), [3; 256]);
        give_back(&world, one);
        give_back(&world, other);
    });
}

#[test]
fn an_event_of_no_command_is_over_whatever_is_pending() {
    watched(|| {
        let world = World::new();
        let (memory, queue) = (usm(&world), world.queue(0));
        let Some(gate) = Gate::close(queue) else {
            return;
        };
        world.fill(queue, memory, 1, 256, &[]);
        give_back(&world, memory);
        let mut event = ptr::null_mut();
        let place = &raw mut event;
        ok((world.f.urEventCreateWithNativeHandle)(
            0,
            world.context,
            ptr::null(),
            place,
        ));
        assert!(world.is_complete(world.event(event)));
        let desc = Flags {
            header: Header::new(EVENT_DESC),
            flags: 0,
        };
        let code = (world.f.urEventCreateExp)(world.context, world.device, &raw const desc, place);
        if code != Code::UNSUPPORTED_FEATURE.0 {
            ok(code);
            assert!(world.is_complete(world.event(event)));
        }
        gate.open();
    });
}

#[test]
fn memory_is_had_and_given_back_without_waiting_for_room() {
    watched(|| {
        let world = World::new();
        let all: Vec<_> = (0..MANY).map(|_| usm(&world)).collect();
        let Some(gate) = gate(&world) else { return };
        let queue = world.queue(OUT_OF_ORDER);
        let mut bytes = [0_u8; 64];
        for _ in 0..4096 {
            let release = world.f.urEventRelease;
            let mut event = ptr::null_mut();
            let (value, place) = (0_u8, bytes.as_mut_ptr().cast());
            let (value, waits) = ((&raw const value).cast(), &raw const gate.event);
            ok((world.f.urEnqueueUSMFill)(
                queue,
                place,
                1,
                value,
                64,
                1,
                waits,
                &raw mut event,
            ));
            ok(release(event));
        }
        for memory in all {
            give_back(&world, memory);
        }
        let more = usm(&world);
        give_back(&world, more);
        gate.open();
        world.finish(queue);
    });
}

extern "C" fn nothing(_: *const *mut c_void, _: *const Group) {}

#[test]
fn launches_that_are_held_back_do_not_hold_those_of_other_queues() {
    watched(|| {
        let world = World::new();
        let Some(kernel) = kernel(&world, nothing) else {
            return;
        };
        let Some(gate) = gate(&world) else { return };
        let (held, free) = ([(); 3].map(|()| world.queue(0)), world.queue(0));
        let one = Items {
            global: &[8],
            local: Some(&[1]),
        };
        for launched in 0..MANY {
            launch(
                &world,
                (held[launched % 3], kernel),
                one,
                &[],
                &[gate.event],
            )
            .unwrap();
        }
        let done = launch(&world, (free, kernel), one, &[], &[]).unwrap();
        world.wait(done);
        gate.open();
        for queue in held {
            world.finish(queue);
        }
        ok((world.f.urKernelRelease)(kernel));
    });
}

/// What the host task of the test below enqueues, and when.
struct Again {
    queue: Handle,
    list: Handle,
    /// How often the test has enqueued it.
    enqueued: AtomicUsize,
}

extern "C" fn enqueue_again(data: *mut c_void) {
    // SAFETY: what the test passes, which is there until its queue has finished.
    let again = unsafe { &*data.cast::<Again>() };
    let enqueued = || again.enqueued.load(Ordering::SeqCst);
    let (mut seen, mut since) = (enqueued(), Instant::now());
    // Until the test waits for room.
    while enqueued() < MANY && since.elapsed() < MOMENT {
        if enqueued() != seen {
            (seen, since) = (enqueued(), Instant::now());
        }
        std::thread::yield_now();
    }
    let enqueue = Functions::get().urEnqueueCommandBufferExp;
    let none = ptr::null_mut();
    assert_eq!(enqueue(again.queue, again.list, 0, ptr::null(), none), 0);
}

#[test]
fn a_host_task_enqueues_the_list_whose_execution_waits_for_room() {
    watched(|| {
        let world = World::new();
        let f = world.f;
        let (queue, mut list, mut bytes) = (world.queue(0), ptr::null_mut(), [0_u8; 8]);
        let header = Header::new(LIST_DESC);
        let desc = ListDesc {
            header,
            is_updatable: false,
            is_in_order: true,
            is_profiling: false,
        };
        let place = &raw mut list;
        let code =
            (f.urCommandBufferCreateExp)(world.context, world.device, &raw const desc, place);
        if code == Code::UNSUPPORTED_FEATURE.0 {
            return;
        }
        ok(code);
        let (none, value) = (ptr::null_mut(), 5_u8);
        ok((f.urCommandBufferAppendUSMFillExp)(
            list,
            bytes.as_mut_ptr().cast(),
            (&raw const value).cast(),
            1,
            8,
            0,
            ptr::null(),
            0,
            ptr::null(),
            ptr::null_mut(),
            none,
            none,
        ));
        ok((f.urCommandBufferFinalizeExp)(list));
        let again = Again {
            queue,
            list,
            enqueued: AtomicUsize::new(0),
        };
        let (data, events) = ((&raw const again).cast_mut().cast(), ptr::null());
        let code =
            (f.urEnqueueHostTaskExp)(queue, enqueue_again, data, ptr::null(), 0, events, none);
        if code != Code::UNSUPPORTED_FEATURE.0 {
            ok(code);
            for _ in 0..MANY {
                ok((f.urEnqueueCommandBufferExp)(
                    queue,
                    list,
                    0,
                    ptr::null(),
                    none,
                ));
                again.enqueued.fetch_add(1, Ordering::SeqCst);
            }
            world.finish(queue);
            assert_eq!(bytes, [5; 8]);
        }
        ok((f.urCommandBufferReleaseExp)(list));
    });
}
