//! Elements picked by arrays of integers and masks.

mod support;

use millpond_kernel::IndexMode;
use millpond_tensor::indexing::{extract, place as place_values};
use millpond_tensor::{ErrorClass, Index, Place, Tensor, creation};
use support::{Held, array, count, message, place};

fn longs(tensor: &Tensor) -> Vec<i64> {
    tensor.to_vec().expect("the work succeeds")
}

#[test]
fn indices_side_by_side_keep_their_place_and_others_come_first() {
    let place = place();
    let x = count(&[2, 3, 4, 5], &place);
    let (a, b) = (array(&[0, 2, 1], &place), array(&[3_i16, 0, -1], &place));
    let side_by_side = [Index::ALL, (&a).into(), (&b).into()];
    assert_eq!(x.get(&side_by_side).unwrap().shape(), [2, 3, 5]);
    let c = array(&[1, 0, 1], &place);
    let apart = [(&c).into(), Index::ALL, (&b).into()];
    assert_eq!(x.get(&apart).unwrap().shape(), [3, 3, 5]);
    // A number beside arrays counts as one of them.
    let with_number = [Index::At(1), Index::ALL, (&b).into()];
    assert_eq!(x.get(&with_number).unwrap().shape(), [3, 3, 5]);
    let row = x.get(&[Index::At(1), (&a).into(), (&b).into(), Index::At(-1)]);
    assert_eq!(
        longs(&row.unwrap()),
        [60 + 15 + 4, 60 + 40 + 4, 60 + 20 + 15 + 4]
    );
}

#[test]
fn indices_are_broadcast_together() {
    let place = place();
    let x = count(&[3, 4], &place);
    let rows = creation::from_slice(&[0_i64, 2], &[2, 1], &place).unwrap();
    let columns = array(&[3_u8, 1], &place);
    let picked = x.get(&[(&rows).into(), (&columns).into()]).unwrap();
    assert_eq!(picked.shape(), [2, 2]);
    assert_eq!(longs(&picked), [3, 1, 11, 9]);
    let wrong = array(&[0, 1, 2], &place);
    let answer = x.get(&[(&array(&[0, 1], &place)).into(), (&wrong).into()]);
    assert_eq!(answer.as_ref().unwrap_err().class(), ErrorClass::Index);
    assert!(message(answer).contains("don't broadcast"));
}

#[test]
fn what_is_no_index_is_refused_at_the_call() {
    let place = place();
    let x = count(&[3, 4], &place);
    let floats = array(&[0.0, 1.0], &place);
    let text = message(x.get(&[(&floats).into()]));
    assert!(text.ends_with("an array of float64 is no index; integers and truth values are"));
    let mask = array(&[true, false], &place);
    let text = message(x.get(&[Index::ALL, (&mask).into()]));
    assert!(text.ends_with("a mask of shape (2,) stands for axes of shape (4,)"));
    assert!(message(x.take(&floats, Some(0), IndexMode::Check, None)).contains("float64"));
    assert!(message(x.take(&mask, Some(0), IndexMode::Check, None)).contains("truth values"));
}

#[test]
fn setting_writes_the_last_of_several_values() {
    let place = place();
    let size = 100_000;
    let indices: Vec<i64> = (0..size).map(|at| at * 7919 % 13).collect();
    let mut wanted = vec![0; 13];
    for (at, &index) in indices.iter().enumerate() {
        wanted[index as usize] = at as i64;
    }
    for _ in 0..10 {
        let x = count(&[13], &place);
        let values = count(&[size as usize], &place);
        x.set(&[(&array(&indices, &place)).into()], &values)
            .unwrap();
        assert_eq!(longs(&x), wanted);
    }
}

