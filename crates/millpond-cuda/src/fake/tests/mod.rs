//! The backend on the fake driver.

mod errors;
mod kernels;
mod library;
mod memory;
mod order;
mod pools;
mod programs;
mod streams;
mod under_the_runtime;

use std::sync::Arc;

use millpond_hal::{
    Address, Command, Device, DeviceError, Driver, Failure, Pattern, Point, Queue, QueueOptions,
    Submission, Wait,
};

use super::Fake;
use crate::CudaDriver;

/// The contract of backends.
mod contract {
    use super::*;
    millpond_testkit::backend_contract!(|| CudaDriver::over(Fake::new(1)));
}

/// A fake of so many devices, and these.
fn devices(count: usize) -> (Arc<Fake>, Vec<Arc<dyn Device>>) {
    let fake = Fake::new(count);
    let api: crate::api::Found = fake.clone();
    let devices = CudaDriver::over(api).devices().expect("they work");
    assert_eq!(devices.len(), count);
    (fake, devices)
}

fn queue(device: &Arc<dyn Device>) -> Arc<dyn Queue> {
    let options = QueueOptions::default();
    device.create_queue(&options).expect("a queue")
}

/// Submits a command whose memory the test keeps until it has ended, behind all that uses it.
fn submit(queue: &Arc<dyn Queue>, command: Command, after: &[Point]) -> Result<Point, DeviceError> {
    let submission = Submission {
        after,
        ..Submission::new(command)
    };
    // SAFETY: the caller's promise, in a test of one thread.
    unsafe { queue.submit(submission) }
}

fn give(queue: &Arc<dyn Queue>, command: Command, after: &[Point]) -> Point {
    submit(queue, command, after).expect("the device takes it")
}

fn outcome(queue: &Arc<dyn Queue>, point: Point) -> Result<(), Failure> {
    assert_eq!(queue.wait(point.sequence, None), Wait::Reached);
    queue.outcome(point.sequence).expect("it was waited for")
}

fn copy(src: Address, dst: Address, bytes: usize) -> Command {
    Command::Copy { src, dst, bytes }
}

fn fill(dst: Address, pattern: &[u8], bytes: usize) -> Command {
    let pattern = Pattern::new(pattern).expect("a pattern");
    Command::Fill {
        dst,
        pattern,
        bytes,
    }
}
