//! Arenas: memory that is behind a descriptor, on one process's side.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "touches and gives back memory")]

use std::alloc::Layout;
use std::os::fd::AsFd;
use std::sync::Arc;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{Arena, Device, DeviceError, Driver, HandleError, Place, RawAllocation};
use millpond_types::MemoryKind;

const PAGE: usize = 2 << 20;

fn device() -> Arc<dyn Device> {
    let driver = CpuDriver::new(CpuConfig::default());
    driver.devices().unwrap().remove(0)
}

fn take(arena: &Arc<dyn Arena>, bytes: usize) -> RawAllocation {
    let layout = Layout::from_size_align(bytes, PAGE).unwrap();
    arena.allocate(layout).unwrap()
}

fn opened(device: &Arc<dyn Device>, arena: &Arc<dyn Arena>) -> Arc<dyn Arena> {
    let descriptor = arena.descriptor().try_clone_to_owned().unwrap();
    let opened = device.open_arena(arena.kind(), arena.id(), descriptor);
    opened.unwrap()
}

fn release(arena: &Arc<dyn Arena>, allocation: RawAllocation) {
    // SAFETY: callers pass memory of the arena, once, which no command uses.
    unsafe { arena.release(allocation) };
}

fn write(allocation: &RawAllocation, byte: u8) {
    let pointer = allocation.address.as_ptr::<u8>();
    // SAFETY: the memory is as long as its layout says, and only this test touches it.
    unsafe { pointer.write_bytes(byte, allocation.layout.size()) };
}

fn last(allocation: &RawAllocation) -> u8 {
    let end = allocation.address.offset(allocation.layout.size() - 1);
    // SAFETY: the last byte of memory that only this test touches; a file's pages are initialised.
    unsafe { end.as_ptr::<u8>().read() }
}

#[test]
fn memory_is_aligned_zero_and_seen_from_both_sides() {
    let device = device();
    let arena = device.create_arena(MemoryKind::Host).unwrap();
    let other = opened(&device, &arena);
    assert_eq!((other.id(), other.kind()), (arena.id(), MemoryKind::Host));
    for (byte, bytes) in [(1, 1), (2, PAGE), (3, 3 * PAGE + 5)] {
        let own = take(&arena, bytes);
        assert!(own.zeroed && own.layout.size() >= bytes);
        assert_eq!((own.address.get() % PAGE, last(&own)), (0, 0));
        write(&own, byte);
        let place = arena.place(own.address).unwrap();
        let seen = other.map(&place, own.layout.size()).unwrap();
        assert_eq!((last(&seen), seen.kind), (byte, MemoryKind::Host));
        release(&other, seen);
        assert_eq!(last(&own), byte);
        release(&arena, own);
    }
}

#[test]
fn released_memory_is_empty_for_all_and_its_place_never_used_again() {
    let device = device();
    let arena = device.create_arena(MemoryKind::Shared).unwrap();
    let other = opened(&device, &arena);
    let own = take(&arena, PAGE);
    write(&own, 1);
    let place = arena.place(own.address).unwrap();
    let seen = other.map(&place, PAGE).unwrap();
    release(&arena, own);
    assert_eq!(last(&seen), 0);
    let next = take(&arena, PAGE);
    assert_ne!(arena.place(next.address).unwrap(), place);
    release(&arena, next);
    release(&other, seen);
}

#[test]
fn each_side_can_do_what_is_its_own() {
    let device = device();
    let arena = device.create_arena(MemoryKind::Host).unwrap();
    let other = opened(&device, &arena);
    let own = take(&arena, PAGE);
    let place = arena.place(own.address).unwrap();
    let layout = Layout::new::<u64>();
    for answer in [other.allocate(layout), arena.map(&place, PAGE)] {
        let is_refused = matches!(answer, Err(DeviceError::Unsupported { .. }));
        assert!(is_refused, "{answer:?}");
    }
    assert!(other.place(own.address).is_err());
    let inside = own.address.offset(64);
    let answer = arena.place(inside);
    assert!(matches!(answer, Err(DeviceError::Invalid { .. })));
    let answer = other.map(&Place([0xff; 64]), PAGE);
    assert!(matches!(
        answer,
        Err(DeviceError::Handle(HandleError::Range { .. }))
    ));
    release(&arena, own);
}

#[test]
fn the_file_can_grow_but_nobody_can_make_it_shorter() {
    let arena = device().create_arena(MemoryKind::Host).unwrap();
    let own = take(&arena, PAGE);
    let file = std::fs::File::from(arena.descriptor().try_clone_to_owned().unwrap());
    assert!(file.set_len(0).is_err());
    assert_eq!(file.metadata().unwrap().len(), PAGE as u64);
    let more = take(&arena, PAGE);
    assert_eq!(last(&more), 0);
    release(&arena, own);
    release(&arena, more);
}

#[test]
fn device_memory_stays_with_its_process() {
    let device = device();
    assert!(matches!(
        device.create_arena(MemoryKind::Device).map(|_| ()),
        Err(DeviceError::Unsupported { .. })
    ));
    let arena = device.create_arena(MemoryKind::Host).unwrap();
    let descriptor = arena.descriptor().as_fd().try_clone_to_owned().unwrap();
    let answer = device.open_arena(MemoryKind::Device, arena.id(), descriptor);
    assert!(matches!(
        answer.map(|_| ()),
        Err(DeviceError::Unsupported { .. })
    ));
}

#[test]
fn more_than_the_device_has_is_refused() {
    let device = device();
    let arena = device.create_arena(MemoryKind::Host).unwrap();
    let bytes = device.info().max_allocation + 1;
    let layout = Layout::from_size_align(bytes, 64).unwrap();
    let answer = arena.allocate(layout);
    assert!(matches!(answer, Err(DeviceError::OutOfMemory { .. })));
}

#[test]
fn a_device_that_was_shut_down_makes_and_opens_none() {
    let device = device();
    let arena = device.create_arena(MemoryKind::Host).unwrap();
    device.shutdown();
    let descriptor = arena.descriptor().try_clone_to_owned().unwrap();
    let open = device.open_arena(MemoryKind::Host, arena.id(), descriptor);
    for answer in [device.create_arena(MemoryKind::Host), open] {
        assert!(matches!(answer.map(|_| ()), Err(DeviceError::Lost { .. })));
    }
}
