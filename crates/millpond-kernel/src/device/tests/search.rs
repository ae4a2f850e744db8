//! Cases of searches in sorted arrays, and of their runs.

use millpond_types::{DType, Scalar};

use super::exact::Exact;
use super::sort::{mixed, random};
use super::{Case, run_on_host};
use crate::host::tests::array::{Array, line};
use crate::{Find, FindKernel, Finder, Runs, Sort, SortPlan, Sorted, Wanted};

/// What is asked.
const FINDS: [Find; 4] = [
    Find::Left,
    Find::Right,
    Find::Member { invert: false },
    Find::Member { invert: true },
];

/// Elements in order, and where they came from.
fn in_order(dtype: DType, size: usize, element: impl Fn(usize) -> Scalar) -> [Array; 2] {
    let both = Sorted {
        values: true,
        positions: true,
    };
    let mut arrays = [
        Array::blank(dtype, line(size)),
        Array::blank(DType::Int64, line(size)),
        Array::of(dtype, line(size), element),
    ];
    if size > 0 {
        let sort = Sort::new((dtype, 0), (1, size), false, both);
        let SortPlan::Rows(kernel) = sort.plan() else {
            panic!("a short row");
        };
        run_on_host(&kernel, &mut arrays).unwrap();
    }
    let [values, positions, _] = arrays;
    [values, positions]
}

fn search(find: Find, dtype: DType, sorted: Array, wanted: usize, sorter: Option<Array>) -> Exact {
    let output = match find {
        Find::Member { .. } => DType::Bool,
        Find::Left | Find::Right => DType::Int64,
    };
    let finder = Finder {
        find,
        dtype,
        sorted: (sorted.layout.size(), 0),
        wanted: (wanted, dtype.size()),
        sorter: sorter.is_some().then_some(0),
    };
    let looked_for = Array::of(dtype, line(wanted).at_offset(1), |index| {
        if index % 2 == 0 {
            mixed(dtype, index)
        } else {
            random(dtype, index)
        }
    });
    let arrays = [Array::blank(output, line(wanted)), sorted, looked_for];
    let arrays: Vec<_> = arrays.into_iter().chain(sorter).collect();
    let inputs = arrays.len() - 1;
    let case = Case {
        make: Box::new(move |_| Box::new(FindKernel::from(finder))),
        arrays,
        ulp: 0,
    };
    Exact {
        case,
        outputs: 1,
        inputs,
    }
}

/// Every dtype, in none, few and many elements, of which blocks keep some or none.
pub(super) fn searches() -> Vec<Exact> {
    let mut cases = Vec::new();
    for (number, &dtype) in DType::ALL.iter().enumerate() {
        for (turn, size) in [0, 1, 2, 1000, 3000].into_iter().enumerate() {
            let element = if turn == 3 { mixed } else { random };
            let [sorted, _] = in_order(dtype, size, |index| element(dtype, index));
            let wanted = [3000, 100, 5][(number + turn) % 3];
            cases.push(search(
                FINDS[(number + turn) % 4],
                dtype,
                sorted,
                wanted,
                None,
            ));
        }
    }
    // So many that they are counted by 64 bits.
    let rising = Array::of(DType::Int32, line(20_000), |index| {
        Scalar::Int(index as i128 / 3)
    });
    cases.push(search(Find::Right, DType::Int32, rising, 3000, None));
    for (find, wrong) in [
        (Find::Left, None),
        (Find::Right, None),
        (Find::Left, Some(500)),
        (Find::Left, Some(-501)),
    ] {
        let dtype = DType::Float32;
        let element = |index| mixed(dtype, index);
        let [_, positions] = in_order(dtype, 500, element);
        let sorter = Array::of(DType::Int64, line(500), |index| {
            let position = positions.element(index).to_i128();
            // Some of them counted from the end.
            let position = if index % 3 == 0 {
                position - 500
            } else {
                position
            };
            Scalar::Int(wrong.unwrap_or(position))
        });
        cases.push(search(
            find,
            dtype,
            Array::of(dtype, line(500), element),
            100,
            Some(sorter),
        ));
    }
    cases
}

/// Counting and writing runs, short and long ones, over several pieces.
pub(super) fn runs() -> Vec<Exact> {
    let mut cases = Vec::new();
    for (number, &dtype) in DType::ALL.iter().enumerate() {
        let element = if number % 2 == 0 { mixed } else { random };
        let [sorted, positions] = in_order(dtype, 2000, |index| element(dtype, index));
        cases.extend(run_cases(dtype, sorted, positions, number));
    }
    for (number, each) in [1, 7, 9000, 20_000].into_iter().enumerate() {
        let size = 20_000;
        let sorted = Array::of(DType::Int32, line(size), |index| {
            Scalar::Int((index / each) as i128)
        });
        let positions = Array::of(DType::Int64, line(size), |index| {
            Scalar::Int((size - 1 - index) as i128)
        });
        cases.extend(run_cases(DType::Int32, sorted, positions, number));
    }
    cases
}

/// What is wanted follows from `number`.
fn run_cases(dtype: DType, sorted: Array, positions: Array, number: usize) -> [Exact; 2] {
    let size = sorted.layout.size();
    let runs = Runs::new(dtype, size);
    let table = Array::blank(DType::Uint64, line(runs.table_bytes() / 8));
    let count = Array::blank(DType::Int64, line(1));
    let mut counted = [count.clone(), table.clone(), sorted.clone()];
    run_on_host(&runs.count(), &mut counted).unwrap();
    let [found, filled, _] = counted;
    let different = found.element(0).to_i128() as usize;
    let wanted = Wanted {
        indices: number.is_multiple_of(2),
        counts: number % 3 != 1,
        inverse: number % 4 < 2,
    };
    let mut arrays = vec![Array::blank(dtype, line(different))];
    for is_wanted in [wanted.indices, wanted.counts] {
        arrays.extend(is_wanted.then(|| Array::blank(DType::Int64, line(different))));
    }
    arrays.extend(
        wanted
            .inverse
            .then(|| Array::blank(DType::Int64, line(size))),
    );
    let outputs = arrays.len();
    arrays.extend([filled, sorted.clone()]);
    arrays.extend((wanted.indices || wanted.inverse).then_some(positions));
    let inputs = arrays.len() - outputs;
    let write = Case {
        make: Box::new(move |_| Box::new(runs.write(different, wanted))),
        arrays,
        ulp: 0,
    };
    let count = Case {
        make: Box::new(move |_| Box::new(runs.count())),
        arrays: vec![count, table, sorted],
        ulp: 0,
    };
    [
        Exact {
            case: count,
            outputs: 2,
            inputs: 1,
        },
        Exact {
            case: write,
            outputs,
            inputs,
        },
    ]
}
