//! Element-wise operations: promotion, broadcasting, places, outputs, overlaps, errors.

mod support;

use millpond_kernel::ops::rows;
use millpond_runtime::MemoryKind;
use millpond_tensor::{Error, ErrorClass, Index, Operand, apply, apply_in_place, creation};
use millpond_types::{DType, Scalar};
use support::{array, count, device, message, other_queue, place};

#[test]
fn dtypes_promote() {
    let place = place();
    let a = array(&[1_i8, 2, 3], &place);
    let b = array(&[1_u8, 2, 3], &place);
    let sum = a.add(&b).unwrap();
    assert_eq!(sum.dtype(), DType::Int16);
    assert_eq!(sum.to_vec::<i16>().unwrap(), [2, 4, 6]);
    let quotient = a.divide(&b).unwrap();
    assert_eq!(quotient.to_vec::<f64>().unwrap(), [1.0, 1.0, 1.0]);
}

#[test]
fn scalars_are_weak() {
    let place = place();
    let a = array(&[1.0_f32, 2.0], &place);
    assert_eq!(a.add(1).unwrap().dtype(), DType::Float32);
    assert_eq!(
        a.multiply(0.5).unwrap().to_vec::<f32>().unwrap(),
        [0.5, 1.0]
    );
    let b = array(&[1_i32, 2], &place);
    assert_eq!(b.add(1).unwrap().dtype(), DType::Int32);
    assert_eq!(b.add(0.5).unwrap().to_vec::<f64>().unwrap(), [1.5, 2.5]);
    let reversed = apply(&rows::subtract, &[10.into(), (&b).into()], None).unwrap();
    assert_eq!(reversed.to_vec::<i32>().unwrap(), [9, 8]);
    let both = apply(
        &rows::where_,
        &[
            (&array(&[true, false], &place)).into(),
            1.into(),
            0.5.into(),
        ],
        None,
    );
    assert_eq!(both.unwrap().to_vec::<f64>().unwrap(), [1.0, 0.5]);
}

#[test]
fn integers_that_do_not_fit_are_refused_in_arithmetic_only() {
    let place = place();
    let a = array(&[0_u8, 200], &place);
    let error = a.add(1000).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Overflow);
    assert_eq!(error.to_string(), "add: 1000 is out of bounds for uint8");
    assert!(
        a.less(1000)
            .unwrap()
            .to_vec::<bool>()
            .unwrap()
            .iter()
            .all(|&x| x)
    );
    assert!(
        a.greater(-1)
            .unwrap()
            .to_vec::<bool>()
            .unwrap()
            .iter()
            .all(|&x| x)
    );
    assert!(
        !a.equal(-1)
            .unwrap()
            .all(None, false)
            .unwrap()
            .is_truthy()
            .unwrap()
    );
    assert!(
        a.not_equal(256)
            .unwrap()
            .all(None, false)
            .unwrap()
            .is_truthy()
            .unwrap()
    );
    let left = apply(&rows::less_equal, &[1000.into(), (&a).into()], None).unwrap();
    assert_eq!(left.to_vec::<bool>().unwrap(), [false, false]);
    let clipped = a.clip(Some((-5).into()), Some(1000.into()), None).unwrap();
    assert_eq!(clipped.to_vec::<u8>().unwrap(), [0, 200]);
    let clipped = a.clip(None, Some((-5).into()), None).unwrap();
    assert_eq!(clipped.to_vec::<u8>().unwrap(), [0, 0]);
}

#[test]
fn shapes_broadcast() {
    let place = place();
    let column = creation::from_slice(&[0_i64, 10], &[2, 1], &place).unwrap();
    let row = count(&[3], &place);
    let sum = column.add(&row).unwrap();
    assert_eq!(sum.shape(), [2, 3]);
    assert_eq!(sum.to_vec::<i64>().unwrap(), [0, 1, 2, 10, 11, 12]);
    assert_eq!(
        message(count(&[2], &place).add(&row)),
        "add: shapes (2,) and (3,) cannot be broadcast together"
    );
    let empty = creation::zeros(&[0, 3], DType::Int64, &place).unwrap();
    assert_eq!(empty.add(&row).unwrap().shape(), [0, 3]);
}

#[test]
fn undefined_dtypes_are_named() {
    let place = place();
    let a = array(&[true], &place);
    assert!(message(a.negative()).contains("negative is not defined for bool"));
    let x = array(&[1.0_f64], &place);
    let error = x.bitwise_and(&x).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Type);
    assert!(
        error
            .to_string()
            .contains("bitwise_and is not defined for float64")
    );
    assert!(message(apply(&rows::add, &[(&x).into()], None)).contains("2 operands are needed"));
}

