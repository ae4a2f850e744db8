//! Indices and masks against loops that follow their definition, element by element.

use millpond_hal::{FailureKind, HostKernel};
use millpond_types::{DType, Layout, Scalar};

use super::array::{Array, run, sample, try_run};
use crate::{
    Direction, IndexMode, Line, LineKernel, MaskCountKernel, MaskKernel, NonzeroKernel, Pick,
    PickIndex, PickKernel, Select, Supply,
};

const DTYPES: &[DType] = &[
    DType::Uint8,
    DType::Float16,
    DType::Float32,
    DType::Float64,
    DType::Complex128,
];

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// A layout of a shape: in order, turned round, with gaps, or by columns.
fn lay(shape: &[usize], kind: usize) -> Layout {
    let size: usize = shape.iter().product();
    let plain = Layout::contiguous(shape, 1).unwrap();
    let scaled = |factor: isize| -> Vec<isize> {
        plain
            .strides()
            .iter()
            .map(|stride| stride * factor)
            .collect()
    };
    match kind {
        0 => plain,
        1 => Layout::new(shape, &scaled(-1), size.saturating_sub(1)).unwrap(),
        2 => Layout::new(shape, &scaled(2), 1).unwrap(),
        _ => Layout::column_major(shape, 1).unwrap(),
    }
}

/// The index on each axis of element `number`.
fn unravel(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (index, &size) in index.iter_mut().zip(shape).rev() {
        *index = number % size;
        number /= size;
    }
    index
}

fn ravel(index: &[usize], shape: &[usize]) -> usize {
    index
        .iter()
        .zip(shape)
        .fold(0, |number, (&index, &size)| number * size + index)
}

fn along(axis: usize, dtype: DType, layout: &Layout) -> PickIndex<'_> {
    PickIndex {
        axis,
        called: axis,
        dtype,
        layout,
    }
}

/// One call: the shape, the axes with indices, the positions and where they are.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: &'static [usize],
    axes: &'static [usize],
    positions: &'static [usize],
    at: usize,
}

const CASES: &[Case] = &[
    Case {
        shape: &[7],
        axes: &[0],
        positions: &[40],
        at: 0,
    },
    Case {
        shape: &[7],
        axes: &[0],
        positions: &[3, 6],
        at: 0,
    },
    Case {
        shape: &[7],
        axes: &[0],
        positions: &[3, 4],
        at: 0,
    },
    Case {
        shape: &[5, 9],
        axes: &[0],
        positions: &[17],
        at: 0,
    },
    Case {
        shape: &[5, 9],
        axes: &[1],
        positions: &[600],
        at: 1,
    },
    Case {
        shape: &[5, 3],
        axes: &[0, 1],
        positions: &[4, 20],
        at: 0,
    },
    Case {
        shape: &[4, 40],
        axes: &[0],
        positions: &[21],
        at: 0,
    },
    Case {
        shape: &[4, 3, 6, 2],
        axes: &[0, 2],
        positions: &[5],
        at: 0,
    },
    Case {
        shape: &[4, 3, 6, 2],
        axes: &[1, 2],
        positions: &[2, 9],
        at: 1,
    },
    Case {
        shape: &[2, 3, 4, 2, 3],
        axes: &[4],
        positions: &[2],
        at: 4,
    },
    Case {
        shape: &[3, 2],
        axes: &[],
        positions: &[1],
        at: 0,
    },
    Case {
        shape: &[3, 2],
        axes: &[0],
        positions: &[0],
        at: 0,
    },
    Case {
        shape: &[3, 0],
        axes: &[0],
        positions: &[5],
        at: 0,
    },
    Case {
        shape: &[6, 2],
        axes: &[0],
        positions: &[],
        at: 0,
    },
];

