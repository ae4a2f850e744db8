//! Differences, closeness, products of vectors.

mod support;

use millpond_tensor::creation;
use millpond_tensor::utility::Tolerance;
use millpond_types::DType;
use num_complex::Complex;
use support::{array, count, message, place};

#[test]
fn neighbours_differ() {
    let place = place();
    let x = array(&[1_i64, 4, 9, 16], &place);
    assert_eq!(
        x.diff(-1, 1, None, None).unwrap().to_vec::<i64>().unwrap(),
        [3, 5, 7]
    );
    assert_eq!(
        x.diff(0, 2, None, None).unwrap().to_vec::<i64>().unwrap(),
        [2, 2]
    );
    assert_eq!(x.diff(0, 9, None, None).unwrap().shape(), [0]);
    let zero = array(&[0_i64], &place);
    let padded = x.diff(0, 1, Some(&zero), Some(&zero)).unwrap();
    assert_eq!(padded.to_vec::<i64>().unwrap(), [1, 3, 5, 7, -16]);
    let bools = array(&[true, true, false], &place)
        .diff(0, 1, None, None)
        .unwrap();
    assert_eq!(bools.to_vec::<bool>().unwrap(), [false, true]);
    assert_eq!(
        count(&[2, 3], &place)
            .diff(0, 1, None, None)
            .unwrap()
            .shape(),
        [1, 3]
    );
    assert!(message(x.diff(1, 1, None, None)).contains("axis 1 is out of bounds"));
}

#[test]
fn closeness_knows_infinities_and_nans() {
    let place = place();
    let a = array(&[1.0, f64::INFINITY, f64::NAN, f64::INFINITY, 1.0], &place);
    let b = array(
        &[1.0 + 1e-9, f64::INFINITY, f64::NAN, 1.0, f64::INFINITY],
        &place,
    );
    let close = |tolerance: &Tolerance| a.isclose(&b, tolerance).unwrap().to_vec::<bool>().unwrap();
    let mut tolerance = Tolerance::default();
    assert_eq!(close(&tolerance), [true, true, false, false, false]);
    tolerance.equal_nan = true;
    assert_eq!(close(&tolerance), [true, true, true, false, false]);
    let small = array(&[0_u8, 3], &place);
    let large = array(&[0_u8, 4], &place);
    assert!(
        !small
            .allclose(&large, &tolerance)
            .unwrap()
            .is_truthy()
            .unwrap()
    );
    assert!(
        small
            .allclose(&small, &tolerance)
            .unwrap()
            .is_truthy()
            .unwrap()
    );
}

#[test]
fn vectors_multiply() {
    let place = place();
    let x = count(&[2, 3], &place);
    assert_eq!(
        x.vecdot(&count(&[3], &place), -1)
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [5, 14]
    );
    let i = array(&[Complex::new(0.0, 1.0)], &place);
    assert_eq!(
        i.vecdot(&i, -1).unwrap().item().unwrap(),
        Complex::new(1.0, 0.0).into()
    );
    let bytes = array(&[100_i8, 100], &place);
    assert_eq!(bytes.vecdot(&bytes, 0).unwrap().dtype(), DType::Int8);
    let empty = creation::zeros(&[0], DType::Float64, &place).unwrap();
    assert_eq!(empty.vecdot(&empty, 0).unwrap().item().unwrap(), 0.0.into());
    assert!(message(x.vecdot(&count(&[2], &place), -1)).contains("size 3"));
}
