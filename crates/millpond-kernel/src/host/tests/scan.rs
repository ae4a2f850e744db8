//! Scans against a naive loop over the elements, and against themselves in other pieces.

use millpond_types::{DType, Layout, Scalar};
use num_complex::Complex;

use super::array::{Array, AtLevel, Lie, is_close, levels, run, sample};
use crate::{Scan, ScanPlan};

/// What elements come to, in double precision; integers wrap with the output.
fn naive(scan: Scan, output: DType, values: &[Scalar]) -> Scalar {
    if output == DType::Bool {
        let mut truths = values.iter().map(|value| value.is_truthy());
        return Scalar::Bool(match scan {
            Scan::Product => truths.all(|truth| truth),
            _ => truths.any(|truth| truth),
        });
    }
    if output.is_integer() {
        let integers = values.iter().map(|value| value.to_i128());
        let result: i128 = match scan {
            Scan::Product => integers.fold(1, i128::wrapping_mul),
            _ => integers.sum(),
        };
        let bytes = result.to_ne_bytes();
        return Scalar::from_bytes(output, &bytes[..output.size()]).unwrap();
    }
    let numbers = values.iter().map(|value| value.to_complex());
    match scan {
        Scan::Sum => Scalar::Complex(numbers.sum()),
        Scan::Product => Scalar::Complex(numbers.product()),
        Scan::LogSumExp => {
            let sum: f64 = values.iter().map(|value| value.to_f64().exp()).sum();
            Scalar::Float(sum.ln())
        }
    }
}

/// Runs both kernels, each in pieces that end at `cuts`.
fn accumulate(scan: Scan, output: &mut Array, input: &mut Array, axis: usize, cuts: &[usize]) {
    let plan = ScanPlan::new(
        scan,
        (output.dtype, &output.layout),
        (input.dtype, &input.layout),
        axis,
    );
    let plan = plan.unwrap();
    if let Some(totals) = plan.totals() {
        let layout = Layout::contiguous(&[plan.scratch_bytes()], 1).unwrap();
        let mut scratch = Array::blank(DType::Uint8, layout);
        run(&totals, &mut [&mut scratch, input], cuts);
        run(&plan.kernel(), &mut [output, input, &mut scratch], cuts);
    } else {
        run(&plan.kernel(), &mut [output, input], cuts);
    }
    output.check_guards();
}

fn check(scan: Scan, input: &mut Array, output: DType, lie: Lie, axis: usize, cuts: &[usize]) {
    let [rows, columns] = [input.layout.shape()[0], input.layout.shape()[1]];
    let mut result = Array::blank(output, lie.layout(rows, columns));
    accumulate(scan, &mut result, input, axis, cuts);
    for index in 0..rows * columns {
        let (row, column) = (index / columns, index % columns);
        let values: Vec<Scalar> = if axis == 0 {
            (0..=row)
                .map(|row| input.element(row * columns + column))
                .collect()
        } else {
            (0..=column)
                .map(|column| input.element(row * columns + column))
                .collect()
        };
        let (found, wanted) = (result.element(index), naive(scan, output, &values));
        let terms = (values.len() as u32 + 2) * 16;
        assert!(
            is_close(output, found, wanted, terms),
            "{scan:?} of {input:?} along {axis} to {output}: {found:?} for {wanted:?} at {index}"
        );
    }
}

/// Small numbers, whose products stay in range.
fn small(dtype: DType, index: usize) -> Scalar {
    let value = [0.5, 1.0, 2.0, -1.0, 1.0, 1.5][index % 6];
    if dtype.is_complex() {
        Scalar::Complex(Complex::new(value, 0.25))
    } else if dtype.is_integer() {
        Scalar::Int(index as i128 % 5 + 1)
    } else if dtype == DType::Bool {
        Scalar::Bool(!index.is_multiple_of(7))
    } else {
        Scalar::Float(value)
    }
}

#[test]
fn every_dtype_and_layout_is_accumulated_along_either_axis() {
    for level in levels() {
        let _held = AtLevel::new(level);
        for &dtype in DType::ALL {
            for (number, &lie) in Lie::ALL.iter().enumerate() {
                let mut input = Array::of(dtype, lie.layout(9, 21), |index| small(dtype, index));
                let other = Lie::ALL[..5][(number + 2) % 5];
                for axis in [0, 1] {
                    for scan in [Scan::Sum, Scan::Product, Scan::LogSumExp] {
                        let Ok(output) = scan.resolve(dtype, None, DType::Float64) else {
                            continue;
                        };
                        check(scan, &mut input, output, other, axis, &[3, 4]);
                    }
                    check(Scan::Sum, &mut input, DType::Bool, other, axis, &[]);
                    check(Scan::Product, &mut input, DType::Bool, other, axis, &[]);
                }
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_how_the_range_is_split() {
    let shapes = [
        (1, 200_000, 1),
        (3, 70_000, 1),
        (70_000, 3, 0),
        (9000, 40, 0),
        (40, 9000, 1),
    ];
    for (rows, columns, axis) in shapes {
        for dtype in [DType::Float32, DType::Float64, DType::Complex64] {
            let layout = Layout::contiguous(&[rows, columns], dtype.size()).unwrap();
            let mut input = Array::of(dtype, layout.clone(), |index| sample(DType::Int8, index));
            let mut whole = Array::blank(dtype, layout.clone());
            accumulate(Scan::Sum, &mut whole, &mut input, axis, &[]);
            let mut cut = Array::blank(dtype, layout);
            accumulate(Scan::Sum, &mut cut, &mut input, axis, &[1, 2, 5, 37, 64]);
            let size = rows * columns;
            assert!((0..size).all(|index| whole.raw(index) == cut.raw(index)));
            let end: Vec<Scalar> = (0..size)
                .filter(|index| axis == 1 || index % columns == columns - 1)
                .skip(if axis == 1 { size - columns } else { 0 })
                .map(|index| input.element(index))
                .collect();
            let wanted = naive(Scan::Sum, dtype, &end);
            assert!(is_close(dtype, whole.element(size - 1), wanted, 64));
        }
    }
}

#[test]
fn complex_numbers_have_no_logarithm_of_a_sum_and_no_real_one() {
    let refused = Scan::LogSumExp.resolve(DType::Complex64, None, DType::Float64);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("cumulative_logsumexp is not defined")
    );
    let refused = Scan::Sum.resolve(DType::Complex64, Some(DType::Float32), DType::Float64);
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("complex64 and float32")
    );
}
