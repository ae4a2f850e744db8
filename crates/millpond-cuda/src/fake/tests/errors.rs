//! Errors of the driver: whom they reach, and that nothing is lost or left.

use std::alloc::Layout;
use std::sync::Arc;
use std::thread;

use millpond_hal::{Command, Device, DeviceError, Driver, FailureKind, QueueOptions};
use millpond_testkit::contract::raw::Memory;
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

use super::super::{CONTEXTS, Fake};
use super::{copy, devices, fill, give, outcome, queue, submit};
use crate::CudaDriver;
use crate::api::{Code, ContextHandle, attribute};

#[test]
fn a_lost_device_fails_what_is_unfinished_and_refuses_what_comes() {
    watched(|| {
        let (fake, devices) = devices(1);
        let device = &devices[0];
        let [one, two] = [queue(device), queue(device)];
        let memory = Memory::new(device, MemoryKind::Device, 1000).expect("memory");
        fake.pause();
        let first = give(&one, fill(memory.address(), &[7], 1000), &[]);
        let second = give(&two, fill(memory.address(), &[8], 1000), &[first]);
        fake.lose(Code::ILLEGAL_ADDRESS);
        let failure = outcome(&one, first).expect_err("the device is lost");
        assert_eq!(failure.kind(), FailureKind::Lost);
        let reason = failure.reason();
        assert!(
            reason.contains("cuda:0") && reason.contains("CUDA_ERROR_ILLEGAL_ADDRESS (an illegal"),
            "{reason}"
        );
        assert_eq!(outcome(&two, second), Err(failure));
        let layout = Layout::from_size_align(8, 8).expect("a layout");
        let answers = [
            submit(&one, Command::Barrier, &[]).map(|_| ()),
            device.allocate(MemoryKind::Device, layout).map(|_| ()),
            device.create_queue(&QueueOptions::default()).map(|_| ()),
        ];
        for answer in answers {
            let Err(DeviceError::Lost { device, reason }) = answer else {
                panic!("{answer:?}");
            };
            assert_eq!(device, "cuda:0");
            assert!(reason.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{reason}");
        }
        drop(memory);
        device.shutdown();
    });
}

#[test]
fn tasks_behind_a_lost_device_fail_with_it() {
    watched(|| {
        let (fake, devices) = devices(1);
        let queue = queue(&devices[0]);
        let memory = Memory::new(&devices[0], MemoryKind::Device, 8).expect("memory");
        fake.pause();
        give(&queue, fill(memory.address(), &[7], 8), &[]);
        let task = Command::Task {
            name: "never".into(),
            task: Box::new(|| panic!("it must not run")),
        };
        let point = give(&queue, task, &[]);
        fake.lose(Code::ILLEGAL_ADDRESS);
        let failure = outcome(&queue, point).expect_err("the device is lost");
        assert_eq!(failure.kind(), FailureKind::Lost);
    });
}

#[test]
fn memory_that_is_used_after_its_end_is_found_by_the_fake() {
    watched(|| {
        let (fake, devices) = devices(1);
        let queue = queue(&devices[0]);
        let layout = Layout::from_size_align(1000, 8).expect("a layout");
        let memory = devices[0]
            .allocate(MemoryKind::Device, layout)
            .expect("memory");
        let address = memory.address;
        fake.pause();
        let point = give(&queue, fill(address, &[7], 1000), &[]);
        // SAFETY: it isn't sound, as the fill has yet to come: the fake stands for the device.
        unsafe { devices[0].release(memory) };
        fake.resume();
        let failure = outcome(&queue, point).expect_err("an illegal address");
        assert_eq!(failure.kind(), FailureKind::Lost);
    });
}

#[test]
fn a_command_that_the_driver_refuses_fails_alone() {
    watched(|| {
        let (fake, devices) = devices(1);
        let [one, two] = [queue(&devices[0]), queue(&devices[0])];
        let [a, b] =
            [(); 2].map(|()| Memory::new(&devices[0], MemoryKind::Device, 1000).expect("memory"));
        fake.fail("cuMemcpyAsync", 0, Code::NOT_SUPPORTED);
        let bad = give(&one, copy(a.address(), b.address(), 1000), &[]);
        let dependent = give(&two, fill(b.address(), &[1], 1000), &[bad]);
        let after = give(&one, fill(a.address(), &[1], 1000), &[]);
        let failure = outcome(&one, bad).expect_err("it was refused");
        assert_eq!(failure.kind(), FailureKind::Command);
        assert_eq!(
            failure.to_string(),
            "copy of 1000 bytes failed: cuMemcpyAsync: CUDA_ERROR_NOT_SUPPORTED (operation not \
             supported)"
        );
        assert_eq!(outcome(&two, dependent), Err(failure));
        assert_eq!(outcome(&one, after), Ok(()));
    });
}

#[test]
fn an_error_that_the_driver_cannot_name_is_the_commands_while_the_context_answers() {
    watched(|| {
        let (fake, devices) = devices(1);
        let queue = queue(&devices[0]);
        let [a, b] =
            [(); 2].map(|()| Memory::new(&devices[0], MemoryKind::Device, 1000).expect("memory"));
        fake.fail("cuMemcpyAsync", 0, Code::UNKNOWN);
        let bad = give(&queue, copy(a.address(), b.address(), 1000), &[]);
        let failure = outcome(&queue, bad).expect_err("it was refused");
        assert_eq!(failure.kind(), FailureKind::Command);
        let after = give(&queue, copy(a.address(), b.address(), 1000), &[]);
        assert_eq!(outcome(&queue, after), Ok(()));

        fake.pause();
        let last = give(&queue, copy(a.address(), b.address(), 1000), &[]);
        fake.lose(Code::UNKNOWN);
        let failure = outcome(&queue, last).expect_err("the device is lost");
        assert_eq!(failure.kind(), FailureKind::Lost);
    });
}

#[test]
fn a_large_copy_that_fails_on_its_way_fails_its_command() {
    watched(|| {
        let (fake, devices) = devices(1);
        let queue = queue(&devices[0]);
        let bytes = 9 << 20;
        let there = Memory::new(&devices[0], MemoryKind::Device, bytes).expect("memory");
        let here = vec![1_u8; bytes];
        fake.fail("cuMemcpyAsync", 1, Code::NOT_SUPPORTED);
        let from = millpond_hal::Address::of(here.as_ptr());
        let point = give(&queue, copy(from, there.address(), bytes), &[]);
        let failure = outcome(&queue, point).expect_err("it was refused");
        assert_eq!(failure.command(), "copy of 9437184 bytes");
        let point = give(&queue, copy(from, there.address(), bytes), &[]);
        assert_eq!(outcome(&queue, point), Ok(()));
    });
}

/// What a program may do, as far as it gets.
fn program(devices: &[Arc<dyn Device>]) -> Result<(), DeviceError> {
    let device = &devices[0];
    let mut memories = Vec::new();
    for kind in MemoryKind::ALL {
        memories.push(Memory::new(device, kind, 5000)?);
    }
    memories.push(Memory::new(device, MemoryKind::Device, 3 << 20)?);
    let queue = device.create_queue(&QueueOptions::default())?;
    let ordinary = vec![1_u8; 100_000];
    let from = millpond_hal::Address::of(ordinary.as_ptr());
    let mut points = Vec::new();
    let mut answer = Ok(());
    for memory in &memories {
        let commands = [
            copy(from, memory.address(), 5000),
            fill(memory.address(), &[1, 2, 3, 4, 5, 6, 7, 8], 4000),
        ];
        for command in commands {
            match submit(&queue, command, &[]) {
                Ok(point) => points.push(point),
                Err(error) => answer = Err(error),
            }
        }
    }
    if let Ok(point) = submit(&queue, copy(from, memories[3].address(), 100_000), &[]) {
        points.push(point);
    }
    for point in points {
        // Well or not: it ends.
        let _ = outcome(&queue, point);
    }
    answer
}

/// Calls that give something back: what they can't isn't there any more to be given.
const BACK: [&str; 7] = [
    "cuDevicePrimaryCtxRelease",
    "cuMemFree",
    "cuMemFreeHost",
    "cuMemUnmap",
    "cuMemRelease",
    "cuMemAddressFree",
    "cuStreamDestroy",
];

#[test]
fn every_call_may_fail_and_nothing_is_left() {
    watched(|| {
        let calls = {
            let fake = Fake::new(1);
            let driver = CudaDriver::over(fake.clone());
            program(&driver.devices().expect("it works")).expect("nothing fails");
            drop(driver);
            fake.calls()
        };
        assert!(calls.len() > 40, "{calls:?}");
        for index in 0..calls.len() {
            let fake = Fake::new(1);
            fake.fail_at(index, Code::OUT_OF_MEMORY);
            let driver = CudaDriver::over(fake.clone());
            if let Ok(devices) = driver.devices()
                && !devices.is_empty()
            {
                // Well or not.
                let _ = program(&devices);
            }
            drop(driver);
            let call = fake.calls().get(index).copied().unwrap_or_default();
            // The threads let go of the last queue a moment after its commands have ended.
            while !BACK.contains(&call) && fake.held() != (0, 0, 0) {
                thread::yield_now();
            }
        }
    });
}

#[test]
fn a_thread_keeps_its_own_context() {
    watched(|| {
        let own = ContextHandle(4711);
        CONTEXTS.with_borrow_mut(|contexts| contexts.push(own));
        let (_fake, devices) = devices(2);
        program(&devices).expect("nothing fails");
        program(&devices[1..]).expect("nothing fails");
        assert_eq!(Fake::current(), Some(own));
        drop(devices);
        assert_eq!(Fake::current(), Some(own));
    });
}

#[test]
fn a_device_that_lacks_what_is_needed_is_told_by_that() {
    let fake = Fake::new(1);
    fake.lack(attribute::STREAM_VALUES);
    let driver = CudaDriver::over(fake);
    let error = driver.devices().map(|devices| devices.len());
    let error = error.expect_err("the device can't be used").to_string();
    assert!(error.contains("lacks 64-bit values in streams"), "{error}");
    assert!(
        driver.report().contains("lacks 64-bit"),
        "{}",
        driver.report()
    );
}

#[test]
fn looking_for_devices_makes_no_context() {
    let (fake, devices) = devices(3);
    let names: Vec<_> = devices
        .iter()
        .map(|device| device.info().label.clone())
        .collect();
    assert_eq!(names, ["cuda:0", "cuda:1", "cuda:2"]);
    assert_eq!(fake.held().0, 0);
}
