//! Prints what small operations cost, in nanoseconds: what a program pays per call, whatever the
//! work. Run with `--release`; an argument picks those whose names contain it.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::hint::black_box;
use std::time::Instant;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::Driver;
use millpond_runtime::Device;
use millpond_tensor::{Index, Place, Result, creation};

const CALLS: u32 = 500;

/// The fastest of many short runs, per call: what is left when nothing disturbs.
fn time(name: &str, mut body: impl FnMut() -> Result<()>) -> Result<()> {
    if std::env::args()
        .nth(1)
        .is_some_and(|wanted| !name.contains(&wanted))
    {
        return Ok(());
    }
    let mut best = f64::INFINITY;
    for _ in 0..1000 {
        let begin = Instant::now();
        for _ in 0..CALLS {
            body()?;
        }
        best = best.min(begin.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    println!("{name:32} {best:8.1} ns");
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let driver = CpuDriver::new(CpuConfig::default());
    let device = Device::open(driver.devices()?.remove(0));
    let place = Place::on(&device.default_queue()?);
    let kind = place.kind;
    let x = creation::ones(&[100], millpond_types::DType::Float64, &place)?;
    let y = creation::ones(&[100], millpond_types::DType::Float64, &place)?;
    let matrix = creation::ones(&[10, 10], millpond_types::DType::Float64, &place)?;
    let row = creation::ones(&[10], millpond_types::DType::Float64, &place)?;
    let slice = [Index::range(10, 20)];
    let two_axes = [Index::range(2, 8), Index::At(3)];

    time("queue.allocate", || {
        black_box(place.queue.allocate(kind, 800)?);
        Ok(())
    })?;
    time("clone", || {
        black_box(x.clone());
        Ok(())
    })?;
    time("slice of 1 axis", || {
        black_box(x.get(&slice)?);
        Ok(())
    })?;
    time("slice of 2 axes", || {
        black_box(matrix.get(&two_axes)?);
        Ok(())
    })?;
    time("add of two arrays of 100", || {
        black_box(x.add(&y)?);
        Ok(())
    })?;
    time("add of 100 and a scalar", || {
        black_box(x.add(1.0)?);
        Ok(())
    })?;
    time("add of 100 in place", || {
        millpond_tensor::apply_in_place(&millpond_kernel::ops::rows::add, &x, &[(&y).into()])
    })?;
    time("sin of 100", || {
        black_box(y.sin()?);
        Ok(())
    })?;
    time("add of (10, 10) and (10,)", || {
        black_box(matrix.add(&row)?);
        Ok(())
    })?;
    time("sum of 100", || {
        black_box(x.sum(None, false, None)?);
        Ok(())
    })?;
    time("item of a sum", || {
        black_box(y.sum(None, false, None)?.item()?);
        Ok(())
    })?;
    time("empty of 100", || {
        black_box(creation::empty(
            &[100],
            millpond_types::DType::Float64,
            &place,
        )?);
        Ok(())
    })?;
    time("zeros of 100", || {
        black_box(creation::zeros(
            &[100],
            millpond_types::DType::Float64,
            &place,
        )?);
        Ok(())
    })?;
    time("reshape", || {
        black_box(x.reshape(&[10, 10], None)?);
        Ok(())
    })?;
    Ok(())
}
