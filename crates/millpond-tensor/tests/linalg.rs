//! Products, decompositions and transforms as methods and functions of Rust.

mod support;

use millpond_runtime::{Error as RuntimeError, FailureKind};
use millpond_tensor::fft::{self, Along, Norm};
use millpond_tensor::linalg::{self, MatrixNorm};
use millpond_tensor::{Error, Tensor, creation};
use millpond_types::DType;
use num_complex::Complex;
use support::{Held, array, count, message, place};

fn matrix(items: &[f64], rows: usize) -> Tensor {
    creation::from_slice(items, &[rows, items.len() / rows], &place())
        .expect("the items fill the rows")
}

#[test]
fn products_follow_the_rules_of_vectors() {
    let place = place();
    let (matrix, vector) = (count(&[2, 3], &place), count(&[3], &place));
    let product = matrix.matmul(&vector).unwrap();
    assert_eq!(product.shape(), [2]);
    assert_eq!(product.to_vec::<i64>().unwrap(), [5, 14]);
    let product = vector.matmul(&matrix.matrix_transpose().unwrap()).unwrap();
    assert_eq!(product.to_vec::<i64>().unwrap(), [5, 14]);
    let scalar = vector.matmul(&vector).unwrap();
    assert_eq!((scalar.ndim(), scalar.item().unwrap()), (0, 5.into()));
    assert!(message(matrix.matmul(&matrix)).contains("do not fit: 3 columns against 2 rows"));
}

#[test]
fn an_output_may_overlap_what_is_multiplied() {
    let place = place();
    let x = count(&[3, 3], &place);
    let wanted = x.matmul(&x).unwrap().to_vec::<i64>().unwrap();
    let turned = x.flip(None).unwrap();
    let result = linalg::matmul(&x, &x, Some(&turned)).unwrap();
    assert_eq!(result.to_vec::<i64>().unwrap(), wanted);
}

#[test]
fn a_numeric_failure_is_told_at_the_call_or_at_the_wait() {
    let singular = matrix(&[1.0, 2.0, 2.0, 4.0], 2);
    let kind = |error: Error| match error {
        Error::Runtime(RuntimeError::Failed(failure)) => failure.kind(),
        other => panic!("{other}"),
    };
    assert_eq!(
        kind(linalg::inv(&singular).unwrap_err()),
        FailureKind::Numeric
    );
    let held = Held::new(&singular.queue());
    let inverse = linalg::inv(&singular).unwrap();
    let dependent = inverse.add(1).unwrap();
    held.open();
    assert_eq!(
        kind(dependent.to_vec::<f64>().unwrap_err()),
        FailureKind::Numeric
    );
    assert_eq!(linalg::det(&singular).unwrap().item().unwrap(), 0.0.into());
}

#[test]
fn norms_by_their_orders() {
    let x = matrix(&[3.0, 0.0, 0.0, -4.0], 2);
    let norm = |norm| {
        linalg::matrix_norm(&x, false, norm)
            .unwrap()
            .to_vec::<f64>()
            .unwrap()[0]
    };
    for (which, wanted) in [
        (MatrixNorm::Frobenius, 5.0),
        (MatrixNorm::Nuclear, 7.0),
        (MatrixNorm::Order(2.0), 4.0),
        (MatrixNorm::Order(-2.0), 3.0),
        (MatrixNorm::Order(1.0), 4.0),
        (MatrixNorm::Order(f64::NEG_INFINITY), 3.0),
    ] {
        assert!((norm(which) - wanted).abs() < 1e-14, "{which:?}");
    }
    assert!(message(linalg::matrix_norm(&x, false, MatrixNorm::Order(3.0))).contains("not 3"));
}

#[test]
fn transforms_and_their_inverses() {
    let place = place();
    let x = array(&[1.0_f32, 2.0, 3.0, 4.0, 5.0], &place);
    let spectrum = fft::rfft(&x, None, -1, Norm::Ortho).unwrap();
    assert_eq!(
        (spectrum.dtype(), spectrum.shape()),
        (DType::Complex64, &[3][..])
    );
    let back = fft::irfft(&spectrum, Some(5), -1, Norm::Ortho).unwrap();
    for (value, wanted) in back.to_vec::<f32>().unwrap().iter().zip(1..) {
        assert!((value - wanted as f32).abs() < 1e-6, "{value}");
    }
    let square = creation::ones(&[2, 2], DType::Complex128, &place).unwrap();
    let sums = fft::fftn(&square, Along::default(), Norm::Forward).unwrap();
    let one = Complex::new(1.0, 0.0);
    let zero = Complex::new(0.0, 0.0);
    assert_eq!(
        sums.to_vec::<Complex<f64>>().unwrap(),
        [one, zero, zero, zero]
    );
    assert!(message(fft::fft(&x, Some(0), 0, Norm::Backward)).contains("1 or more"));
}
