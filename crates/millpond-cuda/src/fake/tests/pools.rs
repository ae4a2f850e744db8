//! The driver's own pools, under the runtime.

use std::sync::Arc;

use millpond_hal::layers::{Layered, Order, Validate};
use millpond_hal::{DeviceError, Driver};
use millpond_runtime::{
    AllocateOptions, Device, Error, MemoryKind, PoolOptions, QueueOptions, Registry, Reuse,
};
use millpond_testkit::contract::pool::{self, Place};
use millpond_testkit::watchdog::watched;

use super::super::Fake;
use crate::CudaDriver;
use crate::api::{Code, attribute, pool as attributes};

const MIB: usize = 1 << 20;

fn native() -> PoolOptions {
    PoolOptions {
        native: true,
        ..PoolOptions::default()
    }
}

fn place_on(driver: Arc<dyn Driver>) -> Place {
    let devices = Registry::new(&[driver]);
    Place {
        device: devices.device("cuda:0").expect("it is there"),
        kind: MemoryKind::Device,
        options: native(),
    }
}

/// The contract of pools, for the driver's.
mod contract {
    use super::*;
    millpond_testkit::pool_contract!(|| place_on(Arc::new(CudaDriver::over(Fake::new(1)))));
}

/// The contract of pools, for the runtime's own on the same device.
mod contract_of_the_runtimes {
    use super::*;
    millpond_testkit::pool_contract!(|| Place {
        options: PoolOptions::default(),
        ..place_on(Arc::new(CudaDriver::over(Fake::new(1))))
    });
}

fn fake() -> (Arc<Fake>, Device) {
    let (fake, devices) = fakes(1);
    (fake, devices.device("cuda:0").expect("it is there"))
}

fn fakes(count: usize) -> (Arc<Fake>, Registry) {
    let fake = Fake::new(count);
    let api: crate::api::Found = fake.clone();
    let driver: Arc<dyn Driver> = Arc::new(CudaDriver::over(api));
    (fake, Registry::new(&[driver]))
}

/// The layers that check know what the driver hands out, and find nothing.
#[test]
fn layers_find_nothing_wrong() {
    for test in [
        pool::order::f014_memory_freed_by_dropping_it_waits_for_every_queue_that_used_it,
        pool::order::f016_no_two_uses_of_the_same_bytes_are_unordered,
    ] {
        watched(move || {
            let driver: Arc<dyn Driver> = Arc::new(CudaDriver::over(Fake::new(1)));
            let checked = Layered::new(driver, Validate::default());
            let validate = Arc::clone(checked.layer());
            let ordered = Layered::new(Arc::new(checked), Order::default());
            let order = Arc::clone(ordered.layer());
            test(&place_on(Arc::new(ordered)));
            assert_eq!(validate.take_violations(), []);
            let races = order.take_races();
            assert!(races.is_empty(), "{races:?}");
        });
    }
}

#[test]
fn each_allocation_and_free_is_the_drivers() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let pool = device
            .create_pool(MemoryKind::Device, native())
            .expect("the driver has pools");
        assert!(pool.is_native() && pool.native_handle().is_some());
        drop(queue.allocate_from(&pool, MIB).expect("memory"));
        fake.calls();
        for _ in 0..10 {
            drop(queue.allocate_from(&pool, MIB).expect("memory"));
        }
        let calls = fake.calls();
        let count = |name| calls.iter().filter(|call| **call == name).count();
        assert_eq!(count("cuMemAllocFromPoolAsync"), 10);
        assert_eq!(count("cuMemFreeAsync"), 10);
        assert_eq!(count("cuMemAlloc") + count("cuMemCreate"), 0);
        queue.wait().expect("all went well");
        assert_eq!(pool.statistics().reserved, MIB);
    });
}