impl Case {
    fn packed(self) -> Vec<usize> {
        let mut shape: Vec<usize> = (0..self.shape.len())
            .filter(|axis| !self.axes.contains(axis))
            .map(|axis| self.shape[axis])
            .collect();
        shape.splice(self.at..self.at, self.positions.iter().copied());
        shape
    }

    /// The element of the array for one of the packed side.
    fn element(self, packed: usize, indices: &[Array]) -> usize {
        let mut index = unravel(packed, &self.packed());
        let position: Vec<usize> = index
            .drain(self.at..self.at + self.positions.len())
            .collect();
        let number = ravel(&position, self.positions);
        let mut kept = index.into_iter();
        let index: Vec<usize> = (0..self.shape.len())
            .map(
                |axis| match self.axes.iter().position(|&named| named == axis) {
                    Some(which) => {
                        let value = indices[which].element(number).to_i128();
                        value.rem_euclid(self.shape[axis] as i128) as usize
                    }
                    None => kept.next().unwrap(),
                },
            )
            .collect();
        ravel(&index, self.shape)
    }

    fn pick(self, direction: Direction, dtype: DType, numbers: &mut Numbers) {
        let index_dtypes = [
            DType::Int64,
            DType::Int8,
            DType::Uint64,
            DType::Uint16,
            DType::Int32,
        ];
        let index_dtype = index_dtypes[numbers.below(index_dtypes.len())];
        let mut indices: Vec<Array> = self
            .axes
            .iter()
            .map(|&axis| {
                let (size, layout) = (self.shape[axis], lay(self.positions, numbers.below(4)));
                let values: Vec<i128> = (0..layout.size())
                    .map(|_| {
                        let signed =
                            matches!(index_dtype, DType::Int64 | DType::Int8 | DType::Int32);
                        let turns = if signed { numbers.below(2) } else { 0 };
                        numbers.below(size) as i128 - (turns * size) as i128
                    })
                    .collect();
                Array::of(index_dtype, layout, |number| Scalar::Int(values[number]))
            })
            .collect();
        let array = lay(self.shape, numbers.below(4));
        let packed = lay(&self.packed(), numbers.below(4));
        let array = Array::of(dtype, array, |number| sample(dtype, number));
        let packed = Array::of(dtype, packed, |number| sample(dtype, number + 5));
        let mut wanted = match direction {
            Direction::Get => packed.clone(),
            Direction::Set => array.clone(),
        };
        for number in 0..packed.layout.size() {
            let element = self.element(number, &indices);
            match direction {
                Direction::Get => wanted.raw_mut(number).copy_from_slice(array.raw(element)),
                Direction::Set => wanted.raw_mut(element).copy_from_slice(packed.raw(number)),
            }
        }
        let layouts: Vec<Layout> = indices.iter().map(|index| index.layout.clone()).collect();
        let named: Vec<PickIndex<'_>> = self
            .axes
            .iter()
            .zip(&layouts)
            .map(|(&axis, layout)| along(axis, index_dtype, layout))
            .collect();
        let (array_layout, packed_layout) = (array.layout.clone(), packed.layout.clone());
        let kernel = PickKernel::new(&Pick {
            name: "pick",
            direction,
            dtype,
            array: &array_layout,
            packed: &packed_layout,
            indices: &named,
            positions: (self.at, self.positions.len()),
            along: false,
            mode: IndexMode::Check,
            threads: 3,
        })
        .unwrap();
        let cuts = [1, 2, 5, 6, 13];
        let cuts = &cuts[..numbers.below(cuts.len())];
        let mut check = |kernel: &dyn HostKernel| {
            let (mut packed, mut array) = (packed.clone(), array.clone());
            let mut operands = match direction {
                Direction::Get => vec![&mut packed, &mut array],
                Direction::Set => vec![&mut array, &mut packed],
            };
            operands.extend(&mut indices);
            run(kernel, &mut operands, cuts);
            let found = match direction {
                Direction::Get => packed,
                Direction::Set => array,
            };
            found.check_guards();
            for number in 0..found.layout.size() {
                assert_eq!(
                    found.raw(number),
                    wanted.raw(number),
                    "{self:?} {direction:?} {dtype} {number}"
                );
            }
        };
        check(&kernel);
        let line = (self.axes == [0] && index_dtype == DType::Int64).then(|| {
            LineKernel::new(&Line {
                name: "pick",
                direction,
                dtype,
                array: &array_layout,
                packed: &packed_layout,
                indices: &layouts[0],
                called: 0,
            })
        });
        if let Some(kernel) = line.flatten() {
            check(&kernel);
        }
    }
}

