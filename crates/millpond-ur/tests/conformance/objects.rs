//! References, properties and parts of objects.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use ur_adapter_millpond::numbers::{Code, ContextInfo, DeviceInfo, ProfilingInfo, QueueInfo};

use crate::devices;
use crate::support::functions::Functions;
use crate::support::load;
use crate::support::shapes::{Handle, Header, Partition};
use crate::support::world::{OUT_OF_ORDER, PROFILING, World, fails, ok, platform, platforms};

type Ask = extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> u32;

fn ask(call: Ask, object: Handle, what: u32) -> usize {
    let mut value = 0_usize;
    ok(call(
        object,
        what,
        8,
        (&raw mut value).cast(),
        ptr::null_mut(),
    ));
    value
}

#[test]
fn references_are_counted_and_the_last_ends_the_handle() {
    let world = World::new();
    let f = world.f;
    let queue = world.queue(0);
    assert_eq!(
        ask(f.urQueueGetInfo, queue, QueueInfo::REFERENCE_COUNT.0),
        1
    );
    ok((f.urQueueRetain)(queue));
    assert_eq!(
        ask(f.urQueueGetInfo, queue, QueueInfo::REFERENCE_COUNT.0),
        2
    );
    ok((f.urQueueRelease)(queue));
    world.release_queue(queue);
    fails((f.urQueueFinish)(queue), Code::INVALID_QUEUE);
    fails((f.urQueueRelease)(queue), Code::INVALID_QUEUE);
}

#[test]
fn an_event_outlives_its_queue_and_a_queue_its_context() {
    let world = World::new();
    let f = world.f;
    let queue = world.queue(0);
    let event = world.alloc(queue, ptr::null_mut(), 100);
    let freed = world.free(queue, event, &[]);
    world.release_queue(queue);
    world.wait(freed);
    let mut context = ptr::null_mut();
    ok((f.urContextCreate)(
        1,
        &raw const world.device,
        ptr::null(),
        &raw mut context,
    ));
    let mut queue = ptr::null_mut();
    ok((f.urQueueCreate)(
        context,
        world.device,
        ptr::null(),
        &raw mut queue,
    ));
    ok((f.urContextRelease)(context));
    assert_eq!(
        ask(f.urQueueGetInfo, queue, QueueInfo::CONTEXT.0),
        context.addr()
    );
    assert_eq!(
        ask(f.urContextGetInfo, context, ContextInfo::NUM_DEVICES.0),
        1
    );
    ok((f.urQueueRelease)(queue));
}

#[test]
fn a_context_calls_its_deleters_when_it_goes() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn gone(_: *mut c_void) {
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
    let world = World::new();
    let mut context = ptr::null_mut();
    ok((world.f.urContextCreate)(
        1,
        &raw const world.device,
        ptr::null(),
        &raw mut context,
    ));
    ok((world.f.urContextSetExtendedDeleter)(
        context,
        gone,
        ptr::null_mut(),
    ));
    assert_eq!(CALLS.load(Ordering::SeqCst), 0);
    ok((world.f.urContextRelease)(context));
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);
}

#[test]
fn queues_say_how_they_were_made() {
    let world = World::new();
    for flags in [0, OUT_OF_ORDER, PROFILING, OUT_OF_ORDER | PROFILING] {
        let queue = world.queue(flags);
        assert_eq!(
            ask(world.f.urQueueGetInfo, queue, QueueInfo::FLAGS.0),
            flags as usize
        );
        assert_eq!(ask(world.f.urQueueGetInfo, queue, QueueInfo::EMPTY.0), 1);
    }
}

#[test]
fn times_are_in_order_where_they_are_kept() {
    let world = World::new();
    let mut memory = ptr::null_mut();
    ok((world.f.urUSMDeviceAlloc)(
        world.context,
        world.device,
        ptr::null(),
        ptr::null_mut(),
        4096,
        &raw mut memory,
    ));
    for flags in [PROFILING, PROFILING | OUT_OF_ORDER, 0] {
        let queue = world.queue(flags);
        let mut last = 0;
        for _ in 0..3 {
            let event = world.fill(queue, memory, 1, 4096, &[]);
            world.wait(event);
            for moment in 0..=4 {
                let mut time = 0_u64;
                let code = (world.f.urEventGetProfilingInfo)(
                    event,
                    moment,
                    8,
                    (&raw mut time).cast(),
                    ptr::null_mut(),
                );
                if flags == 0 {
                    fails(code, Code::PROFILING_INFO_NOT_AVAILABLE);
                } else {
                    ok(code);
                    assert!(time >= last, "moment {moment}");
                    last = time;
                }
            }
        }
        let (mut device, mut host) = (0, 0);
        ok((world.f.urDeviceGetGlobalTimestamps)(
            world.device,
            &raw mut device,
            &raw mut host,
        ));
        assert!(device >= last, "the device's clock is that of its commands");
    }
    ok((world.f.urUSMFree)(world.context, memory));
    assert_eq!(ProfilingInfo::COMMAND_COMPLETE.0, 4);
}

