//! Routines on stacks of any layout, in any pieces, and what they refuse.

#![allow(clippy::unwrap_used, reason = "tests")]

use millpond_hal::FailureKind;
use millpond_testkit::trial::{bytes_of, run};
use millpond_types::{DType, Layout};
use num_complex::Complex;

use millpond_linalg::{DecompositionKernel, Routine};

fn rows(shape: &[usize], item: usize) -> Layout {
    Layout::contiguous(shape, item).unwrap()
}

#[test]
fn every_matrix_of_a_stack_is_taken_apart_in_any_layout_and_in_any_pieces() {
    // Column by column, the stack from its end.
    let input = Layout::new(&[3, 2, 2], &[-4, 1, 2], 8).unwrap();
    let output = Layout::new(&[3], &[2], 1).unwrap();
    let mut x: Vec<f32> = vec![1.0, 3.0, 2.0, 4.0, 2.0, 0.0, 0.0, 5.0, 1.0, 1.0, 1.0, 1.0];
    for chunk in [1, 2, 3] {
        let mut z = [7.0_f32; 6];
        let kernel =
            DecompositionKernel::new(Routine::Determinant, DType::Float32, &[&output], &[&input])
                .unwrap();
        run(&kernel, &mut [bytes_of(&mut z), bytes_of(&mut x)], chunk).unwrap();
        assert_eq!(z, [7.0, 0.0, 7.0, 10.0, 7.0, -2.0]);
    }
}

#[test]
fn equations_of_complex_numbers_are_solved() {
    let (matrix, sides) = (rows(&[2, 2], 16), rows(&[2, 1], 16));
    let i = Complex::new(0.0_f64, 1.0);
    let one = Complex::new(1.0, 0.0);
    let mut a = [i, one, Complex::default(), i + one];
    let mut b = [i, i + one];
    let mut x = [Complex::<f64>::default(); 2];
    let kernel = DecompositionKernel::new(
        Routine::Solve,
        DType::Complex128,
        &[&sides],
        &[&matrix, &sides],
    )
    .unwrap();
    let operands = &mut [bytes_of(&mut x), bytes_of(&mut a), bytes_of(&mut b)];
    run(&kernel, operands, 1).unwrap();
    for (value, wanted) in x.iter().zip([one + i, one]) {
        assert!((value - wanted).norm() < 1e-15, "{value}");
    }
}

#[test]
fn matrices_without_a_result_are_numeric_failures() {
    let layout = rows(&[2, 2], 8);
    let values = rows(&[2], 8);
    for (routine, output, matrix, reason) in [
        (Routine::Inverse, &layout, [1.0, 2.0, 2.0, 4.0], "singular"),
        (
            Routine::Cholesky { upper: false },
            &layout,
            [1.0, 2.0, 2.0, 1.0],
            "not positive definite",
        ),
        (
            Routine::SingularValues,
            &values,
            [1.0, f64::NAN, 0.0, 1.0],
            "infinities or NaNs",
        ),
    ] {
        let (mut x, mut z) = (matrix, [0.0_f64; 4]);
        let kernel =
            DecompositionKernel::new(routine, DType::Float64, &[output], &[&layout]).unwrap();
        let error = run(&kernel, &mut [bytes_of(&mut z), bytes_of(&mut x)], 1).unwrap_err();
        assert!(error.reason.contains(reason), "{error}");
        assert_eq!(error.kind, FailureKind::Numeric);
    }
}

#[test]
fn pivots_without_an_inverse_are_divided_by_all_the_same() {
    let (matrix, scalar) = (rows(&[3, 3], 8), Layout::scalar());
    let mut x = [0.0, 1.0, 0.0, 1e-310, 0.0, 0.0, 2e-310, 0.0, 1.0_f64];
    let mut z = [0.0_f64];
    let kernel =
        DecompositionKernel::new(Routine::Determinant, DType::Float64, &[&scalar], &[&matrix])
            .unwrap();
    run(&kernel, &mut [bytes_of(&mut z), bytes_of(&mut x)], 1).unwrap();
    assert!((z[0] / -1e-310 - 1.0).abs() < 1e-12, "{}", z[0]);
}

#[test]
fn requests_that_do_not_fit_are_refused() {
    let (square, oblong) = (rows(&[2, 2], 8), rows(&[2, 3], 8));
    let new = |dtype, output, input| {
        DecompositionKernel::new(Routine::Inverse, dtype, &[output], &[input])
            .map(drop)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        new(DType::Int64, &square, &square),
        "inv is not defined for int64"
    );
    assert_eq!(
        new(DType::Float64, &square, &oblong),
        "inv: an operand of shape (2, 3) where shape (2, 2) is needed"
    );
    assert_eq!(
        new(DType::Float64, &oblong, &square),
        "inv: an operand of shape (2, 3) where shape (2, 2) is needed"
    );
}
