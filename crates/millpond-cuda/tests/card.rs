//! The backend on a real card: the contract of backends, and what the fake driver can't tell.
//!
//! Built with the feature `card` only, and then a machine without a device fails:
//! `cargo xtask test --device cuda`.

#![allow(unsafe_code, reason = "submits commands on raw addresses")]

use std::sync::{Arc, OnceLock};

use millpond_cuda::{CudaConfig, CudaDriver};
use millpond_hal::{
    Address, Command, Device, DeviceClass, Driver, Queue, QueueOptions, Submission, Wait,
};
use millpond_testkit::contract::raw::{Line, Memory};
use millpond_testkit::watchdog::watched;
use millpond_types::MemoryKind;

/// A driver of the test's own. The contexts stay while the tests run, as making one takes long.
fn driver() -> CudaDriver {
    static KEPT: OnceLock<Vec<(CudaDriver, Vec<Memory>)>> = OnceLock::new();
    KEPT.get_or_init(|| {
        let driver = CudaDriver::new(CudaConfig::default());
        let devices = driver.devices().expect("the driver works");
        let kept = devices.iter().map(|device| {
            Memory::new(device, MemoryKind::Device, 1).expect("a byte of the device")
        });
        let kept = kept.collect();
        vec![(driver, kept)]
    });
    CudaDriver::new(CudaConfig::default())
}

fn devices() -> Vec<Arc<dyn Device>> {
    let driver = driver();
    let devices = driver.devices().expect("the driver works");
    assert!(!devices.is_empty(), "no device: {}", driver.report());
    devices
}

/// The contract of backends.
mod contract {
    use super::*;
    millpond_testkit::backend_contract!(driver);
}

/// The contract of pools, for the driver's own.
mod driver_pools {
    use millpond_runtime::{PoolOptions, Registry};
    use millpond_testkit::contract::pool::Place;

    use super::*;

    fn place() -> Place {
        let driver: Arc<dyn Driver> = Arc::new(driver());
        let devices = Registry::new(&[driver]);
        Place {
            device: devices.device("cuda:0").expect("it is there"),
            kind: MemoryKind::Device,
            options: PoolOptions {
                native: true,
                ..PoolOptions::default()
            },
        }
    }

    millpond_testkit::pool_contract!(place);
}

#[test]
fn the_devices_are_what_the_driver_says() {
    for (index, device) in devices().iter().enumerate() {
        let info = device.info();
        println!(
            "device {}: {}, {} multiprocessors, {} bytes, {}",
            info.label, info.name, info.cores, info.memory, info.driver_version
        );
        assert_eq!((info.backend, info.index), ("cuda", index));
        assert_eq!(info.class, DeviceClass::Gpu);
        assert!(info.cores > 0 && info.memory > 1 << 30);
    }
}

/// Copies from and to memory that no driver knows, of sizes around those of the buffers.
#[test]
fn ordinary_memory_goes_both_ways() {
    watched(|| {
        let device = devices().remove(0);
        let queue = device.create_queue(&QueueOptions::default()).unwrap();
        for bytes in [1, 4095, 64 << 10, (64 << 10) + 1, 4 << 20, (13 << 20) + 7] {
            let there = Memory::new(&device, MemoryKind::Device, bytes).unwrap();
            let src: Vec<u8> = (0..bytes).map(|i| (i * 31 + i / 251) as u8).collect();
            let mut back = vec![0_u8; bytes];
            copy(&*queue, Address::of(src.as_ptr()), there.address(), bytes);
            let last = copy(
                &*queue,
                there.address(),
                Address::of(back.as_mut_ptr()),
                bytes,
            );
            assert_eq!(queue.wait(last, None), Wait::Reached);
            assert_eq!(queue.outcome(last), Some(Ok(())));
            assert!(src == back, "{bytes} bytes");
        }
    });
}

/// Bytes that go from device to device.
const BYTES: usize = 32 << 20;

/// From device to device and back, with order by points alone.
#[test]
fn devices_copy_from_each_other() {
    watched(|| {
        let devices = devices();
        let [first, second, ..] = &devices[..] else {
            println!("skipped: {} device", devices.len());
            return;
        };
        let [here, there] =
            [first, second].map(|device| Memory::new(device, MemoryKind::Device, BYTES).unwrap());
        let back = Memory::new(first, MemoryKind::Host, BYTES).unwrap();
        let [one, two] =
            [first, second].map(|device| device.create_queue(&QueueOptions::default()).unwrap());
        let line = Line::in_order(first);
        for round in 0..20_u8 {
            let filled = line.fill(&[], &here.all(), &[round, 1, 2, 3]);
            let over = submit(&*two, here.address(), there.address(), BYTES, &[filled]);
            let home = submit(&*one, there.address(), back.address(), BYTES, &[over]);
            assert_eq!(one.wait(home.sequence, None), Wait::Reached);
            assert_eq!(one.outcome(home.sequence), Some(Ok(())));
            // SAFETY: pinned memory of this length that the queue has filled.
            let bytes = unsafe { std::slice::from_raw_parts(back.address().as_ptr::<u8>(), BYTES) };
            assert!(
                bytes.chunks(4).all(|word| word == [round, 1, 2, 3]),
                "round {round}"
            );
        }
    });
}

fn copy(queue: &dyn Queue, src: Address, dst: Address, bytes: usize) -> u64 {
    submit(queue, src, dst, bytes, &[]).sequence
}

fn submit(
    queue: &dyn Queue,
    src: Address,
    dst: Address,
    bytes: usize,
    after: &[millpond_hal::Point],
) -> millpond_hal::Point {
    let submission = Submission {
        after,
        ..Submission::new(Command::Copy { src, dst, bytes })
    };
    // SAFETY: the tests keep the memory until the copy has ended, and order what uses it.
    unsafe { queue.submit(submission) }.expect("a copy is submitted")
}
