//! Transforms against sums of exponentials: every sort and length, in any layout and pieces.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::f64::consts::TAU;

use millpond_testkit::trial::{bytes_of, run};
use millpond_types::{DType, Layout};
use rustfft::num_complex::Complex;

use millpond_fft::{FftError, Sort, TransformKernel};

/// The transform by its definition, of points that end with zeros.
fn sums(points: &[Complex<f64>], length: usize, sign: f64) -> Vec<Complex<f64>> {
    let term = |frequency: usize, at: usize| {
        let turn = (frequency * at % length) as f64 / length as f64;
        points[at] * Complex::from_polar(1.0, sign * TAU * turn)
    };
    let count = points.len().min(length);
    (0..length)
        .map(|frequency| (0..count).map(|at| term(frequency, at)).sum())
        .collect()
}

fn points(count: usize) -> Vec<Complex<f64>> {
    let point = |n: usize| Complex::new((n * 7 % 11) as f64 - 5.0, (n * 5 % 13) as f64 - 6.0);
    (0..count).map(point).collect()
}

fn assert_near(result: Complex<f64>, wanted: Complex<f64>) {
    assert!((result - wanted).norm() < 1e-11, "{result} {wanted}");
}

#[test]
fn lines_along_any_axis_are_transformed_padded_and_cut() {
    let (lines, size) = (11, 6);
    for length in [1, 2, 5, 6, 7, 16, 31] {
        for across in [false, true] {
            for (sort, sign) in [(Sort::Forward, -1.0), (Sort::Inverse, 1.0)] {
                let (shape, axis) = if across {
                    ([size, lines], 0)
                } else {
                    ([lines, size], 1)
                };
                let input = Layout::contiguous(&shape, 16).unwrap();
                let mut shape = shape;
                shape[axis] = length;
                let output = Layout::contiguous(&shape, 16).unwrap();
                let mut x = points(lines * size);
                let kernel = TransformKernel::new(
                    "fft",
                    sort,
                    DType::Float64,
                    &output,
                    &input,
                    axis,
                    length,
                    0.5,
                )
                .unwrap();
                for chunk in [1, 3, 100] {
                    let mut z = vec![Complex::new(f64::NAN, 0.0); lines * length];
                    run(&kernel, &mut [bytes_of(&mut z), bytes_of(&mut x)], chunk).unwrap();
                    for line in 0..lines {
                        let at = |element: usize, length: usize| {
                            if across {
                                element * lines + line
                            } else {
                                line * length + element
                            }
                        };
                        let given: Vec<_> = (0..size).map(|element| x[at(element, size)]).collect();
                        for (element, wanted) in sums(&given, length, sign).iter().enumerate() {
                            assert_near(z[at(element, length)], wanted * 0.5);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn real_signals_and_their_half_spectra() {
    for length in 1..20 {
        let half = length / 2 + 1;
        let (real, spectrum) = (
            Layout::contiguous(&[2, length], 8).unwrap(),
            Layout::new(&[2, half], &[1, 2], 0).unwrap(),
        );
        let signal: Vec<f64> = points(2 * length).iter().map(|point| point.re).collect();
        let mut x = signal.clone();
        let mut z = vec![Complex::default(); 2 * half];
        let kernel = TransformKernel::new(
            "rfft",
            Sort::RealForward,
            DType::Float64,
            &spectrum,
            &real,
            1,
            length,
            1.0,
        )
        .unwrap();
        run(&kernel, &mut [bytes_of(&mut z), bytes_of(&mut x)], 1).unwrap();
        assert_eq!(x, signal, "the input stays");
        for line in 0..2 {
            let given: Vec<_> = signal[line * length..][..length]
                .iter()
                .map(|&re| Complex::new(re, 0.0))
                .collect();
            for (frequency, wanted) in sums(&given, length, -1.0)[..half].iter().enumerate() {
                assert_near(z[frequency * 2 + line], *wanted);
            }
        }
        // What is imaginary at the ends doesn't count.
        z[0].im = 9.0;
        let kernel = TransformKernel::new(
            "irfft",
            Sort::RealInverse,
            DType::Float64,
            &real,
            &spectrum,
            1,
            length,
            1.0 / length as f64,
        )
        .unwrap();
        run(&kernel, &mut [bytes_of(&mut x), bytes_of(&mut z)], 5).unwrap();
        for (result, wanted) in x.iter().zip(&signal) {
            assert!((result - wanted).abs() < 1e-12, "{length}");
        }
    }
}

#[test]
fn no_lines_are_no_work() {
    let (input, output) = (
        Layout::contiguous(&[4, 0], 8).unwrap(),
        Layout::contiguous(&[3, 0], 16).unwrap(),
    );
    let sort = Sort::RealForward;
    let kernel =
        TransformKernel::new("rfft", sort, DType::Float64, &output, &input, 0, 4, 1.0).unwrap();
    run(&kernel, &mut [&mut [], &mut []], 1).unwrap();
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let layout = Layout::contiguous(&[3], 16).unwrap();
    let new = |dtype, axis, length| {
        TransformKernel::new(
            "fft",
            Sort::Forward,
            dtype,
            &layout,
            &layout,
            axis,
            length,
            1.0,
        )
        .map(drop)
        .unwrap_err()
    };
    assert!(matches!(new(DType::Int8, 0, 3), FftError::DType { .. }));
    assert!(matches!(new(DType::Float64, 1, 3), FftError::Layout(_)));
    assert!(matches!(new(DType::Float64, 0, 0), FftError::Length { .. }));
    let wrong = new(DType::Float64, 0, 4);
    assert_eq!(
        wrong.to_string(),
        "fft: a result of shape (3,) where shape (4,) is needed"
    );
}

#[test]
fn operands_off_their_alignment_fail() {
    let layout = Layout::contiguous(&[1], 8).unwrap();
    let kernel = TransformKernel::new(
        "fft",
        Sort::Forward,
        DType::Float32,
        &layout,
        &layout,
        0,
        1,
        1.0,
    )
    .unwrap();
    let (mut x, mut z) = ([0_u8; 32], [0_u32; 8]);
    let off = usize::from(x.as_ptr().addr() % 2 == 0);
    let error = run(&kernel, &mut [bytes_of(&mut z), &mut x[off..]], 1).unwrap_err();
    assert!(error.reason.contains("not aligned"), "{error}");
}
