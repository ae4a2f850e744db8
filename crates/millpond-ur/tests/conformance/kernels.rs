//! Kernels that are functions of the program.

use std::ffi::c_void;
use std::ptr;

use ur_adapter_millpond::numbers::{Code, Command, EventInfo};

use crate::support::gate::Gate;
use crate::support::launch::{self, Argument, Group, Items};
use crate::support::shapes::{BufferProperties, Handle, Header};
use crate::support::world::{OUT_OF_ORDER, World, fails, ok};

/// Writes to each item of an array: its number times a factor. The group's own memory counts its items.
#[allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "reads arguments as a kernel in C does"
)]
pub(crate) extern "C" fn scale(arguments: *const *mut c_void, group: *const Group) {
    // SAFETY: the arguments that the tests set, and a group.
    unsafe {
        let group = &*group;
        let out = *(*arguments).cast::<*mut u64>();
        let factor = *(*arguments.add(1)).cast::<u64>();
        let count = (*arguments.add(2)).cast::<u64>();
        *count = 0;
        for y in 0..group.size[1] {
            for x in 0..group.size[0] {
                let item = (group.first[1] + y) * group.global[0] + group.first[0] + x;
                *count += 1;
                *out.add(item) += factor * item as u64;
            }
        }
        assert_eq!(*count as usize, group.size[0] * group.size[1]);
    }
}

struct Kernel<'w>(&'w World, Handle);

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        (self.0.f.urKernelRelease)(self.1);
    }
}

/// None where functions of the host aren't kernels.
fn kernel(world: &World) -> Option<Kernel<'_>> {
    launch::kernel(world, scale).map(|made| Kernel(world, made))
}

/// Launches over a plane of items; the event.
fn launch(
    world: &World,
    what: (Handle, Handle),
    (global, local): ([usize; 2], Option<[usize; 2]>),
    (out, factor): (*const u64, u64),
    waits: &[Handle],
) -> Result<Handle, Code> {
    let items = Items {
        global: &global,
        local: local.as_ref().map(<[usize; 2]>::as_slice),
    };
    let factor = factor.to_ne_bytes();
    let arguments = [
        Argument::Pointer(out.cast()),
        Argument::Value(&factor),
        Argument::Local(8),
    ];
    launch::launch(world, what, items, &arguments, waits)
}

#[test]
fn every_item_is_run_once_whatever_the_groups() {
    let world = World::new();
    let Some(kernel) = kernel(&world) else { return };
    let queue = world.queue(0);
    for (global, local) in [
        ([1, 1], None),
        ([64, 48], None),
        ([64, 48], Some([16, 3])),
        ([97, 5], Some([97, 1])),
        ([7, 11], None),
    ] {
        let mut out = vec![0_u64; global[0] * global[1]];
        let shape = (global, local);
        let what = (queue, kernel.1);
        for _ in 0..2 {
            launch(&world, what, shape, (out.as_mut_ptr(), 3), &[]).unwrap();
        }
        world.finish(queue);
        assert!(
            out.iter()
                .enumerate()
                .all(|(item, &value)| value == 6 * item as u64)
        );
    }
}

#[test]
fn items_are_numbered_from_the_one_that_the_launch_begins_with() {
    let world = World::new();
    let Some(kernel) = kernel(&world) else { return };
    let queue = world.queue(0);
    let (offset, global, local) = ([5_usize, 2], [8_usize, 3], [4_usize, 1]);
    // Rows are as long as the launch is wide, so that its items are one behind the other.
    let begin = offset[1] * global[0] + offset[0];
    let items = Items {
        global: &global,
        local: Some(&local),
    };
    let mut out = vec![0_u64; begin + 24 + 8];
    let arguments = [
        Argument::Pointer(out.as_mut_ptr().cast()),
        Argument::Value(&7_u64.to_ne_bytes()),
        Argument::Local(8),
    ];
    let what = (queue, kernel.1);
    let items = (offset.as_ptr(), items);
    launch::launch_from(&world, what, items, &arguments, &[]).unwrap();
    world.finish(queue);
    for (item, &value) in out.iter().enumerate() {
        let is_run = (begin..begin + 24).contains(&item);
        assert_eq!(value, u64::from(is_run) * 7 * item as u64, "{item}");
    }
}