#[test]
fn a_pool_goes_with_its_last_allocation() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device
            .create_queue(&QueueOptions::default())
            .expect("a queue");
        let pool = device
            .create_pool(MemoryKind::Device, native())
            .expect("the driver has pools");
        let memory = queue.allocate_from(&pool, MIB).expect("memory");
        drop(pool);
        assert_eq!(fake.pools(), 1);
        memory.write(0, &[1; 100]).expect("it lives");
        drop(memory);
        queue.wait().expect("all went well");
        drop(queue);
        assert_eq!(fake.pools(), 0);
    });
}

#[test]
fn switches_and_limits_are_the_drivers() {
    let (fake, device) = fake();
    let options = PoolOptions {
        maximum_size: Some(64 * MIB),
        release_threshold: Some(MIB),
        reuse: Reuse {
            opportunistic: false,
            ..Reuse::default()
        },
        ..native()
    };
    let pool = device
        .create_pool(MemoryKind::Device, options)
        .expect("the driver has pools");
    let handle = pool.native_handle().expect("it is the driver's");
    let value = |attribute| fake.pool_value(handle, attribute);
    assert_eq!(value(attributes::FOLLOW_EVENTS), Some(1));
    assert_eq!(value(attributes::OPPORTUNISTIC), Some(0));
    assert_eq!(value(attributes::INTERNAL_DEPENDENCIES), Some(1));
    assert_eq!(value(attributes::RELEASE_THRESHOLD), Some(MIB as u64));
    pool.set_release_threshold(None);
    pool.set_reuse(Reuse {
        internal_dependencies: false,
        ..Reuse::default()
    });
    assert_eq!(value(attributes::OPPORTUNISTIC), Some(1));
    assert_eq!(value(attributes::INTERNAL_DEPENDENCIES), Some(0));
    assert_eq!(value(attributes::RELEASE_THRESHOLD), Some(u64::MAX));
}

#[test]
fn other_devices_are_let_in() {
    let (fake, devices) = fakes(3);
    let device = devices.device("cuda:1").expect("it is there");
    let pool = device
        .create_pool(MemoryKind::Device, native())
        .expect("the driver has pools");
    let handle = pool.native_handle().expect("it is the driver's");
    assert_eq!(fake.access(handle), Some(2));
}

#[test]
fn the_drivers_default_pool_is_one_and_stays() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let pool = device
            .driver_pool(MemoryKind::Device)
            .expect("the driver has one");
        assert_eq!(device.driver_pool(MemoryKind::Device).expect("again"), pool);
        assert!(pool.close().is_err());
        device.set_current_pool(&pool).expect("it may be current");
        let memory = queue.allocate(MemoryKind::Device, MIB).expect("memory");
        assert!(memory.is_from(&pool));
        drop(memory);
        queue.wait().expect("all went well");
        assert!(!fake.calls().contains(&"cuMemPoolDestroy"));
    });
}

