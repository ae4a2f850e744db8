//! Tests of what the null driver adds to the contract, whose suites run in `millpond-testkit`.

use std::alloc::Layout;
use std::sync::{Arc, Mutex};

use millpond_types::MemoryKind;

use super::{NullDriver, NullOptions, NullQueue};
use crate::command::{Command, Submission};
use crate::device::{Device, RawAllocation};
use crate::error::DeviceError;
use crate::gate::Gate;
use crate::point::Point;
use crate::queue::{Queue, QueueOptions};

fn manual() -> NullDriver {
    NullDriver::with(NullOptions {
        manual: true,
        ..NullOptions::default()
    })
}

fn submit(queue: &NullQueue, after: &[Point], command: Command) -> Point {
    let submission = Submission {
        after,
        ..Submission::new(command)
    };
    // SAFETY: the command names no memory, and each test submits from one thread.
    unsafe { queue.submit(submission).unwrap() }
}

fn task(log: &Arc<Mutex<Vec<u32>>>, entry: u32) -> Command {
    let log = Arc::clone(log);
    Command::Task {
        name: Arc::from("test"),
        task: Box::new(move || {
            log.lock().unwrap().push(entry);
            Ok(())
        }),
    }
}

fn allocate(device: &dyn Device, bytes: usize) -> Result<RawAllocation, DeviceError> {
    device.allocate(
        MemoryKind::Device,
        Layout::from_size_align(bytes, 8).unwrap(),
    )
}

#[test]
fn a_manual_queue_moves_only_when_stepped() {
    let driver = manual();
    let device = &driver.null_devices()[0];
    let [first, second] = [(); 2].map(|()| device.null_queue(&QueueOptions::default()).unwrap());
    let log = Arc::default();
    let gate = Gate::new();
    let held = submit(&first, &[], Command::Gate(gate.clone()));
    submit(&first, &[], task(&log, 1));
    submit(&second, &[held], task(&log, 2));
    submit(&second, &[], Command::Barrier);

    assert_eq!(driver.run_all(), 0, "the gate is closed");
    gate.open(Ok(()));
    assert!(!first.reached(1), "nobody has stepped");
    assert_eq!(second.step(), None, "its point isn't reached");
    assert_eq!(first.step(), Some(1));
    assert_eq!(driver.step(second.id()), Some(1));
    assert_eq!(*log.lock().unwrap(), [2]);
    assert_eq!(second.progress().completed(), 1);
    assert_eq!(driver.run_all(), 2);
    assert_eq!(*log.lock().unwrap(), [2, 1]);
}

#[test]
fn b6_commands_of_a_dropped_manual_queue_can_be_run() {
    let driver = manual();
    let queue = driver.null_devices()[0]
        .null_queue(&QueueOptions::default())
        .unwrap();
    let log = Arc::default();
    submit(&queue, &[], task(&log, 1));
    submit(&queue, &[], task(&log, 2));
    assert_eq!(queue.step(), Some(1));
    drop(queue);
    assert_eq!(driver.run_all(), 1);
    assert_eq!(*log.lock().unwrap(), [1, 2]);
}

#[test]
fn commands_without_foreign_code_end_at_once() {
    let driver = NullDriver::default();
    let queue = driver.null_devices()[0]
        .null_queue(&QueueOptions::default())
        .unwrap();
    submit(&queue, &[], Command::Barrier);
    assert_eq!(queue.progress().completed(), 1);
    submit(&queue, &[], task(&Arc::default(), 1));
    assert_eq!(queue.progress().completed(), 1, "nobody has asked");
    assert!(queue.reached(2));
}

#[test]
fn memory_is_counted_and_limited() {
    let driver = NullDriver::with(NullOptions {
        memory: 256,
        ..NullOptions::default()
    });
    let device = &driver.null_devices()[0];
    let first = allocate(&**device, 100).unwrap();
    assert_eq!(device.allocated_bytes(), 128, "rounded up to the alignment");
    assert_eq!(device.allocations(), 1);
    match allocate(&**device, 129) {
        Err(DeviceError::OutOfMemory { bytes, reason, .. }) => {
            assert_eq!(bytes, 129);
            assert_eq!(reason, "128 of 256 bytes are in use");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(device.allocated_bytes(), 128, "nothing changed");
    // SAFETY: it came from this device, is given back once, and no command names it.
    unsafe { device.release(first) };
    assert_eq!((device.allocated_bytes(), device.allocations()), (0, 0));
}
