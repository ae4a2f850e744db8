//! Devices and kernels for the runtime's tests.
#![allow(dead_code, unreachable_pub, reason = "each test program uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::multiple_unsafe_ops_per_block,
    reason = "tests"
)]
#![allow(unsafe_code, reason = "kernels touch memory")]

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{Access, Address, Driver, Footprint, HostKernel, KernelError};
use millpond_runtime::{
    Allocation, Device, Error, Event, Gate, MemoryKind, Queue, QueueOptions, Registry, Release,
};

/// More than any queue runs inline.
pub const BIG: u32 = u32::MAX;
/// Less than any command costs: runs inline where it may.
pub const SMALL: u32 = 1;

pub fn driver() -> Arc<dyn Driver> {
    Arc::new(CpuDriver::new(CpuConfig {
        threads: Some(2),
        ..CpuConfig::default()
    }))
}

pub fn device() -> Device {
    Registry::new(&[driver()]).default_device().unwrap()
}

pub fn in_order(device: &Device) -> Queue {
    device.create_queue(&QueueOptions::default()).unwrap()
}

/// Holds a queue back until it is opened, by a test that fails as well.
pub struct Held(Gate);

impl Held {
    pub fn open(&self) {
        self.0.open(Ok(()));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.open();
    }
}

/// Holds a queue back.
pub fn close_gate(queue: &Queue) -> Held {
    hold(queue).unwrap()
}

/// The same, if the queue takes it.
pub fn hold(queue: &Queue) -> Result<Held, Error> {
    let held = Held(Gate::new());
    queue.gate(&held.0, &[])?;
    Ok(held)
}

/// Whether nothing completes the event for a while.
pub fn stays_pending(event: &Event) -> bool {
    let deadline = Instant::now() + Duration::from_millis(30);
    matches!(
        event.wait_until(Some(deadline)),
        Err(Error::TimedOut { .. })
    )
}

pub fn out_of_order(device: &Device) -> Queue {
    let options = QueueOptions {
        out_of_order: true,
        ..QueueOptions::default()
    };
    device.create_queue(&options).unwrap()
}

/// Wraps memory of the host that the caller keeps until it is released.
pub fn import(queue: &Queue, address: Address, bytes: usize, release: Release) -> Allocation {
    // SAFETY: the caller keeps the bytes, which are initialised, and leaves them alone meanwhile.
    unsafe { queue.import(MemoryKind::Host, address, bytes, release) }.unwrap()
}

pub fn numbers(queue: &Queue, values: &[u64]) -> Allocation {
    let memory = queue
        .allocate(MemoryKind::Device, values.len() * 8)
        .unwrap();
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect();
    memory.write(0, &bytes).unwrap();
    memory
}

pub fn values(memory: &Allocation) -> Vec<u64> {
    let mut bytes = vec![0; memory.bytes()];
    memory.read(0, &mut bytes).unwrap();
    bytes
        .chunks_exact(8)
        .map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap()))
        .collect()
}

/// `x[i] = x[i] * factor + term` over `count` numbers.
#[derive(Clone, Copy)]
pub struct Affine {
    pub count: usize,
    pub factor: u64,
    pub term: u64,
}

// SAFETY: `run` touches `count` numbers of its only operand, as its footprint says.
unsafe impl HostKernel for Affine {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: 0..self.count * 8,
            access: Access::Update,
        }
    }

    fn extent(&self) -> usize {
        self.count
    }

    fn grain(&self) -> usize {
        16
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        for index in range {
            let place = bases[0].offset(index * 8).as_ptr::<u64>();
            // SAFETY: the index lies within the footprint, which the caller keeps valid.
            unsafe { *place = (*place).wrapping_mul(self.factor).wrapping_add(self.term) };
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "affine({})", self.count)
    }
}

/// `z[i] = x[i] + y[i]` over `count` numbers.
#[derive(Clone, Copy)]
pub struct Sum(pub usize);

// SAFETY: `run` touches `count` numbers of each operand, the last for writing.
unsafe impl HostKernel for Sum {
    fn operands(&self) -> usize {
        3
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let access = if operand == 2 {
            Access::Write
        } else {
            Access::Read
        };
        Footprint {
            bytes: 0..self.0 * 8,
            access,
        }
    }

    fn extent(&self) -> usize {
        self.0
    }

    fn grain(&self) -> usize {
        16
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        for index in range {
            let at = |operand: usize| bases[operand].offset(index * 8).as_ptr::<u64>();
            // SAFETY: the index lies within the footprints, which the caller keeps valid.
            unsafe { *at(2) = (*at(0)).wrapping_add(*at(1)) };
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sum({})", self.0)
    }
}

/// Finds an error on its operand.
pub struct Broken;

// SAFETY: touches nothing.
unsafe impl HostKernel for Broken {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: 0..8,
            access: Access::Update,
        }
    }

    fn extent(&self) -> usize {
        1
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, _bases: &[Address], _range: Range<usize>) -> Result<(), KernelError> {
        Err(KernelError::from(
            "index 7 is out of bounds for axis 0 of size 3".to_owned(),
        ))
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("take(shape=(3,), float32)")
    }
}

/// Takes its time, and fails if it runs twice at once.
#[derive(Clone, Default)]
pub struct Exclusive(Arc<AtomicBool>);

// SAFETY: touches nothing.
unsafe impl HostKernel for Exclusive {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: 0..8,
            access: Access::Update,
        }
    }

    fn extent(&self) -> usize {
        1
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, _bases: &[Address], _range: Range<usize>) -> Result<(), KernelError> {
        if self.0.swap(true, Ordering::SeqCst) {
            return Err(KernelError::from("it runs already".to_owned()));
        }
        std::thread::sleep(Duration::from_micros(200));
        self.0.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("exclusive")
    }
}