#[test]
fn values_and_indices_are_read_before_anything_is_written() {
    let place = place();
    let x = count(&[6], &place);
    x.set(&[(&x).into()], &x.flip(None).unwrap()).unwrap();
    assert_eq!(longs(&x), [5, 4, 3, 2, 1, 0]);
    let mask = array(&[true, true, false], &place);
    mask.set(&[(&mask).into()], false).unwrap();
    assert_eq!(mask.to_vec::<bool>().unwrap(), [false; 3]);
}

#[test]
fn an_index_outside_fails_the_work_and_what_depends_on_it() {
    let place = place();
    let x = count(&[5], &place);
    let indices = array(&[0, 5], &place);
    let held = Held::new(&place.queue);
    let picked = x.get(&[(&indices).into()]).unwrap();
    let more = (&picked + 1).unwrap();
    held.open();
    let text = message(more.to_vec::<i64>());
    assert!(
        text.contains("index 5 is out of bounds for axis 0 with size 5"),
        "{text}"
    );
    assert!(
        text.starts_with("indexing(int64 (5,), int32) -> (2,) failed"),
        "{text}"
    );
    assert_eq!(longs(&x), [0, 1, 2, 3, 4]);
    let answer = x.get(&[(&indices).into()]);
    assert_eq!(
        answer.unwrap_err().class(),
        ErrorClass::Index,
        "small work fails at the call"
    );
}

#[test]
fn a_mask_waits_for_its_content_and_for_nothing_else() {
    let place = place();
    for size in [10, 100_000] {
        let x = count(&[size], &place);
        let mask = x.remainder(3).unwrap().equal(0).unwrap();
        let even = mask
            .get(&[Index::Slice {
                start: None,
                stop: None,
                step: Some(-2),
            }])
            .unwrap();
        place.queue.wait().unwrap();
        let held = Held::new(&place.queue);
        let other = (&x + 1).unwrap();
        // Each of these would wait for ever if it waited for the queue.
        let picked = x.get(&[(&mask).into()]).unwrap();
        assert_eq!(picked.shape(), [size.div_ceil(3)]);
        assert_eq!(mask.nonzero().unwrap()[0].shape(), [size.div_ceil(3)]);
        assert!(even.nonzero().unwrap()[0].size() > 0);
        assert!(x.nonzero().unwrap()[0].size() == size - 1);
        assert_eq!(extract(&mask, &x).unwrap().shape(), picked.shape());
        x.set(&[(&mask).into()], -1).unwrap();
        assert!(!place.queue.is_idle());
        held.open();
        assert!(
            longs(&picked)
                .iter()
                .enumerate()
                .all(|(at, &found)| found == 3 * at as i64)
        );
        assert_eq!(longs(&other)[..3], [1, 2, 3]);
    }
}

#[test]
fn a_mask_waits_for_what_computes_it() {
    let place = place();
    let x = count(&[1000], &place);
    let held = Held::new(&place.queue);
    let mask = x.greater(900).unwrap();
    let shape = std::thread::scope(|scope| {
        let picked = scope.spawn(|| x.get(&[(&mask).into()]).unwrap().shape().to_vec());
        held.open();
        picked.join().unwrap()
    });
    assert_eq!(shape, [99]);
}

#[test]
fn masks_set_from_values_or_one() {
    let place = place();
    let x = count(&[2, 3], &place);
    let mask = x.remainder(2).unwrap().equal(1).unwrap();
    x.set(&[(&mask).into()], &array(&[10_i64, 20, 30], &place))
        .unwrap();
    assert_eq!(longs(&x), [0, 10, 2, 20, 4, 30]);
    let columns = array(&[true, false, true], &place);
    x.set(
        &[Index::ALL, (&columns).into()],
        &array(&[7_i64, 8], &place),
    )
    .unwrap();
    assert_eq!(longs(&x), [7, 10, 8, 7, 4, 8]);
    let answer = x
        .set(&[(&mask).into()], &array(&[1_i64, 2], &place))
        .and_then(|()| x.to_vec::<i64>());
    let error = answer.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Value);
    assert!(error.to_string().contains("2 values for the 3 elements"));
    place_values(&x, &mask, &array(&[5_i64], &place)).unwrap();
    assert_eq!(longs(&x), [7, 5, 8, 5, 4, 5]);
}

