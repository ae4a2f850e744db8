//! How arrays are printed.

use half::{bf16, f16};
use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::Driver;
use millpond_runtime::Device;
use millpond_types::DType;
use millpond_types::rounding::f16_from_f64;
use num_complex::Complex;

use super::number::alone;
use super::{FloatMode, PrintOptions, Sign};
use crate::creation::{from_slice, zeros};
use crate::{Item, Place, Tensor};

fn place() -> Place {
    let driver = CpuDriver::new(CpuConfig::default());
    let device = Device::open(driver.devices().unwrap().remove(0));
    Place::on(&device.default_queue().unwrap())
}

fn text<T: Item>(items: &[T], options: &PrintOptions) -> String {
    let tensor = from_slice(items, &[items.len()], &place()).unwrap();
    tensor.to_text(options).unwrap()
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
    assert_eq!(plain(&[true, true]), "[ True  True]");
    assert_eq!(plain(&[1.0_f64, 2.5, -3.25]), "[ 1.    2.5  -3.25]");
    assert_eq!(plain(&[0.1_f32, 1.0 / 3.0]), "[0.1        0.33333334]");
    assert_eq!(plain(&[1.0_f64 / 3.0]), "[0.33333333]");
    assert_eq!(plain(&[f64::NAN, -f64::INFINITY, 1.0]), "[ nan -inf   1.]");
}

#[test]
fn numbers_far_apart_have_exponents() {
    assert_eq!(plain(&[1e-5_f64, 1.0]), "[1.e-05 1.e+00]");
    assert_eq!(plain(&[1e10_f64, 1.25]), "[1.00e+10 1.25e+00]");
    assert_eq!(plain(&[1e300_f64, 1e-30]), "[1.e+300 1.e-030]");
    let far = [f64::INFINITY, 1e10, f64::NAN];
    assert_eq!(plain(&far), "[   inf 1.e+10    nan]");
}

#[test]
fn exponents_begin_where_digits_before_the_point_mean_nothing() {
    assert_eq!(plain(&[99_999_999.0_f64]), "[99999999.]");
    assert_eq!(plain(&[1e8_f64]), "[1.e+08]");
    assert_eq!(plain(&[999_999.0_f32]), "[999999.]");
    assert_eq!(plain(&[1e6_f32]), "[1.e+06]");
    assert_eq!(plain(&[f16::from_f32(999.0)]), "[999.]");
    assert_eq!(plain(&[f16::from_f32(1000.0)]), "[1.e+03]");
}

#[test]
fn digits_beyond_the_shortest_are_true() {
    let far = [0.1_f32, 12_345.678];
    assert_eq!(plain(&far), "[1.0000000e-01 1.2345678e+04]");
    let equal = PrintOptions {
        float_mode: FloatMode::MaxPrecEqual,
        precision: 12,
        ..PrintOptions::default()
    };
    assert_eq!(text(&[0.1_f32], &equal), "[0.1]");
    assert_eq!(
        text(&[0.1_f32, 1.0 / 1024.0], &equal),
        "[0.1000000015 0.0009765625]"
    );
}

#[test]
fn halves_have_the_fewest_digits_that_tell_them_apart() {
    assert_eq!(plain(&[f16::from_f32(0.1)]), "[0.1]");
    let brain = |value: f32| alone(bf16::from_f32(value).into(), DType::Bfloat16);
    assert_eq!(
        (brain(0.1), brain(1.0 / 3.0)),
        ("0.1".into(), "0.334".into())
    );
    // A power of two, whose nearest decimal of four digits belongs to the float below.
    assert_eq!(plain(&[f16::from_f32(0.015_625)]), "[0.01563]");
    for bits in 0..f16::INFINITY.to_bits() {
        let value = f16::from_bits(bits);
        let printed: f64 = alone(value.into(), DType::Float16).parse().unwrap();
        assert_eq!(f16_from_f64(printed), value, "{printed}");
    }
}

#[test]
fn of_decimals_as_near_the_even_one_is_printed() {
    assert_eq!(plain(&[2.0_f32.powi(-12)]), "[0.00024414]");
    assert_eq!(
        alone(2.0_f32.powi(-12).into(), DType::Float32),
        "0.00024414062"
    );
}

#[test]
fn complex_numbers_have_two_parts() {
    let z = [Complex::new(1.0_f64, -2.0), Complex::new(-0.5, 10.25)];
    assert_eq!(plain(&z), "[ 1.  -2.j   -0.5+10.25j]");
}

#[test]
fn a_number_without_axes_stands_for_itself() {
    let told = |value: f64| alone(value.into(), DType::Float64);
    assert_eq!(told(1.0 / 3.0), "0.3333333333333333");
    assert_eq!((told(2.0), told(-0.0)), ("2.0".into(), "-0.0".into()));
    assert_eq!(
        (told(1e15), told(1e16)),
        ("1000000000000000.0".into(), "1e+16".into())
    );
    assert_eq!(alone(1e6_f32.into(), DType::Float32), "1e+06");
    let told = |re, im| alone(Complex::new(re, im).into(), DType::Complex128);
    assert_eq!(told(1.0, -2.5), "(1-2.5j)");
    assert_eq!(
        (told(0.0, 2.0), told(-0.0, 2.0)),
        ("2j".into(), "(-0+2j)".into())
    );
    let tensor = from_slice(&[1e6_f32], &[], &place()).unwrap();
    assert_eq!(tensor.to_text(&PrintOptions::default()).unwrap(), "1e+06");
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
    assert_eq!(text(&[1e-5_f64, 1000.0], &options), "[    0.000  1000.000]");
    // Small numbers are suppressed, large ones would be endless.
    assert_eq!(
        text(&[1e-5_f64, 1e250], &options),
        "[ 1.000e-005  1.000e+250]"
    );
}

#[test]
fn axes_nest_and_lines_wrap() {
    let options = PrintOptions::default();
    let matrix = count(&[2, 3]).to_text(&options).unwrap();
    assert_eq!(matrix, "[[0 1 2]\n [3 4 5]]");
    let cube = count(&[2, 1, 2]).to_text(&options).unwrap();
    assert_eq!(cube, "[[[0 1]]\n\n [[2 3]]]");
    let narrow = PrintOptions {
        line_width: 10,
        ..options
    };
    let lines = count(&[8]).to_text(&narrow).unwrap();
    assert_eq!(lines, "[0 1 2 3\n 4 5 6 7]");
}

#[test]
fn long_arrays_show_their_edges() {
    let options = PrintOptions::default();
    let text = count(&[2000]).to_text(&options).unwrap();
    assert_eq!(text, "[   0    1    2 ... 1997 1998 1999]");
    let text = count(&[40, 50]).to_text(&options).unwrap();
    assert!(
        text.starts_with("[[   0    1    2 ...   47   48   49]\n"),
        "{text}"
    );
    assert!(text.contains("]\n ...\n ["), "{text}");
}

#[test]
fn the_last_element_is_shown_where_edges_are_empty() {
    let options = PrintOptions {
        edge_items: 0,
        threshold: 3,
        ..PrintOptions::default()
    };
    assert_eq!(count(&[2, 2]).to_text(&options).unwrap(), "[...\n [... 3]]");
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
    let long = PrintOptions {
        threshold: 1,
        edge_items: 1,
        ..options.clone()
    };
    let text = count(&[4]).to_repr("Array", &long).unwrap();
    assert_eq!(text, "Array([0, ..., 3], shape=(4,))");
    let scalar = zeros(&[], DType::Float64, &place).unwrap();
    assert_eq!(repr(&scalar), "Array(0.)");
}
