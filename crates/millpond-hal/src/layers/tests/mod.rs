//! Tests of the layers over the null driver.

mod fault;
mod lives;
mod order;
mod trace;
mod validate;

use std::alloc::Layout;
use std::fmt;
use std::sync::Arc;

use millpond_types::MemoryKind;

use super::{Fault, Layer, Layered, Trace, Validate};
use crate::command::{Address, Command, Pattern, Submission};
use crate::device::{Device, RawAllocation};
use crate::driver::Driver;
use crate::error::DeviceError;
use crate::null::{NullDriver, NullOptions};
use crate::point::Point;
use crate::queue::{Queue, QueueOptions};

/// A layer over a null driver with two devices.
fn over<L: Layer>(layer: L) -> (Layered<L>, Vec<Arc<dyn Device>>) {
    let driver = Layered::new(Arc::new(NullDriver::new(2)), layer);
    let devices = driver.devices().unwrap();
    (driver, devices)
}

fn queue(device: &Arc<dyn Device>) -> Arc<dyn Queue> {
    device.create_queue(&QueueOptions::default()).unwrap()
}

fn allocate(device: &Arc<dyn Device>, bytes: usize) -> Result<RawAllocation, DeviceError> {
    let layout = Layout::from_size_align(bytes, 64).unwrap();
    device.allocate(MemoryKind::Device, layout)
}

fn release(device: &Arc<dyn Device>, allocation: RawAllocation) {
    // SAFETY: the memory of a null device is a number; what breaks the contract is the test.
    unsafe { device.release(allocation) }
}

fn submit(queue: &Arc<dyn Queue>, submission: Submission<'_>) -> Result<Point, DeviceError> {
    // SAFETY: a null queue touches no memory, and each test submits from one thread.
    unsafe { queue.submit(submission) }
}

fn fill(dst: Address, bytes: usize) -> Submission<'static> {
    Submission::new(Command::Fill {
        dst,
        pattern: Pattern::new(&[0; 4]).unwrap(),
        bytes,
    })
}

/// The reason of an error that must be `Invalid`, from a call of this name.
fn reason<T: fmt::Debug>(name: &str, answer: Result<T, DeviceError>) -> String {
    match answer {
        Err(DeviceError::Invalid { call, reason }) if call == name => reason,
        other => panic!("{other:?} instead of an invalid {name}"),
    }
}

#[test]
fn layers_stack_in_any_order() {
    let null = NullDriver::with(NullOptions {
        memory: 1000,
        ..NullOptions::default()
    });
    let faulty = Layered::new(Arc::new(null), Fault::default().fail_command(1));
    let checked = Layered::new(Arc::new(faulty), Validate::default());
    let traced = Layered::new(Arc::new(checked), Trace::default());
    let device = traced.devices().unwrap().remove(0);
    let memory = allocate(&device, 100).unwrap();
    let line = queue(&device);
    let point = submit(&line, fill(memory.address, 100)).unwrap();
    assert!(line.outcome(point.sequence).unwrap().is_err());
    reason("submit", submit(&line, fill(memory.address, 200)));
    release(&device, memory);
    assert_eq!(traced.layer().events().len(), 5);
}
