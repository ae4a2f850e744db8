//! Getting elements by indices, on devices that compile. Setting is the host's: of several values for
//! one element the last one stays.

use millpond_hal::code::{Call, DeviceCode, Launches, Report};
use millpond_hal::{Address, KernelError};
use millpond_types::DType;
use smallvec::{SmallVec, smallvec};

use super::line::LineKernel;
use super::offsets::outside;
use super::pick::PickKernel;
use super::{Direction, IndexMode};
use crate::device::elements::{Array, Base, Elements, Pick, Step};

/// Kernels that get elements by indices.
trait Picking {
    /// What is done for each element; the report's base comes after those of all operands.
    fn elements(&self) -> Elements;

    /// Of the indices of a number: whether they have a sign, what their axis is called, and its size.
    fn axis(&self, number: usize) -> (bool, usize, usize);

    fn operands(&self) -> usize;

    fn launches(&self, call: &Call<'_>) -> Launches {
        let mut bases: SmallVec<[Address; 4]> = call.bases[..self.operands()].into();
        bases.push(call.report);
        self.elements().launches(&Call {
            bases: &bases,
            ..*call
        })
    }

    fn error(&self, [_, number, index, _]: Report) -> KernelError {
        let (is_signed, called, size) = self.axis(number as usize);
        let index = if is_signed {
            i128::from(index.cast_signed())
        } else {
            i128::from(index)
        };
        outside(index, called, size)
    }
}

/// The scalars of an axis: its size, and bytes of a step.
fn scalars(elements: &mut Elements, size: usize, step: isize) -> [usize; 2] {
    [size as i64, step as i64].map(|number| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_ne_bytes());
        elements.scalar(DType::Int64, bytes)
    })
}

/// The array that is the report.
fn report(elements: &mut Elements, operands: usize) -> usize {
    let strides = elements.axes.iter().map(|_| 0).collect();
    let (base, dtype) = (Base::Operand(operands), DType::Uint64);
    elements.array(Array {
        dtype,
        base,
        offset: 0,
        strides,
    })
}

impl Picking for PickKernel {
    fn elements(&self) -> Elements {
        let positions = &self.positions_shape[..];
        let kept = self.kept.axes();
        let sizes = positions
            .iter()
            .copied()
            .chain(kept.iter().map(|axis| axis.size));
        let mut elements = Elements::over(sizes);
        let side = |operand: usize| Array {
            dtype: self.dtype,
            base: Base::Operand(operand),
            offset: self.positions.begin()[operand] + self.kept.begin()[operand],
            strides: self
                .positions
                .strides(operand, positions)
                .into_iter()
                .chain(kept.iter().map(|axis| axis.strides[operand]))
                .collect(),
        };
        let packed = elements.array(side(0));
        let array = elements.array(side(1));
        let mut indices = SmallVec::new();
        let mut axes = SmallVec::new();
        for (number, index) in self.indices.iter().enumerate() {
            let (space, dtype) = (index.space(), index.dtype());
            let steps = space.strides(0, positions).into_iter();
            let from = elements.array(Array {
                dtype,
                base: Base::Operand(2 + number),
                offset: space.begin()[0],
                strides: steps.chain(kept.iter().map(|_| 0)).collect(),
            });
            indices.push(elements.load(from));
            axes.push(scalars(&mut elements, index.size(), index.stride()));
        }
        let report = report(&mut elements, 2 + self.indices.len());
        let pick = Pick {
            array,
            indices,
            axes,
            mode: self.mode,
            report,
        };
        let picked = elements.push(Step::Pick(pick), self.dtype);
        elements.stores.push((picked, packed));
        elements.sort_axes(packed);
        elements.join_axes();
        elements
    }

    fn axis(&self, number: usize) -> (bool, usize, usize) {
        let index = &self.indices[number];
        (index.dtype() != DType::Uint64, index.called(), index.size())
    }

    fn operands(&self) -> usize {
        2 + self.indices.len()
    }
}

impl PickKernel {
    /// Whether devices have code for it: what is there to get can be got, whatever indices say.
    pub(super) fn has_code(&self) -> bool {
        self.direction == Direction::Get
            && self.kept.size() > 0
            && self.indices.iter().all(|index| index.size() > 0)
            && self.elements().fits()
    }
}

impl Picking for LineKernel {
    fn elements(&self) -> Elements {
        let (count, begin) = self.indices;
        let mut elements = Elements::over([count]);
        let array = |dtype: DType, operand, offset: usize, step| Array {
            dtype,
            base: Base::Operand(operand),
            offset: offset as isize,
            strides: smallvec![step],
        };
        let packed = elements.array(array(self.dtype, 0, self.begins[1], self.step as isize));
        let from = elements.array(array(self.dtype, 1, self.begins[0], 0));
        let indices = elements.array(array(DType::Int64, 2, begin, size_of::<i64>() as isize));
        let indices = smallvec![elements.load(indices)];
        let axes = smallvec![scalars(&mut elements, self.axis.size(), self.stride)];
        let report = report(&mut elements, 3);
        let pick = Pick {
            array: from,
            indices,
            axes,
            mode: IndexMode::Check,
            report,
        };
        let picked = elements.push(Step::Pick(pick), self.dtype);
        elements.stores.push((picked, packed));
        elements
    }

    fn axis(&self, _: usize) -> (bool, usize, usize) {
        (true, self.called, self.axis.size())
    }

    fn operands(&self) -> usize {
        3
    }
}

impl LineKernel {
    /// Whether devices have code for it.
    pub(super) fn has_code(&self) -> bool {
        self.direction == Direction::Get && self.axis.size() > 0
    }
}

macro_rules! picking {
    ($($kernel:ident)*) => { $(
        // SAFETY: what is loaded and stored are elements of the layouts, which lie within the
        // footprints: an index outside of its axis names its first element, which is there.
        unsafe impl DeviceCode for $kernel {
            fn key(&self, key: &mut Vec<u8>) {
                self.elements().key(key);
            }

            fn source(&self) -> String {
                self.elements().source()
            }

            fn reports(&self) -> bool {
                true
            }

            fn launches(&self, call: &Call<'_>) -> Launches {
                Picking::launches(self, call)
            }

            fn error(&self, report: Report) -> KernelError {
                Picking::error(self, report)
            }
        }
    )* };
}

picking!(PickKernel LineKernel);