#[test]
fn indices_get_and_set_what_they_name_and_the_last_value_stays() {
    let mut numbers = Numbers(1);
    for _ in 0..12 {
        for &case in CASES {
            for &dtype in DTYPES {
                case.pick(Direction::Get, dtype, &mut numbers);
                case.pick(Direction::Set, dtype, &mut numbers);
            }
        }
    }
}

/// Picks from an array of 5 by an index.
fn pick_one(
    direction: Direction,
    index: (DType, i128),
    mode: IndexMode,
) -> Result<(Array, Array), millpond_hal::KernelError> {
    let plain = |size| Layout::contiguous(&[size], 8).unwrap();
    let mut array = Array::of(DType::Int64, plain(5), |number| Scalar::Int(number as i128));
    let mut packed = Array::of(DType::Int64, plain(1300), |_| Scalar::Int(9));
    let mut indices = Array::of(index.0, plain(1300), |number| {
        Scalar::Int(if number == 1290 { index.1 } else { 1 })
    });
    let (five, many) = (plain(5), plain(1300));
    let kernel = PickKernel::new(&Pick {
        name: "pick",
        direction,
        dtype: DType::Int64,
        array: &five,
        packed: &many,
        indices: &[along(0, index.0, &many)],
        positions: (0, 1),
        along: false,
        mode,
        threads: 2,
    })
    .unwrap();
    let operands = match direction {
        Direction::Get => &mut [&mut packed, &mut array, &mut indices],
        Direction::Set => &mut [&mut array, &mut packed, &mut indices],
    };
    let answer = try_run(&kernel, operands, &[1]);
    packed.check_guards();
    array.check_guards();
    if answer.is_err() && direction == Direction::Set {
        for number in 0..5 {
            assert_eq!(
                array.element(number),
                Scalar::Int(number as i128),
                "left as it was"
            );
        }
    }
    answer.map(|()| (array, packed))
}

#[test]
fn an_index_outside_is_named_and_nothing_is_set() {
    let most = i128::from(u64::MAX);
    let outside = [
        (DType::Int64, 5),
        (DType::Int64, -6),
        (DType::Int64, i128::from(i64::MIN)),
        (DType::Int64, i128::from(i64::MAX)),
        (DType::Uint64, most),
        (DType::Uint64, most - 4),
        (DType::Uint64, 5),
        (DType::Int8, -128),
        (DType::Uint8, 255),
    ];
    for (dtype, index) in outside {
        for direction in [Direction::Get, Direction::Set] {
            let error = pick_one(direction, (dtype, index), IndexMode::Check).unwrap_err();
            assert_eq!(error.kind, FailureKind::Index);
            let wanted = format!("index {index} is out of bounds for axis 0 with size 5");
            assert_eq!(error.reason, wanted);
        }
    }
}

