//! Drivers that refuse a call: each call of a program in turn, and each kind of answer.

use std::sync::{Arc, Mutex};

use millpond_hal::layers::{Fault, Layered};
use millpond_hal::null::NullDriver;
use millpond_hal::{DeviceError, Driver};
use millpond_runtime::{Device, Error, MemoryKind, PoolOptions, Registry};
use millpond_testkit::watchdog::watched;

use crate::program::{PARTS, Stage, touch};
use crate::support::{driver, in_order};
use crate::{check, hold, pool, use_on};

/// Runs every part; how many failed. After each, whatever happened, nothing is left of it.
fn run(device: &Device) -> usize {
    let mut failed = 0;
    for part in PARTS {
        let stage = Stage {
            device,
            queues: Mutex::default(),
            pools: Mutex::default(),
        };
        let answer = part(&stage);
        if let Err(error) = &answer {
            assert!(error.to_string().contains("by plan"), "{error}");
            failed += 1;
        }
        // What is refused may be the barrier that a wait submits.
        while let Err(error) = device.wait() {
            assert!(error.to_string().contains("by plan"), "{error}");
            failed += 1;
        }
        let left_as_current = device.current_pool(MemoryKind::Device);
        assert!(left_as_current.is_default());
        for pool in stage.pools.into_inner().unwrap() {
            check(&pool);
            let now = pool.statistics();
            assert_eq!((now.used, now.live, now.pending), (0, 0, 0), "{answer:?}");
            pool.trim(0).unwrap();
            assert_eq!(pool.statistics().reserved, 0, "{answer:?}");
        }
    }
    failed
}

/// Refuses one call after the other of a program, or `burst` in a row, until there are no more; how
/// many there are.
fn refuse_each(driver: impl Fn() -> Arc<dyn Driver>, refusal: &DeviceError, burst: u64) -> u64 {
    for n in 1.. {
        let fault = (n..n + burst).fold(Fault::default(), |fault, n| {
            fault.refuse_call(n, refusal.clone())
        });
        let layered = Arc::new(Layered::new(driver(), fault));
        let fault = Arc::clone(layered.layer());
        let device = Registry::new(&[layered as Arc<dyn Driver>]);
        let device = device.default_device().unwrap();
        let failed = run(&device);
        if fault.calls() < n {
            assert_eq!(failed, 0);
            return n;
        }
        assert!(failed as u64 <= burst, "{failed} failures at call {n}");
        // The burst may reach beyond the end.
        while fault.calls() < n + burst {
            run(&device);
        }
        let again = run(&device);
        assert_eq!(again, 0, "as if nothing had happened, after call {n}");
    }
    unreachable!()
}

fn out_of_memory() -> DeviceError {
    DeviceError::OutOfMemory {
        device: "null".to_owned(),
        kind: MemoryKind::Device,
        bytes: 0,
        reason: "by plan".to_owned(),
    }
}

fn invalid() -> DeviceError {
    DeviceError::Invalid {
        call: "any",
        reason: "by plan".to_owned(),
    }
}

#[test]
fn f065_every_refusal_of_the_driver_leaves_the_pools_whole() {
    watched(|| {
        for (refusal, burst) in [(out_of_memory(), 1), (invalid(), 1), (out_of_memory(), 6)] {
            let calls = refuse_each(|| Arc::new(NullDriver::default()), &refusal, burst);
            assert!(calls > 100, "{calls}");
        }
    });
}

#[test]
fn f100_every_refusal_on_the_cpu_leaves_the_pools_whole() {
    watched(|| {
        assert!(refuse_each(driver, &out_of_memory(), 1) > 100);
    });
}

/// A refusal, how many in a row make a request fail, and whether that counts as too little memory.
struct Row(DeviceError, u64, bool);

#[test]
fn f075_each_answer_of_a_driver_has_its_own_consequence() {
    watched(|| {
        let lost = DeviceError::Lost {
            device: "null".to_owned(),
            reason: "by plan".to_owned(),
        };
        let unsupported = DeviceError::Unsupported {
            device: "null".to_owned(),
            what: "by plan".to_owned(),
        };
        for Row(refusal, patience, is_memory) in [
            // As a whole segment, as it is, without what is idle here, without that of others.
            Row(out_of_memory(), 4, true),
            Row(invalid(), 4, true),
            Row(unsupported, 4, true),
            Row(lost, 1, false),
        ] {
            for refusals in 1..=patience {
                let fault = (1..=refusals).fold(Fault::default(), |fault, n| {
                    fault.refuse_allocate(n, refusal.clone())
                });
                let driver = Layered::new(Arc::new(NullDriver::default()), fault);
                let device = Registry::new(&[Arc::new(driver)]).default_device().unwrap();
                let queue = device.default_queue().unwrap();
                let pool = pool(&device, PoolOptions::default());
                let answer = queue.allocate_from(&pool, 100).map(drop);
                if refusals < patience {
                    answer.unwrap();
                    continue;
                }
                let error = answer.unwrap_err();
                assert!(error.to_string().contains("by plan"), "{error}");
                assert_eq!(matches!(error, Error::OutOfMemory(_)), is_memory, "{error}");
                check(&pool);
                let again = queue.allocate_from(&pool, 100);
                assert_eq!(again.is_ok(), is_memory, "a lost device stays lost");
            }
        }
    });
}

#[test]
fn gates_of_a_command_that_was_refused_hold_nobody_back() {
    watched(|| {
        // The gate that stands for work of the other driver is the first submission.
        let fault = Fault::default().refuse_submit(2, invalid());
        let layered = Layered::new(Arc::new(NullDriver::default()), fault);
        let drivers: [Arc<dyn Driver>; 2] = [Arc::new(NullDriver::default()), Arc::new(layered)];
        let devices = Registry::new(&drivers);
        let [one, two] = devices.devices() else {
            panic!("two drivers with a device each")
        };
        let (a, b) = (in_order(one), in_order(two));
        let memory = a.allocate(MemoryKind::Host, 100).unwrap();
        let held = hold(&a).unwrap();
        use_on(&a, &memory);
        touch(&b, &memory).unwrap_err();
        let after = b.barrier(&[]).unwrap();
        held.open();
        after.wait().unwrap();
    });
}
