//! A device and arrays on it.
#![allow(dead_code, reason = "each suite uses some of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{Driver, QueueOptions};
use millpond_runtime::{Device, Gate, Queue};
use millpond_tensor::{Item, Place, Tensor, creation};

/// The processor as a device.
pub(crate) fn device() -> Device {
    let driver = CpuDriver::new(CpuConfig::default());
    Device::open(driver.devices().unwrap().remove(0))
}

/// Device memory of a device's default queue.
pub(crate) fn place() -> Place {
    Place::on(&device().default_queue().unwrap())
}

/// Another queue of the device.
pub(crate) fn other_queue(place: &Place) -> Queue {
    place
        .device()
        .create_queue(&QueueOptions::default())
        .unwrap()
}

/// An array of one axis.
pub(crate) fn array<T: Item>(items: &[T], place: &Place) -> Tensor {
    creation::from_slice(items, &[items.len()], place).unwrap()
}

/// The numbers 0, 1, 2, .. in a shape.
pub(crate) fn count(shape: &[usize], place: &Place) -> Tensor {
    let items: Vec<i64> = (0..shape.iter().product::<usize>() as i64).collect();
    creation::from_slice(&items, shape, place).unwrap()
}

/// A gate that holds the queue, opened when it is dropped, lest a failed test hang.
pub(crate) struct Held(Gate);

impl Held {
    pub(crate) fn new(queue: &Queue) -> Self {
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        Self(gate)
    }

    pub(crate) fn open(&self) {
        self.0.open(Ok(()));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.open();
    }
}

/// The text of an error.
pub(crate) fn message<T: std::fmt::Debug>(result: Result<T, millpond_tensor::Error>) -> String {
    result.unwrap_err().to_string()
}