#[test]
fn an_index_outside_of_a_line_is_named_and_nothing_is_set() {
    let plain = |size| Layout::contiguous(&[size], 8).unwrap();
    for (index, direction) in [(5, Direction::Get), (-6, Direction::Set)] {
        let mut array = Array::of(DType::Int64, plain(5), |number| Scalar::Int(number as i128));
        let mut packed = Array::of(DType::Int64, plain(9), |_| Scalar::Int(9));
        let chosen = |number| Scalar::Int(if number == 8 { index } else { 1 });
        let mut indices = Array::of(DType::Int64, plain(9), chosen);
        let kernel = LineKernel::new(&Line {
            name: "indexing",
            direction,
            dtype: DType::Int64,
            array: &plain(5),
            packed: &plain(9),
            indices: &plain(9),
            called: 2,
        });
        let kernel = kernel.unwrap();
        let operands = match direction {
            Direction::Get => &mut [&mut packed, &mut array, &mut indices],
            Direction::Set => &mut [&mut array, &mut packed, &mut indices],
        };
        let error = try_run(&kernel, operands, &[]).unwrap_err();
        assert_eq!(error.kind, FailureKind::Index);
        let wanted = format!("index {index} is out of bounds for axis 2 with size 5");
        assert_eq!(error.reason, wanted);
        assert_eq!(array.element(1), Scalar::Int(1), "left as it was");
    }
}

#[test]
fn modes_bring_an_index_into_its_axis() {
    let most = i128::from(u64::MAX);
    let picked = |index, mode| {
        let (_, packed) = pick_one(Direction::Get, index, mode).unwrap();
        packed.element(1290).to_i128()
    };
    for (dtype, index, clipped, wrapped) in [
        (DType::Int64, -1, 0, 4),
        (DType::Int64, 4, 4, 4),
        (DType::Int64, 5, 4, 0),
        (DType::Int64, -13, 0, 2),
        (DType::Int32, 1003, 4, 3),
        (DType::Uint64, most, 4, most % 5),
        (
            DType::Int64,
            i128::from(i64::MIN),
            0,
            i128::from(i64::MIN).rem_euclid(5),
        ),
    ] {
        assert_eq!(picked((dtype, index), IndexMode::Clip), clipped, "{index}");
        assert_eq!(picked((dtype, index), IndexMode::Wrap), wrapped, "{index}");
    }
}

#[test]
fn positions_may_run_along_the_array() {
    let shape = [3, 4];
    let plain = Layout::contiguous(&shape, 8).unwrap();
    let packed_layout = lay(&[3, 2], 3);
    let mut array = Array::of(DType::Int64, plain.clone(), |number| {
        Scalar::Int(number as i128)
    });
    let mut packed = Array::blank(DType::Int64, packed_layout.clone());
    let chosen = [3, 0, -1, 2, 1, 1];
    let index_layout = lay(&[3, 2], 1);
    let mut indices = Array::of(DType::Int16, index_layout.clone(), |number| {
        Scalar::Int(chosen[number])
    });
    let kernel = PickKernel::new(&Pick {
        name: "take_along_axis",
        direction: Direction::Get,
        dtype: DType::Int64,
        array: &plain,
        packed: &packed_layout,
        indices: &[along(1, DType::Int16, &index_layout)],
        positions: (0, 2),
        along: true,
        mode: IndexMode::Check,
        threads: 2,
    });
    // Two columns are picked of four, so rows must fit and columns needn't.
    run(
        &kernel.unwrap(),
        &mut [&mut packed, &mut array, &mut indices],
        &[1],
    );
    let found: Vec<i128> = (0..6)
        .map(|number| packed.element(number).to_i128())
        .collect();
    assert_eq!(found, [3, 0, 7, 6, 9, 9]);
}

/// A mask over axes of a shape.
#[derive(Clone, Copy, Debug)]
struct MaskCase {
    shape: &'static [usize],
    axis: usize,
    ndim: usize,
}

const MASK_CASES: &[MaskCase] = &[
    MaskCase {
        shape: &[3000],
        axis: 0,
        ndim: 1,
    },
    MaskCase {
        shape: &[40, 50],
        axis: 0,
        ndim: 2,
    },
    MaskCase {
        shape: &[700, 3],
        axis: 0,
        ndim: 2,
    },
    MaskCase {
        shape: &[30, 40],
        axis: 0,
        ndim: 1,
    },
    MaskCase {
        shape: &[6, 700],
        axis: 1,
        ndim: 1,
    },
    MaskCase {
        shape: &[3, 20, 40, 5],
        axis: 1,
        ndim: 2,
    },
    MaskCase {
        shape: &[3, 0, 4],
        axis: 1,
        ndim: 1,
    },
    MaskCase {
        shape: &[3, 4, 0],
        axis: 0,
        ndim: 2,
    },
];

