//! Sorting, searching, sets and scans: shapes, dtypes, outputs, waits and errors. Their loops are
//! tested with the kernels.

mod support;

use millpond_kernel::{Scan, Wanted};
use millpond_tensor::scan::{Accumulate, accumulate};
use millpond_tensor::searching::Side;
use millpond_tensor::sets::isin;
use millpond_tensor::{Index, creation};
use millpond_types::DType;
use support::{Held, array, count, message, other_queue, place};

/// What is wanted of all different elements.
const EVERYTHING: Wanted = Wanted {
    indices: true,
    counts: true,
    inverse: true,
};

#[test]
fn axes_are_sorted_by_themselves() {
    let place = place();
    let x = array(&[3, 1, 2, 9, 7, 8], &place)
        .reshape(&[2, 3], None)
        .unwrap();
    let sorted = |axis, descending| x.sort(axis, descending).unwrap().to_vec::<i32>().unwrap();
    assert_eq!(sorted(-1, false), [1, 2, 3, 7, 8, 9]);
    assert_eq!(sorted(1, true), [3, 2, 1, 9, 8, 7]);
    assert_eq!(sorted(0, true), [9, 7, 8, 3, 1, 2]);
    let found = x.argsort(0, true).unwrap();
    assert_eq!(found.to_vec::<i64>().unwrap(), [1, 1, 1, 0, 0, 0]);
    assert!(found.is_contiguous());
    let ranked = x.top_k(2, None, false).unwrap();
    assert_eq!(ranked.values.to_vec::<i32>().unwrap(), [1, 2]);
    assert_eq!(ranked.indices.to_vec::<i64>().unwrap(), [1, 2]);
    assert!(message(x.sort(2, false)).contains("axis 2 is out of bounds"));
    assert!(
        message(x.top_k(4, Some(1), true)).contains("4 elements are wanted of an axis with size 3")
    );
}

#[test]
fn a_slice_is_sorted_where_it_begins() {
    let place = place();
    let x = array(&[9.0, 3.0, 1.0, 2.0, 0.0], &place);
    let view = x.get(&[Index::range(1, 4)]).unwrap();
    assert_eq!(
        view.sort(0, false).unwrap().to_vec::<f64>().unwrap(),
        [1.0, 2.0, 3.0]
    );
    assert_eq!(
        view.searchsorted(5.0, Side::Left, None)
            .unwrap()
            .item()
            .unwrap(),
        3.into()
    );
    assert_eq!(
        isin(&view, 2.0, false).unwrap().to_vec::<bool>().unwrap(),
        [false, false, true]
    );
}

#[test]
fn long_rows_are_sorted_in_queue_order() {
    let place = place();
    let length = 300_000_i64;
    let x = count(&[length as usize], &place);
    let back = x.flip(None).unwrap();
    let sorted = back.sort(0, false).unwrap();
    let sum = sorted.cumulative_sum(None, None, false).unwrap();
    drop((x, back, sorted));
    let last = sum.get(&[Index::At(-1)]).unwrap().item().unwrap();
    assert_eq!(last, (length * (length - 1) / 2).into());
}

#[test]
fn sets_wait_for_their_array_alone() {
    let place = place();
    let held = Held::new(&other_queue(&place));
    let x = array(&[2_u8, 1, 2], &place);
    let found = x.unique(EVERYTHING).unwrap();
    assert_eq!(found.values.to_vec::<u8>().unwrap(), [1, 2]);
    assert_eq!(found.indices.unwrap().to_vec::<i64>().unwrap(), [1, 0]);
    assert_eq!(found.counts.unwrap().to_vec::<i64>().unwrap(), [1, 2]);
    assert_eq!(found.inverse.unwrap().to_vec::<i64>().unwrap(), [1, 0, 1]);
    held.open();
}

#[test]
fn membership_and_order_wait_for_nothing() {
    let place = place();
    let held = Held::new(&place.queue);
    let x = array(&[2, 1, 2], &place).add(1).unwrap();
    let members = isin(&x, 3, false).unwrap();
    let places = x
        .sort(0, false)
        .unwrap()
        .searchsorted(&x, Side::Right, None)
        .unwrap();
    held.open();
    assert_eq!(members.to_vec::<bool>().unwrap(), [true, false, true]);
    assert_eq!(places.to_vec::<i64>().unwrap(), [3, 1, 3]);
}

#[test]
fn nothing_has_no_different_elements() {
    let place = place();
    let x = creation::zeros(&[0, 3], DType::Float32, &place).unwrap();
    let found = x.unique(EVERYTHING).unwrap();
    assert_eq!(found.values.shape(), [0]);
    assert_eq!(found.inverse.unwrap().shape(), [0, 3]);
    assert_eq!(x.sort(0, false).unwrap().shape(), [0, 3]);
    assert_eq!(x.argsort(1, true).unwrap().shape(), [0, 3]);
}

#[test]
fn a_failed_search_fails_what_reads_it() {
    let place = place();
    let x = array(&[1, 2, 3], &place);
    let sorter = array(&[0_i64, 1, 3], &place);
    let found = x.searchsorted(3, Side::Left, Some(&sorter));
    let error = message(found.and_then(|found| found.item()));
    assert!(
        error.contains("position 3 of the sorter is out of bounds for 3 elements"),
        "{error}"
    );
    let short = array(&[0_i64], &place);
    assert!(message(x.searchsorted(3, Side::Left, Some(&short))).contains("sorter of shape"));
    let floats = array(&[0.0], &place);
    assert!(message(x.searchsorted(3, Side::Left, Some(&floats))).contains("must hold integers"));
}

#[test]
fn outputs_may_overlap_what_is_accumulated() {
    let place = place();
    let x = count(&[5], &place);
    let out = x.get(&[Index::range(1, 5)]).unwrap();
    let input = x.get(&[Index::range(0, 4)]).unwrap();
    let how = Accumulate {
        out: Some(&out),
        ..Accumulate::default()
    };
    accumulate(Scan::Sum, &input, &how).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [0, 0, 1, 3, 6]);
    let how = Accumulate {
        include_initial: true,
        ..how
    };
    assert!(message(accumulate(Scan::Sum, &input, &how)).contains("the result has shape (5,)"));
    let table = count(&[2, 2], &place);
    assert!(message(table.cumulative_prod(None, None, false)).contains("needs an axis"));
}

#[test]
fn many_members_are_found_whether_they_are_close_together_or_not() {
    let place = place();
    let size = 200_000;
    let close = count(&[size], &place).multiply(3).unwrap();
    let apart = count(&[size], &place).multiply(1_i64 << 40).unwrap();
    // A sample doesn't see the last member.
    let mixed = close.copy(creation::Order::C).unwrap();
    mixed.set(&[Index::At(777)], i64::MAX).unwrap();
    let wanted = count(&[1000], &place);
    for (members, step, number) in [(&close, 3_i64, 0), (&apart, 1 << 40, 0), (&mixed, 3, 777)] {
        // Also while the members aren't there yet.
        for is_held in [false, true] {
            let held = Held::new(&place.queue);
            let members = if is_held {
                members.add(0).unwrap()
            } else {
                members.clone()
            };
            if !is_held {
                held.open();
                place.queue.wait().unwrap();
            }
            let found = isin(&wanted, &members, false).unwrap();
            held.open();
            let expected = (0..1000).map(|at| at % step == 0 && (number == 0 || at != 3 * number));
            assert_eq!(
                found.to_vec::<bool>().unwrap(),
                expected.collect::<Vec<_>>()
            );
        }
    }
}
