//! Sorts against a stable sort of the elements by comparison, at every level.

use std::cmp::Ordering;

use millpond_hal::{Address, HostKernel};
use millpond_types::{DType, Layout, Scalar};

use super::array::{Array, AtLevel, levels, sample};
use crate::host::search::{Find, FindKernel, Finder, MemberKernel, Membership, Runs, Wanted};
use crate::{First, Sort, SortPlan, Sorted};

/// Runs a kernel piece by piece, from the last to the first where `backwards`.
fn run(kernel: &dyn HostKernel, bases: &[Address], step: usize, backwards: bool) {
    assert_eq!(bases.len(), kernel.operands());
    let begins = (0..kernel.extent()).step_by(step);
    let begins: Vec<_> = if backwards {
        begins.rev().collect()
    } else {
        begins.collect()
    };
    for begin in begins {
        let end = kernel.extent().min(begin + step);
        // SAFETY: the callers' arrays are as large as the kernels were told.
        unsafe { kernel.run(bases, begin..end) }.unwrap();
    }
    // SAFETY: as above.
    unsafe { kernel.finish(bases) }.unwrap();
}

/// The order of elements: NaNs are the largest.
fn compare(a: Scalar, b: Scalar) -> Ordering {
    let part = |a: f64, b: f64| {
        let nans = a.is_nan().cmp(&b.is_nan());
        nans.then(a.partial_cmp(&b).unwrap_or(Ordering::Equal))
    };
    match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(&b),
        (Scalar::Complex(a), Scalar::Complex(b)) => {
            let class = |re: f64, im: f64| (re.is_nan(), im.is_nan());
            let classes = class(a.re, a.im).cmp(&class(b.re, b.im));
            classes.then(part(a.re, b.re)).then(part(a.im, b.im))
        }
        _ => part(a.to_f64(), b.to_f64()),
    }
}

fn array(dtype: DType, shape: &[usize], value: impl Fn(usize) -> Scalar) -> Array {
    let layout = Layout::contiguous(shape, dtype.size()).unwrap();
    Array::of(dtype, layout, value)
}

fn blank(dtype: DType, shape: &[usize]) -> Array {
    Array::blank(dtype, Layout::contiguous(shape, dtype.size()).unwrap())
}

/// Sorts rows in each way that there is, and compares with the order of the elements.
fn check(input: &mut Array, (rows, length): (usize, usize), step: usize) {
    let dtype = input.dtype;
    for (descending, values, positions) in [
        (false, true, false),
        (true, true, false),
        (false, false, true),
        (true, true, true),
    ] {
        let sorted = Sorted { values, positions };
        let begin = input.layout.offset() * dtype.size();
        let sort = Sort::new((dtype, begin), (rows, length), descending, sorted);
        let mut values_out = blank(dtype, &[rows, length]);
        let mut positions_out = blank(DType::Int64, &[rows, length]);
        let mut bases = Vec::new();
        if values {
            bases.push(values_out.address());
        }
        if positions {
            bases.push(positions_out.address());
        }
        match sort.plan() {
            SortPlan::Rows(kernel) => {
                bases.push(input.address());
                run(&kernel, &bases, step, descending);
            }
            SortPlan::Spread(spread) => {
                let mut scratch = vec![0_u128; spread.scratch_bytes().div_ceil(16)];
                let scratch = Address::of(scratch.as_mut_ptr());
                let moving = [scratch, input.address()];
                run(&spread.group(), &moving, step, !descending);
                bases.extend(moving);
                run(&spread.sort_parts(), &bases, step, descending);
            }
        }
        values_out.check_guards();
        positions_out.check_guards();
        for row in 0..rows {
            let at = |position: usize| row * length + position;
            let mut wanted: Vec<usize> = (0..length).collect();
            wanted.sort_by(|&a, &b| {
                let order = compare(input.element(at(a)), input.element(at(b)));
                if descending { order.reverse() } else { order }
            });
            for (place, from) in wanted.into_iter().enumerate() {
                if values {
                    let (found, wanted) = (values_out.raw(at(place)), input.raw(at(from)));
                    assert_eq!(found, wanted, "{sort:?}: element {place} of row {row}");
                }
                if positions {
                    let found = positions_out.element(at(place));
                    assert_eq!(found, Scalar::Int(from as i128), "{sort:?}: row {row}");
                }
            }
        }
    }
}

