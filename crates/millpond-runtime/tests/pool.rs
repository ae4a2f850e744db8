//! Pools: statistics, limits, growth, giving memory back. On a device without memory, so that
//! sizes may be large.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::layers::{Fault, Layered};
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{Device, Error, MemoryKind, Partition, QueueOptions, Registry};
use millpond_testkit::watchdog::watched;

const GIB: usize = 1 << 30;

fn null(memory: usize) -> (NullDriver, Device) {
    let driver = NullDriver::with(NullOptions {
        memory,
        ..NullOptions::default()
    });
    let device = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]).default_device();
    (driver, device.unwrap())
}

fn check_identity(device: &Device) {
    for kind in MemoryKind::ALL {
        let now = device.pool(kind).statistics();
        assert_eq!(
            now.reserved,
            now.used + now.pending + now.cached,
            "{kind}: {now:?}"
        );
        assert!(
            now.requested <= now.used && now.used <= now.used_high,
            "{kind}: {now:?}"
        );
        assert!(now.reserved <= now.reserved_high, "{kind}: {now:?}");
    }
}

#[test]
fn reserved_is_used_and_pending_and_cached() {
    watched(|| {
        let (driver, device) = null(64 * GIB);
        let queues: Vec<_> = (0..3)
            .map(|_| device.create_queue(&QueueOptions::default()).unwrap())
            .collect();
        let mut live = Vec::new();
        let mut seed = 12345_usize;
        for step in 0..3000 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let bytes = 1 << (seed >> 40 & 0xf) << (seed >> 50 & 0x7);
            let kind = MemoryKind::ALL[seed >> 33 & 1];
            live.push(
                queues[step % 3]
                    .allocate(kind, bytes + (seed >> 20 & 0xff))
                    .unwrap(),
            );
            if live.len() > 40 {
                live.swap_remove(seed >> 10 & 0x1f);
            }
            if step % 100 == 0 {
                check_identity(&device);
            }
        }
        drop(live);
        check_identity(&device);
        for kind in MemoryKind::ALL {
            device.pool(kind).trim(0).unwrap();
            assert_eq!(
                device.pool(kind).statistics().reserved,
                0,
                "rule: all free, all given back"
            );
        }
        assert_eq!(driver.null_devices()[0].allocated_bytes(), 0);
    });
}

#[test]
fn live_allocations_never_overlap() {
    watched(|| {
        let (_driver, device) = null(64 * GIB);
        let queue = device.default_queue().unwrap();
        let mut live: Vec<millpond_runtime::Allocation> = Vec::new();
        for step in 0..4000_usize {
            live.push(
                queue
                    .allocate(MemoryKind::Device, (step * 7919) % 300_000)
                    .unwrap(),
            );
            if step % 3 != 0 {
                live.swap_remove((step * 31) % live.len());
            }
        }
        let mut ranges: Vec<_> = live
            .iter()
            .map(|memory| {
                (
                    memory.address().get(),
                    memory.address().get() + memory.bytes(),
                )
            })
            .collect();
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        assert!(ranges.iter().all(|range| range.0 % 256 == 0));
    });
}

#[test]
fn blocks_go_from_an_idle_queue_to_another() {
    watched(|| {
        let (_driver, device) = null(64 * GIB);
        let options = QueueOptions::default();
        let (a, b) = (
            device.create_queue(&options).unwrap(),
            device.create_queue(&options).unwrap(),
        );
        let first = a.allocate(MemoryKind::Device, GIB).unwrap();
        let address = first.address();
        drop(first);
        let second = b.allocate(MemoryKind::Device, GIB).unwrap();
        assert_eq!(second.address(), address, "rule R3");
        check_identity(&device);
    });
}

#[test]
fn a_part_of_a_device_gives_its_memory_back_with_its_last_handle() {
    watched(|| {
        let (driver, device) = null(64 * GIB);
        let part = device.partition(&Partition::Equally(1)).unwrap().remove(0);
        let memory = part
            .default_queue()
            .unwrap()
            .allocate(MemoryKind::Device, 1000)
            .unwrap();
        assert_eq!(
            memory.queue(),
            part.default_queue().unwrap(),
            "while it is in use"
        );
        drop(part);
        assert!(driver.null_devices()[0].allocated_bytes() > 0);
        drop(memory);
        assert_eq!(driver.null_devices()[0].allocated_bytes(), 0);
    });
}

#[test]
fn a_full_device_says_what_the_pool_holds_and_goes_on() {
    watched(|| {
        let (_driver, device) = null(GIB);
        let queue = device.default_queue().unwrap();
        let half = queue.allocate(MemoryKind::Device, GIB / 2).unwrap();
        let small = queue.allocate(MemoryKind::Device, 1000).unwrap();
        let answer = queue.allocate(MemoryKind::Device, GIB).unwrap_err();
        let Error::OutOfMemory(report) = &answer else {
            panic!("{answer}")
        };
        assert_eq!(
            (report.requested, report.kind, report.device.as_str()),
            (GIB, MemoryKind::Device, "null")
        );
        assert!(report.used >= GIB / 2 + 1000);
        assert_eq!(report.live, 2);
        drop((half, small));
        // The pieces that were free for others are given back to make room for a large one.
        queue
            .allocate(MemoryKind::Device, GIB - (64 << 20))
            .unwrap();
        check_identity(&device);
    });
}

#[test]
fn a_refusal_of_the_driver_is_this_allocations_alone() {
    watched(|| {
        let refusal = millpond_hal::DeviceError::Invalid {
            call: "allocate",
            reason: "on purpose".to_owned(),
        };
        // A request is tried as a whole segment, then as it is, then without idle ones of the pool, then
        // without idle ones of the others.
        let fault = (1..5).fold(Fault::default(), |fault, n| {
            fault.refuse_allocate(n, refusal.clone())
        });
        let driver = Layered::new(Arc::new(NullDriver::default()), fault);
        let device = Registry::new(&[Arc::new(driver)]).default_device().unwrap();
        let queue = device.default_queue().unwrap();
        let answer = queue.allocate(MemoryKind::Device, 100).unwrap_err();
        assert!(answer.to_string().contains("on purpose"), "{answer}");
        queue.allocate(MemoryKind::Device, 100).unwrap();
        check_identity(&device);
    });
}
