//! Random programs over views of a few arrays, against a model that works element by element.
//!
//! Whatever runs when, and on whichever queue, elements are those of a program that finishes each
//! line before it begins the next (rules O2, O3).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use millpond_kernel::ops::rows;
use millpond_tensor::{Index, Place, Tensor, apply_in_place};
use millpond_testkit::dice::Dice;
use support::{Held, array, other_queue, place};

const ARRAYS: usize = 3;
/// Enough that kernels work in several steps.
const SIZE: usize = 1200;

/// A view, and where its elements lie in the model.
struct View {
    tensor: Tensor,
    array: usize,
    at: Vec<usize>,
}

/// A view of a random array through a random chain of views.
fn view(dice: &mut Dice, arrays: &[Tensor]) -> View {
    let array = dice.roll(ARRAYS);
    let mut tensor = arrays[array].clone();
    // Indices travel through the same views as the elements.
    let positions: Vec<i64> = (0..SIZE as i64).collect();
    let mut map = support::array(&positions, &Place::of(&tensor));
    for _ in 0..dice.roll(4) {
        let ndim = tensor.ndim().max(1);
        let step = |tensor: &Tensor, kind, axis: usize, low: isize, step: isize| match kind {
            0 => tensor
                .reshape(&[2, -1], Some(false))
                .unwrap_or(tensor.clone()),
            1 => tensor.flip(None).unwrap(),
            2 => tensor.swapaxes(0, axis as isize).unwrap(),
            _ => {
                let mut indices = vec![Index::ALL; axis];
                indices.push(Index::Slice {
                    start: Some(low),
                    stop: None,
                    step: Some(step),
                });
                tensor.get(&indices).unwrap()
            }
        };
        let (kind, axis) = (dice.roll(5), dice.roll(ndim));
        let (low, stride) = (dice.roll(5) as isize, [1, 2, -1, -3][dice.roll(4)]);
        tensor = step(&tensor, kind, axis, low, stride);
        map = step(&map, kind, axis, low, stride);
    }
    let at = map.to_vec::<i64>().unwrap();
    View {
        tensor,
        array,
        at: at.into_iter().map(|at| at as usize).collect(),
    }
}

/// Runs a program of `steps` random lines; the arrays and what they should be.
fn run(seed: u64, steps: usize, places: &[Place]) -> (Vec<Tensor>, Vec<Vec<i64>>) {
    let mut dice = Dice::numbered(seed);
    let mut model: Vec<Vec<i64>> = (0..ARRAYS)
        .map(|array| (0..SIZE).map(|at| (array * 100 + at) as i64).collect())
        .collect();
    let arrays: Vec<Tensor> = model
        .iter()
        .enumerate()
        .map(|(index, items)| array(items, &places[index % places.len()]))
        .collect();
    for _ in 0..steps {
        let (target, source) = (view(&mut dice, &arrays), view(&mut dice, &arrays));
        let same_shape = target.tensor.shape() == source.tensor.shape();
        let number = dice.roll(7) as i64;
        match dice.roll(3) {
            0 => {
                target.tensor.assign(number).unwrap();
                target
                    .at
                    .iter()
                    .for_each(|&at| model[target.array][at] = number);
            }
            1 if same_shape => {
                target.tensor.assign(&source.tensor).unwrap();
                let values: Vec<i64> = source
                    .at
                    .iter()
                    .map(|&at| model[source.array][at])
                    .collect();
                for (&at, value) in target.at.iter().zip(values) {
                    model[target.array][at] = value;
                }
            }
            _ if same_shape => {
                apply_in_place(&rows::subtract, &target.tensor, &[(&source.tensor).into()])
                    .unwrap();
                let values: Vec<i64> = source
                    .at
                    .iter()
                    .map(|&at| model[source.array][at])
                    .collect();
                for (&at, value) in target.at.iter().zip(values) {
                    model[target.array][at] -= value;
                }
            }
            _ => {
                apply_in_place(&rows::add, &target.tensor, &[number.into()]).unwrap();
                target
                    .at
                    .iter()
                    .for_each(|&at| model[target.array][at] += number);
            }
        }
    }
    (arrays, model)
}

fn check(seed: u64, (arrays, model): &(Vec<Tensor>, Vec<Vec<i64>>)) {
    for (array, expected) in arrays.iter().zip(model) {
        assert_eq!(&array.to_vec::<i64>().unwrap(), expected, "seed {seed}");
    }
}

#[test]
fn programs_give_what_their_lines_say() {
    let place = place();
    let places = [
        place.clone(),
        Place {
            queue: other_queue(&place),
            ..place
        },
    ];
    for seed in 0..40 {
        check(seed, &run(seed, 40, &places));
    }
}

/// One queue is held until the first observation; what follows from it is as if it had not been.
#[test]
fn programs_do_not_depend_on_what_is_late() {
    let place = place();
    let late = Place {
        queue: other_queue(&place),
        ..place.clone()
    };
    for seed in 100..110 {
        let arrays = run(seed, 10, &[place.clone(), late.clone()]);
        let held = Held::new(&late.queue);
        for (array, expected) in arrays.0.iter().zip(&arrays.1) {
            let moved = array.to_queue(&late.queue).unwrap();
            apply_in_place(&rows::add, &moved, &[1.into()]).unwrap();
            apply_in_place(&rows::multiply, array, &[2.into()]).unwrap();
            let back = moved.add(array).unwrap();
            drop(moved);
            let expected: Vec<i64> = expected.iter().map(|value| value * 3 + 1).collect();
            if array.queue() == late.queue {
                // The same array: it was counted up and doubled.
                continue;
            }
            held.open();
            assert_eq!(back.to_vec::<i64>().unwrap(), expected, "seed {seed}");
        }
    }
}
