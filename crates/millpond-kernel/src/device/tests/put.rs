//! Cases of setting elements by indices: of several values for one element the last one stays.

use millpond_types::{DType, Layout, Scalar};

use super::Case;
use super::index::{Picking, plain};
use crate::host::tests::array::{Array, sample};
use crate::{Direction, IndexMode, Line, LineKernel};

/// What is set.
struct Set {
    array: Layout,
    packed: Layout,
    /// The axes of the packed side that stand for the positions.
    positions: (usize, usize),
    along: bool,
    /// The axes with indices, and how these lie.
    axes: &'static [usize],
    indices: Layout,
}

fn laid(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
    Layout::new(shape, strides, offset).unwrap()
}

/// Rows, columns, elements by several indices, along an axis, and one value for all.
fn sets() -> Vec<Set> {
    let set = |array, packed, positions, axes, indices| Set {
        array,
        packed,
        positions,
        along: false,
        axes,
        indices,
    };
    vec![
        set(plain(&[9, 5]), plain(&[70, 5]), (0, 1), &[0], plain(&[70])),
        set(
            laid(&[9, 5], &[1, 9], 4),
            laid(&[9, 2, 6], &[1, 9, 18], 0),
            (1, 2),
            &[1],
            laid(&[2, 6], &[1, 2], 1),
        ),
        set(
            laid(&[9, 5], &[-11, 2], 90),
            laid(&[70], &[-2], 140),
            (0, 1),
            &[0, 1],
            laid(&[70], &[-1], 69),
        ),
        Set {
            array: laid(&[9, 5], &[1, -10], 40),
            packed: plain(&[9, 3]),
            positions: (0, 2),
            along: true,
            axes: &[1],
            indices: plain(&[9, 3]),
        },
        set(plain(&[9]), laid(&[4], &[0], 0), (0, 1), &[0], plain(&[4])),
        set(plain(&[9, 2]), plain(&[2]), (0, 0), &[0], plain(&[])),
        // Few positions of many places; nearly as many as places, and more than are marked at a time.
        set(plain(&[5000]), plain(&[40]), (0, 1), &[0], plain(&[40])),
        set(plain(&[3000]), plain(&[2900]), (0, 1), &[0], plain(&[2900])),
        set(
            plain(&[600, 2]),
            plain(&[900, 2]),
            (0, 1),
            &[0],
            plain(&[900]),
        ),
        set(plain(&[9]), plain(&[0]), (0, 1), &[0], plain(&[0])),
        set(plain(&[9, 5]), plain(&[0, 5]), (0, 1), &[0], plain(&[0])),
        Set {
            array: plain(&[5, 7]),
            packed: plain(&[0, 7]),
            positions: (0, 2),
            along: true,
            axes: &[0],
            indices: plain(&[0, 7]),
        },
        // So many that numbers have 64 bits.
        set(
            plain(&[70_000]),
            plain(&[70_000]),
            (0, 1),
            &[0],
            plain(&[70_000]),
        ),
        set(plain(&[1 << 20]), plain(&[99]), (0, 1), &[0], plain(&[99])),
    ]
}

/// Indices of a dtype, many of them several times; outside of the axis unless they are to be checked.
fn indices(dtype: DType, layout: &Layout, size: usize, mode: IndexMode) -> Array {
    Array::of(dtype, layout.clone(), |number| {
        let size = size as i128;
        let index = (number as i128 * 7919 + 3) % (2 * size) - size;
        let index = if mode == IndexMode::Check {
            index
        } else {
            3 * index
        };
        let is_signed = !matches!(dtype, DType::Uint64 | DType::Uint8);
        Scalar::Int(match (is_signed, mode) {
            (true, _) => index,
            (false, IndexMode::Check) => index.rem_euclid(size),
            (false, _) => index.abs(),
        })
    })
}

fn case(set: &Set, dtype: DType, index_dtype: DType, mode: IndexMode, wrong: Option<i128>) -> Case {
    let array = Array::of(dtype, set.array.clone(), |index| sample(dtype, index));
    let packed = Array::of(dtype, set.packed.clone(), |index| {
        sample(dtype, index * 3 + 1)
    });
    let found = set.axes.iter().map(|&axis| {
        let mut found = indices(index_dtype, &set.indices, set.array.shape()[axis], mode);
        if let Some(wrong) = wrong {
            let bytes = Scalar::Int(wrong).to_bytes(index_dtype);
            let last = set.indices.size() - 1;
            found
                .raw_mut(last)
                .copy_from_slice(&bytes[..index_dtype.size()]);
        }
        found
    });
    let picking = Picking {
        direction: Direction::Set,
        axes: set.axes,
        positions: set.positions,
        along: set.along,
        dtype,
        index_dtype,
        mode,
    };
    picking.case([array, packed].into_iter().chain(found).collect())
}

/// Every way of setting, with elements and indices of several sizes.
pub(super) fn puts() -> Vec<Case> {
    let plainly =
        |set: &Set, wrong| case(set, DType::Float32, DType::Int64, IndexMode::Check, wrong);
    let sets = sets();
    let mut cases: Vec<_> = sets.iter().map(|set| plainly(set, None)).collect();
    let dtypes = [
        (DType::Bool, DType::Int16, IndexMode::Wrap),
        (DType::Float16, DType::Uint64, IndexMode::Check),
        (DType::Complex64, DType::Uint64, IndexMode::Clip),
        (DType::Complex128, DType::Int32, IndexMode::Clip),
    ];
    for (dtype, index_dtype, mode) in dtypes {
        let few = sets.iter().take(5);
        cases.extend(few.map(|set| case(set, dtype, index_dtype, mode, None)));
    }
    // One index outside of its axis, of few and of many.
    for number in [0, 4, 5, 6, 7, 8, 13] {
        let set = &sets[number];
        let size = set.array.shape()[0] as i128;
        cases.extend([size, -size - 1].map(|wrong| plainly(set, Some(wrong))));
    }
    cases
}

/// Elements of a line, from as many values and from one, and one that the line doesn't have.
pub(super) fn lines() -> Vec<Case> {
    let line = |last: i128, step: isize| Case {
        arrays: vec![
            Array::of(DType::Int16, laid(&[8], &[-2], 15), |index| {
                sample(DType::Int16, index)
            }),
            Array::of(DType::Int16, laid(&[11], &[step], 2), |index| {
                sample(DType::Int16, index + 50)
            }),
            Array::of(DType::Int64, plain(&[11]).at_offset(1), |number| {
                Scalar::Int(if number == 10 {
                    last
                } else {
                    number as i128 % 16 - 8
                })
            }),
        ],
        make: Box::new(|arrays| {
            let line = LineKernel::new(&Line {
                name: "put",
                direction: Direction::Set,
                dtype: DType::Int16,
                array: &arrays[0].layout,
                packed: &arrays[1].layout,
                indices: &arrays[2].layout,
                called: 2,
            });
            Box::new(line.unwrap())
        }),
        ulp: 0,
    };
    vec![line(7, 1), line(0, 0), line(8, 1), line(-9, 0)]
}
