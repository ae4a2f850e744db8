//! Prints what operations on large arrays cost: how fast elements move. Run with `--release`; an
//! argument is the number of elements.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::time::Instant;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::Driver;
use millpond_runtime::Device;
use millpond_tensor::{Place, Result, Tensor, apply, creation};
use millpond_types::DType;

/// Prints the fastest of several runs, and the bytes that it moved.
fn time(name: &str, bytes: usize, place: &Place, body: impl Fn() -> Result<Tensor>) -> Result<()> {
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        place.queue.wait()?;
        let begin = Instant::now();
        let result = body()?;
        place.queue.wait()?;
        best = best.min(begin.elapsed().as_secs_f64());
        drop(result);
    }
    let rate = bytes as f64 / best / 1e9;
    println!("{name:32} {:8.3} ms {rate:8.1} GB/s", best * 1e3);
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let driver = CpuDriver::new(CpuConfig::default());
    let device = Device::open(driver.devices()?.remove(0));
    let place = Place::on(&device.default_queue()?);
    let size = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 10_000_000,
    };
    let side = (size as f64).sqrt() as usize;
    let x = creation::ones(&[size], DType::Float64, &place)?;
    let y = creation::ones(&[size], DType::Float64, &place)?;
    let out = creation::ones(&[size], DType::Float64, &place)?;
    let matrix = creation::ones(&[side, side], DType::Float64, &place)?;
    let row = creation::ones(&[side], DType::Float64, &place)?;
    let turned = matrix.transpose()?;
    let add = &millpond_kernel::ops::rows::add;

    time("zeros", size * 8, &place, || {
        creation::zeros(&[size], DType::Float64, &place)
    })?;
    time("arange", size * 8, &place, || {
        let stop = millpond_types::Scalar::Int(size as i128);
        let (start, step) = (0_i64.into(), 1_i64.into());
        millpond_tensor::range::arange(start, stop, step, None, &place)
    })?;
    time("add", size * 24, &place, || x.add(&y))?;
    time("add into an array", size * 24, &place, || {
        apply(add, &[(&x).into(), (&y).into()], Some(&out))
    })?;
    time("add in place", size * 24, &place, || {
        apply(add, &[(&x).into(), (&y).into()], Some(&x))
    })?;
    time("add a row", side * side * 16, &place, || matrix.add(&row))?;
    time("add the transpose", side * side * 24, &place, || {
        matrix.add(&turned)
    })?;
    time("exp", size * 16, &place, || y.exp())?;
    time("astype float32", size * 12, &place, || {
        y.astype(DType::Float32, true)
    })?;
    time("sum", size * 8, &place, || x.sum(None, false, None))?;
    time("sum of rows", side * side * 8, &place, || {
        matrix.sum(Some(&[1]), false, None)
    })?;
    time("sum of columns", side * side * 8, &place, || {
        matrix.sum(Some(&[0]), false, None)
    })?;
    Ok(())
}
