//! When commands began and ended, on queues that keep times.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use ur_adapter_millpond::numbers::Code;

use crate::support::gate::Gate;
use crate::support::launch::{Group, Items, kernel, launch};
use crate::support::shapes::{EVENT_DESC, Flags, Handle, Header};
use crate::support::world::{OUT_OF_ORDER, PROFILING, World, ok};

/// A moment in a command's life, by its number.
pub(crate) fn time(world: &World, event: Handle, moment: u32) -> Result<u64, Code> {
    let mut time = 0_u64;
    let place = (&raw mut time).cast();
    let code = (world.f.urEventGetProfilingInfo)(event, moment, 8, place, ptr::null_mut());
    if code == 0 { Ok(time) } else { Err(Code(code)) }
}

/// What the device's clock shows.
fn now(world: &World) -> u64 {
    let mut time = 0;
    ok((world.f.urDeviceGetGlobalTimestamps)(
        world.device,
        &raw mut time,
        ptr::null_mut(),
    ));
    time
}

#[test]
fn allocations_and_frees_have_times_of_their_own() {
    let world = World::new();
    for flags in [PROFILING, PROFILING | OUT_OF_ORDER] {
        let queue = world.queue(flags);
        for _ in 0..2 {
            let before = now(&world);
            let (memory, code, allocated) = world.try_alloc(queue, ptr::null_mut(), 4096, &[]);
            ok(code);
            world.wait(world.fill(queue, memory, 1, 4096, &[allocated]));
            let between = now(&world);
            let freed = world.free(queue, memory, &[]);
            world.finish(queue);
            for (event, from, until) in [(allocated, before, between), (freed, between, u64::MAX)] {
                let times = [0, 1, 2, 3].map(|moment| time(&world, event, moment).unwrap());
                assert!(times.is_sorted(), "{times:?}");
                assert!(
                    from <= times[0] && times[3] <= until,
                    "{from} {times:?} {until}"
                );
            }
        }
    }
}

#[test]
fn an_event_that_is_made_for_times_has_them_on_any_queue() {
    let world = World::new();
    for flags in [0, OUT_OF_ORDER, PROFILING] {
        let (queue, held) = (world.queue(flags), world.queue(0));
        let desc = Flags {
            header: Header::new(EVENT_DESC),
            flags: 1,
        };
        let (mut event, f) = (ptr::null_mut(), world.f);
        let place = &raw mut event;
        let code = (f.urEventCreateExp)(world.context, world.device, &raw const desc, place);
        if code == Code::UNSUPPORTED_FEATURE.0 {
            eprintln!("skipped: events have no times of their own");
            return;
        }
        ok(code);
        world.event(event);
        let Some(gate) = Gate::close(held) else {
            return;
        };
        let (waits, place) = (&raw const gate.event, &raw mut event);
        ok((f.urEnqueueEventsWaitWithBarrierExt)(
            queue,
            ptr::null(),
            1,
            waits,
            place,
        ));
        let before = now(&world);
        assert!(world.stays_pending(event));
        gate.open();
        world.wait(event);
        let times = [2, 3].map(|moment| time(&world, event, moment).unwrap());
        assert!(
            before <= times[1] && times[0] <= times[1],
            "{before} {times:?}"
        );
    }
}

static INSIDE: AtomicBool = AtomicBool::new(false);
static OPENED: AtomicBool = AtomicBool::new(false);

/// Runs until it is let go.
extern "C" fn hold(_: *const *mut c_void, _: *const Group) {
    INSIDE.store(true, Ordering::Release);
    while !OPENED.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

#[test]
fn a_launch_begins_before_its_groups_and_ends_behind_them() {
    let world = World::new();
    let Some(kernel) = kernel(&world, hold) else {
        return;
    };
    for flags in [PROFILING, PROFILING | OUT_OF_ORDER] {
        let queue = world.queue(flags);
        INSIDE.store(false, Ordering::Release);
        OPENED.store(false, Ordering::Release);
        let one = Items {
            global: &[1],
            local: None,
        };
        let launched = launch(&world, (queue, kernel), one, &[], &[]).unwrap();
        while !INSIDE.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let during = now(&world);
        OPENED.store(true, Ordering::Release);
        world.wait(launched);
        let times = [0, 1, 2, 3].map(|moment| time(&world, launched, moment).unwrap());
        assert!(times.is_sorted(), "{times:?}");
        assert!(
            times[2] <= during && during <= times[3],
            "{during} in {times:?}"
        );
    }
    ok((world.f.urKernelRelease)(kernel));
}
