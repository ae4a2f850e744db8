//! Prints what an element of each lane function costs, beside the same loop over the reference.
//!
//! Lanes want a fused multiply-add, so this is to be built for a processor that has one:
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=x86-64-v3" cargo run --release --example math_speed
//! ```
//!
//! A function whose lane column isn't well below its reference column didn't vectorise.

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::hint::black_box;
use std::time::Instant;

use millpond_kernel::math::{Complex, Lane, Real, complex};

/// Elements of a loop: inputs and output stay in the first level of cache.
const COUNT: usize = 1024;
/// Timed passes; the fastest counts.
const PASSES: usize = 2000;

/// Nanoseconds per element of `body` over `inputs`.
fn nanoseconds<T: Copy>(inputs: [&[T]; 2], mut body: impl FnMut([&[T]; 2], &mut [T])) -> f64 {
    let mut out = inputs[0].to_vec();
    let fastest = (0..PASSES)
        .map(|_| {
            let start = Instant::now();
            body(black_box(inputs), &mut out);
            black_box(&mut out);
            start.elapsed()
        })
        .min();
    fastest.map_or(0.0, |time| time.as_secs_f64() * 1.0e9 / COUNT as f64)
}

/// Evenly spaced numbers from `low` to `high`.
fn ramp<T: Real>(low: f64, high: f64) -> Vec<T> {
    (0..COUNT)
        .map(|i| T::lit(low + (high - low) * i as f64 / COUNT as f64))
        .collect()
}

macro_rules! time {
    ($instance:ty, $low:expr, $high:expr, $name:ident($($other:ident)?)) => {{
        let (x, y) = (ramp::<$instance>($low, $high), ramp::<$instance>(-3.0, 5.0));
        nanoseconds([&x, &y], |[x, y], out| {
            for ((out, x), _y) in out.iter_mut().zip(x).zip(y) {
                *out = Real::$name(*x $(, { let $other = *_y; $other })?);
            }
        })
    }};
}

macro_rules! table {
    ($($name:ident($($other:ident)?) $low:literal .. $high:literal;)*) => {
        println!("{:10} {:>8} {:>8} {:>8} {:>8}   ns per element", "", "lane f32", "f32", "lane f64", "f64");
        $(
            let row = [
                time!(Lane<f32>, $low, $high, $name($($other)?)),
                time!(f32, $low, $high, $name($($other)?)),
                time!(Lane<f64>, $low, $high, $name($($other)?)),
                time!(f64, $low, $high, $name($($other)?)),
            ];
            println!("{:10} {:8.2} {:8.2} {:8.2} {:8.2}", stringify!($name), row[0], row[1], row[2], row[3]);
        )*
    };
}

/// Evenly spaced points of a line through the plane.
fn slope<R: Real>(low: f64, high: f64) -> Vec<Complex<R>> {
    let (re, im) = (ramp(low, high), ramp(high, low * 0.5));
    re.into_iter()
        .zip(im)
        .map(|(re, im)| Complex::new(re, im))
        .collect()
}

/// As [`nanoseconds`], for a complex function of one number.
fn time_complex<R: Real>(function: impl Fn(Complex<R>) -> Complex<R>) -> f64 {
    let z = slope::<R>(-3.0, 5.0);
    nanoseconds([&z, &z], |[z, _], out| {
        for (out, z) in out.iter_mut().zip(z) {
            *out = function(*z);
        }
    })
}

macro_rules! complex_table {
    ($($name:ident)*) => {
        println!("complex");
        $(
            let row = [
                time_complex::<Lane<f32>>(|z| complex::$name(z)),
                time_complex::<f32>(|z| complex::$name(z)),
                time_complex::<Lane<f64>>(|z| complex::$name(z)),
                time_complex::<f64>(|z| complex::$name(z)),
            ];
            println!("{:10} {:8.2} {:8.2} {:8.2} {:8.2}", stringify!($name), row[0], row[1], row[2], row[3]);
        )*
    };
}

fn main() {
    table! {
        exp() -20.0 .. 20.0;
        exp2() -20.0 .. 20.0;
        exp_m1() -20.0 .. 20.0;
        ln() 0.01 .. 100.0;
        ln_1p() 0.01 .. 100.0;
        log2() 0.01 .. 100.0;
        log10() 0.01 .. 100.0;
        sqrt() 0.01 .. 100.0;
        rsqrt() 0.01 .. 100.0;
        cbrt() -100.0 .. 100.0;
        hypot(y) -100.0 .. 100.0;
        pow(y) 0.01 .. 100.0;
        sin() -100.0 .. 100.0;
        cos() -100.0 .. 100.0;
        tan() -100.0 .. 100.0;
        asin() -1.0 .. 1.0;
        acos() -1.0 .. 1.0;
        atan() -10.0 .. 10.0;
        atan2(y) -10.0 .. 10.0;
        sinh() -10.0 .. 10.0;
        cosh() -10.0 .. 10.0;
        tanh() -10.0 .. 10.0;
        asinh() -10.0 .. 10.0;
        acosh() 1.0 .. 100.0;
        atanh() -1.0 .. 1.0;
        floor() -10.0 .. 10.0;
        round_even() -10.0 .. 10.0;
        max(y) -10.0 .. 10.0;
        nextafter(y) -10.0 .. 10.0;
        fmod(y) -10.0 .. 10.0;
        remainder(y) -10.0 .. 10.0;
        floor_divide(y) -10.0 .. 10.0;
        log_add_exp(y) -10.0 .. 10.0;
    }
    complex_table! { square reciprocal sqrt exp exp_m1 ln ln_1p sin tan sinh tanh asin acosh atanh }
}