#[test]
fn rows_of_every_dtype_and_length_are_sorted_to_the_bit() {
    for level in levels() {
        let _held = AtLevel::new(level);
        for &dtype in DType::ALL {
            for length in [0, 1, 2, 15, 16, 17, 63, 130, 260, 700, 9000] {
                let mut input = array(dtype, &[2, length], |index| sample(dtype, index * 31 + 7));
                check(&mut input, (2, length), 1);
            }
        }
    }
}

#[test]
fn long_rows_are_spread_over_pieces_in_any_order() {
    let length = 131_073;
    for level in levels() {
        let _held = AtLevel::new(level);
        for dtype in [
            DType::Uint8,
            DType::Float32,
            DType::Int64,
            DType::Complex128,
        ] {
            let mut input = array(dtype, &[2, length], |index| sample(dtype, index * 31 + 7));
            check(&mut input, (2, length), 3);
        }
    }
}

#[test]
fn the_first_elements_are_those_of_the_whole_order() {
    const COUNT: usize = 700;
    let (rows, length) = (2, 140_000);
    for level in levels() {
        let _held = AtLevel::new(level);
        for dtype in [
            DType::Uint8,
            DType::Float32,
            DType::Int64,
            DType::Complex128,
        ] {
            let mut input = array(dtype, &[rows, length], |index| {
                sample(dtype, index * 31 + 7)
            });
            let both = Sorted {
                values: true,
                positions: true,
            };
            let sort = Sort::new((dtype, 0), (rows, length), true, both);
            let first = First::new(sort, COUNT).unwrap();
            let mut values = blank(dtype, &[rows, COUNT]);
            let mut positions = blank(DType::Int64, &[rows, COUNT]);
            let mut scratch = vec![0_u128; first.scratch_bytes().div_ceil(16)];
            let moving = [Address::of(scratch.as_mut_ptr()), input.address()];
            run(&first.select(), &moving, 1, true);
            let mut bases = vec![values.address(), positions.address()];
            bases.extend(moving);
            run(&first.merge(), &bases, 1, true);
            values.check_guards();
            positions.check_guards();
            for row in 0..rows {
                let at = |position: usize| row * length + position;
                let mut wanted: Vec<usize> = (0..length).collect();
                wanted.sort_by(|&a, &b| compare(input.element(at(b)), input.element(at(a))));
                for (place, from) in wanted.into_iter().take(COUNT).enumerate() {
                    let place = row * COUNT + place;
                    let found = positions.element(place);
                    assert_eq!(found, Scalar::Int(from as i128), "{first:?} at {level}");
                    assert_eq!(values.raw(place), input.raw(at(from)));
                }
            }
        }
    }
    let sort = Sort::new(
        (DType::Int8, 0),
        (1, 100),
        false,
        Sorted {
            values: true,
            positions: true,
        },
    );
    assert!(
        First::new(sort, 26).is_none(),
        "most of a row is sorted whole"
    );
}

#[test]
fn an_input_may_begin_anywhere() {
    let layout = Layout::new(&[3, 20], &[20, 1], 5).unwrap();
    let mut input = Array::of(DType::Int16, layout, |index| sample(DType::Int16, index));
    check(&mut input, (3, 20), 2);
}

