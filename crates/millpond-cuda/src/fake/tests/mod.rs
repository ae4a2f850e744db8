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
    Address, Command, Device, DeviceError, Driver, DriverPool, DriverPoolOptions, DriverReuse,
    Failure, Pattern, Point, Queue, QueueOptions, Submission, Wait,
};
use millpond_types::MemoryKind;

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

/// A pool of the driver's own.
fn driver_pool(device: &Arc<dyn Device>) -> Arc<dyn DriverPool> {
    let options = DriverPoolOptions {
        maximum_size: None,
        release_threshold: None,
        reuse: DriverReuse {
            follow_events: true,
            opportunistic: true,
            internal_dependencies: true,
        },
        shareable: false,
    };
    let pool = device.create_driver_pool(MemoryKind::Device, &options);
    pool.expect("the driver has pools")
}

/// A piece of a pool's memory begins.
fn begin(queue: &Arc<dyn Queue>, pool: &Arc<dyn DriverPool>) -> Address {
    let place = Arc::default();
    let command = Command::Allocate {
        pool: Arc::clone(pool),
        bytes: pool.granule(),
        place: Arc::clone(&place),
    };
    give(queue, command, &[]);
    *place.get().expect("the driver gave it")
}

/// The piece ends.
fn end(queue: &Arc<dyn Queue>, pool: &Arc<dyn DriverPool>, address: Address) {
    let command = Command::Free {
        pool: Arc::clone(pool),
        address,
        bytes: pool.granule(),
    };
    give(queue, command, &[]);
}
