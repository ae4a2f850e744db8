//! Nothing waits but observation, and nothing is lost by that (rules O2 to O5, M1, M2).

mod support;

use millpond_kernel::ops::rows;
use millpond_runtime::MemoryKind;
use millpond_tensor::display::PrintOptions;
use millpond_tensor::{Index, Place, apply_in_place, creation};
use millpond_testkit::watchdog::watched;
use millpond_types::{DType, Scalar};
use support::{Held, array, count, other_queue, place};

/// O4, O5: with the queue held, everything but observation returns; M1, M2: operands and results
/// may be dropped meanwhile.
#[test]
fn only_observation_waits() {
    let place = place();
    let held = Held::new(&place.queue);
    let x = count(&[4, 5], &place);
    let y = creation::full(&[4, 5], Scalar::Float(0.5), None, &place).unwrap();
    let sum = x.add(&y).unwrap();
    let view = sum.get(&[Index::At(1)]).unwrap();
    drop((x, y, sum));
    let shifted = view.subtract(1).unwrap();
    apply_in_place(&rows::multiply, &shifted, &[2.into()]).unwrap();
    let total = shifted.sum(None, false, None).unwrap();
    let positions = view.argmax(None, false).unwrap();
    let line = creation::eye(3, 3, 0, DType::Float32, &place).unwrap();
    let joined = millpond_tensor::manipulation::concat(&[&view, &shifted], Some(0)).unwrap();
    drop((view, shifted));
    assert_eq!(total.shape(), []);
    assert_eq!(joined.shape(), [10]);
    assert!(!place.queue.is_idle());
    held.open();
    assert_eq!(total.item().unwrap(), 65.0.into());
    assert_eq!(positions.item().unwrap(), 4_i64.into());
    assert_eq!(
        line.sum(None, false, None).unwrap().item().unwrap(),
        3.0.into()
    );
    assert_eq!(joined.to_vec::<f64>().unwrap()[4..6], [9.5, 9.0]);
}

/// O2: an array used by two queues is ordered by itself.
#[test]
fn queues_follow_one_another_through_arrays() {
    let place = place();
    let elsewhere = Place {
        queue: other_queue(&place),
        kind: place.kind,
    };
    let held = Held::new(&place.queue);
    let x = count(&[1000], &place);
    let ones = creation::ones(&[1000], DType::Int64, &elsewhere).unwrap();
    // Runs on the second queue, which must wait for the first.
    let y = ones.add(&x).unwrap();
    assert_eq!(y.queue(), elsewhere.queue);
    // Runs on the first queue, and must not overtake the second's reading.
    apply_in_place(&rows::add, &x, &[1000.into()]).unwrap();
    held.open();
    assert_eq!(y.to_vec::<i64>().unwrap()[999], 1000);
    assert_eq!(x.to_vec::<i64>().unwrap()[0], 1000);
}

/// O5: reading and printing a view, whose elements have gaps, waits for nothing else either.
#[test]
fn views_are_read_while_their_queue_is_held() {
    let place = place();
    let x = count(&[4, 5], &place);
    place.queue.wait().unwrap();
    let held = Held::new(&place.queue);
    let column = x.get(&[Index::ALL, Index::At(1)]).unwrap();
    assert!(!column.is_contiguous());
    let (text, items) = watched(move || {
        let text = column.to_text(&PrintOptions::default()).unwrap();
        (text, column.to_vec::<i64>().unwrap())
    });
    assert_eq!(
        (text.as_str(), &*items),
        ("[ 1  6 11 16]", &[1, 6, 11, 16][..])
    );
    assert!(!place.queue.is_idle());
    held.open();
}

/// O3: work behind a gate gives what a program that runs line by line gives.
#[test]
fn held_programs_give_the_same_results() {
    let place = place();
    let program = || {
        let x = count(&[300], &place);
        let head = x.get(&[Index::range(0, 200)]).unwrap();
        let tail = x.get(&[Index::range(100, 300)]).unwrap();
        for _ in 0..10 {
            apply_in_place(&rows::add, &head, &[(&tail).into()]).unwrap();
            tail.assign(&head.flip(None).unwrap()).unwrap();
            apply_in_place(&rows::bitwise_and, &x, &[0xFFFF.into()]).unwrap();
        }
        x
    };
    let direct = program().to_vec::<i64>().unwrap();
    let held = Held::new(&place.queue);
    let late = program();
    held.open();
    assert_eq!(late.to_vec::<i64>().unwrap(), direct);
}

/// Loops of small work live in the memory that they begin with.
#[test]
fn pools_do_not_grow_in_loops() {
    let place = place();
    let pool = place.device().pool(MemoryKind::Device);
    let x = array(&[1.0_f64; 100], &place);
    let y = x.add(&x).unwrap();
    drop(y);
    let before = pool.statistics();
    for _ in 0..100_000 {
        let y = x.add(&x).unwrap();
        drop(y.sin().unwrap());
    }
    place.queue.wait().unwrap();
    let after = pool.statistics();
    assert_eq!((after.used, after.live), (before.used, before.live));
    assert_eq!(after.reserved, before.reserved);
}

/// O7: a failure reaches whoever observes what depends on it.
#[test]
fn failures_surface_at_observation() {
    let place = place();
    let x = count(&[10], &place);
    let uses = [millpond_runtime::Use {
        allocation: x.memory(),
        access: millpond_runtime::Access::Update,
    }];
    let gate = millpond_runtime::Gate::new();
    place.queue.gate(&gate, &[]).unwrap();
    place
        .queue
        .task("spoil", &uses, || Err("spoilt".to_owned()))
        .unwrap();
    let y = x.add(1).unwrap();
    let apart = creation::ones(&[3], DType::Int64, &place).unwrap();
    gate.open(Ok(()));
    let error = y.to_vec::<i64>().unwrap_err().to_string();
    assert!(
        error.contains("spoil") && error.contains("spoilt"),
        "{error}"
    );
    assert_eq!(apart.to_vec::<i64>().unwrap(), [1, 1, 1]);
}
