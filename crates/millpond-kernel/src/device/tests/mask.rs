//! Cases of what masks count, select and tell the places of.

use millpond_types::{DType, Layout};

use super::Case;
use crate::host::tests::array::{Array, run, sample};
use crate::{Direction, MaskCountKernel, MaskKernel, NonzeroKernel, Select, Supply};

fn plain(shape: &[usize]) -> Layout {
    Layout::contiguous(shape, 1).unwrap()
}

fn laid(shape: &[usize], strides: &[isize], offset: usize) -> Layout {
    Layout::new(shape, strides, offset).unwrap()
}

/// Masks of some, of none and of all elements.
const TRUTHS: [fn(usize) -> bool; 4] = [
    |index| index * 7919 % 97 < 41,
    |_| false,
    |_| true,
    |index| index.is_multiple_of(500),
];

/// A mask, whose truths are bytes of any value but zero.
fn mask(layout: &Layout, truth: fn(usize) -> bool) -> Array {
    let mut mask = Array::blank(DType::Bool, layout.clone());
    for index in 0..layout.size() {
        mask.raw_mut(index)[0] = if truth(index) {
            1 + index as u8 % 255
        } else {
            0
        };
    }
    mask
}

/// Layouts of masks: short and long, without gaps, turned, by columns, broadcast, and empty.
fn layouts() -> Vec<Layout> {
    vec![
        plain(&[2000]),
        plain(&[7]),
        plain(&[30, 50]).at_offset(3),
        laid(&[30, 50], &[-50, -1], 1499),
        laid(&[30, 50], &[1, 30], 0),
        laid(&[700, 3], &[0, 2], 1),
        plain(&[1]),
        plain(&[0]),
        plain(&[]),
        plain(&[70_000]),
    ]
}

/// The counts of a mask, as the host counts.
fn counted(mask: &Array) -> Array {
    let kernel = MaskCountKernel::new(&mask.layout);
    let mut counts = Array::blank(DType::Int64, plain(&[kernel.counts()]));
    run(&kernel, &mut [&mut counts, &mut mask.clone()], &[]);
    counts
}

/// Counts of masks that lie in every way.
pub(super) fn counts() -> Vec<Case> {
    let mut cases = Vec::new();
    for layout in layouts() {
        for truth in TRUTHS {
            let counts = MaskCountKernel::new(&layout).counts();
            cases.push(Case {
                arrays: vec![
                    Array::blank(DType::Int64, plain(&[counts])),
                    mask(&layout, truth),
                ],
                make: Box::new(|arrays| Box::new(MaskCountKernel::new(&arrays[1].layout))),
                ulp: 0,
            });
        }
    }
    // So many blocks that their counts are summed in several steps.
    let layout = laid(&[1_300_000], &[0], 0);
    let counts = MaskCountKernel::new(&layout).counts();
    cases.push(Case {
        arrays: vec![
            Array::blank(DType::Int64, plain(&[counts])),
            mask(&layout, |_| true),
        ],
        make: Box::new(|arrays| Box::new(MaskCountKernel::new(&arrays[1].layout))),
        ulp: 0,
    });
    cases
}

/// Coordinates along each axis.
pub(super) fn places() -> Vec<Case> {
    let mut cases = Vec::new();
    for layout in layouts() {
        for (number, truth) in TRUTHS.into_iter().enumerate() {
            let mask = mask(&layout, truth);
            let selected = (0..layout.size()).filter(|&index| truth(index)).count();
            for axis in 0..layout.ndim() {
                let step = if number == 0 { -2 } else { 1 };
                let coordinates = laid(&[selected], &[step], 2 * selected + 1);
                cases.push(Case {
                    arrays: vec![
                        Array::blank(DType::Int64, coordinates),
                        mask.clone(),
                        counted(&mask),
                    ],
                    make: Box::new(move |arrays| {
                        let (mask, places) = (&arrays[1].layout, &arrays[0].layout);
                        Box::new(NonzeroKernel::new(mask, axis, places).unwrap())
                    }),
                    ulp: 0,
                });
            }
        }
    }
    cases
}

/// What is selected of an array: how both lie, and which axes the mask stands for.
struct Selected {
    array: Layout,
    mask: Layout,
    axis: usize,
    /// The axis of the packed side that stands for what is selected.
    position: usize,
}

impl Selected {
    fn packed(&self, selected: usize) -> Vec<usize> {
        let under = self.axis..self.axis + self.mask.ndim();
        let kept = (0..self.array.ndim()).filter(|axis| !under.contains(axis));
        let mut shape: Vec<_> = kept.map(|axis| self.array.shape()[axis]).collect();
        shape.insert(self.position, selected);
        shape
    }
}

