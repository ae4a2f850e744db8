//! Views and copies in other shapes.

mod support;

use millpond_tensor::manipulation::{broadcast_arrays, concat, stack};
use millpond_tensor::{Order, creation};
use millpond_types::DType;
use support::{array, count, message, place};

#[test]
fn reshape_views_where_it_can() {
    let place = place();
    let x = count(&[2, 6], &place);
    let y = x.reshape(&[3, -1], None).unwrap();
    assert_eq!(y.shape(), [3, 4]);
    assert!(y.memory().same_as(x.memory()));
    let turned = x.transpose().unwrap();
    let copied = turned.reshape(&[12], None).unwrap();
    assert!(!copied.memory().same_as(x.memory()));
    assert_eq!(copied.to_vec::<i64>().unwrap()[..4], [0, 6, 1, 7]);
    assert!(message(turned.reshape(&[12], Some(false))).contains("needs a copy"));
    let forced = x.reshape(&[12], Some(true)).unwrap();
    assert!(!forced.memory().same_as(x.memory()));
    let f = x.reshape_in_order(&[6, 2], Order::F, None).unwrap();
    assert_eq!(f.to_vec::<i64>().unwrap()[..4], [0, 3, 6, 9]);
    assert!(message(x.reshape(&[5, -1], None)).contains("12 elements"));
    assert_eq!(
        message(x.reshape(&[5], None)),
        "cannot reshape an array of shape (2, 6) into shape (5,)"
    );
    let empty = creation::zeros(&[0, 3], DType::Int64, &place).unwrap();
    assert_eq!(empty.reshape(&[-1], None).unwrap().shape(), [0]);
    assert!(empty.reshape(&[-1, 0], None).is_err());
}

#[test]
fn axes_move() {
    let place = place();
    let x = count(&[2, 3, 4], &place);
    assert_eq!(x.permute_dims(&[2, 0, 1]).unwrap().shape(), [4, 2, 3]);
    assert_eq!(x.moveaxis(&[0, 1], &[-1, 0]).unwrap().shape(), [3, 4, 2]);
    assert_eq!(x.swapaxes(0, -1).unwrap().shape(), [4, 3, 2]);
    assert_eq!(x.matrix_transpose().unwrap().shape(), [2, 4, 3]);
    assert_eq!(x.expand_dims(&[0, -1]).unwrap().shape(), [1, 2, 3, 4, 1]);
    assert_eq!(
        x.expand_dims(&[0]).unwrap().squeeze(None).unwrap().shape(),
        [2, 3, 4]
    );
    assert!(message(x.squeeze(Some(&[0]))).contains("axis 0 has size 2"));
    assert!(message(x.permute_dims(&[0, 0, 1])).contains("named more than once"));
    assert!(message(x.swapaxes(0, 3)).contains("axis 3 is out of bounds"));
    let flipped = x.flip(Some(&[1])).unwrap();
    assert_eq!(flipped.to_vec::<i64>().unwrap()[..4], [8, 9, 10, 11]);
}

#[test]
fn arrays_join() {
    let place = place();
    let a = count(&[2, 2], &place);
    let b = array(&[0.5_f32, 1.5], &place)
        .reshape(&[2, 1], None)
        .unwrap();
    let joined = concat(&[&a, &b], Some(1)).unwrap();
    assert_eq!(joined.shape(), [2, 3]);
    assert_eq!(
        joined.to_vec::<f64>().unwrap(),
        [0.0, 1.0, 0.5, 2.0, 3.0, 1.5]
    );
    let flat = concat(&[&a, &a], None).unwrap();
    assert_eq!(flat.shape(), [8]);
    assert!(message(concat(&[&a, &b], Some(0))).contains("differ in another axis"));
    assert!(message(concat(&[], Some(0))).contains("at least one array"));
    let stacked = stack(&[&a, &a], -1).unwrap();
    assert_eq!(stacked.shape(), [2, 2, 2]);
    assert_eq!(stacked.to_vec::<i64>().unwrap(), [0, 0, 1, 1, 2, 2, 3, 3]);
    let parts = stacked.unstack(2).unwrap();
    assert_eq!(parts.len(), 2);
    assert_eq!(parts[1].to_vec::<i64>().unwrap(), [0, 1, 2, 3]);
}

