//! Programs, their kernels and their variables, on devices that run them.
//!
//! `UR_PROGRAM` names a file in place of the text, such as an image that a compiler made of it.

use std::ffi::{CStr, c_void};
use std::ptr;

use ur_adapter_millpond::numbers::{
    Code, Command, EventInfo, KernelGroupInfo, KernelInfo, ProgramBuildInfo, ProgramInfo,
};

use crate::support::gate::Gate;
use crate::support::launch::{Argument, Items, launch};
use crate::support::shapes::{Binary, Handle, Header};
use crate::support::world::{OUT_OF_ORDER, World, fails, ok};

/// The text of the tests' program, which ends with a zero where drivers ask for it.
const TEXT: &str = include_str!("programs.ptx");

/// What a program of the tests is made of.
fn image() -> Vec<u8> {
    #[allow(
        clippy::disallowed_methods,
        reason = "says what is tested, not how millpond runs"
    )]
    let named = std::env::var_os("UR_PROGRAM");
    named.map_or(TEXT.into(), |path| std::fs::read(path).expect("an image"))
}

/// A program, or a kernel.
struct Made<'w> {
    handle: Handle,
    release: extern "C" fn(Handle) -> u32,
    _world: &'w World,
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        (self.release)(self.handle);
    }
}

fn create<'w>(world: &'w World, image: &[u8]) -> Result<Made<'w>, Code> {
    let (length, binary) = (image.len(), image.as_ptr());
    let mut handle = ptr::null_mut();
    let code = (world.f.urProgramCreateWithBinary)(
        world.context,
        1,
        &raw const world.device,
        &raw const length,
        &raw const binary,
        ptr::null(),
        &raw mut handle,
    );
    match Code(code) {
        Code::SUCCESS => Ok(Made {
            handle,
            release: world.f.urProgramRelease,
            _world: world,
        }),
        error => Err(error),
    }
}

/// The tests' program, built; none where there are no programs.
fn program(world: &World) -> Option<Made<'_>> {
    let program = match create(world, &image()) {
        Err(Code::UNSUPPORTED_FEATURE) => {
            eprintln!("skipped: there are no programs");
            return None;
        }
        made => made.expect("a program"),
    };
    ok(build(world, &program));
    Some(program)
}

fn build(world: &World, program: &Made<'_>) -> u32 {
    (world.f.urProgramBuild)(world.context, program.handle, c"-fast".as_ptr())
}

fn kernel<'w>(world: &'w World, program: &Made<'_>, name: &CStr) -> Result<Made<'w>, Code> {
    let mut handle = ptr::null_mut();
    match Code((world.f.urKernelCreate)(
        program.handle,
        name.as_ptr(),
        &raw mut handle,
    )) {
        Code::SUCCESS => Ok(Made {
            handle,
            release: world.f.urKernelRelease,
            _world: world,
        }),
        error => Err(error),
    }
}

/// A number, or a size, of what can be asked of a program.
fn asked<T: Default>(ask: impl Fn(usize, *mut c_void) -> u32) -> T {
    let mut value = T::default();
    ok(ask(size_of::<T>(), (&raw mut value).cast()));
    value
}

fn words(ask: impl Fn(usize, *mut c_void, *mut usize) -> u32) -> String {
    let mut size = 0;
    ok(ask(0, ptr::null_mut(), &raw mut size));
    let mut bytes = vec![0_u8; size];
    ok(ask(size, bytes.as_mut_ptr().cast(), ptr::null_mut()));
    assert_eq!(bytes.pop(), Some(0), "texts end with a zero");
    String::from_utf8(bytes).expect("a text")
}

fn numbers(world: &World, queue: Handle, memory: *const c_void, count: usize) -> Vec<u32> {
    let bytes = world.read(queue, memory, 4 * count, &[]);
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers
        .iter()
        .map(|bytes| u32::from_ne_bytes(*bytes))
        .collect()
}

