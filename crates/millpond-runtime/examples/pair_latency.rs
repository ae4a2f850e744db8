//! What the hot calls cost: an allocation and its free, a small launch, a recorded event.
//!
//! `cargo run --release -p millpond-runtime --example pair_latency` prints nanoseconds for each
//! call, the best of many short windows.
#![allow(
    clippy::print_stdout,
    reason = "a program that prints what it measured"
)]
#![allow(unsafe_code, reason = "a kernel touches memory")]

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_runtime::{MemoryKind, Registry, Result};

/// Adds one to a hundred floats.
#[derive(Clone, Copy)]
struct Increment;

// SAFETY: `run` touches the 400 bytes of its only operand that the footprint says.
unsafe impl HostKernel for Increment {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: 0..400,
            access: Access::Update,
        }
    }

    fn extent(&self) -> usize {
        100
    }

    fn grain(&self) -> usize {
        100
    }

    unsafe fn run(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) -> std::result::Result<(), KernelError> {
        for index in range {
            // SAFETY: the index lies within the footprint, which the caller keeps valid.
            unsafe { *bases[0].offset(index * 4).as_ptr::<f32>() += 1.0 };
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("increment")
    }
}

/// Nanoseconds of one call, the best of 200 windows of 1000.
fn measure(name: &str, mut call: impl FnMut() -> Result<()>) -> Result<()> {
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let begin = Instant::now();
        for _ in 0..1000 {
            call()?;
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / 1000.0);
    }
    println!("{name:40} {best:8.1} ns");
    Ok(())
}

fn main() -> Result<()> {
    let device =
        Registry::new(&[Arc::new(CpuDriver::new(CpuConfig::default()))]).default_device()?;
    let queue = device.default_queue()?;
    for (name, bytes) in [("1 KiB", 1 << 10), ("1 MiB", 1 << 20), ("64 MiB", 64 << 20)] {
        measure(&format!("allocate and drop {name}"), || {
            queue.allocate(MemoryKind::Device, bytes).map(drop)
        })?;
    }
    let memory = queue.allocate(MemoryKind::Device, 400)?;
    memory.write(0, &[0; 400])?;
    measure("launch of a small kernel", || {
        queue.launch(Increment, &[&memory], 20)
    })?;
    measure("record an event", || queue.record().map(drop))?;
    measure("wait for an idle queue", || queue.wait())?;
    let mut bytes = [0; 400];
    measure("read 400 bytes", || memory.read(0, &mut bytes))?;
    measure("launch on a worker and wait", || {
        queue.launch(Increment, &[&memory], u32::MAX)?;
        queue.wait()
    })
}
