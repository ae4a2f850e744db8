//! Memory, and what the driver is asked for it.

use std::alloc::Layout;

use millpond_hal::{Command, DeviceError};
use millpond_testkit::contract::raw::Memory;
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use super::{copy, devices, give, outcome, queue};
use crate::api::Code;

#[test]
fn more_managed_memory_than_the_device_has_is_refused_without_asking() {
    let (fake, devices) = devices(1);
    let layout = Layout::from_size_align(super::super::MEMORY + 1, 8).expect("a layout");
    let answer = devices[0].allocate(MemoryKind::Shared, layout);
    assert!(
        matches!(answer, Err(DeviceError::OutOfMemory { .. })),
        "{answer:?}"
    );
    assert!(!fake.calls().contains(&"cuMemAllocManaged"));
}

#[test]
fn large_device_memory_is_mapped_and_goes_back_whole() {
    let (fake, devices) = devices(2);
    let layout = Layout::from_size_align((2 << 20) + 1, 64).expect("a layout");
    let memory = devices[0]
        .allocate(MemoryKind::Device, layout)
        .expect("memory");
    assert_eq!(memory.layout.size(), 4 << 20);
    let (_, _, physical) = fake.held();
    assert_eq!(physical, 1);
    // SAFETY: nothing uses it.
    unsafe { devices[0].release(memory) };
    let (_, _, physical) = fake.held();
    assert_eq!((physical, fake.live().0), (0, 0));
}

#[test]
fn mapping_that_fails_halfway_is_taken_back() {
    for call in ["cuMemCreate", "cuMemMap", "cuMemSetAccess"] {
        let (fake, devices) = devices(1);
        fake.fail(call, 0, Code::OUT_OF_MEMORY);
        let layout = Layout::from_size_align(2 << 20, 64).expect("a layout");
        let answer = devices[0].allocate(MemoryKind::Device, layout);
        let Err(DeviceError::OutOfMemory { bytes, reason, .. }) = answer else {
            panic!("{call}: {answer:?}");
        };
        assert_eq!(bytes, 2 << 20);
        assert!(
            reason.starts_with(call) && reason.contains("OUT_OF_MEMORY"),
            "{reason}"
        );
        let (_, _, physical) = fake.held();
        assert_eq!((physical, fake.live().0), (0, 0), "{call}");
    }
}

#[test]
fn only_managed_memory_is_prefetched_and_a_hint_never_fails() {
    watched(|| {
        let (fake, devices) = devices(1);
        let queue = queue(&devices[0]);
        for (kind, refused) in [
            (MemoryKind::Device, false),
            (MemoryKind::Shared, false),
            (MemoryKind::Shared, true),
        ] {
            let memory = Memory::new(&devices[0], kind, 4096).expect("memory");
            if refused {
                fake.fail("cuMemPrefetchAsync", 0, Code::NOT_SUPPORTED);
            }
            fake.calls();
            let command = Command::Prefetch {
                address: memory.address(),
                bytes: 4096,
            };
            let point = give(&queue, command, &[]);
            assert_eq!(outcome(&queue, point), Ok(()));
            let asked = fake.calls().contains(&"cuMemPrefetchAsync");
            assert_eq!(asked, kind == MemoryKind::Shared);
        }
    });
}

#[test]
fn devices_that_can_are_let_into_each_others_memory_once() {
    watched(|| {
        let (fake, devices) = devices(2);
        let queue = queue(&devices[0]);
        let [here, there] = [0, 1]
            .map(|index| Memory::new(&devices[index], MemoryKind::Device, 4096).expect("memory"));
        for _ in 0..3 {
            let point = give(&queue, copy(here.address(), there.address(), 4096), &[]);
            assert_eq!(outcome(&queue, point), Ok(()));
        }
        let calls = fake.calls();
        let count = calls
            .iter()
            .filter(|call| **call == "cuCtxEnablePeerAccess");
        assert_eq!(count.count(), 1);
    });
}

/// Memory that another library had from the driver is told apart by the driver.
#[test]
fn foreign_memory_is_where_the_driver_says() {
    watched(|| {
        let (fake, devices) = devices(1);
        let queue = queue(&devices[0]);
        let own = Memory::new(&devices[0], MemoryKind::Device, 100_000).expect("memory");
        let foreign = fake.foreign(100_000);
        // The queue's lane is made for its first command.
        let point = give(&queue, super::fill(own.address(), &[1], 1000), &[]);
        assert_eq!(outcome(&queue, point), Ok(()));
        fake.calls();
        let point = give(&queue, super::fill(foreign, &[5], 100_000), &[]);
        let point = give(&queue, copy(foreign, own.address(), 100_000), &[point]);
        assert_eq!(outcome(&queue, point), Ok(()));
        let calls = fake.calls();
        let count = |name| calls.iter().filter(|call| **call == name).count();
        // By the device in one piece, not by way of the host.
        assert_eq!((count("cuMemsetD8Async"), count("cuMemcpyAsync")), (1, 1));
        assert_eq!(count("cuMemHostAlloc"), 0);
    });
}

#[test]
fn streams_are_used_again() {
    watched(|| {
        let (fake, devices) = devices(1);
        let memory = Memory::new(&devices[0], MemoryKind::Device, 8).expect("memory");
        for _ in 0..50 {
            let queue = queue(&devices[0]);
            let point = give(&queue, super::fill(memory.address(), &[1], 8), &[]);
            assert_eq!(outcome(&queue, point), Ok(()));
        }
        // The last queue may end a moment later than the next one begins.
        assert!(fake.live().1 <= 3, "{} streams", fake.live().1);
    });
}
