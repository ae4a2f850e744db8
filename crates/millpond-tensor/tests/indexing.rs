//! Basic indexing and assignment.

mod support;

use millpond_tensor::{ErrorClass, Index, creation};
use millpond_types::DType;
use support::{array, count, message, place};

fn slice(start: Option<isize>, stop: Option<isize>, step: Option<isize>) -> Index<'static> {
    Index::Slice { start, stop, step }
}

/// What Python's slices select of `0..size`, found by walking.
fn model(start: Option<isize>, stop: Option<isize>, step: isize, size: isize) -> Vec<i64> {
    let place = |bound: isize| {
        if bound < 0 {
            (bound + size).max(-1)
        } else {
            bound
        }
    };
    let (default_start, default_stop) = if step > 0 { (0, size) } else { (size - 1, -1) };
    let mut at = start.map_or(default_start, place);
    let end = match stop {
        Some(stop) if stop < 0 && stop + size < 0 => -1,
        Some(stop) => place(stop),
        None => default_stop,
    };
    if step < 0 {
        at = at.min(size - 1);
    } else {
        at = at.max(0);
    }
    let mut found = Vec::new();
    while (step > 0 && at < end.min(size)) || (step < 0 && at > end) {
        if (0..size).contains(&at) {
            found.push(at as i64);
        }
        at += step;
    }
    found
}

#[test]
fn slices_follow_python() {
    let place = place();
    let x = count(&[5], &place);
    let bounds = [
        None,
        Some(-7),
        Some(-5),
        Some(-2),
        Some(0),
        Some(2),
        Some(5),
        Some(9),
    ];
    for start in bounds {
        for stop in bounds {
            for step in [1, 2, 7, -1, -2, -7] {
                let view = x.get(&[slice(start, stop, Some(step))]).unwrap();
                let found = view.to_vec::<i64>().unwrap();
                assert_eq!(
                    found,
                    model(start, stop, step, 5),
                    "{start:?}:{stop:?}:{step}"
                );
            }
        }
    }
}

#[test]
fn parts_combine() {
    let place = place();
    let x = count(&[2, 3, 4], &place);
    let view = x
        .get(&[Index::At(-1), Index::Ellipsis, Index::NewAxis, Index::At(0)])
        .unwrap();
    assert_eq!(view.shape(), [3, 1]);
    assert_eq!(view.to_vec::<i64>().unwrap(), [12, 16, 20]);
    assert_eq!(x.get(&[]).unwrap().shape(), x.shape());
    assert_eq!(
        x.get(&[Index::At(1), Index::At(2), Index::At(3)])
            .unwrap()
            .item()
            .unwrap(),
        23_i64.into()
    );
}

#[test]
fn bad_indices_are_explained() {
    let place = place();
    let x = count(&[2, 3], &place);
    let error = x.get(&[Index::ALL, Index::At(3)]).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Index);
    assert_eq!(
        error.to_string(),
        "index 3 is out of bounds for axis 1 with size 3"
    );
    assert!(message(x.get(&[Index::At(0); 3])).contains("3 axes are indexed"));
    assert!(message(x.get(&[Index::Ellipsis; 2])).contains("ellipsis"));
    assert!(message(x.get(&[slice(None, None, Some(0))])).contains("step"));
}

#[test]
fn assignment_broadcasts_and_casts() {
    let place = place();
    let x = creation::zeros(&[2, 3], DType::Int32, &place).unwrap();
    x.set(&[Index::At(0)], 7).unwrap();
    x.set(
        &[Index::At(1), slice(None, None, Some(2))],
        &array(&[1.9_f64, -1.9], &place),
    )
    .unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [7, 7, 7, 1, 0, -1]);
    x.set(&[], &count(&[1, 1, 3], &place)).unwrap();
    assert_eq!(x.to_vec::<i32>().unwrap(), [0, 1, 2, 0, 1, 2]);
    assert!(message(x.assign(&count(&[2], &place))).contains("cannot be broadcast"));
    assert!(message(x.assign(1_i64 << 40)).contains("out of bounds for int32"));
    let complex = num_complex::Complex::new(1.0, 2.0);
    assert!(message(x.assign(complex)).contains("complex128 to int32"));
    assert!(message(x.clone().read_only().assign(0)).contains("read-only"));
    let repeated = x
        .get(&[Index::At(0)])
        .unwrap()
        .broadcast_to(&[4, 3])
        .unwrap();
    assert!(message(repeated.assign(0)).contains("read-only"));
    assert_eq!(
        x.to_vec::<i32>().unwrap(),
        [0, 1, 2, 0, 1, 2],
        "failed calls change nothing"
    );
}

#[test]
fn views_share_memory() {
    let place = place();
    let x = count(&[6], &place);
    let view = x.get(&[slice(Some(4), None, Some(-2))]).unwrap();
    view.assign(9).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [9, 1, 9, 3, 9, 5]);
    drop(x);
    assert_eq!(view.to_vec::<i64>().unwrap(), [9, 9, 9]);
}