#[test]
fn what_the_driver_has_no_word_for_is_refused() {
    let (_fake, device) = fake();
    let limits = [
        PoolOptions {
            max_poolable: Some(1),
            ..native()
        },
        PoolOptions {
            min_driver_alloc: 1,
            ..native()
        },
    ];
    for options in limits {
        let refused = device.create_pool(MemoryKind::Device, options);
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
    for kind in [MemoryKind::Host, MemoryKind::Shared] {
        let refused = device.create_pool(kind, native());
        let Err(Error::Device(DeviceError::Unsupported { what, .. })) = refused else {
            panic!("{kind}: {refused:?}");
        };
        assert!(what.contains(kind.name()), "{what}");
    }
    let fake = Fake::new(1);
    fake.lack(attribute::POOLS);
    let driver: Arc<dyn Driver> = Arc::new(CudaDriver::over(fake));
    let device = Registry::new(&[driver]).device("cuda:0").expect("a device");
    assert_eq!(device.info().driver_pools, []);
    assert!(device.create_pool(MemoryKind::Device, native()).is_err());
}

/// A request that reuses by other rules than the pool's can't be told to the driver.
#[test]
fn rules_of_one_request_are_refused() {
    let (_fake, device) = fake();
    let queue = device.default_queue().expect("a queue");
    let pool = device
        .create_pool(MemoryKind::Device, native())
        .expect("the driver has pools");
    let options = AllocateOptions {
        reuse: Some(Reuse {
            opportunistic: false,
            ..Reuse::default()
        }),
        ..AllocateOptions::default()
    };
    let refused = queue.allocate_with(&pool, MIB, &options);
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    assert_eq!(pool.statistics().live, 0);
}

/// Whichever call is refused, nothing is left behind and the next request goes well.
#[test]
fn any_call_may_be_refused() {
    watched(|| {
        for call in [
            "cuMemPoolCreate",
            "cuMemPoolSetAttribute",
            "cuMemPoolSetAccess",
        ] {
            let (fake, devices) = fakes(2);
            let device = devices.device("cuda:0").expect("it is there");
            fake.fail(call, 0, Code::INVALID_VALUE);
            let refused = device.create_pool(MemoryKind::Device, native());
            assert!(refused.is_err(), "{call}");
            assert_eq!(fake.pools(), 0, "{call}");
        }
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let pool = device
            .create_pool(MemoryKind::Device, native())
            .expect("the driver has pools");
        // It is asked once more after others have given back.
        for (times, goes_well) in [(2, false), (1, true), (0, true)] {
            for _ in 0..times {
                fake.fail("cuMemAllocFromPoolAsync", 0, Code::OUT_OF_MEMORY);
            }
            let answer = queue.allocate_from(&pool, MIB);
            assert_eq!(answer.is_ok(), goes_well, "{times}: {answer:?}");
        }
        let memory = queue.allocate_from(&pool, MIB).expect("memory");
        memory.write(0, &[1; 100]).expect("it lives");
        drop(memory);
        queue.wait().expect("nothing has failed");
        assert_eq!((pool.statistics().live, pool.statistics().used), (0, 0));
    });
}

/// The device is full: what other pools keep makes room.
#[test]
fn memory_that_other_pools_keep_makes_room() {
    watched(|| {
        let (fake, device) = fake();
        fake.limit_pools(64 * MIB);
        let queue = device.default_queue().expect("a queue");
        let pool = device
            .create_pool(MemoryKind::Device, native())
            .expect("the driver has pools");
        let other = device
            .create_pool(MemoryKind::Device, native())
            .expect("the driver has pools");
        let memory = queue.allocate_from(&other, 64 * MIB).expect("memory");
        let refused = queue.allocate_from(&pool, MIB);
        let Err(Error::OutOfMemory(report)) = refused else {
            panic!("{refused:?}");
        };
        assert!(
            report.reason.contains("cuMemAllocFromPoolAsync"),
            "{report}"
        );
        drop(memory);
        queue.wait().expect("all went well");
        assert_eq!(other.statistics().cached, 64 * MIB);
        drop(queue.allocate_from(&pool, MIB).expect("room was made"));
        assert_eq!(other.statistics().reserved, 0);
    });
}

#[test]
fn a_pool_is_exported_by_descriptor_and_place() {
    watched(|| {
        use std::os::fd::AsFd;

        let (_fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let options = PoolOptions {
            shareable: true,
            ..native()
        };
        let pool = device
            .create_pool(MemoryKind::Device, options)
            .expect("the driver's pools can be shared");
        let memory = queue.allocate_from(&pool, MIB).expect("memory");
        let export = memory.export(100..200).expect("it is shareable");
        let handle = export.handle();
        assert_eq!((handle.kind(), handle.bytes()), (MemoryKind::Device, 100));
        // SAFETY: nobody writes the memory, which the fake doesn't share.
        let imported = unsafe { queue.import_memory(handle, export.as_fd()) };
        let imported = imported.expect("the handle is good");
        assert_eq!(imported.bytes(), 100);
        imported.write(0, &[1; 100]).expect("it is there");
        drop((imported, export, memory, pool));
        let private = device
            .create_pool(MemoryKind::Device, native())
            .expect("the driver has pools");
        let memory = queue.allocate_from(&private, MIB).expect("memory");
        let refused = memory.export(0..1);
        assert!(matches!(refused, Err(Error::NotShareable { .. })));
    });
}