/// Adds a number to so many of a memory.
fn add(
    world: &World,
    what: (Handle, Handle),
    to: Argument<'_>,
    (number, count): (u32, u32),
    waits: &[Handle],
) -> Result<Handle, Code> {
    let (number, limit) = (number.to_ne_bytes(), count.to_ne_bytes());
    let arguments = [to, Argument::Value(&number), Argument::Value(&limit)];
    let items = Items {
        global: &[(count as usize).next_multiple_of(64)],
        local: Some(&[64]),
    };
    launch(world, what, items, &arguments, waits)
}

#[test]
fn a_program_tells_what_it_is_and_what_became_of_it() {
    let world = World::new();
    let f = world.f;
    let Some(built) = program(&world) else { return };
    let info = |what: ProgramInfo| {
        move |room, value| (f.urProgramGetInfo)(built.handle, what.0, room, value, ptr::null_mut())
    };
    assert_eq!(asked::<u32>(info(ProgramInfo::NUM_DEVICES)), 1);
    assert_eq!(
        asked::<usize>(info(ProgramInfo::DEVICES)),
        world.device.addr()
    );
    assert_eq!(
        asked::<usize>(info(ProgramInfo::CONTEXT)),
        world.context.addr()
    );
    let image = image();
    assert_eq!(asked::<usize>(info(ProgramInfo::BINARY_SIZES)), image.len());
    let mut copy = vec![0_u8; image.len()];
    let mut place = copy.as_mut_ptr();
    ok((f.urProgramGetInfo)(
        built.handle,
        ProgramInfo::BINARIES.0,
        8,
        (&raw mut place).cast(),
        ptr::null_mut(),
    ));
    assert_eq!(copy, image);
    let becomes = |program: &Made<'_>, what: ProgramBuildInfo, room, value, size| {
        (f.urProgramGetBuildInfo)(program.handle, world.device, what.0, room, value, size)
    };
    let status = |program: &Made<'_>| {
        asked::<u32>(|room, value| {
            becomes(
                program,
                ProgramBuildInfo::STATUS,
                room,
                value,
                ptr::null_mut(),
            )
        })
    };
    assert_eq!(status(&built), 2);
    let options =
        words(|room, value, size| becomes(&built, ProgramBuildInfo::OPTIONS, room, value, size));
    assert_eq!(options, "-fast");
    // One that wasn't built has no kernels, and one that can't be says why.
    let raw = create(&world, &image).unwrap();
    assert_eq!(status(&raw), 0);
    let early = kernel(&world, &raw, c"millpond_add");
    assert_eq!(early.err(), Some(Code::INVALID_PROGRAM_EXECUTABLE));
    let wrong = create(&world, format!("error\n{TEXT}").as_bytes()).unwrap();
    fails(build(&world, &wrong), Code::PROGRAM_BUILD_FAILURE);
    assert_eq!(status(&wrong), 1);
    let log = words(|room, value, size| becomes(&wrong, ProgramBuildInfo::LOG, room, value, size));
    assert!(!log.is_empty(), "the driver's words");
    assert_eq!(
        create(&world, b"no program").err(),
        Some(Code::INVALID_NATIVE_BINARY)
    );
}

