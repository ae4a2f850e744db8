//! Graphs with allocation nodes, under the order checker, on a device without memory and on the CPU.
//!
//! `semantics.rs` has what graphs promise, `memory.rs` what becomes of memory that outlives a
//! launch, `faults.rs` what went wrong in others, `programs.rs` that random programs give the same
//! by a graph as line by line.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod faults;
mod memory;
mod programs;
mod semantics;

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_hal::layers::{Layered, Order, Validate};
use millpond_hal::null::NullDriver;
use millpond_runtime::{
    Access, Allocation, Device, Event, Graph, GraphBuilder, GraphMemory, GraphOptions, GraphUse,
    MemoryKind, Pattern, Pool, Queue, Registry, Use,
};
use millpond_testkit::watchdog::watched;
use support::{in_order, out_of_order};

pub(crate) const KIB: usize = 1 << 10;

/// Runs a test on a driver's device, which must not hang; the checker must find no race.
fn checked(driver: Arc<dyn Driver>, test: &impl Fn(&Device)) {
    let driver = Arc::new(Layered::new(driver, Validate::default()));
    let driver = Arc::new(Layered::new(driver, Order::default()));
    let devices = Registry::new(&[Arc::clone(&driver) as Arc<dyn Driver>]);
    let device = devices.default_device().unwrap();
    test(&device);
    // What failed was the test's to look at.
    let _ = device.wait();
    let races = driver.layer().take_races();
    assert!(races.is_empty(), "{}", races[0]);
}

/// On the CPU, where memory has content.
pub(crate) fn on_cpu(test: impl Fn(&Device) + Send + 'static) {
    watched(move || checked(support::driver(), &test));
}

/// On each kind of device.
pub(crate) fn each(test: impl Fn(&Device) + Send + 'static) {
    watched(move || {
        checked(Arc::new(NullDriver::default()), &test);
        checked(support::driver(), &test);
    });
}

/// In order, in order and out of order.
pub(crate) fn three_queues(device: &Device) -> [Queue; 3] {
    [in_order(device), in_order(device), out_of_order(device)]
}

pub(crate) fn pool(device: &Device) -> Pool {
    device.pool(MemoryKind::Device)
}

pub(crate) fn byte(value: u8) -> Pattern {
    Pattern::new(&[value]).unwrap()
}

pub(crate) fn recording(device: &Device) -> GraphBuilder {
    device.build_graph(GraphOptions::default())
}

pub(crate) fn auto_free(device: &Device) -> GraphBuilder {
    device.build_graph(GraphOptions {
        name: Some("renewing".to_owned()),
        auto_free: true,
    })
}

/// A graph that leaves `count` numbers, all of bytes with this value.
pub(crate) fn leaves(
    mut recording: GraphBuilder,
    queue: &Queue,
    count: usize,
    value: u8,
) -> (Graph, GraphMemory) {
    let output = recording.allocate(8 * count).unwrap();
    recording.fill(output, 0..8 * count, byte(value)).unwrap();
    let graph = recording.instantiate(queue, &pool(queue.device())).unwrap();
    (graph, output)
}

/// Records a host task that does nothing with memory of the graph.
pub(crate) fn touch(recording: &mut GraphBuilder, memory: GraphMemory, access: Access) {
    let uses = [GraphUse::new(memory, access)];
    recording.task("touch", &uses, |_| Ok(())).unwrap();
}

/// A host task on a queue that does nothing with memory.
pub(crate) fn use_on(queue: &Queue, memory: &Allocation, access: Access) -> Event {
    let uses = [Use {
        allocation: memory,
        access,
    }];
    queue.task("use", &uses, || Ok(())).unwrap()
}
