//! Command buffers: lists of commands that are enqueued as often as is wanted.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use ur_adapter_millpond::numbers::{Code, Command, EventInfo};

use crate::kernels::scale;
use crate::support::gate::Gate;
use crate::support::launch::{Argument, Group, kernel};
use crate::support::shapes::{
    Handle, Header, LIST_DESC, ListDesc, Triple, UPDATE_LAUNCH, UPDATE_POINTER, UPDATE_VALUE,
    Update, UpdatePointer, UpdateValue,
};
use crate::support::world::{OUT_OF_ORDER, World, fails, list as waiting, ok};

/// A list, of the queue's device.
struct List<'w> {
    world: &'w World,
    handle: Handle,
}

impl Drop for List<'_> {
    fn drop(&mut self) {
        (self.world.f.urCommandBufferReleaseExp)(self.handle);
    }
}

/// None where there are no lists.
fn list(world: &World, is_in_order: bool) -> Option<List<'_>> {
    let desc = ListDesc {
        header: Header::new(LIST_DESC),
        is_updatable: true,
        is_in_order,
        is_profiling: false,
    };
    let mut handle = ptr::null_mut();
    let code = (world.f.urCommandBufferCreateExp)(
        world.context,
        world.device,
        &raw const desc,
        &raw mut handle,
    );
    if code == Code::UNSUPPORTED_FEATURE.0 {
        eprintln!("skipped: there are no command buffers");
        return None;
    }
    ok(code);
    Some(List { world, handle })
}

/// A list of sync points as C passes it.
fn points(behind: &[u32]) -> (u32, *const u32) {
    let place = if behind.is_empty() {
        ptr::null()
    } else {
        behind.as_ptr()
    };
    (behind.len() as u32, place)
}

impl List<'_> {
    /// Appends a fill; its sync point.
    fn fill(&self, memory: *mut c_void, value: u8, size: usize, behind: &[u32]) -> u32 {
        let ((count, list), mut point) = (points(behind), u32::MAX);
        ok((self.world.f.urCommandBufferAppendUSMFillExp)(
            self.handle,
            memory,
            (&raw const value).cast(),
            1,
            size,
            count,
            list,
            0,
            ptr::null(),
            &raw mut point,
            ptr::null_mut(),
            ptr::null_mut(),
        ));
        point
    }

    fn copy(&self, dst: *mut c_void, src: *const c_void, size: usize, behind: &[u32]) -> u32 {
        let ((count, list), mut point) = (points(behind), u32::MAX);
        ok((self.world.f.urCommandBufferAppendUSMMemcpyExp)(
            self.handle,
            dst,
            src,
            size,
            count,
            list,
            0,
            ptr::null(),
            &raw mut point,
            ptr::null_mut(),
            ptr::null_mut(),
        ));
        point
    }

    /// Appends a launch over a line of items; its sync point, and what it is changed by.
    fn launch(
        &self,
        kernel: Handle,
        items: usize,
        arguments: &[Argument<'_>],
        behind: &[u32],
    ) -> (u32, Handle) {
        let f = self.world.f;
        let ((count, list), mut point, mut command) = (points(behind), u32::MAX, ptr::null_mut());
        let described: Vec<_> = (0..)
            .zip(arguments)
            .map(|(index, argument)| argument.described(index))
            .collect();
        let mut code = (f.urCommandBufferAppendKernelLaunchWithArgsExp)(
            self.handle,
            kernel,
            1,
            ptr::null(),
            &raw const items,
            ptr::null(),
            described.len() as u32,
            described.as_ptr(),
            0,
            ptr::null(),
            count,
            list,
            0,
            ptr::null(),
            &raw mut point,
            ptr::null_mut(),
            &raw mut command,
        );
        if code == Code::UNSUPPORTED_FEATURE.0 {
            for (index, argument) in (0..).zip(arguments) {
                ok(argument.set(self.world, kernel, index));
            }
            code = (f.urCommandBufferAppendKernelLaunchExp)(
                self.handle,
                kernel,
                1,
                ptr::null(),
                &raw const items,
                ptr::null(),
                0,
                ptr::null(),
                count,
                list,
                0,
                ptr::null(),
                &raw mut point,
                ptr::null_mut(),
                &raw mut command,
            );
        }
        ok(code);
        (point, command)
    }

    fn finish(&self) {
        ok((self.world.f.urCommandBufferFinalizeExp)(self.handle));
    }

    /// Enqueues it; the event.
    fn enqueue(&self, queue: Handle, waits: &[Handle]) -> Handle {
        let mut event = ptr::null_mut();
        ok((self.world.f.urEnqueueCommandBufferExp)(
            queue,
            self.handle,
            waits.len() as u32,
            waiting(waits),
            &raw mut event,
        ));
        self.world.event(event)
    }
}

