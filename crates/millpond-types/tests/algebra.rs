//! Laws of layouts and shapes that hold for any of them.
//!
//! The judge is an array of element numbers that every view copies: slow, and without strides.

use millpond_types::Layout;
use millpond_types::shape::broadcast;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// The same programs in every run, so that a build fails for what changed and for nothing else.
fn config() -> Config {
    Config {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..Config::with_cases(500)
    }
}

/// A dense array of the offsets that a layout should see.
#[derive(Clone, Debug, PartialEq)]
struct Dense {
    shape: Vec<usize>,
    offsets: Vec<isize>,
}

impl Dense {
    fn new(shape: &[usize]) -> Self {
        let count = shape.iter().product::<usize>() as isize;
        Self {
            shape: shape.to_vec(),
            offsets: (0..count).collect(),
        }
    }

    /// What a layout sees.
    fn of(layout: &Layout) -> Self {
        let at = |index: &[usize]| {
            let along = index.iter().zip(layout.strides());
            let reach: isize = along.map(|(&at, &stride)| at as isize * stride).sum();
            layout.offset() as isize + reach
        };
        Self {
            shape: layout.shape().to_vec(),
            offsets: indices(layout.shape())
                .iter()
                .map(|index| at(index))
                .collect(),
        }
    }

    /// An array whose element at each index is this one's at the index that a function names.
    fn view(&self, shape: &[usize], old: impl Fn(&[usize]) -> Vec<usize>) -> Self {
        let place = |index: Vec<usize>| {
            let axes = index.iter().zip(&self.shape);
            axes.fold(0, |place, (&at, &size)| place * size + at)
        };
        let at = |index: &Vec<usize>| self.offsets[place(old(index))];
        Self {
            shape: shape.to_vec(),
            offsets: indices(shape).iter().map(at).collect(),
        }
    }
}

/// All indices of a shape, in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |all, &size| {
        let with = |index: &Vec<usize>| {
            let longer = |at| index.iter().copied().chain([at]).collect();
            (0..size).map(longer).collect::<Vec<_>>()
        };
        all.iter().flat_map(with).collect()
    })
}

