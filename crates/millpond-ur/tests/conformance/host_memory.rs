//! Memory for rows, memory of the host that is told of, and what devices reach of one another's.

use std::ptr;

use ur_adapter_millpond::numbers::{Code, PeerInfo, UsmAllocInfo};

use crate::support::world::{World, fails, ok};

#[test]
fn rows_begin_at_elements_and_have_room() {
    let world = World::new();
    let f = world.f;
    let pool = world.pool(0, usize::MAX);
    for (width, height, element) in [(1, 1, 1), (100, 7, 4), (120, 5, 12), (4096, 3, 16)] {
        let (mut memory, mut pitch, mut size) = (ptr::null_mut(), 0_usize, 0_usize);
        ok((f.urUSMPitchedAllocExp)(
            world.context,
            world.device,
            ptr::null(),
            pool,
            width,
            height,
            element,
            &raw mut memory,
            &raw mut pitch,
        ));
        assert!(pitch >= width && pitch.is_multiple_of(element) && pitch.is_multiple_of(4));
        ok((f.urUSMGetMemAllocInfo)(
            world.context,
            memory,
            UsmAllocInfo::SIZE.0,
            8,
            (&raw mut size).cast(),
            ptr::null_mut(),
        ));
        assert!(size >= pitch * height);
        assert!(world.used(pool) >= pitch * height);
        let queue = world.queue(0);
        let value = 8_u8;
        ok((f.urEnqueueUSMFill2D)(
            queue,
            memory,
            pitch,
            1,
            (&raw const value).cast(),
            width,
            height,
            0,
            ptr::null(),
            ptr::null_mut(),
        ));
        let last = memory.wrapping_byte_add((height - 1) * pitch + width - 1);
        assert_eq!(world.read(queue, last, 1, &[]), [8]);
        ok((f.urUSMFree)(world.context, memory));
    }
    for (width, height, element, code) in [
        (0, 1, 1, Code::INVALID_USM_SIZE),
        (1, 0, 1, Code::INVALID_USM_SIZE),
        (usize::MAX, 2, 1, Code::INVALID_USM_SIZE),
        (1 << 40, 1 << 40, 1, Code::INVALID_USM_SIZE),
        (10, 1, 4, Code::INVALID_VALUE),
    ] {
        let (mut memory, mut pitch) = (ptr::null_mut(), 0_usize);
        let answer = (f.urUSMPitchedAllocExp)(
            world.context,
            world.device,
            ptr::null(),
            ptr::null_mut(),
            width,
            height,
            element,
            &raw mut memory,
            &raw mut pitch,
        );
        fails(answer, code);
    }
}

#[test]
fn memory_of_the_host_is_registered_once_and_given_up_once() {
    let world = World::new();
    let f = world.f;
    let mut bytes = vec![0_u8; 8192];
    let memory = bytes.as_mut_ptr().cast();
    let code = (f.urUSMHostAllocRegisterExp)(world.context, memory, 8192, ptr::null());
    if code == Code::UNSUPPORTED_FEATURE.0 {
        eprintln!("skipped: nothing is registered");
        return;
    }
    ok(code);
    let inside = memory.wrapping_byte_add(4096);
    for begin in [memory, inside] {
        let code = (f.urUSMHostAllocRegisterExp)(world.context, begin, 4096, ptr::null());
        fails(code, Code::INVALID_OPERATION);
    }
    fails(
        (f.urUSMHostAllocUnregisterExp)(world.context, inside),
        Code::INVALID_VALUE,
    );
    ok((f.urUSMHostAllocUnregisterExp)(world.context, memory));
    fails(
        (f.urUSMHostAllocUnregisterExp)(world.context, memory),
        Code::INVALID_VALUE,
    );
    let code = (f.urUSMHostAllocRegisterExp)(world.context, memory, 0, ptr::null());
    fails(code, Code::INVALID_VALUE);
}

#[test]
fn a_device_says_whether_it_reaches_the_memory_of_another() {
    let world = World::new();
    let f = world.f;
    let mut value = 9_u32;
    let ask = |what: u32, value: &mut u32| {
        (f.urUsmP2PPeerAccessGetInfoExp)(
            world.device,
            world.device,
            what,
            4,
            ptr::from_mut(value).cast(),
            ptr::null_mut(),
        )
    };
    let code = ask(PeerInfo::ACCESS_SUPPORT.0, &mut value);
    if code == Code::UNSUPPORTED_FEATURE.0 {
        eprintln!("skipped: nothing is said of peers");
        return;
    }
    ok(code);
    let code = (f.urUsmP2PEnablePeerAccessExp)(world.device, world.device);
    assert_eq!(code == 0, value == 1, "what is said is so");
    fails(ask(2, &mut value), Code::INVALID_ENUMERATION);
}