#[test]
fn a_list_does_what_was_appended_as_often_as_it_is_enqueued() {
    let world = World::new();
    for (flags, is_in_order) in [(0, false), (OUT_OF_ORDER, false), (OUT_OF_ORDER, true)] {
        let Some(list) = list(&world, is_in_order) else {
            return;
        };
        let queue = world.queue(flags);
        let [from, to] = [(); 2].map(|()| world.alloc(queue, ptr::null_mut(), 1 << 20));
        world.finish(queue);
        let after = |point: u32| if is_in_order { vec![] } else { vec![point] };
        let filled = list.fill(from, 3, 1 << 20, &[]);
        let copied = list.copy(to, from, 1 << 20, &after(filled));
        let part = list.fill(to, 4, 100, &after(copied));
        let memory = (from.cast_const(), 1 << 20);
        let mut hinted = u32::MAX;
        let (count, behind) = points(std::slice::from_ref(&part));
        ok((world.f.urCommandBufferAppendUSMPrefetchExp)(
            list.handle,
            memory.0,
            memory.1,
            0,
            count,
            behind,
            0,
            ptr::null(),
            &raw mut hinted,
            ptr::null_mut(),
            ptr::null_mut(),
        ));
        ok((world.f.urCommandBufferAppendUSMAdviseExp)(
            list.handle,
            memory.0,
            memory.1,
            1,
            0,
            ptr::null(),
            0,
            ptr::null(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
        ));
        assert_eq!([filled, copied, part, hinted], [0, 1, 2, 3]);
        list.finish();
        for _ in 0..3 {
            let cleared = [from, to].map(|memory| world.fill(queue, memory, 0, 1 << 20, &[]));
            let done = list.enqueue(queue, &cleared);
            let seen = world.read(queue, to, 1 << 20, &[done]);
            assert!(seen[..100].iter().all(|&byte| byte == 4));
            assert!(seen[100..].iter().all(|&byte| byte == 3));
        }
        for memory in [from, to] {
            world.free(queue, memory, &[]);
        }
        world.finish(queue);
    }
}

#[test]
fn a_list_has_its_place_on_the_queue_and_is_one_command() {
    let world = World::new();
    for flags in [0, OUT_OF_ORDER] {
        let Some(list) = list(&world, false) else {
            return;
        };
        let (queue, other) = (world.queue(flags), world.queue(0));
        let memory = world.alloc(queue, ptr::null_mut(), 1000);
        world.finish(queue);
        for part in 0..4 {
            list.fill(memory.wrapping_byte_add(250 * part), 5, 250, &[]);
        }
        list.finish();
        let Some(gate) = Gate::close(other) else {
            return;
        };
        let held = list.enqueue(queue, &[gate.event]);
        // An execution comes behind the last, also on a queue without an order.
        let next = list.enqueue(queue, &[]);
        assert!(world.stays_pending(held) && world.stays_pending(next));
        let command = world.event_info(held, EventInfo::COMMAND_TYPE.0);
        assert_eq!(command, Command::ENQUEUE_COMMAND_BUFFER_EXP.0);
        gate.open();
        assert_eq!(world.read(queue, memory, 1000, &[next]), [5; 1000]);
        world.free(queue, memory, &[]);
    }
}

static OPENED: AtomicBool = AtomicBool::new(false);

/// Runs until it is let go.
extern "C" fn hold(_: *const *mut c_void, _: *const Group) {
    while !OPENED.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

#[test]
fn a_command_comes_behind_its_sync_points() {
    let world = World::new();
    let Some(list) = list(&world, false) else {
        return;
    };
    let Some(kernel) = kernel(&world, hold) else {
        return;
    };
    let queue = world.queue(OUT_OF_ORDER);
    let memory = world.alloc(queue, ptr::null_mut(), 64);
    let cleared = world.fill(queue, memory, 0, 64, &[]);
    let (held, _) = list.launch(kernel, 1, &[], &[]);
    list.fill(memory, 9, 64, &[held]);
    list.finish();
    OPENED.store(false, Ordering::Release);
    let done = list.enqueue(queue, &[cleared]);
    assert!(world.stays_pending(done));
    let before = world.read(queue, memory, 64, &[cleared]);
    OPENED.store(true, Ordering::Release);
    assert_eq!(before, [0; 64]);
    assert_eq!(world.read(queue, memory, 64, &[done]), [9; 64]);
    world.free(queue, memory, &[]);
    ok((world.f.urKernelRelease)(kernel));
}

#[test]
fn a_launch_of_a_list_can_be_changed() {
    let world = World::new();
    let f = world.f;
    let Some(list) = list(&world, false) else {
        return;
    };
    let Some(kernel) = kernel(&world, scale) else {
        return;
    };
    let queue = world.queue(0);
    let (mut one, mut other) = (vec![0_u64; 20], vec![0_u64; 20]);
    let factor = 2_u64.to_ne_bytes();
    let arguments = [
        Argument::Pointer(one.as_mut_ptr().cast()),
        Argument::Value(&factor),
        Argument::Local(8),
    ];
    let (_, command) = list.launch(kernel, 10, &arguments, &[]);
    // The list has it.
    ok((f.urKernelRelease)(kernel));
    let pointer = UpdatePointer {
        header: Header::new(UPDATE_POINTER),
        index: 0,
        properties: ptr::null(),
        pointer: other.as_mut_ptr().cast(),
    };
    let (factor, items) = (7_u64, 20_usize);
    let value = UpdateValue {
        header: Header::new(UPDATE_VALUE),
        index: 1,
        size: 8,
        properties: ptr::null(),
        value: (&raw const factor).cast(),
    };
    let mut update = Update {
        header: Header::new(UPDATE_LAUNCH),
        command,
        kernel: ptr::null_mut(),
        buffer_count: 0,
        pointer_count: 1,
        value_count: 1,
        dimensions: 0,
        buffers: ptr::null(),
        pointers: &raw const pointer,
        values: &raw const value,
        offset: ptr::null(),
        global: &raw const items,
        local: ptr::null(),
    };
    let change = |update: &Update| {
        (f.urCommandBufferUpdateKernelLaunchExp)(list.handle, 1, ptr::from_ref(update))
    };
    fails(change(&update), Code::INVALID_OPERATION);
    list.finish();
    list.enqueue(queue, &[]);
    world.finish(queue);
    ok(change(&update));
    list.enqueue(queue, &[]);
    world.finish(queue);
    assert!((0..10).all(|item| one[item] == 2 * item as u64));
    assert!(one[10..].iter().all(|&value| value == 0));
    assert!((0..20).all(|item| other[item] == 7 * item as u64));
    update.command = list.handle;
    fails(
        change(&update),
        Code::INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP,
    );
}

/// What nobody wants of a command that was appended.
const NOTHING: (*mut u32, *mut Handle) = (ptr::null_mut(), ptr::null_mut());

/// Buffers of 64 bytes.
fn buffers<const N: usize>(world: &World) -> [Handle; N] {
    [(); N].map(|()| {
        let mut buffer = ptr::null_mut();
        let place = &raw mut buffer;
        ok((world.f.urMemBufferCreate)(
            world.context,
            1,
            64,
            ptr::null(),
            place,
        ));
        buffer
    })
}

#[test]
fn buffers_of_a_list_live_as_long_as_it_does() {
    let world = World::new();
    let f = world.f;
    let Some(list) = list(&world, true) else {
        return;
    };
    let queue = world.queue(0);
    let [one, other] = buffers(&world);
    let (given, mut seen, value) = ([1_u8, 2, 3, 4], [0_u8; 64], 7_u16);
    let (h, (point, none)) = (list.handle, NOTHING);
    ok((f.urCommandBufferAppendMemBufferFillExp)(
        h,
        one,
        (&raw const value).cast(),
        2,
        0,
        64,
        0,
        ptr::null(),
        0,
        ptr::null(),
        point,
        none,
        none,
    ));
    ok((f.urCommandBufferAppendMemBufferWriteExp)(
        h,
        one,
        8,
        4,
        given.as_ptr().cast(),
        0,
        ptr::null(),
        0,
        ptr::null(),
        point,
        none,
        none,
    ));
    ok((f.urCommandBufferAppendMemBufferCopyExp)(
        h,
        one,
        other,
        0,
        16,
        48,
        0,
        ptr::null(),
        0,
        ptr::null(),
        point,
        none,
        none,
    ));
    ok((f.urCommandBufferAppendMemBufferReadExp)(
        h,
        other,
        16,
        48,
        seen.as_mut_ptr().cast(),
        0,
        ptr::null(),
        0,
        ptr::null(),
        point,
        none,
        none,
    ));
    for buffer in [one, other] {
        ok((f.urMemRelease)(buffer));
    }
    list.finish();
    list.enqueue(queue, &[]);
    world.finish(queue);
    assert_eq!(seen[..16], [7, 0, 7, 0, 7, 0, 7, 0, 1, 2, 3, 4, 7, 0, 7, 0]);
}

#[test]
fn a_list_copies_rectangles() {
    let world = World::new();
    let f = world.f;
    let Some(list) = list(&world, true) else {
        return;
    };
    let queue = world.queue(0);
    let [buffer] = buffers(&world);
    let (given, mut seen): ([u8; 64], _) = (std::array::from_fn(|byte| byte as u8), [0_u8; 8]);
    let (h, (point, none)) = (list.handle, NOTHING);
    ok((f.urCommandBufferAppendMemBufferWriteExp)(
        h,
        buffer,
        0,
        64,
        given.as_ptr().cast(),
        0,
        ptr::null(),
        0,
        ptr::null(),
        point,
        none,
        none,
    ));
    // Two bytes of each of four rows of 16.
    let (from, to, size) = (Triple(8, 0, 0), Triple(0, 0, 0), Triple(2, 4, 1));
    ok((f.urCommandBufferAppendMemBufferReadRectExp)(
        h,
        buffer,
        from,
        to,
        size,
        16,
        0,
        2,
        0,
        seen.as_mut_ptr().cast(),
        0,
        ptr::null(),
        0,
        ptr::null(),
        point,
        none,
        none,
    ));
    ok((f.urMemRelease)(buffer));
    list.finish();
    list.enqueue(queue, &[]);
    world.finish(queue);
    assert_eq!(seen, [8, 9, 24, 25, 40, 41, 56, 57]);
}

#[test]
fn mistakes_are_told_and_nothing_is_appended() {
    let world = World::new();
    let f = world.f;
    let Some(list) = list(&world, false) else {
        return;
    };
    let queue = world.queue(0);
    let memory = world.alloc(queue, ptr::null_mut(), 64);
    let value = 1_u8;
    let append = |(count, points): (u32, *const u32), events: &[Handle], event: *mut Handle| {
        (f.urCommandBufferAppendUSMFillExp)(
            list.handle,
            memory,
            (&raw const value).cast(),
            1,
            64,
            count,
            points,
            events.len() as u32,
            waiting(events),
            ptr::null_mut(),
            event,
            ptr::null_mut(),
        )
    };
    let none = ptr::null_mut();
    fails(
        append(points(&[0]), &[], none),
        Code::INVALID_COMMAND_BUFFER_SYNC_POINT_EXP,
    );
    let wrong = Code::INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP;
    fails(append((1, ptr::null()), &[], none), wrong);
    let mut event = ptr::null_mut();
    fails(
        append(points(&[]), &[], &raw mut event),
        Code::UNSUPPORTED_FEATURE,
    );
    let enqueue =
        || (f.urEnqueueCommandBufferExp)(queue, list.handle, 0, ptr::null(), ptr::null_mut());
    fails(enqueue(), Code::INVALID_OPERATION);
    list.finish();
    fails(
        (f.urCommandBufferFinalizeExp)(list.handle),
        Code::INVALID_OPERATION,
    );
    fails(append(points(&[]), &[], none), Code::INVALID_OPERATION);
    world.fill(queue, memory, 0, 64, &[]);
    ok(enqueue());
    assert_eq!(
        world.read(queue, memory, 64, &[]),
        [0; 64],
        "an empty list does nothing"
    );
    let mut desc = [0_u8; 24];
    let place = desc.as_mut_ptr().cast();
    ok((f.urCommandBufferGetInfoExp)(
        list.handle,
        1,
        24,
        place,
        ptr::null_mut(),
    ));
    assert_eq!(desc[..4], LIST_DESC.to_ne_bytes());
    assert_eq!(
        desc[16..19],
        [1, 0, 0],
        "it can be changed, and has no order"
    );
    world.free(queue, memory, &[]);
}