#[test]
fn every_property_of_a_device_has_one_size_or_is_not_known() {
    let world = World::new();
    for what in (0..0x2100).chain([0x4000, 0x6000, 0x7000, 0x8000, 0x9000]) {
        let mut size = 0_usize;
        let code = (world.f.urDeviceGetInfo)(world.device, what, 0, ptr::null_mut(), &raw mut size);
        if code != 0 {
            let unknown = [Code::UNSUPPORTED_ENUMERATION, Code::INVALID_ENUMERATION];
            assert!(unknown.contains(&Code(code)), "property {what:#x}: {code}");
            continue;
        }
        let mut value = vec![0_u8; size.max(1)];
        ok((world.f.urDeviceGetInfo)(
            world.device,
            what,
            size,
            value.as_mut_ptr().cast(),
            ptr::null_mut(),
        ));
        if size > 0 {
            let code = (world.f.urDeviceGetInfo)(
                world.device,
                what,
                size - 1,
                value.as_mut_ptr().cast(),
                ptr::null_mut(),
            );
            fails(code, Code::INVALID_SIZE);
        }
    }
    let offered = ask(
        world.f.urDeviceGetInfo,
        world.device,
        DeviceInfo::ASYNC_USM_ALLOCATIONS_SUPPORT_EXP.0,
    );
    assert_eq!(offered, 1);
}

#[test]
fn parts_of_a_device_have_queues_and_memory() {
    let world = World::new();
    let f = world.f;
    let cores = ask(
        f.urDeviceGetInfo,
        world.device,
        DeviceInfo::MAX_COMPUTE_UNITS.0,
    ) as u32;
    if cores < 2 {
        eprintln!("skipped: the device has one core");
        return;
    }
    let property = [0x1086, cores / 2];
    let partition = Partition {
        header: Header::new(26),
        properties: &raw const property,
        count: 1,
    };
    let mut parts = [ptr::null_mut(); 2];
    let mut count = 0;
    let mut ways = 0;
    let what = DeviceInfo::SUPPORTED_PARTITIONS.0;
    ok((f.urDeviceGetInfo)(
        world.device,
        what,
        0,
        ptr::null_mut(),
        &raw mut ways,
    ));
    if ways == 0 {
        let (how, none) = (&raw const partition, ptr::null_mut());
        let code = (f.urDevicePartition)(world.device, how, 0, none, &raw mut count);
        fails(code, Code::DEVICE_PARTITION_FAILED);
        return;
    }
    ok((f.urDevicePartition)(
        world.device,
        &raw const partition,
        2,
        parts.as_mut_ptr(),
        &raw mut count,
    ));
    assert_eq!(count, 2);
    for part in parts {
        assert_eq!(
            ask(f.urDeviceGetInfo, part, DeviceInfo::PARENT_DEVICE.0),
            world.device.addr()
        );
        assert_eq!(
            ask(f.urDeviceGetInfo, part, DeviceInfo::MAX_COMPUTE_UNITS.0) as u32,
            cores / 2
        );
        let (mut queue, mut memory) = (ptr::null_mut(), ptr::null_mut());
        ok((f.urQueueCreate)(
            world.context,
            part,
            ptr::null(),
            &raw mut queue,
        ));
        ok((f.urEnqueueUSMDeviceAllocExp)(
            queue,
            ptr::null_mut(),
            1000,
            ptr::null(),
            0,
            ptr::null(),
            &raw mut memory,
            ptr::null_mut(),
        ));
        let filled = world.fill(queue, memory, 6, 1000, &[]);
        // The whole may use a part's memory, and free it.
        let other = world.queue(0);
        assert!(
            world
                .read(other, memory, 1000, &[filled])
                .iter()
                .all(|&byte| byte == 6)
        );
        let freed = world.free(other, memory, &[]);
        world.wait(freed);
        ok((f.urQueueRelease)(queue));
        ok((f.urDeviceRelease)(part));
    }
}

#[test]
fn a_native_handle_leads_back_to_the_object() {
    let world = World::new();
    let queue = world.queue(0);
    let mut native = 0_usize;
    let mut same = ptr::null_mut();
    let f = world.f;
    ok((f.urQueueGetNativeHandle)(
        queue,
        ptr::null(),
        &raw mut native,
    ));
    ok((f.urQueueCreateWithNativeHandle)(
        native,
        world.context,
        world.device,
        ptr::null(),
        &raw mut same,
    ));
    assert_eq!(same, queue);
    ok((f.urQueueRelease)(same));
    let code = (f.urQueueCreateWithNativeHandle)(
        77,
        world.context,
        world.device,
        ptr::null(),
        &raw mut same,
    );
    fails(code, Code::INVALID_QUEUE);
}

