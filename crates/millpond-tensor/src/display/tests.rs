//! How arrays are printed.

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::Driver;
use millpond_runtime::Device;
use millpond_types::DType;
use num_complex::Complex;

use super::{FloatMode, Frame, PrintOptions, Sign};
use crate::creation::{from_slice, zeros};
use crate::{Item, Place, Tensor};

fn place() -> Place {
    let driver = CpuDriver::new(CpuConfig::default());
    let device = Device::open(driver.devices().unwrap().remove(0));
    Place::on(&device.default_queue().unwrap())
}

fn text<T: Item>(items: &[T], options: &PrintOptions) -> String {
    let tensor = from_slice(items, &[items.len()], &place()).unwrap();
    tensor.to_text(options, &Frame::default()).unwrap()
}

fn plain<T: Item>(items: &[T]) -> String {
    text(items, &PrintOptions::default())
}

fn count(shape: &[usize]) -> Tensor {
    let items: Vec<i64> = (0..shape.iter().product::<usize>() as i64).collect();
    from_slice(&items, shape, &place()).unwrap()
}

#[test]
fn numbers_align() {
    assert_eq!(plain(&[1_i32, -20, 3]), "[  1 -20   3]");
    assert_eq!(plain(&[true, false]), "[ True False]");
    assert_eq!(plain(&[1.0_f64, 2.5, -3.25]), "[ 1.    2.5  -3.25]");
    assert_eq!(plain(&[0.1_f32, 1.0 / 3.0]), "[0.1        0.33333334]");
    assert_eq!(plain(&[1.0_f64 / 3.0]), "[0.33333333]");
    assert_eq!(plain(&[1e-5_f64, 1.0]), "[1.e-05 1.e+00]");
    assert_eq!(plain(&[1e10_f64, 1.25]), "[1.00e+10 1.25e+00]");
    assert_eq!(plain(&[1e300_f64, 1e-300]), "[1.e+300 1.e-300]");
    assert_eq!(plain(&[f64::NAN, -f64::INFINITY, 1.0]), "[ nan -inf   1.]");
    assert_eq!(plain(&[half::f16::from_f32(0.1)]), "[0.1]");
}

#[test]
fn complex_numbers_have_two_parts() {
    let z = [Complex::new(1.0_f64, -2.0), Complex::new(-0.5, 10.25)];
    assert_eq!(plain(&z), "[ 1.  -2.j   -0.5+10.25j]");
}

#[test]
fn options_are_kept() {
    let mut options = PrintOptions {
        float_mode: FloatMode::Fixed,
        precision: 3,
        ..PrintOptions::default()
    };
    assert_eq!(text(&[1.0_f64, 0.12345], &options), "[1.000 0.123]");
    options.sign = Sign::Plus;
    assert_eq!(text(&[1.0_f64, -1.0], &options), "[+1.000 -1.000]");
    options.suppress = true;
    options.sign = Sign::Space;
    assert_eq!(
        text(&[1e-5_f64, 100_000_000.0], &options),
        "[         0.000  100000000.000]"
    );
}

#[test]
fn axes_nest_and_lines_wrap() {
    let options = PrintOptions::default();
    let matrix = count(&[2, 3]).to_text(&options, &Frame::default()).unwrap();
    assert_eq!(matrix, "[[0 1 2]\n [3 4 5]]");
    let cube = count(&[2, 1, 2])
        .to_text(&options, &Frame::default())
        .unwrap();
    assert_eq!(cube, "[[[0 1]]\n\n [[2 3]]]");
    let narrow = PrintOptions {
        line_width: 10,
        ..options
    };
    let lines = count(&[8]).to_text(&narrow, &Frame::default()).unwrap();
    assert_eq!(lines, "[0 1 2 3\n 4 5 6 7]");
}

#[test]
fn long_arrays_show_their_edges() {
    let options = PrintOptions::default();
    let text = count(&[2000]).to_text(&options, &Frame::default()).unwrap();
    assert_eq!(text, "[   0    1    2 ... 1997 1998 1999]");
    let text = count(&[40, 50])
        .to_text(&options, &Frame::default())
        .unwrap();
    assert!(
        text.starts_with("[[   0    1    2 ...   47   48   49]\n"),
        "{text}"
    );
    assert!(text.contains("]\n ...\n ["), "{text}");
}

#[test]
fn calls_tell_what_elements_do_not() {
    let place = place();
    let options = PrintOptions::default();
    let repr = |tensor: &Tensor| tensor.to_repr("Array", &options).unwrap();
    assert_eq!(repr(&count(&[2, 2])), "Array([[0, 1],\n       [2, 3]])");
    let x = from_slice(&[1.0_f32], &[1], &place).unwrap();
    assert_eq!(repr(&x), "Array([1.], dtype=float32)");
    let empty = zeros(&[0, 3], DType::Float64, &place).unwrap();
    assert_eq!(repr(&empty), "Array([], shape=(0, 3), dtype=float64)");
    let scalar = zeros(&[], DType::Float64, &place).unwrap();
    assert_eq!(repr(&scalar), "Array(0.)");
}