#[test]
fn elements_are_found_where_the_order_puts_them() {
    for &dtype in DType::ALL {
        for length in [0, 1, 2, 31, 1000] {
            let mut elements: Vec<Scalar> = (0..length)
                .map(|index| array(dtype, &[1], |_| sample(dtype, index)).element(0))
                .collect();
            elements.sort_by(|a, b| compare(*a, *b));
            let mut sorted = array(dtype, &[length], |index| elements[index]);
            let mut wanted = array(dtype, &[50], |index| sample(dtype, index * 3 + 1));
            for find in [Find::Left, Find::Right, Find::Member { invert: true }] {
                let output = match find {
                    Find::Member { .. } => DType::Bool,
                    _ => DType::Int64,
                };
                let mut found = blank(output, &[50]);
                let kernel = FindKernel::from(Finder {
                    find,
                    dtype,
                    sorted: (length, 0),
                    wanted: (50, 0),
                    sorter: None,
                });
                let bases = [found.address(), sorted.address(), wanted.address()];
                run(&kernel, &bases, 19, false);
                found.check_guards();
                for index in 0..50 {
                    let element = wanted.element(index);
                    let before = |order: Ordering| match find {
                        Find::Right => order.is_le(),
                        _ => order.is_lt(),
                    };
                    let count = elements
                        .iter()
                        .filter(|other| before(compare(**other, element)))
                        .count();
                    let is_nan = !matches!(element, Scalar::Int(_)) && element != element;
                    let is_member = elements
                        .get(count)
                        .is_some_and(|other| !is_nan && compare(*other, element).is_eq());
                    let expected = match find {
                        Find::Member { invert } => Scalar::Bool(is_member != invert),
                        _ => Scalar::Int(count as i128),
                    };
                    assert_eq!(
                        found.element(index),
                        expected,
                        "{kernel:?} {find:?}: {element:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn members_are_found_and_those_of_an_earlier_run_are_forgotten() {
    let dtypes = DType::ALL.iter().copied();
    for dtype in dtypes.filter(|dtype| MemberKernel::suits(*dtype, 1000)) {
        for (count, invert) in [(0, false), (1, true), (31, false), (1000, true)] {
            let mut wanted = array(dtype, &[200], |index| sample(dtype, index * 3 + 1));
            let kernel = MemberKernel::from(Membership {
                dtype,
                members: (count, 0),
                wanted: (200, 0),
                invert,
            });
            for step in [1, 2] {
                let mut members = array(dtype, &[count], |index| sample(dtype, index * step));
                let mut found = blank(DType::Bool, &[200]);
                let bases = [found.address(), members.address(), wanted.address()];
                run(&kernel, &bases, 19, true);
                found.check_guards();
                let members: Vec<Scalar> = (0..count).map(|index| members.element(index)).collect();
                for index in 0..200 {
                    let element = wanted.element(index);
                    // A NaN equals nothing, not even itself.
                    let is_member = members.contains(&element);
                    let expected = Scalar::Bool(is_member != invert);
                    assert_eq!(found.element(index), expected, "{kernel:?}: {element:?}");
                }
            }
        }
    }
}

#[test]
fn runs_of_equal_elements_are_counted_over_all_pieces() {
    // Short ones, and some that have whole pieces between their ends.
    for (length, each) in [(100_000, 7), (300_000, 90_000)] {
        check_runs(length, each);
    }
}

/// Counts and writes runs of `each` equal elements, the last of which may be shorter.
fn check_runs(length: usize, each: usize) {
    let mut sorted = array(DType::Int32, &[length], |index| {
        Scalar::Int((index / each) as i128)
    });
    let mut positions = array(DType::Int64, &[length], |index| {
        Scalar::Int((length - 1 - index) as i128)
    });
    let runs = Runs::new(DType::Int32, length);
    let mut count = blank(DType::Int64, &[1]);
    let mut table = vec![[0_u64; 2]; runs.table_bytes() / 16];
    let table = Address::of(table.as_mut_ptr());
    run(
        &runs.count(),
        &[count.address(), table, sorted.address()],
        1,
        true,
    );
    let different = length.div_ceil(each);
    assert_eq!(count.element(0), Scalar::Int(different as i128));
    let wanted = Wanted {
        indices: true,
        counts: true,
        inverse: true,
    };
    let mut values = blank(DType::Int32, &[different]);
    let mut indices = blank(DType::Int64, &[different]);
    let mut counts = blank(DType::Int64, &[different]);
    let mut inverse = blank(DType::Int64, &[length]);
    let mut outputs = [&mut values, &mut indices, &mut counts, &mut inverse];
    let mut bases: Vec<_> = outputs.iter_mut().map(|array| array.address()).collect();
    bases.extend([table, sorted.address(), positions.address()]);
    run(&runs.write(different, wanted), &bases, 1, true);
    for output in outputs {
        output.check_guards();
    }
    for number in 0..different {
        let begin = number * each;
        assert_eq!(values.element(number), Scalar::Int(number as i128));
        assert_eq!(indices.element(number), positions.element(begin));
        let long = each.min(length - begin);
        assert_eq!(counts.element(number), Scalar::Int(long as i128));
    }
    for index in 0..length {
        let run = (length - 1 - index) / each;
        assert_eq!(inverse.element(index), Scalar::Int(run as i128));
    }
}