impl MaskCase {
    fn check(self, direction: Direction, dtype: DType, density: usize, numbers: &mut Numbers) {
        let under = self.axis..self.axis + self.ndim;
        let mask_layout = lay(&self.shape[under.clone()], numbers.below(4));
        let chosen: Vec<bool> = (0..mask_layout.size())
            .map(|_| numbers.below(100) < density)
            .collect();
        let mut mask = Array::of(DType::Bool, mask_layout.clone(), |at| {
            Scalar::Bool(chosen[at])
        });
        let total = chosen.iter().filter(|&&yes| yes).count();
        // Counts.
        let count_kernel = MaskCountKernel::new(&mask_layout);
        let counts_layout = Layout::contiguous(&[count_kernel.counts()], 8).unwrap();
        let mut counts = Array::blank(DType::Int64, counts_layout);
        run(&count_kernel, &mut [&mut counts, &mut mask], &[1, 3]);
        counts.check_guards();
        let last = counts.layout.size() - 1;
        assert_eq!(counts.element(last), Scalar::Int(total as i128));
        // Moves.
        let supply = match (direction, numbers.below(3)) {
            (Direction::Set, 0) => Supply::One,
            (Direction::Set, 1) => Supply::Cycle(1 + numbers.below(5)),
            _ => Supply::Each(total),
        };
        let given = match supply {
            Supply::One => 1,
            Supply::Cycle(len) | Supply::Each(len) => len,
        };
        let mut packed_shape: Vec<usize> = self.shape.to_vec();
        packed_shape.splice(under.clone(), [given]);
        let mut packed_layout = lay(&packed_shape, numbers.below(4));
        if supply == Supply::One {
            let steps: Vec<isize> = packed_shape.iter().map(|_| 0).collect();
            packed_layout = Layout::new(&packed_shape, &steps, 2).unwrap();
        }
        let array_layout = lay(self.shape, numbers.below(4));
        let mut array = Array::of(dtype, array_layout.clone(), |at| sample(dtype, at));
        let mut packed = Array::of(dtype, packed_layout.clone(), |at| sample(dtype, at + 3));
        let (mut wanted_array, mut wanted_packed) = (array.clone(), packed.clone());
        for element in 0..array.layout.size() {
            let mut index = unravel(element, self.shape);
            let number = ravel(&index[under.clone()], &self.shape[under.clone()]);
            if !chosen[number] {
                continue;
            }
            let rank = chosen[..number].iter().filter(|&&yes| yes).count();
            index.splice(under.clone(), [rank % given]);
            let other = ravel(&index, &packed_shape);
            match direction {
                Direction::Get => wanted_packed
                    .raw_mut(other)
                    .copy_from_slice(array.raw(element)),
                Direction::Set => wanted_array
                    .raw_mut(element)
                    .copy_from_slice(packed.raw(other)),
            }
        }
        let kernel = MaskKernel::new(&Select {
            name: "select",
            direction,
            dtype,
            array: &array_layout,
            packed: &packed_layout,
            mask: &mask_layout,
            axis: self.axis,
            position: self.axis,
            supply,
        })
        .unwrap();
        // Masks of one block may be counted by the kernel itself.
        let kernel = match numbers.below(2) {
            0 => kernel.counting(),
            _ => kernel,
        };
        let mut operands = match direction {
            Direction::Get => vec![&mut packed, &mut array, &mut mask],
            Direction::Set => vec![&mut array, &mut packed, &mut mask],
        };
        if kernel.takes_counts() {
            operands.push(&mut counts);
        }
        run(&kernel, &mut operands, &[1, 2, 7]);
        for (found, wanted) in [(&array, &wanted_array), (&packed, &wanted_packed)] {
            if supply != Supply::One {
                found.check_guards();
            }
            for number in 0..found.layout.size() {
                assert_eq!(
                    found.raw(number),
                    wanted.raw(number),
                    "{self:?} {direction:?} {dtype} {supply:?}"
                );
            }
        }
    }
}