#[test]
fn a_launch_has_its_place_on_the_queue() {
    let world = World::new();
    let Some(kernel) = kernel(&world) else { return };
    for flags in [0, OUT_OF_ORDER] {
        let (queue, other) = (world.queue(flags), world.queue(0));
        let mut out = vec![0_u64; 100];
        let Some(gate) = Gate::close(other) else {
            return;
        };
        let what = (queue, kernel.1);
        let shape = ([100, 1], None);
        let held = launch(&world, what, shape, (out.as_mut_ptr(), 2), &[gate.event]).unwrap();
        let behind = world.fill(queue, out.as_mut_ptr().cast(), 1, 8, &[held]);
        assert!(world.stays_pending(held) && world.stays_pending(behind));
        gate.open();
        world.wait(behind);
        assert!(world.is_complete(held));
        assert_eq!((out[0], out[99]), (0x0101_0101_0101_0101, 198));
        assert_eq!(
            world.event_info(held, EventInfo::COMMAND_TYPE.0),
            Command::KERNEL_LAUNCH.0
        );
    }
}

#[test]
fn a_buffer_is_an_argument_and_lives_as_long_as_its_launch() {
    let world = World::new();
    let Some(kernel) = kernel(&world) else { return };
    let (f, queue, other) = (world.f, world.queue(0), world.queue(0));
    let (mut buffer, mut seen) = (ptr::null_mut(), vec![0_u64; 10]);
    let properties = BufferProperties {
        header: Header::new(2),
        host: seen.as_mut_ptr().cast(),
    };
    let of_host = 1 << 3;
    ok((f.urMemBufferCreate)(
        world.context,
        of_host,
        80,
        (&raw const properties).cast(),
        &raw mut buffer,
    ));
    let Some(gate) = Gate::close(other) else {
        return;
    };
    let factor = 5_u64.to_ne_bytes();
    let arguments = [
        Argument::Buffer(buffer),
        Argument::Value(&factor),
        Argument::Local(8),
    ];
    let items = Items {
        global: &[10],
        local: None,
    };
    launch::launch(&world, (queue, kernel.1), items, &arguments, &[gate.event]).unwrap();
    ok((f.urMemRelease)(buffer));
    gate.open();
    world.finish(queue);
    assert_eq!(seen[9], 45);
}

#[test]
fn a_kernel_says_what_groups_it_may_have() {
    let world = World::new();
    let Some(kernel) = kernel(&world) else { return };
    let ask = |what: u32, value: &mut usize| {
        (world.f.urKernelGetGroupInfo)(
            kernel.1,
            world.device,
            what,
            8,
            ptr::from_mut(value).cast(),
            ptr::null_mut(),
        )
    };
    let mut value = 0;
    ok(ask(1, &mut value));
    assert!(value >= 1024, "items of a group");
    ok(ask(4, &mut value));
    assert_eq!(value, 1);
    fails(ask(2, &mut value), Code::INVALID_SIZE);
    fails(ask(8, &mut value), Code::INVALID_ENUMERATION);
}

#[test]
fn launches_that_can_not_be_are_refused() {
    let world = World::new();
    let Some(kernel) = kernel(&world) else { return };
    let queue = world.queue(0);
    let mut out = vec![0_u64; 8];
    let mut wrong = |global, local| {
        launch(
            &world,
            (queue, kernel.1),
            (global, local),
            (out.as_mut_ptr(), 2),
            &[],
        )
        .unwrap_err()
    };
    assert_eq!(wrong([0, 1], None), Code::INVALID_WORK_DIMENSION);
    assert_eq!(wrong([8, 1], Some([0, 1])), Code::INVALID_WORK_GROUP_SIZE);
    assert_eq!(wrong([8, 1], Some([3, 1])), Code::INVALID_WORK_GROUP_SIZE);
    assert_eq!(wrong([usize::MAX, 2], None), Code::INVALID_WORK_DIMENSION);
    let mut none = ptr::null_mut();
    let code = (world.f.urKernelCreateWithNativeHandle)(
        0,
        world.context,
        ptr::null_mut(),
        ptr::null(),
        &raw mut none,
    );
    fails(code, Code::INVALID_VALUE);
}
