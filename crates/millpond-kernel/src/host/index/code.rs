//! Getting and setting elements by indices, on devices that compile.

use std::sync::OnceLock;

use millpond_hal::code::{Call, DeviceCode, Launches, Machine, Report};
use millpond_hal::{Address, KernelError};
use millpond_types::DType;
use smallvec::{SmallVec, smallvec};

use super::line::LineKernel;
use super::offsets::outside;
use super::pick::PickKernel;
use super::{Direction, IndexMode};
use crate::device::elements::{Array, Base, Elements, Pick, Step};
use crate::device::put::{Put, bytes_dtype};

/// What a kernel is on devices; made when it is first asked for, since hosts need none.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "kernels box it as a whole")]
pub(super) enum Picked {
    Get(Elements),
    Set(Put),
}

/// Where a kernel keeps what it is on devices: nothing, if it has no code. It is small, as kernels are
/// moved.
pub(super) type Kept = OnceLock<Option<Box<Picked>>>;

impl Picked {
    fn fits(&self) -> bool {
        match self {
            Self::Get(elements) => elements.fits(),
            Self::Set(put) => put.fits(),
        }
    }
}

/// One index for each position, along an axis.
#[derive(Clone)]
struct Named {
    /// The indices, with steps along the positions.
    array: Array,
    /// Elements of the axis, and bytes from one to the next.
    size: usize,
    step: isize,
}

/// Elements that indices name, and those on the packed side.
struct Sides<'a> {
    direction: Direction,
    item: usize,
    mode: IndexMode,
    /// The sizes of the positions, in order, and of the axes that no index names.
    positions: &'a [usize],
    kept: SmallVec<[usize; 3]>,
    /// Bytes to the first element of the packed side and of the array, with steps along the positions and
    /// the other axes.
    packed: (isize, SmallVec<[isize; 3]>),
    array: (isize, SmallVec<[isize; 3]>),
    indices: SmallVec<[Named; 1]>,
}

impl Sides<'_> {
    /// An array of elements of which the bytes are all that counts.
    fn side(&self, operand: usize, (offset, strides): &(isize, SmallVec<[isize; 3]>)) -> Array {
        Array {
            dtype: bytes_dtype(self.item),
            base: Base::Operand(operand),
            offset: *offset,
            strides: strides.clone(),
        }
    }

    /// Appends the step that picks from an array.
    fn pick(&self, elements: &mut Elements, array: usize) -> usize {
        let axes = elements.axes.len();
        let mut indices = SmallVec::new();
        let mut sizes = SmallVec::new();
        for named in &self.indices {
            let mut from = named.array.clone();
            from.strides.resize(axes, 0);
            let from = elements.array(from);
            indices.push(elements.load(from));
            sizes.push(scalars(elements, named.size, named.step));
        }
        // The report's base comes after those of all operands.
        let report = elements.array(Array {
            dtype: DType::Uint64,
            base: Base::Operand(2 + self.indices.len()),
            offset: 0,
            strides: SmallVec::from_elem(0, axes),
        });
        let pick = Pick {
            array,
            indices,
            axes: sizes,
            mode: self.mode,
            report,
        };
        let dtype = elements.arrays[array].dtype;
        elements.push(Step::Pick(pick), dtype)
    }

    fn picked(&self) -> Picked {
        match self.direction {
            Direction::Get => Picked::Get(self.get()),
            Direction::Set => Picked::Set(self.set()),
        }
    }

    fn get(&self) -> Elements {
        let mut elements = Elements::over(self.positions.iter().chain(&self.kept).copied());
        let packed = elements.array(self.side(0, &self.packed));
        let array = elements.array(self.side(1, &self.array));
        let picked = self.pick(&mut elements, array);
        elements.stores.push((picked, packed));
        elements.sort_axes(packed);
        elements.join_axes();
        elements
    }

    fn set(&self) -> Put {
        let ndim = self.positions.len();
        let (along, across) = self.array.1.split_at(ndim);
        // The bytes between the first place and those that lie furthest on either side.
        let positions = self.positions.iter().copied().zip(along.iter().copied());
        let named = self.indices.iter().map(|named| (named.size, named.step));
        let (mut below, mut above) = (0, 0);
        for (size, step) in positions.chain(named) {
            let far = step * (size as isize - 1).max(0);
            below += far.min(0);
            above += far.max(0);
        }
        let mut marking = Elements::over(self.positions.iter().copied());
        let place = marking.array(Array {
            dtype: bytes_dtype(self.item),
            base: Base::Address(0),
            offset: -below,
            strides: along.into(),
        });
        self.pick(&mut marking, place);
        marking.join_axes();
        let mut moving = Elements::over(self.positions.iter().chain(&self.kept).copied());
        let packed = moving.array(self.side(1, &self.packed));
        let steps = self
            .positions
            .iter()
            .map(|_| 0)
            .chain(across.iter().copied());
        moving.array(self.side(0, &(self.array.0 + below, steps.collect())));
        moving.array(Array {
            dtype: DType::Uint8,
            base: Base::Address(0),
            offset: 0,
            strides: in_order(self.positions, moving.axes.len()),
        });
        moving.sort_axes(packed);
        moving.join_axes();
        let line = match &moving.arrays[..] {
            [packed, _, number] if moving.axes.len() == 1 => {
                // One element for each position, in their order; a single position has any step.
                let is_all = number.strides[0] == 1 && self.kept.iter().all(|&size| size == 1);
                is_all.then_some(packed.strides[0])
            }
            _ => None,
        };
        Put {
            item: self.item,
            places: (above - below) as usize / self.item + 1,
            marking,
            moving,
            line,
        }
    }
}