#[test]
fn kinds_rank_device_before_shared_before_host() {
    let mut place = place();
    place.kind = MemoryKind::Host;
    let host = count(&[2], &place);
    place.kind = MemoryKind::Shared;
    let shared = count(&[2], &place);
    assert_eq!(host.add(&host).unwrap().kind(), MemoryKind::Host);
    assert_eq!(host.add(&shared).unwrap().kind(), MemoryKind::Shared);
}

#[test]
fn queues_of_one_device_combine_and_devices_do_not() {
    let place = place();
    let a = count(&[3], &place);
    let b = a.to_queue(&other_queue(&place)).unwrap();
    let sum = b.add(&a).unwrap();
    assert_eq!(sum.queue(), b.queue());
    assert_eq!(sum.to_vec::<i64>().unwrap(), [0, 2, 4]);
    let stranger = count(
        &[3],
        &millpond_tensor::Place::on(&device().default_queue().unwrap()),
    );
    let error = a.add(&stranger).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Devices {
                operation: "add",
                ..
            }
        ),
        "{error}"
    );
    let moved = stranger.to_device(place.device()).unwrap();
    assert_eq!(a.add(&moved).unwrap().to_vec::<i64>().unwrap(), [0, 2, 4]);
}

#[test]
fn outputs_take_what_casts_within_its_kind() {
    let place = place();
    let a = count(&[4], &place);
    let out = creation::empty(&[4], DType::Float32, &place).unwrap();
    let result = apply(&rows::square, &[(&a).into()], Some(&out)).unwrap();
    assert_eq!(result.to_vec::<f32>().unwrap(), [0.0, 1.0, 4.0, 9.0]);
    let bad = creation::empty(&[4], DType::Int32, &place).unwrap();
    let error = apply(&rows::sqrt, &[(&a).into()], Some(&bad)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sqrt: cannot cast from float64 to int32 by the rule 'same_kind'"
    );
    let small = creation::empty(&[3], DType::Int64, &place).unwrap();
    let error = apply(&rows::square, &[(&a).into()], Some(&small)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "square: the output has shape (3,), the result has shape (4,)"
    );
    let locked = creation::empty(&[4], DType::Int64, &place)
        .unwrap()
        .read_only();
    let error = apply(&rows::square, &[(&a).into()], Some(&locked)).unwrap_err();
    assert_eq!(error.to_string(), "square: the array is read-only");
    assert_eq!(error.class(), ErrorClass::Value);
}

#[test]
fn in_place_keeps_dtype_and_shape() {
    let place = place();
    let x = count(&[3], &place);
    apply_in_place(&rows::add, &x, &[5.into()]).unwrap();
    apply_in_place(&rows::multiply, &x, &[(&x).into()]).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [25, 36, 49]);
    assert!(apply_in_place(&rows::add, &x, &[0.5.into()]).is_err());
    let wide = count(&[2, 3], &place);
    assert!(apply_in_place(&rows::add, &x, &[(&wide).into()]).is_err());
    assert_eq!(
        x.to_vec::<i64>().unwrap(),
        [25, 36, 49],
        "a failed call changes nothing"
    );
    let bytes = array(&[1_u8, 2], &place);
    assert!(apply_in_place(&rows::add, &bytes, &[Operand::Scalar(Scalar::Int(256))]).is_err());
    assert_eq!(bytes.to_vec::<u8>().unwrap(), [1, 2]);
}

#[test]
fn overlapping_operands_give_what_separate_ones_do() {
    let place = place();
    for size in [10, 100_000] {
        let x = count(&[size], &place);
        let tail = x.get(&[Index::range(1, size as isize)]).unwrap();
        let head = x.get(&[Index::range(0, size as isize - 1)]).unwrap();
        apply_in_place(&rows::add, &tail, &[(&head).into()]).unwrap();
        let expected: Vec<i64> = (0..size as i64).map(|i| (2 * i - 1).max(0)).collect();
        assert_eq!(x.to_vec::<i64>().unwrap(), expected);
        let y = count(&[size], &place);
        y.assign(&y.flip(None).unwrap()).unwrap();
        let expected: Vec<i64> = (0..size as i64).rev().collect();
        assert_eq!(y.to_vec::<i64>().unwrap(), expected);
    }
}