#[test]
fn elements_roll_and_repeat() {
    let place = place();
    let x = count(&[2, 3], &place);
    assert_eq!(
        x.roll(&[1], None).unwrap().to_vec::<i64>().unwrap(),
        [5, 0, 1, 2, 3, 4]
    );
    let rolled = x.roll(&[-1, 1], Some(&[0, 1])).unwrap();
    assert_eq!(rolled.to_vec::<i64>().unwrap(), [5, 3, 4, 2, 0, 1]);
    assert!(
        !x.roll(&[0], Some(&[0]))
            .unwrap()
            .memory()
            .same_as(x.memory())
    );
    let tiled = x.tile(&[2, 1, 2]).unwrap();
    assert_eq!(tiled.shape(), [2, 2, 6]);
    assert_eq!(tiled.to_vec::<i64>().unwrap()[..6], [0, 1, 2, 0, 1, 2]);
    let repeated = x.repeat(2, Some(0)).unwrap();
    assert_eq!(
        repeated.to_vec::<i64>().unwrap(),
        [0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]
    );
    assert_eq!(
        x.repeat(2, None).unwrap().to_vec::<i64>().unwrap()[..4],
        [0, 0, 1, 1]
    );
}

#[test]
fn broadcasts_are_read_only_views() {
    let place = place();
    let x = count(&[3], &place);
    let wide = x.broadcast_to(&[2, 3]).unwrap();
    assert!(wide.is_read_only() && wide.memory().same_as(x.memory()));
    assert_eq!(wide.to_vec::<i64>().unwrap(), [0, 1, 2, 0, 1, 2]);
    let both = broadcast_arrays(&[&x, &count(&[2, 1], &place)]).unwrap();
    assert_eq!(both[1].to_vec::<i64>().unwrap(), [0, 0, 0, 1, 1, 1]);
    assert!(message(x.broadcast_to(&[2])).contains("(3,) and (2,)"));
}

#[test]
fn parts_of_complex_numbers_are_views() {
    let place = place();
    let z = array(
        &[
            num_complex::Complex::new(1.0, 2.0),
            num_complex::Complex::new(3.0, 4.0),
        ],
        &place,
    );
    z.imag_view().unwrap().assign(-1.0).unwrap();
    assert_eq!(z.real_view().unwrap().to_vec::<f64>().unwrap(), [1.0, 3.0]);
    assert_eq!(z.imag().unwrap().to_vec::<f64>().unwrap(), [-1.0, -1.0]);
    let diagonal = count(&[2, 3], &place).diagonal(1).unwrap();
    assert_eq!(diagonal.to_vec::<i64>().unwrap(), [1, 5]);
}

/// Arrays of no elements go through everything.
#[test]
fn nothing_stays_nothing() {
    let place = place();
    let x = creation::zeros(&[2, 0, 3], DType::Float32, &place).unwrap();
    let shape = |result: millpond_tensor::Result<millpond_tensor::Tensor>| {
        let tensor = result.unwrap();
        assert_eq!(tensor.to_bytes().unwrap().len(), tensor.bytes());
        tensor.shape().to_vec()
    };
    assert_eq!(shape(x.flip(None)), [2, 0, 3]);
    assert_eq!(shape(x.roll(&[2], None)), [2, 0, 3]);
    assert_eq!(shape(x.roll(&[2], Some(&[0]))), [2, 0, 3]);
    assert_eq!(shape(x.tile(&[2])), [2, 0, 6]);
    assert_eq!(shape(x.repeat(2, Some(0))), [4, 0, 3]);
    assert_eq!(shape(x.repeat(0, None)), [0]);
    assert_eq!(shape(concat(&[&x, &x], Some(1))), [2, 0, 3]);
    assert_eq!(shape(stack(&[&x, &x], 0)), [2, 2, 0, 3]);
    assert_eq!(shape(x.permute_dims(&[2, 1, 0]).unwrap().add(1)), [3, 0, 2]);
    assert_eq!(shape(x.sum(Some(&[1]), false, None)), [2, 3]);
    assert_eq!(shape(x.diagonal(0)), [2, 0]);
    assert_eq!(shape(x.to_contiguous()), [2, 0, 3]);
    x.assign(1).unwrap();
    assert_eq!(count(&[2, 2], &place).tile(&[0]).unwrap().shape(), [2, 0]);
    assert!(x.unstack(1).unwrap().is_empty());
}

#[test]
fn more_arrays_than_a_command_takes_are_joined_in_order() {
    let place = place();
    let parts: Vec<_> = (0..40_i64)
        .map(|number| array(&vec![number; number as usize % 4], &place))
        .collect();
    let parts: Vec<_> = parts.iter().collect();
    let joined = concat(&parts, Some(0)).unwrap().to_vec::<i64>().unwrap();
    let expected = (0..40).flat_map(|number| vec![number; number as usize % 4]);
    assert_eq!(joined, expected.collect::<Vec<_>>());
    let lines: Vec<_> = (0..30_i64)
        .map(|number| array(&[number, -number], &place))
        .collect();
    let lines: Vec<_> = lines.iter().collect();
    let side_by_side = stack(&lines, 1).unwrap();
    assert_eq!(side_by_side.shape(), [2, 30]);
    let expected = (0..30).chain((0..30).map(|number: i64| -number));
    assert_eq!(
        side_by_side.to_vec::<i64>().unwrap(),
        expected.collect::<Vec<_>>()
    );
}
