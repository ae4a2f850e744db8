//! Cases of sorts.

use millpond_hal::HostKernel;
use millpond_types::{DType, Kind, Layout, Scalar};

use super::Case;
use super::exact::Exact;
use crate::host::tests::array::{Array, line, sample};
use crate::{Sort, SortPlan, Sorted};

/// Dtypes of long rows: one of each size and kind of keys, as these kernels take long to compile.
const SWEPT: [DType; 7] = [
    DType::Bool,
    DType::Int16,
    DType::Float16,
    DType::Float32,
    DType::Int64,
    DType::Complex64,
    DType::Complex128,
];

/// Elements of a row that is sorted.
type Elements = fn(DType, usize) -> Scalar;

/// What is written: elements, positions, or both.
const WANTED: [Sorted; 3] = [
    Sorted {
        values: true,
        positions: false,
    },
    Sorted {
        values: false,
        positions: true,
    },
    Sorted {
        values: true,
        positions: true,
    },
];

/// A sort of rows that begin an element behind their base.
fn case(
    dtype: DType,
    (rows, length): (usize, usize),
    descending: bool,
    sorted: Sorted,
    element: Elements,
) -> Exact {
    let layout = Layout::contiguous(&[rows, length], 1).unwrap();
    let input = Array::of(dtype, layout.clone().at_offset(1), |index| {
        element(dtype, index)
    });
    let sort = Sort::new((dtype, dtype.size()), (rows, length), descending, sorted);
    let kernel = move || {
        let SortPlan::Rows(kernel) = sort.plan_on_device() else {
            panic!("one kernel on devices");
        };
        kernel
    };
    let (aside, own) = (kernel().aside_bytes(), kernel().operands());
    let mut arrays = Vec::new();
    if sorted.values {
        arrays.push(Array::blank(dtype, layout.clone()));
    }
    if sorted.positions {
        arrays.push(Array::blank(DType::Int64, layout));
    }
    let outputs = arrays.len();
    if aside > 0 {
        arrays.push(Array::blank(DType::Uint8, line(aside)));
    }
    arrays.push(input);
    assert_eq!(arrays.len(), own);
    let case = Case {
        make: Box::new(move |_| Box::new(kernel())),
        arrays,
        ulp: 0,
    };
    Exact {
        case,
        outputs,
        inputs: 1,
    }
}

/// Few different elements in no order, zeros of either sign and NaNs among them.
pub(super) fn mixed(dtype: DType, index: usize) -> Scalar {
    sample(dtype, index * 31 + 7)
}

/// Elements whose every digit counts.
pub(super) fn random(dtype: DType, index: usize) -> Scalar {
    let bits = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = u128::from(bits ^ bits >> 29) | u128::from(bits.wrapping_mul(0xbf58_476d)) << 64;
    if dtype == DType::Bool {
        return Scalar::Bool(bits & 1 == 1);
    }
    Scalar::from_bytes(dtype, &bits.to_le_bytes()[..dtype.size()]).unwrap()
}

fn rising(dtype: DType, index: usize) -> Scalar {
    match dtype.kind() {
        Kind::Float => Scalar::Float(index as f64),
        _ => Scalar::Int(index as i128 & 0x7f),
    }
}

fn equal(_: DType, _: usize) -> Scalar {
    Scalar::Int(1)
}

/// Every dtype, in rows of a block: by counting and by digits, several of a block and one.
pub(super) fn rows() -> Vec<Exact> {
    let mut cases = Vec::new();
    for (number, &dtype) in DType::ALL.iter().enumerate() {
        let shapes = [
            (0, 5),
            (5, 0),
            (300, 1),
            (200, 2),
            (77, 31),
            (40, 33),
            (7, 600),
            (1, 2000),
        ];
        for (turn, &shape) in shapes.iter().enumerate() {
            let (descending, sorted) = (turn % 2 == 1, WANTED[(number + turn) % 3]);
            cases.push(case(dtype, shape, descending, sorted, mixed));
            cases.push(case(dtype, shape, !descending, sorted, random));
        }
    }
    for (elements, length) in [(rising as Elements, 3000), (equal, 3000), (equal, 20)] {
        cases.push(case(DType::Float32, (3, length), true, WANTED[2], elements));
    }
    cases
}

/// Rows that are swept: of some tiles, and so long that numbers of elements are wide ones.
pub(super) fn long_rows() -> Vec<Exact> {
    let mut cases = Vec::new();
    for (number, dtype) in SWEPT.into_iter().enumerate() {
        for (turn, sorted) in WANTED.into_iter().enumerate() {
            let descending = (number + turn) % 2 == 0;
            let elements = if turn == 1 { mixed } else { random };
            cases.push(case(dtype, (2, 8200), descending, sorted, elements));
        }
    }
    for (dtype, length) in [(DType::Float32, 70_000), (DType::Uint8, 1_000_000)] {
        cases.push(case(dtype, (1, length), false, WANTED[0], random));
        cases.push(case(dtype, (1, length), true, WANTED[1], mixed));
    }
    for elements in [rising as Elements, equal] {
        cases.push(case(DType::Int32, (1, 30_000), false, WANTED[2], elements));
    }
    cases
}
