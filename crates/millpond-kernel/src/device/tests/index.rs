//! Cases of getting elements by indices.

use millpond_hal::HostKernel;
use millpond_types::{DType, Layout, Scalar};

use super::Case;
use crate::host::tests::array::{Array, sample};
use crate::{Direction, IndexMode, Line, LineKernel, Pick, PickIndex, PickKernel};

/// An array of a shape, some indices along some of its axes, and what the packed side is.
struct Picked {
    array: Layout,
    packed: Layout,
    positions: (usize, usize),
    along: bool,
    /// Axes and shapes of the indices.
    axes: &'static [usize],
    shape: Layout,
}

/// What a kernel does with indices, whichever way elements go.
pub(super) struct Picking {
    pub(super) direction: Direction,
    /// The axes with indices.
    pub(super) axes: &'static [usize],
    /// The axes of the packed side that stand for the positions.
    pub(super) positions: (usize, usize),
    pub(super) along: bool,
    pub(super) dtype: DType,
    pub(super) index_dtype: DType,
    pub(super) mode: IndexMode,
}

impl Picking {
    /// The case of these arrays: what is written, what is read, and the indices.
    pub(super) fn case(self, arrays: Vec<Array>) -> Case {
        let make = move |arrays: &mut [Array]| {
            let axes = self.axes.iter().zip(&arrays[2..]);
            let indices = axes.map(|(&axis, array)| PickIndex {
                axis,
                called: axis,
                dtype: self.index_dtype,
                layout: &array.layout,
            });
            let (name, array, packed) = match self.direction {
                Direction::Get => ("take", &arrays[1], &arrays[0]),
                Direction::Set => ("put", &arrays[0], &arrays[1]),
            };
            let kernel = PickKernel::new(&Pick {
                name,
                direction: self.direction,
                dtype: self.dtype,
                array: &array.layout,
                packed: &packed.layout,
                indices: &indices.collect::<Vec<_>>(),
                positions: self.positions,
                along: self.along,
                mode: self.mode,
                threads: 1,
            });
            Box::new(kernel.unwrap()) as Box<dyn HostKernel>
        };
        Case {
            arrays,
            make: Box::new(make),
            ulp: 0,
        }
    }
}

pub(super) fn plain(shape: &[usize]) -> Layout {
    Layout::contiguous(shape, 1).unwrap()
}

/// Indices of a dtype, within the axis unless `modes` may bring them there.
fn indices(dtype: DType, layout: Layout, size: usize, mode: IndexMode) -> Array {
    Array::of(dtype, layout, |number| {
        let index = (number * 7 + 3) as i128 % (2 * size as i128) - size as i128;
        let index = match mode {
            IndexMode::Check if dtype == DType::Uint64 => index.rem_euclid(size as i128),
            IndexMode::Check => index,
            _ => index * 3,
        };
        Scalar::Int(if dtype == DType::Uint64 {
            index.abs()
        } else {
            index
        })
    })
}

fn case(picked: Picked, index_dtype: DType, mode: IndexMode) -> Case {
    let dtype = DType::Float32;
    let source = Array::of(dtype, picked.array.clone(), |index| sample(dtype, index));
    let packed = Array::blank(dtype, picked.packed);
    let found = picked.axes.iter().map(|&axis| {
        indices(
            index_dtype,
            picked.shape.clone(),
            picked.array.shape()[axis],
            mode,
        )
    });
    let picking = Picking {
        direction: Direction::Get,
        axes: picked.axes,
        positions: picked.positions,
        along: picked.along,
        dtype,
        index_dtype,
        mode,
    };
    picking.case([packed, source].into_iter().chain(found).collect())
}

/// Rows, columns, single elements, elements along an axis, and none at all.
pub(super) fn picks() -> Vec<Case> {
    let mut cases = Vec::new();
    for (dtype, mode) in [
        (DType::Int64, IndexMode::Check),
        (DType::Uint64, IndexMode::Check),
        (DType::Int8, IndexMode::Wrap),
        (DType::Uint64, IndexMode::Clip),
        (DType::Int32, IndexMode::Clip),
    ] {
        let rows = Picked {
            array: plain(&[9, 5]),
            packed: plain(&[70, 5]),
            positions: (0, 1),
            along: false,
            axes: &[0],
            shape: plain(&[70]),
        };
        let columns = Picked {
            array: Layout::new(&[9, 5], &[1, 9], 4).unwrap(),
            packed: plain(&[9, 2, 6]),
            positions: (1, 2),
            along: false,
            axes: &[1],
            shape: Layout::new(&[2, 6], &[1, 2], 1).unwrap(),
        };
        let elements = Picked {
            array: plain(&[9, 5]),
            packed: Layout::new(&[70], &[2], 1).unwrap(),
            positions: (0, 1),
            along: false,
            axes: &[0, 1],
            shape: plain(&[70]),
        };
        let along = Picked {
            array: plain(&[9, 5]),
            packed: plain(&[9, 3]),
            positions: (0, 2),
            along: true,
            axes: &[1],
            shape: plain(&[9, 3]),
        };
        let none = Picked {
            array: plain(&[9, 5]),
            packed: plain(&[0, 5]),
            positions: (0, 1),
            along: false,
            axes: &[0],
            shape: plain(&[0]),
        };
        let none_along = Picked {
            array: plain(&[5, 7]),
            packed: plain(&[0, 7]),
            positions: (0, 2),
            along: true,
            axes: &[0],
            shape: plain(&[0, 7]),
        };
        for picked in [rows, columns, elements, along, none, none_along] {
            cases.push(case(picked, dtype, mode));
        }
    }
    cases
}

/// Elements of a line, and one that it doesn't have.
pub(super) fn lines() -> Vec<Case> {
    let line = |last: i128| Case {
        arrays: vec![
            Array::blank(DType::Int16, plain(&[11])),
            Array::of(
                DType::Int16,
                Layout::new(&[8], &[-2], 15).unwrap(),
                |index| sample(DType::Int16, index),
            ),
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
                name: "take",
                direction: Direction::Get,
                dtype: DType::Int16,
                array: &arrays[1].layout,
                packed: &arrays[0].layout,
                indices: &arrays[2].layout,
                called: 2,
            });
            Box::new(line.unwrap())
        }),
        ulp: 0,
    };
    vec![line(7), line(8), line(-9)]
}