/// Whole arrays, rows, columns, and what lies between.
fn selected() -> Vec<Selected> {
    let of = |array, mask, axis, position| Selected {
        array,
        mask,
        axis,
        position,
    };
    vec![
        of(plain(&[2000]), plain(&[2000]), 0, 0),
        of(laid(&[30, 50], &[1, 30], 2), plain(&[30, 50]), 0, 0),
        of(
            laid(&[30, 50], &[-100, 2], 2900),
            laid(&[30, 50], &[1, 30], 0),
            0,
            0,
        ),
        // The other axes lie inside of the mask, and outside.
        of(plain(&[700, 9]), plain(&[700]), 0, 0),
        of(plain(&[9, 700]), plain(&[700]), 1, 1),
        of(plain(&[9, 700]), plain(&[700]), 1, 0),
        of(
            laid(&[3, 20, 5, 4], &[400, 20, 4, 1], 0),
            plain(&[20, 5]),
            1,
            0,
        ),
        of(plain(&[70, 1000]), plain(&[1]), 0, 0),
        of(plain(&[70_000]), plain(&[70_000]), 0, 0),
    ]
    .into_iter()
    .map(|selected| {
        let Selected {
            array,
            mask,
            axis,
            position,
        } = selected;
        // A mask of one element is that of an axis of one.
        let array = if mask.size() == 1 {
            plain(&[1, 70, 1000])
        } else {
            array
        };
        of(array, mask, axis, position)
    })
    .collect()
}

fn case(
    selected: &Selected,
    direction: Direction,
    dtype: DType,
    truth: fn(usize) -> bool,
    supply: impl FnOnce(usize) -> Supply,
) -> Case {
    let mask = mask(&selected.mask, truth);
    let count = (0..mask.layout.size())
        .filter(|&index| truth(index))
        .count();
    let supply = supply(count);
    let given = match supply {
        Supply::Each(given) | Supply::Cycle(given) => given,
        Supply::One => count,
    };
    let shape = selected.packed(given);
    let packed = match supply {
        Supply::One => laid(&shape, &vec![0; shape.len()], 1),
        _ => Layout::column_major(&shape, 1).unwrap().at_offset(1),
    };
    let filled = |layout: &Layout, from: usize| {
        Array::of(dtype, layout.clone(), |index| sample(dtype, index + from))
    };
    let array = filled(&selected.array, 0);
    let (written, read) = match direction {
        Direction::Get => (Array::blank(dtype, packed), array),
        Direction::Set => (array, filled(&packed, 50)),
    };
    let counts = counted(&mask);
    let (axis, position) = (selected.axis, selected.position);
    Case {
        arrays: vec![written, read, mask, counts],
        make: Box::new(move |arrays| {
            let (written, read) = (&arrays[0].layout, &arrays[1].layout);
            let (array, packed) = match direction {
                Direction::Get => (read, written),
                Direction::Set => (written, read),
            };
            let kernel = MaskKernel::new(&Select {
                name: "select",
                direction,
                dtype,
                array,
                packed,
                mask: &arrays[2].layout,
                axis,
                position,
                supply,
            });
            Box::new(kernel.unwrap())
        }),
        ulp: 0,
    }
}

/// Elements that are got and set, from as many values, from one, and from values that repeat.
pub(super) fn selections() -> Vec<Case> {
    use Direction::{Get, Set};
    let mut cases = Vec::new();
    for one in selected() {
        for truth in TRUTHS {
            cases.push(case(&one, Get, DType::Float32, truth, Supply::Each));
            cases.push(case(&one, Set, DType::Float32, truth, Supply::Each));
        }
        cases.push(case(&one, Set, DType::Float32, TRUTHS[0], |_| Supply::One));
        cases.push(case(&one, Set, DType::Float32, TRUTHS[0], |_| {
            Supply::Cycle(3)
        }));
    }
    let all = selected();
    for dtype in [
        DType::Bool,
        DType::Float16,
        DType::Complex64,
        DType::Complex128,
    ] {
        cases.push(case(&all[0], Get, dtype, TRUTHS[0], Supply::Each));
        cases.push(case(&all[0], Set, dtype, TRUTHS[0], Supply::Each));
    }
    // Values that don't fit, and those of none for none.
    for supply in [0, 3, 10_000] {
        cases.push(case(&all[0], Set, DType::Float32, TRUTHS[0], |_| {
            Supply::Each(supply)
        }));
    }
    cases.push(case(&all[0], Set, DType::Float32, TRUTHS[0], |_| {
        Supply::Cycle(0)
    }));
    cases.push(case(&all[0], Set, DType::Float32, TRUTHS[1], |_| {
        Supply::Cycle(0)
    }));
    cases
}
