//! Reductions: shapes, dtypes, outputs, errors. Their arithmetic is tested with the kernels.

mod support;

use millpond_kernel::ops::reduction::rows;
use millpond_tensor::creation;
use millpond_tensor::statistics::{Reduce, reduce};
use millpond_types::DType;
use support::{array, count, message, place};

#[test]
fn axes_are_reduced() {
    let place = place();
    let x = count(&[2, 3], &place);
    let sum = |axes: Option<&[isize]>, keepdims| x.sum(axes, keepdims, None).unwrap();
    assert_eq!(sum(None, false).shape(), []);
    assert_eq!(sum(None, false).item().unwrap(), 15_i64.into());
    assert_eq!(sum(Some(&[-1]), false).to_vec::<i64>().unwrap(), [3, 12]);
    assert_eq!(sum(Some(&[0]), true).shape(), [1, 3]);
    assert_eq!(sum(Some(&[]), false).shape(), [2, 3]);
    assert_eq!(
        x.transpose()
            .unwrap()
            .max(Some(&[0]), false)
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [2, 5]
    );
    assert_eq!(
        x.argmax(Some(1), false).unwrap().to_vec::<i64>().unwrap(),
        [2, 2]
    );
    assert_eq!(x.mean(None, false).unwrap().item().unwrap(), 2.5.into());
    assert_eq!(
        x.any(Some(&[1]), false).unwrap().to_vec::<bool>().unwrap(),
        [true, true]
    );
    let spread = array(&[1.0_f64, 3.0], &place);
    assert_eq!(
        spread.var(None, 0.0, false).unwrap().item().unwrap(),
        1.0.into()
    );
    assert_eq!(
        spread.std(None, 1.0, false).unwrap().item().unwrap(),
        2.0_f64.sqrt().into()
    );
}

#[test]
fn dtypes_are_widened_or_chosen() {
    let place = place();
    let x = array(&[200_u8, 200], &place);
    assert_eq!(x.sum(None, false, None).unwrap().dtype(), DType::Uint64);
    assert_eq!(
        x.sum(None, false, None).unwrap().item().unwrap(),
        400_i64.into()
    );
    let floats = x.sum(None, false, Some(DType::Float32)).unwrap();
    assert_eq!(floats.dtype(), DType::Float32);
    assert_eq!(x.max(None, false).unwrap().dtype(), DType::Uint8);
    assert_eq!(x.mean(None, false).unwrap().dtype(), DType::Float64);
}

#[test]
fn nothing_has_a_sum_but_no_maximum() {
    let place = place();
    let x = creation::zeros(&[0, 2], DType::Float64, &place).unwrap();
    assert_eq!(
        x.sum(Some(&[0]), false, None)
            .unwrap()
            .to_vec::<f64>()
            .unwrap(),
        [0.0, 0.0]
    );
    assert_eq!(x.max(Some(&[1]), false).unwrap().shape(), [0]);
    assert!(message(x.max(None, false)).contains("max of no elements"));
}

#[test]
fn outputs_may_overlap_the_input() {
    let place = place();
    let x = count(&[2, 2], &place);
    let out = x.get(&[millpond_tensor::Index::At(0)]).unwrap();
    let how = Reduce {
        axes: Some(&[0]),
        out: Some(&out),
        ..Reduce::default()
    };
    reduce(&rows::sum, &x, &how).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [2, 4, 2, 3]);
    let how = Reduce {
        out: Some(&out),
        ..Reduce::default()
    };
    assert!(message(reduce(&rows::sum, &x, &how)).contains("the output has shape (2,)"));
    assert!(message(x.sum(Some(&[2]), false, None)).contains("axis 2 is out of bounds"));
    assert!(message(x.sum(Some(&[0, 0]), false, None)).contains("named more than once"));
}