#[test]
fn kernels_are_found_by_name_and_tell_what_they_take() {
    let world = World::new();
    let f = world.f;
    let Some(program) = program(&world) else {
        return;
    };
    let unknown = kernel(&world, &program, c"millpond_nothing");
    assert_eq!(unknown.err(), Some(Code::INVALID_KERNEL_NAME));
    let kernel = kernel(&world, &program, c"millpond_add").unwrap();
    let ask = |what: KernelInfo| {
        move |room, value, size| (f.urKernelGetInfo)(kernel.handle, what.0, room, value, size)
    };
    assert_eq!(words(ask(KernelInfo::FUNCTION_NAME)), "millpond_add");
    let number = |what| move |room, value| ask(what)(room, value, ptr::null_mut());
    assert_eq!(asked::<u32>(number(KernelInfo::NUM_ARGS)), 3);
    assert_eq!(
        asked::<usize>(number(KernelInfo::PROGRAM)),
        program.handle.addr()
    );
    let group = |what: KernelGroupInfo| {
        asked::<usize>(|room, value| {
            let (kernel, none) = (kernel.handle, ptr::null_mut());
            (f.urKernelGetGroupInfo)(kernel, world.device, what.0, room, value, none)
        })
    };
    let most = group(KernelGroupInfo::WORK_GROUP_SIZE);
    let warp = group(KernelGroupInfo::PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    assert!(most >= 256 && warp > 1 && most.is_multiple_of(warp));
    let step = asked::<u32>(|room, value| {
        (f.urKernelGetSubGroupInfo)(kernel.handle, world.device, 0, room, value, ptr::null_mut())
    });
    assert_eq!(step as usize, warp);
    let (mut groups, size) = (0, [most]);
    ok((f.urKernelSuggestMaxCooperativeGroupCount)(
        kernel.handle,
        world.device,
        1,
        size.as_ptr(),
        0,
        &raw mut groups,
    ));
    assert!(groups > 0);
}

#[test]
fn a_launch_has_its_place_on_the_queue() {
    let world = World::new();
    let Some(program) = program(&world) else {
        return;
    };
    let kernel = kernel(&world, &program, c"millpond_add").unwrap();
    for flags in [0, OUT_OF_ORDER] {
        let (queue, other) = (world.queue(flags), world.queue(0));
        let memory = world.alloc(other, ptr::null_mut(), 4000);
        let filled = world.fill(other, memory, 1, 4000, &[]);
        let Some(gate) = Gate::close(other) else {
            return;
        };
        let what = (queue, kernel.handle);
        let to = Argument::Pointer(memory);
        // The last hundred are beyond what is asked for.
        let held = add(&world, what, to, (5, 900), &[gate.event, filled]).unwrap();
        let behind = add(&world, what, to, (7, 1000), &[held]).unwrap();
        assert!(world.stays_pending(held) && world.stays_pending(behind));
        gate.open();
        world.wait(behind);
        assert!(world.is_complete(held));
        let seen = numbers(&world, queue, memory, 1000);
        assert!(seen[..900].iter().all(|&number| number == 0x0101_0101 + 12));
        assert!(seen[900..].iter().all(|&number| number == 0x0101_0101 + 7));
        let command = world.event_info(held, EventInfo::COMMAND_TYPE.0);
        assert_eq!(command, Command::KERNEL_LAUNCH.0);
        world.free(other, memory, &[]);
    }
}

#[test]
fn items_are_numbered_along_all_axes_whatever_the_groups() {
    let world = World::new();
    let Some(program) = program(&world) else {
        return;
    };
    let kernel = kernel(&world, &program, c"millpond_where").unwrap();
    let queue = world.queue(0);
    let memory = world.alloc(queue, ptr::null_mut(), 4 * 12 * 10 * 6);
    for local in [None, Some([4, 5, 2].as_slice()), Some(&[12, 1, 1])] {
        world.fill(queue, memory, 0xff, 4 * 12 * 10 * 6, &[]);
        let items = Items {
            global: &[12, 10, 6],
            local,
        };
        let to = [Argument::Pointer(memory)];
        launch(&world, (queue, kernel.handle), items, &to, &[]).unwrap();
        let seen = numbers(&world, queue, memory, 12 * 10 * 6);
        let expected = (0..6).flat_map(|z| (0..10).map(move |y| 100 * y + 10_000 * z));
        let expected = expected.flat_map(|row| (0..12).map(move |x| row + x));
        assert!(seen.into_iter().eq(expected), "groups of {local:?}");
    }
    world.free(queue, memory, &[]);
}

#[test]
fn groups_have_memory_of_their_own() {
    let world = World::new();
    let Some(program) = program(&world) else {
        return;
    };
    let kernel = kernel(&world, &program, c"millpond_reverse").unwrap();
    let queue = world.queue(0);
    let memory = world.alloc(queue, ptr::null_mut(), 4 * 512);
    let given: Vec<u32> = (0..512).collect();
    ok((world.f.urEnqueueUSMMemcpy)(
        queue,
        false,
        memory,
        given.as_ptr().cast(),
        4 * 512,
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    let items = Items {
        global: &[512],
        local: Some(&[128]),
    };
    let arguments = [Argument::Pointer(memory), Argument::Local(4 * 128)];
    launch(&world, (queue, kernel.handle), items, &arguments, &[]).unwrap();
    let seen = numbers(&world, queue, memory, 512);
    let expected = given.chunks(128).flat_map(|block| block.iter().rev());
    assert!(seen.iter().eq(expected));
    // More than any device has.
    let arguments = [Argument::Pointer(memory), Argument::Local(1 << 30)];
    let refused = launch(&world, (queue, kernel.handle), items, &arguments, &[]);
    let refused = refused.expect_err("there is not so much");
    assert!([Code::OUT_OF_RESOURCES, Code::INVALID_KERNEL_ARGUMENT_SIZE].contains(&refused));
    world.free(queue, memory, &[]);
}

#[test]
fn a_buffer_is_an_argument_and_what_was_launched_lives_until_it_has_ended() {
    let world = World::new();
    let f = world.f;
    let Some(program) = program(&world) else {
        return;
    };
    let kernel = kernel(&world, &program, c"millpond_add").unwrap();
    let (queue, other) = (world.queue(0), world.queue(0));
    let mut buffer = ptr::null_mut();
    ok((f.urMemBufferCreate)(
        world.context,
        1,
        400,
        ptr::null(),
        &raw mut buffer,
    ));
    let zero = 0_u32;
    ok((f.urEnqueueMemBufferFill)(
        queue,
        buffer,
        (&raw const zero).cast(),
        4,
        0,
        400,
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    let Some(gate) = Gate::close(other) else {
        return;
    };
    let what = (queue, kernel.handle);
    add(
        &world,
        what,
        Argument::Buffer(buffer),
        (3, 100),
        &[gate.event],
    )
    .unwrap();
    drop((kernel, program));
    gate.open();
    let mut seen = vec![0_u32; 100];
    ok((f.urEnqueueMemBufferRead)(
        queue,
        buffer,
        true,
        0,
        400,
        seen.as_mut_ptr().cast(),
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    assert_eq!(seen, [3; 100]);
    ok((f.urMemRelease)(buffer));
}

#[test]
fn launches_that_can_not_be_are_refused() {
    let world = World::new();
    let Some(program) = program(&world) else {
        return;
    };
    let kernel = kernel(&world, &program, c"millpond_add").unwrap();
    let what = (world.queue(0), kernel.handle);
    let memory = world.alloc(what.0, ptr::null_mut(), 256);
    let number = 1_u32.to_ne_bytes();
    let (to, value) = (Argument::Pointer(memory), Argument::Value(&number));
    let all = [to, value, value];
    let wrong = |global: &[usize], local: Option<&[usize]>, arguments: &[Argument<'_>]| {
        let items = Items { global, local };
        launch(&world, what, items, arguments, &[]).unwrap_err()
    };
    let size = Code::INVALID_KERNEL_ARGUMENT_SIZE;
    assert_eq!(
        wrong(&[64], None, &[to, value, Argument::Value(&[1; 8])]),
        size
    );
    assert_eq!(wrong(&[64], None, &[value, value, value]), size);
    let group = Code::INVALID_WORK_GROUP_SIZE;
    assert_eq!(wrong(&[1 << 20], Some(&[1 << 12]), &all), group);
    assert_eq!(wrong(&[64], Some(&[7]), &all), group);
    assert_eq!(wrong(&[0], None, &all), Code::INVALID_WORK_DIMENSION);
    assert_eq!(wrong(&[1 << 45], Some(&[1]), &all), Code::INVALID_VALUE);
    // Threads have no number for a first item that isn't the first.
    let (offset, global, mut event) = (1_usize, 64_usize, ptr::null_mut());
    let code = (world.f.urEnqueueKernelLaunchWithArgsExp)(
        what.0,
        what.1,
        1,
        &raw const offset,
        &raw const global,
        ptr::null(),
        0,
        ptr::null(),
        ptr::null(),
        0,
        ptr::null(),
        &raw mut event,
    );
    fails(code, Code::UNSUPPORTED_FEATURE);
    assert!(event.is_null());
    world.free(what.0, memory, &[]);
}

#[test]
fn a_launch_without_an_argument_is_refused() {
    let world = World::new();
    let Some(program) = program(&world) else {
        return;
    };
    let kernel = kernel(&world, &program, c"millpond_add").unwrap();
    let queue = world.queue(0);
    let memory = world.alloc(queue, ptr::null_mut(), 256);
    let items = Items {
        global: &[64],
        local: None,
    };
    let refused = launch(
        &world,
        (queue, kernel.handle),
        items,
        &[Argument::Pointer(memory)],
        &[],
    );
    assert_eq!(refused, Err(Code::INVALID_KERNEL_ARGS));
    world.free(queue, memory, &[]);
}

#[test]
fn variables_are_read_and_written_in_the_order_of_queues() {
    let world = World::new();
    let f = world.f;
    let Some(program) = program(&world) else {
        return;
    };
    let queue = world.queue(0);
    let (mut size, mut address) = (0, ptr::null_mut());
    ok((f.urProgramGetGlobalVariablePointer)(
        world.device,
        program.handle,
        c"millpond_variable".as_ptr(),
        &raw mut size,
        &raw mut address,
    ));
    assert_eq!(size, 16);
    let write = |offset, count, from: &[u8]| {
        (f.urEnqueueDeviceGlobalVariableWrite)(
            queue,
            program.handle,
            c"millpond_variable".as_ptr(),
            false,
            count,
            offset,
            from.as_ptr().cast(),
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    };
    world.fill(queue, address, 1, 16, &[]);
    ok(write(8, 4, &[2, 3, 4, 5]));
    let mut seen = [0_u8; 8];
    ok((f.urEnqueueDeviceGlobalVariableRead)(
        queue,
        program.handle,
        c"millpond_variable".as_ptr(),
        true,
        8,
        6,
        seen.as_mut_ptr().cast(),
        0,
        ptr::null(),
        ptr::null_mut(),
    ));
    assert_eq!(seen, [1, 1, 2, 3, 4, 5, 1, 1]);
    fails(write(8, 9, &[0; 9]), Code::INVALID_VALUE);
    let mut none = ptr::null_mut();
    let name = c"millpond_add".as_ptr();
    fails(
        (f.urProgramGetFunctionPointer)(world.device, program.handle, name, &raw mut none),
        Code::FUNCTION_ADDRESS_NOT_AVAILABLE,
    );
}

#[test]
fn a_device_chooses_the_programs_that_it_runs() {
    let world = World::new();
    let Some(_program) = program(&world) else {
        return;
    };
    let choose = |targets: &[&CStr]| {
        let binary = |target: &&CStr| Binary {
            header: Header::new(12),
            target: target.as_ptr(),
        };
        let binaries: Vec<_> = targets.iter().map(binary).collect();
        let (count, mut chosen) = (binaries.len() as u32, u32::MAX);
        let all = binaries.as_ptr();
        let code = (world.f.urDeviceSelectBinary)(world.device, all, count, &raw mut chosen);
        (Code(code), chosen)
    };
    assert_eq!(choose(&[c"spir64", c"nvptx64"]), (Code::SUCCESS, 1));
    assert_eq!(choose(&[c"spir64"]), (Code::INVALID_BINARY, u32::MAX));
}