#[test]
fn masks_get_and_set_what_they_select_in_order() {
    let mut numbers = Numbers(7);
    for density in [0, 2, 50, 97, 100] {
        for &case in MASK_CASES {
            for &dtype in DTYPES {
                for _ in 0..2 {
                    case.check(Direction::Get, dtype, density, &mut numbers);
                    case.check(Direction::Set, dtype, density, &mut numbers);
                }
            }
        }
    }
}

#[test]
fn too_few_values_for_a_mask_are_refused_before_any_is_set() {
    let plain = |size| Layout::contiguous(&[size], 8).unwrap();
    for (supply, given) in [(Supply::Each(3), 3), (Supply::Cycle(0), 0)] {
        let mut mask = Array::of(DType::Bool, plain(1300), |at| Scalar::Bool(at % 2 == 0));
        let mut counts = Array::blank(
            DType::Int64,
            plain(MaskCountKernel::new(&plain(1300)).counts()),
        );
        run(
            &MaskCountKernel::new(&plain(1300)),
            &mut [&mut counts, &mut mask],
            &[],
        );
        let mut array = Array::of(DType::Float64, plain(1300), |_| Scalar::Float(1.0));
        let mut packed = Array::of(DType::Float64, plain(given), |_| Scalar::Float(2.0));
        let select = Select {
            name: "select",
            direction: Direction::Set,
            dtype: DType::Float64,
            array: &plain(1300),
            packed: &plain(given),
            mask: &plain(1300),
            axis: 0,
            position: 0,
            supply,
        };
        let kernel = MaskKernel::new(&select).unwrap();
        let operands = &mut [&mut array, &mut packed, &mut mask, &mut counts];
        let error = try_run(&kernel, operands, &[1]).unwrap_err();
        assert_eq!(error.kind, FailureKind::Value);
        let wanted = format!("{given} values for the 650 elements that the mask selects");
        assert_eq!(error.reason, wanted);
        assert!((0..1300).all(|at| array.element(at) == Scalar::Float(1.0)));
    }
}

#[test]
fn a_kernel_that_counts_refuses_too_few_values_as_well() {
    let plain = |size| Layout::contiguous(&[size], 8).unwrap();
    for (count, supply, selected) in [
        (9, Supply::Each(4), 5),
        (9, Supply::Each(6), 5),
        (9, Supply::Cycle(0), 5),
        (0, Supply::Each(1), 0),
    ] {
        let (Supply::Each(given) | Supply::Cycle(given)) = supply else {
            continue;
        };
        let mut mask = Array::of(DType::Bool, plain(count), |at| Scalar::Bool(at % 2 == 0));
        let mut array = Array::of(DType::Float64, plain(count), |_| Scalar::Float(1.0));
        let mut packed = Array::of(DType::Float64, plain(given), |_| Scalar::Float(2.0));
        let kernel = MaskKernel::new(&Select {
            name: "select",
            direction: Direction::Set,
            dtype: DType::Float64,
            array: &plain(count),
            packed: &plain(given),
            mask: &plain(count),
            axis: 0,
            position: 0,
            supply,
        });
        let kernel = kernel.unwrap().counting();
        assert!(!kernel.takes_counts());
        let operands = &mut [&mut array, &mut packed, &mut mask];
        let error = try_run(&kernel, operands, &[]).unwrap_err();
        let wanted = format!("{given} values for the {selected} elements that the mask selects");
        assert_eq!(error.reason, wanted);
        assert!((0..count).all(|at| array.element(at) == Scalar::Float(1.0)));
    }
}

