//! Layouts, however they are made: which elements they see and what they count, with and without
//! the heap.

use millpond_types::Layout;
use millpond_types::shape::{MAX_NDIM, ShapeError};

/// The offsets of all elements, in row-major order.
fn elements(layout: &Layout) -> Vec<isize> {
    let mut offsets = vec![layout.offset() as isize];
    for (&size, &stride) in layout.shape().iter().zip(layout.strides()) {
        let along = |&begin: &isize| (0..size as isize).map(move |index| begin + index * stride);
        offsets = offsets.iter().flat_map(along).collect();
    }
    offsets
}

/// Compares a layout with the elements that it should see, and with one of the same parts.
fn check(layout: &Layout, shape: &[usize], expected: &[isize]) {
    assert_eq!(layout.shape(), shape);
    assert_eq!(elements(layout), expected);
    let anew = Layout::new(layout.shape(), layout.strides(), layout.offset())
        .expect("a layout of the parts of another");
    assert_eq!(layout, &anew);
    assert_eq!(layout.size(), expected.len());
    assert_eq!(anew.size(), expected.len());
    assert_eq!(layout.is_contiguous(), anew.is_contiguous());
    assert_eq!(layout.is_column_major(), anew.is_column_major());
}

/// Sizes of `ndim` axes, all different.
fn sizes(ndim: usize) -> Vec<usize> {
    (2..2 + ndim).collect()
}

#[test]
fn narrowing_keeps_every_step_of_an_axis() {
    let mut layout = Layout::contiguous(&[3, 4], 8).unwrap();
    layout.narrow(1, 3, 2, -2);
    check(&layout, &[3, 2], &[3, 1, 7, 5, 11, 9]);
    layout.narrow(0, 1, 1, 1);
    check(&layout, &[1, 2], &[7, 5]);
    layout.narrow(1, 0, 0, 1);
    check(&layout, &[1, 0], &[]);
    assert!(layout.is_contiguous());
}

#[test]
fn selecting_takes_an_axis_away_on_either_side_of_the_heap() {
    for ndim in 1..=6 {
        let whole = Layout::contiguous(&sizes(ndim), 1).unwrap();
        for axis in 0..ndim {
            let mut narrowed = whole.clone();
            narrowed.narrow(axis, 1, 1, 1);
            let mut selected = whole.clone();
            selected.select(axis, 1);
            let mut left = sizes(ndim);
            left.remove(axis);
            check(&selected, &left, &elements(&narrowed));
            selected.insert_axis(axis).unwrap();
            check(&selected, narrowed.shape(), &elements(&narrowed));
        }
    }
}

#[test]
fn rows_and_columns_are_told_apart_for_any_number_of_axes() {
    for ndim in 2..=6 {
        let rows = Layout::contiguous(&sizes(ndim), 1).unwrap();
        let all: Vec<isize> = (0..rows.size() as isize).collect();
        check(&rows, &sizes(ndim), &all);
        assert!(rows.is_contiguous() && !rows.is_column_major());
        let columns = Layout::column_major(&sizes(ndim), 1).unwrap();
        assert!(columns.is_column_major() && !columns.is_contiguous());
        let reversed: Vec<usize> = (0..ndim).rev().collect();
        let turned = columns.permute(&reversed).unwrap();
        check(&turned, turned.shape(), &all);
        assert!(turned.is_contiguous());
    }
}

#[test]
fn broadcast_axes_repeat_elements() {
    let row = Layout::contiguous(&[1, 3], 1).unwrap().at_offset(5);
    let wide = row.broadcast_to(&[2, 2, 3]).unwrap();
    check(&wide, &[2, 2, 3], &[5, 6, 7, 5, 6, 7, 5, 6, 7, 5, 6, 7]);
    assert!(!wide.is_contiguous());
    let many = row.broadcast_to(&[1, 1, 1, 2, 3]).unwrap();
    check(&many, &[1, 1, 1, 2, 3], &[5, 6, 7, 5, 6, 7]);
    assert!(row.broadcast_to(&[3]).is_err() && row.broadcast_to(&[2, 4]).is_err());
}

#[test]
fn views_without_elements_lie_nowhere() {
    let mut layout = Layout::contiguous(&[4, 0], 8).unwrap();
    layout.narrow(0, 3, 2, -2);
    assert_eq!((layout.offset(), layout.span()), (0, 0..0));
    let mut layout = Layout::contiguous(&[0, 4], 8).unwrap();
    layout.select(1, 1);
    assert_eq!((layout.shape(), layout.offset()), (&[0][..], 0));
}

#[test]
fn no_layout_has_more_axes_than_arrays() {
    let too_many = Err(ShapeError::Dimensions { ndim: 65 });
    let sizes = [1; MAX_NDIM + 1];
    assert_eq!(Layout::new(&sizes, &[0; MAX_NDIM + 1], 0), too_many);
    assert_eq!(Layout::contiguous(&sizes, 8), too_many);
    assert_eq!(Layout::column_major(&sizes, 8), too_many);
    let mut most = Layout::contiguous(&[1; MAX_NDIM], 8).unwrap();
    assert_eq!(most.broadcast_to(&sizes), too_many);
    assert_eq!(most.reshape(&sizes).map(|_| most.clone()), too_many);
    let before = most.clone();
    assert!(most.insert_axis(3).is_err());
    assert_eq!(most, before);
    most.select(7, 0);
    most.insert_axis(0).unwrap();
    assert_eq!(most.shape(), before.shape());
}