/// A change of view; numbers are taken modulo what is possible, so that each applies to any array.
#[derive(Clone, Debug)]
enum Change {
    Narrow(usize, usize, usize, isize),
    Select(usize, usize),
    Insert(usize),
    Rotate(usize),
    Broadcast(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let number = 0_usize..24;
    let step = prop_oneof![-3_isize..0, 1_isize..4];
    prop_oneof![
        (number.clone(), number.clone(), number.clone(), step)
            .prop_map(|(axis, first, len, step)| Change::Narrow(axis, first, len, step)),
        (number.clone(), number.clone()).prop_map(|(axis, at)| Change::Select(axis, at)),
        number.clone().prop_map(Change::Insert),
        number.clone().prop_map(Change::Rotate),
        number.prop_map(Change::Broadcast),
    ]
}

/// Applies a change to both; does nothing where it makes no sense, such as on an empty axis.
fn apply(change: &Change, layout: &mut Layout, dense: &mut Dense) {
    let shape = dense.shape.clone();
    let ndim = shape.len();
    match *change {
        Change::Narrow(axis, first, len, step) if ndim > 0 && shape[axis % ndim] > 0 => {
            let axis = axis % ndim;
            let first = first % shape[axis];
            let room = if step < 0 {
                first
            } else {
                shape[axis] - 1 - first
            };
            let len = len % (room / step.unsigned_abs() + 2);
            layout.narrow(axis, first, len, step);
            let mut new = shape;
            new[axis] = len;
            *dense = dense.view(&new, |index| {
                let mut old = index.to_vec();
                old[axis] = first.wrapping_add_signed(index[axis] as isize * step);
                old
            });
        }
        Change::Select(axis, at) if ndim > 0 && shape[axis % ndim] > 0 => {
            let axis = axis % ndim;
            let at = at % shape[axis];
            layout.select(axis, at);
            let mut new = shape;
            new.remove(axis);
            *dense = dense.view(&new, |index| {
                let mut old = index.to_vec();
                old.insert(axis, at);
                old
            });
        }
        Change::Insert(axis) if ndim < 7 => {
            let axis = axis % (ndim + 1);
            layout.insert_axis(axis).expect("few axes");
            let mut new = shape;
            new.insert(axis, 1);
            *dense = dense.view(&new, |index| {
                let mut old = index.to_vec();
                old.remove(axis);
                old
            });
        }
        Change::Rotate(by) if ndim > 0 => {
            let axes: Vec<usize> = (0..ndim).map(|axis| (axis + by) % ndim).collect();
            *layout = layout.permute(&axes).expect("a permutation");
            let new: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
            *dense = dense.view(&new, |index| {
                let mut old = vec![0; ndim];
                axes.iter()
                    .zip(index)
                    .for_each(|(&axis, &at)| old[axis] = at);
                old
            });
        }
        Change::Broadcast(size) if ndim < 7 && dense.offsets.len() < 200 => {
            let ones = |&old: &usize| if old == 1 { size % 4 } else { old };
            let new: Vec<usize> = [size % 3]
                .into_iter()
                .chain(shape.iter().map(ones))
                .collect();
            *layout = layout.broadcast_to(&new).expect("ones become anything");
            *dense = dense.view(&new, |index| {
                let axes = index[1..].iter().zip(&shape);
                axes.map(|(&at, &old)| if old == 1 { 0 } else { at })
                    .collect()
            });
        }
        _ => {}
    }
}

fn shape(axes: std::ops::Range<usize>) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0_usize..5, axes)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_chain_of_views_sees_the_elements_that_copies_would_hold(
        shape in shape(0..6),
        changes in prop::collection::vec(change(), 0..6),
    ) {
        let mut layout = Layout::contiguous(&shape, 1).expect("a small shape");
        let mut dense = Dense::new(&shape);
        for change in &changes {
            apply(change, &mut layout, &mut dense);
            prop_assert_eq!(Dense::of(&layout), dense.clone());
            prop_assert_eq!(layout.size(), dense.offsets.len());
            let dense_run = dense.offsets.windows(2).all(|pair| pair[1] == pair[0] + 1);
            prop_assert!(!layout.is_contiguous() || dense_run);
            let span = layout.span();
            prop_assert!(dense.offsets.iter().all(|&at| span.contains(&(at as usize))));
        }
    }

    #[test]
    fn a_reshaped_layout_sees_the_same_elements_in_the_same_order(
        from in shape(0..5),
        changes in prop::collection::vec(change(), 0..4),
        cuts in prop::collection::vec(1_usize..5, 0..5),
    ) {
        let mut layout = Layout::contiguous(&from, 1).expect("a small shape");
        let mut dense = Dense::new(&from);
        for change in &changes {
            apply(change, &mut layout, &mut dense);
        }
        // A shape of as many elements: what the cuts divide, and the rest.
        let (mut rest, mut to) = (dense.offsets.len(), Vec::new());
        for cut in cuts {
            if rest % cut == 0 {
                to.push(cut);
                rest /= cut;
            }
        }
        to.push(rest);
        let reshaped = layout.reshape(&to).expect("as many elements");
        prop_assert!(reshaped.is_some() || !layout.is_contiguous());
        if let Some(reshaped) = reshaped {
            prop_assert_eq!(Dense::of(&reshaped), Dense { shape: to, offsets: dense.offsets });
        }
    }

    #[test]
    fn shapes_broadcast_in_any_order_to_what_each_of_them_can_be_seen_as(
        shapes in prop::collection::vec(prop::collection::vec(1_usize..4, 0..4), 1..4),
    ) {
        let forward: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
        let backward: Vec<&[usize]> = forward.iter().rev().copied().collect();
        let together = broadcast(&forward);
        prop_assert_eq!(together.is_ok(), broadcast(&backward).is_ok());
        // They do if on each axis, counted from the last, all sizes but ones are the same.
        let size = |shape: &&[usize], axis: usize| shape.iter().rev().nth(axis).copied().unwrap_or(1);
        let fits = (0..4).all(|axis| {
            let mut others = forward.iter().map(|shape| size(shape, axis)).filter(|&size| size != 1);
            let first = others.next();
            others.all(|other| Some(other) == first)
        });
        prop_assert_eq!(together.is_ok(), fits);
        if let Ok(together) = together {
            prop_assert_eq!(&together, &broadcast(&backward).expect("as above"));
            for shape in &shapes {
                let layout = Layout::contiguous(shape, 1).expect("a small shape");
                prop_assert!(layout.broadcast_to(&together).is_ok());
            }
        }
    }
}