#[test]
fn a_platform_has_the_devices_of_one_kind() {
    let world = World::new();
    let f = world.f;
    let kinds = platforms(f).into_iter().map(|(platform, backend)| {
        let (mut device, mut all) = (ptr::null_mut(), 0);
        ok((f.urDeviceGet)(
            platform,
            2,
            1,
            &raw mut device,
            &raw mut all,
        ));
        let kind = ask(f.urDeviceGetInfo, device, DeviceInfo::TYPE.0) as u32;
        let owner = ask(f.urDeviceGetInfo, device, DeviceInfo::PLATFORM.0);
        assert_eq!(owner, platform.addr());
        // 3 is for graphics processors, 4 for processors.
        for class in [3, 4] {
            let mut count = 7;
            ok((f.urDeviceGet)(
                platform,
                class,
                0,
                ptr::null_mut(),
                &raw mut count,
            ));
            assert_eq!(count, if class == kind { all } else { 0 });
        }
        assert_eq!(backend == 3, kind == 3, "the backend of NVIDIA's devices");
        device
    });
    let devices: Vec<_> = kinds.collect();
    if let [_, _, ..] = devices[..] {
        let mut none = ptr::null_mut();
        let code = (f.urContextCreate)(2, devices.as_ptr(), ptr::null(), &raw mut none);
        fails(code, Code::INVALID_DEVICE);
    }
}

#[test]
fn devices_of_a_context_use_its_memory() {
    let world = World::new();
    let f = world.f;
    let mut devices = [ptr::null_mut(); 2];
    let mut count = 0;
    let platform = platform(f);
    ok((f.urDeviceGet)(
        platform,
        2,
        2,
        devices.as_mut_ptr(),
        &raw mut count,
    ));
    if count < 2 {
        let named = load::variable(devices::NAMED);
        let has_two = named.is_some_and(|named| named.to_string_lossy().contains(';'));
        assert!(!has_two, "the platform has the devices that it was given");
        eprintln!("skipped: the platform has one device");
        return;
    }
    let mut context = ptr::null_mut();
    ok((f.urContextCreate)(
        2,
        devices.as_ptr(),
        ptr::null(),
        &raw mut context,
    ));
    let queues = devices.map(|device| {
        let mut queue = ptr::null_mut();
        ok((f.urQueueCreate)(
            context,
            device,
            ptr::null(),
            &raw mut queue,
        ));
        queue
    });
    let (mut host, none) = (ptr::null_mut(), ptr::null_mut());
    ok((f.urUSMHostAlloc)(
        context,
        ptr::null(),
        none,
        256,
        &raw mut host,
    ));
    let memory = devices.map(|device| {
        let mut memory = ptr::null_mut();
        let place = &raw mut memory;
        ok((f.urUSMDeviceAlloc)(
            context,
            device,
            ptr::null(),
            none,
            256,
            place,
        ));
        memory
    });
    // From the first's memory by way of the second's to the host's.
    let filled = world.fill(queues[0], memory[0], 5, 256, &[]);
    let copy = |queue, to, from: *mut c_void, after: Handle| {
        let mut event = ptr::null_mut();
        let (after, event_place) = (&raw const after, &raw mut event);
        ok((f.urEnqueueUSMMemcpy)(
            queue,
            false,
            to,
            from,
            256,
            1,
            after,
            event_place,
        ));
        world.event(event)
    };
    let across = copy(queues[1], memory[1], memory[0], filled);
    let back = copy(queues[0], host, memory[1], across);
    world.wait(back);
    // SAFETY: memory of the host, which the last command has filled.
    let seen = unsafe { std::slice::from_raw_parts(host.cast::<u8>(), 256) };
    assert_eq!(seen, [5; 256]);
    for memory in [memory[0], memory[1], host] {
        ok((f.urUSMFree)(context, memory));
    }
    for queue in queues {
        ok((f.urQueueRelease)(queue));
    }
    ok((f.urContextRelease)(context));
}

/// Whether a buffer is found, where an adapter has native handles of buffers.
fn is_found_again(world: &World) -> bool {
    let (f, [mut buffer, mut same]) = (world.f, [ptr::null_mut(); 2]);
    let (mut native, mut references) = (0_usize, 0_u32);
    let place = &raw mut buffer;
    ok((f.urMemBufferCreate)(
        world.context,
        1,
        64,
        ptr::null(),
        place,
    ));
    ok((f.urMemGetNativeHandle)(
        buffer,
        world.device,
        &raw mut native,
    ));
    let find = |native, place| {
        (f.urMemBufferCreateWithNativeHandle)(native, world.context, ptr::null(), place)
    };
    let is_found = find(native, &raw mut same) != Code::UNSUPPORTED_FEATURE.0;
    if is_found {
        assert_eq!(same, buffer);
        let place = (&raw mut references).cast();
        ok((f.urMemGetInfo)(buffer, 2, 4, place, ptr::null_mut()));
        assert_eq!(references, 2);
        ok((f.urMemRelease)(same));
        let mut none = ptr::null_mut();
        fails(find(native + 1, &raw mut none), Code::UNSUPPORTED_FEATURE);
        assert!(none.is_null());
    }
    ok((f.urMemRelease)(buffer));
    is_found
}

#[test]
fn a_buffer_is_found_again_by_its_native_handle() {
    if !is_found_again(&World::new()) {
        eprintln!("skipped: buffers have no native handles");
    }
    assert!(
        is_found_again(&World::of(Functions::own())),
        "this package's have"
    );
}