/// Steps of the numbers of elements of a shape, and of none along the axes behind.
fn in_order(shape: &[usize], axes: usize) -> SmallVec<[isize; 3]> {
    let mut steps = SmallVec::from_elem(0, axes);
    let mut step = 1;
    for (at, &size) in shape.iter().enumerate().rev() {
        steps[at] = step;
        step *= size as isize;
    }
    steps
}

/// The scalars of an axis: its size, and bytes of a step.
fn scalars(elements: &mut Elements, size: usize, step: isize) -> [usize; 2] {
    [size as i64, step as i64].map(|number| {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_ne_bytes());
        elements.scalar(DType::Int64, bytes)
    })
}

/// Kernels that pick elements by indices.
trait Picking {
    /// What it is on devices, if it has code.
    fn picked(&self) -> Option<&Picked>;

    /// Of the indices of a number: whether they have a sign, what their axis is called, and its size.
    fn axis(&self, number: usize) -> (bool, usize, usize);

    fn operands(&self) -> usize;

    fn launches(&self, call: &Call<'_>) -> Launches {
        let mut bases: SmallVec<[Address; 4]> = call.bases[..self.operands()].into();
        match self.picked() {
            Some(Picked::Get(elements)) => {
                bases.push(call.report);
                let bases = &bases;
                elements.launches(&Call { bases, ..*call })
            }
            Some(Picked::Set(put)) => {
                bases.push(call.scratch);
                put.launches(call, &bases)
            }
            None => Launches::new(),
        }
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

impl Picking for PickKernel {
    fn picked(&self) -> Option<&Picked> {
        let make = || {
            // What is there can be got or set, whatever indices say.
            let is_there =
                self.kept.size() > 0 && self.indices.iter().all(|index| index.size() > 0);
            if !is_there {
                return None;
            }
            let positions = &self.positions_shape[..];
            let kept = self.kept.axes();
            let side = |operand: usize| {
                let steps = self.positions.strides(operand, positions).into_iter();
                let steps = steps.chain(kept.iter().map(|axis| axis.strides[operand]));
                let begin = self.positions.begin()[operand] + self.kept.begin()[operand];
                (begin, steps.collect())
            };
            let indices = self
                .indices
                .iter()
                .enumerate()
                .map(|(number, index)| Named {
                    array: Array {
                        dtype: index.dtype(),
                        base: Base::Operand(2 + number),
                        offset: index.space().begin()[0],
                        strides: index.space().strides(0, positions),
                    },
                    size: index.size(),
                    step: index.stride(),
                });
            let sides = Sides {
                direction: self.direction,
                item: self.dtype.size(),
                mode: self.mode,
                positions,
                kept: kept.iter().map(|axis| axis.size).collect(),
                packed: side(0),
                array: side(1),
                indices: indices.collect(),
            };
            Some(Box::new(sides.picked())).filter(|picked| picked.fits())
        };
        self.picked.get_or_init(make).as_deref()
    }

    fn axis(&self, number: usize) -> (bool, usize, usize) {
        let index = &self.indices[number];
        (index.dtype() != DType::Uint64, index.called(), index.size())
    }

    fn operands(&self) -> usize {
        2 + self.indices.len()
    }
}

impl Picking for LineKernel {
    fn picked(&self) -> Option<&Picked> {
        let make = || {
            let (count, begin) = self.indices;
            let line = |begin: usize, step: isize| (begin as isize, smallvec![step]);
            let sides = Sides {
                direction: self.direction,
                item: self.dtype.size(),
                mode: IndexMode::Check,
                positions: &[count],
                kept: SmallVec::new(),
                packed: line(self.begins[1], self.step as isize),
                array: line(self.begins[0], 0),
                indices: smallvec![Named {
                    array: Array {
                        dtype: DType::Int64,
                        base: Base::Operand(2),
                        offset: begin as isize,
                        strides: smallvec![size_of::<i64>() as isize],
                    },
                    size: self.axis.size(),
                    step: self.stride,
                }],
            };
            (self.axis.size() > 0).then(|| Box::new(sides.picked()))
        };
        self.picked.get_or_init(make).as_deref()
    }

    fn axis(&self, _: usize) -> (bool, usize, usize) {
        (true, self.called, self.axis.size())
    }

    fn operands(&self) -> usize {
        3
    }
}

macro_rules! picking {
    ($($kernel:ident)*) => { $(
        impl $kernel {
            /// Its code for devices, if it has any.
            pub(super) fn code(&self) -> Option<&dyn DeviceCode> {
                self.picked().is_some().then_some(self)
            }
        }

        // SAFETY: what is loaded and stored are elements of the layouts, which lie within the
        // footprints: an index outside of its axis names its first element, which is there. The rest
        // lies within the scratch memory.
        unsafe impl DeviceCode for $kernel {
            fn key(&self, key: &mut Vec<u8>) {
                match self.picked() {
                    Some(Picked::Get(elements)) => elements.key(key),
                    Some(Picked::Set(put)) => put.key(key),
                    None => {}
                }
            }

            fn source(&self) -> String {
                match self.picked() {
                    Some(Picked::Get(elements)) => elements.source(),
                    Some(Picked::Set(put)) => put.source(),
                    None => String::new(),
                }
            }

            fn scratch(&self, _: &Machine) -> usize {
                match self.picked() {
                    Some(Picked::Set(put)) => put.scratch(),
                    _ => 0,
                }
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
