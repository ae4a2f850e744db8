//! The contract of pools, point by point, and what went wrong in other allocators; on a device
//! without memory and on the CPU.
//!
//! `docs/reference/pool-contract.md` has the points and faults by their numbers, and `page.rs`
//! compares it with the names of the tests: `p07_` holds point 7, `f049_` would have told fault 49.
//! A test that can be run on both devices is.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod buffers;
mod choice;
mod counts;
mod fragmentation;
mod frees;
mod held;
mod injection;
mod life;
mod limits;
mod lists;
mod locks;
mod loss;
mod options;
mod order;
mod page;
mod program;
mod provider;
mod recording;
mod replay;
mod retention;
mod reuse;
mod scarcity;
mod sharing;
mod threads;
mod timeless;
mod underway;
mod ways;

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::null::{NullDriver, NullOptions};
use millpond_runtime::{
    AllocateOptions, Allocation, Device, Event, MemoryKind, Pool, PoolOptions, Queue, Registry,
    Reuse, Wait,
};
pub(crate) use millpond_testkit::dice::Dice;
use millpond_testkit::watchdog::watched;
pub(crate) use support::{close_gate, hold};

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;
pub(crate) const GIB: usize = 1 << 30;

/// A device that is only counters, with the driver that counts.
pub(crate) fn null(memory: usize) -> (NullDriver, Device) {
    let driver = NullDriver::with(NullOptions {
        memory,
        ..NullOptions::default()
    });
    let devices = Registry::new(&[Arc::new(driver.clone()) as Arc<dyn Driver>]);
    (driver, devices.default_device().unwrap())
}

/// Runs a test on each kind of device, which must not hang.
pub(crate) fn each(test: impl Fn(&Device) + Send + Sync + 'static) {
    watched(move || {
        let (_driver, device) = null(64 * GIB);
        test(&device);
        test(&support::device());
    });
}

/// Makes the queue use memory, so that freeing it is pending for as long as the queue is held.
pub(crate) fn use_on(queue: &Queue, memory: &Allocation) -> Event {
    let uses = [millpond_runtime::Use {
        allocation: memory,
        access: millpond_runtime::Access::Write,
    }];
    queue.task("use", &uses, || Ok(())).unwrap()
}

pub(crate) fn pool(device: &Device, options: PoolOptions) -> Pool {
    device.create_pool(MemoryKind::Device, options).unwrap()
}

/// Options with a maximum size.
pub(crate) fn at_most(bytes: usize) -> PoolOptions {
    PoolOptions {
        maximum_size: Some(bytes),
        ..PoolOptions::default()
    }
}

/// A request that waits for nothing, neither on the host nor on its queue.
pub(crate) fn at_once() -> AllocateOptions<'static> {
    AllocateOptions {
        wait: Wait::Never,
        reuse: Some(without_inserted_waits()),
        ..AllocateOptions::default()
    }
}

/// Every reuse rule but R5.
pub(crate) fn without_inserted_waits() -> Reuse {
    Reuse {
        internal_dependencies: false,
        ..Reuse::default()
    }
}

/// Checks what holds of a pool's statistics whenever no call is in progress.
pub(crate) fn check(pool: &Pool) {
    let now = pool.statistics();
    assert_eq!(now.reserved, now.used + now.pending + now.cached, "{now:?}");
    assert!(now.requested <= now.used, "{now:?}");
    assert!(now.used <= now.used_high, "{now:?}");
    assert!(now.reserved <= now.reserved_high, "{now:?}");
    if let Some(maximum) = pool.maximum_size() {
        assert!(now.reserved <= maximum, "{now:?}");
    }
}