#[test]
fn a_mask_that_changes_after_it_was_counted_moves_nothing_beyond() {
    let plain = |size| Layout::contiguous(&[size], 8).unwrap();
    let counting = MaskCountKernel::new(&plain(1300));
    for (before, after) in [(3, 2), (2, 3), (1300, 1), (1, 1300)] {
        let chosen = |nth: usize| move |at: usize| Scalar::Bool(at.is_multiple_of(nth));
        let mut mask = Array::of(DType::Bool, plain(1300), chosen(before));
        let mut counts = Array::blank(DType::Int64, plain(counting.counts()));
        run(&counting, &mut [&mut counts, &mut mask], &[]);
        let selected = 1300_usize.div_ceil(before);
        mask = Array::of(DType::Bool, plain(1300), chosen(after));
        let mut array = Array::of(DType::Float64, plain(1300), |_| Scalar::Float(1.0));
        for direction in [Direction::Get, Direction::Set] {
            let mut packed = Array::of(DType::Float64, plain(selected), |_| Scalar::Float(2.0));
            let kernel = MaskKernel::new(&Select {
                name: "select",
                direction,
                dtype: DType::Float64,
                array: &plain(1300),
                packed: &plain(selected),
                mask: &plain(1300),
                axis: 0,
                position: 0,
                supply: Supply::Each(selected),
            })
            .unwrap();
            let operands = match direction {
                Direction::Get => &mut [&mut packed, &mut array, &mut mask, &mut counts],
                Direction::Set => &mut [&mut array, &mut packed, &mut mask, &mut counts],
            };
            let error = try_run(&kernel, operands, &[]).unwrap_err();
            assert!(error.reason.contains("the mask was changed"), "{error}");
            packed.check_guards();
        }
        let mut places = Array::blank(DType::Int64, plain(selected));
        let kernel = NonzeroKernel::new(&plain(1300), 0, &plain(selected)).unwrap();
        let operands = &mut [&mut places, &mut mask, &mut counts];
        assert!(try_run(&kernel, operands, &[]).is_err());
        places.check_guards();
    }
}

#[test]
fn coordinates_are_in_order_on_every_axis() {
    let mut numbers = Numbers(3);
    for shape in [&[2000][..], &[50, 31], &[7, 5, 40], &[300, 2, 3], &[4, 0]] {
        for kind in 0..4 {
            let layout = lay(shape, kind);
            let chosen: Vec<bool> = (0..layout.size()).map(|_| numbers.below(3) == 0).collect();
            // Memory of others may hold any byte for a truth value.
            let mut mask = Array::of(DType::Uint8, layout.clone(), |at| {
                Scalar::Int(if chosen[at] { 1 + at as i128 % 255 } else { 0 })
            });
            let kernel = MaskCountKernel::new(&layout);
            let counts_layout = Layout::contiguous(&[kernel.counts()], 8).unwrap();
            let mut counts = Array::blank(DType::Int64, counts_layout);
            run(&kernel, &mut [&mut counts, &mut mask], &[]);
            let total = chosen.iter().filter(|&&yes| yes).count();
            for axis in 0..shape.len() {
                let mut out = Array::blank(DType::Int64, lay(&[total], numbers.below(3)));
                let kernel = NonzeroKernel::new(&layout, axis, &out.layout).unwrap();
                run(&kernel, &mut [&mut out, &mut mask, &mut counts], &[1]);
                out.check_guards();
                let elements = (0..layout.size()).filter(|&at| chosen[at]);
                for (rank, element) in elements.enumerate() {
                    let wanted = unravel(element, shape)[axis];
                    assert_eq!(out.element(rank), Scalar::Int(wanted as i128));
                }
            }
        }
    }
}