#[test]
fn views_compute_like_copies() {
    let place = place();
    let x = count(&[4, 6], &place);
    let odd = Index::Slice {
        start: Some(1),
        stop: None,
        step: Some(2),
    };
    let back = Index::Slice {
        start: None,
        stop: None,
        step: Some(-1),
    };
    let view = x.get(&[odd, back]).unwrap().transpose().unwrap();
    let copy = view.copy(millpond_tensor::Order::C).unwrap();
    assert_eq!(view.shape(), [6, 2]);
    assert_eq!(copy.to_vec::<i64>().unwrap()[..4], [11, 23, 10, 22]);
    let from_view = view.multiply(&view).unwrap().to_vec::<i64>().unwrap();
    assert_eq!(
        from_view,
        copy.multiply(&copy).unwrap().to_vec::<i64>().unwrap()
    );
    let line = x.get(&[Index::range(1, 3)]).unwrap();
    assert_eq!(
        line.add(&line).unwrap().to_vec::<i64>().unwrap()[0],
        12,
        "offset is respected"
    );
}

#[test]
fn half_precision_is_stored_and_computed() {
    let place = place();
    let x = array(
        &[half::f16::from_f32(1.5), half::f16::from_f32(-2.0)],
        &place,
    );
    let y = x.square().unwrap();
    assert_eq!(y.dtype(), DType::Float16);
    assert_eq!(
        y.to_vec::<half::f16>().unwrap(),
        [2.25, 4.0].map(half::f16::from_f32)
    );
    assert!(
        message(creation::zeros(&[1], DType::Bfloat16, &place))
            .contains("does not support bfloat16")
    );
}

#[test]
fn results_follow_the_axes_of_their_operands() {
    let place = place();
    let x = count(&[3, 4], &place).transpose().unwrap();
    let y = x.add(1).unwrap();
    assert_eq!(y.strides(), x.strides());
    assert_eq!(y.to_vec::<i64>().unwrap()[..3], [1, 5, 9]);
}

#[test]
fn signed_and_unsigned_compare_exactly() {
    let place = place();
    let signed = array(&[-1_i64, 0, i64::MAX], &place);
    let unsigned = array(&[u64::MAX, 0, i64::MAX as u64 + 1], &place);
    let bools = |result: millpond_tensor::Result<millpond_tensor::Tensor>| {
        result.unwrap().to_vec::<bool>().unwrap()
    };
    assert_eq!(bools(signed.equal(&unsigned)), [false, true, false]);
    assert_eq!(bools(signed.not_equal(&unsigned)), [true, false, true]);
    assert_eq!(bools(signed.less(&unsigned)), [true, false, true]);
    assert_eq!(bools(signed.greater_equal(&unsigned)), [false, true, false]);
    assert_eq!(bools(unsigned.greater(&signed)), [true, false, true]);
    assert_eq!(bools(unsigned.less_equal(&signed)), [false, true, false]);
}

#[test]
fn rows_of_arrays_are_operands_and_outputs_where_they_lie() {
    let place = place();
    for size in [3, 100_000] {
        let x = count(&[3, size], &place);
        let row = |number: isize| x.get(&[Index::At(number)]).unwrap();
        let first =
            |tensor: &millpond_tensor::Tensor| tensor.to_vec::<i64>().unwrap()[..3].to_vec();
        let size = size as i64;
        let sum = row(1).add(&row(2)).unwrap();
        assert_eq!(sum.layout().offset(), 0);
        assert_eq!(first(&sum), [3 * size, 3 * size + 2, 3 * size + 4]);
        let less = row(1).less(&row(2)).unwrap();
        assert!(less.to_vec::<bool>().unwrap().iter().all(|less| *less));
        let difference = apply(&rows::subtract, &[100.into(), (&row(2)).into()], None).unwrap();
        assert_eq!(
            first(&difference),
            [100, 99, 98].map(|from| from - 2 * size)
        );
        apply_in_place(&rows::add, &row(1), &[(&row(0)).into()]).unwrap();
        assert_eq!(first(&row(1)), [size, size + 2, size + 4]);
        assert_eq!(first(&row(0)), [0, 1, 2]);
        assert_eq!(first(&row(2)), [2 * size, 2 * size + 1, 2 * size + 2]);
    }
}

#[test]
fn parts_that_overlap_are_read_before_they_are_written() {
    let place = place();
    for size in [5, 100_000] {
        let x = count(&[size], &place);
        let behind = x.get(&[Index::range(1, size as isize)]).unwrap();
        let before = x.get(&[Index::range(0, size as isize - 1)]).unwrap();
        apply_in_place(&rows::add, &behind, &[(&before).into()]).unwrap();
        let expected = (0..size as i64).map(|at| (2 * at - 1).max(0));
        assert_eq!(x.to_vec::<i64>().unwrap(), expected.collect::<Vec<_>>());
        let next = apply(&rows::square, &[(&before).into()], Some(&behind)).unwrap();
        let expected = (0..size as i64 - 1).map(|at| (2 * at - 1).max(0).pow(2));
        assert_eq!(next.to_vec::<i64>().unwrap(), expected.collect::<Vec<_>>());
    }
}