#[test]
fn functions_along_an_axis_pick_for_each_place() {
    let place: Place = place();
    let x = count(&[2, 3], &place);
    let indices = creation::from_slice(&[2_i32, -3], &[2, 1], &place).unwrap();
    let taken = x.take_along_axis(&indices, 1, IndexMode::Check).unwrap();
    assert_eq!(longs(&taken), [2, 3]);
    x.put_along_axis(&indices, 9, -1, IndexMode::Check).unwrap();
    assert_eq!(longs(&x), [0, 1, 9, 9, 4, 5]);
    x.put(&array(&[5_i64, -1], &place), 1, Some(0), IndexMode::Wrap)
        .unwrap();
    assert_eq!(longs(&x), [0, 1, 9, 1, 1, 1]);
}

#[test]
fn short_masks_select_what_long_ones_do() {
    let place = place();
    for size in [4, 5, 103, 1027, 1028, 5000] {
        let flags: Vec<bool> = (0..size).map(|at| at * at % 7 < 3).collect();
        let (whole, mask) = (count(&[size], &place), array(&flags, &place));
        for begin in [0, 3] {
            let part = [Index::range(begin, size as isize)];
            let (x, m) = (whole.get(&part).unwrap(), mask.get(&part).unwrap());
            let begin = begin as usize;
            let places: Vec<i64> = (begin..size)
                .filter(|&at| flags[at])
                .map(|at| at as i64)
                .collect();
            assert_eq!(longs(&x.get(&[(&m).into()]).unwrap()), places);
            let from_begin: Vec<i64> = places.iter().map(|at| at - begin as i64).collect();
            assert_eq!(longs(&m.nonzero().unwrap()[0]), from_begin);
            let values = creation::from_slice(&from_begin, &[places.len()], &place).unwrap();
            let target = x.copy(creation::Order::C).unwrap();
            target.set(&[(&m).into()], &values).unwrap();
            let expected = (begin..size).map(|at| (at - if flags[at] { begin } else { 0 }) as i64);
            assert_eq!(longs(&target), expected.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_few_elements_of_many_take_memory_for_a_few() {
    let place = place();
    let (x, flags) = (count(&[1000], &place), [(); 1000].map(|()| false));
    let mut one = flags;
    one[500] = true;
    for (flags, found) in [(flags, vec![]), (one, vec![500])] {
        let mask = array(&flags, &place);
        let picked = x.get(&[(&mask).into()]).unwrap();
        assert_eq!(longs(&picked), found);
        assert!(picked.memory().bytes() <= 8, "{picked:?}");
    }
}

#[test]
fn one_value_is_set_wherever_a_mask_is_true() {
    let place = place();
    for size in [8, 1000, 100_000] {
        let flags: Vec<bool> = (0..size).map(|at| at % 3 == 0).collect();
        let mask = array(&flags, &place);
        // Its neighbours are no values.
        let values = array(&[5_i64, 7, 9, 11], &place);
        let one = values.get(&[Index::range(1, 2)]).unwrap();
        let x = creation::from_slice(&vec![0_i64; size], &[size], &place).unwrap();
        x.set(&[(&mask).into()], &one).unwrap();
        let expected = flags.iter().map(|&flag| 7 * i64::from(flag));
        assert_eq!(longs(&x), expected.collect::<Vec<_>>());
    }
    // A row for all rows that are selected.
    let x = count(&[4, 3], &place);
    let row = array(&[1_i64, 2, 3], &place)
        .reshape(&[1, 3], None)
        .unwrap();
    let mask = array(&[true, false, true, true], &place);
    x.set(&[(&mask).into()], &row).unwrap();
    assert_eq!(longs(&x), [1, 2, 3, 3, 4, 5, 1, 2, 3, 1, 2, 3]);
}
