//! The calls that a transform is, by sizes and steps alone.
//!
//! The library takes lines whose elements are any distance apart, and one axis of them. What lies
//! otherwise, is too short for its points, or would be overwritten by the library goes through scratch
//! memory, where lines follow one another; so does a result whose lines lie along too many axes.

use millpond_hal::library::{LibraryWork, Matrix, Spectrum, Task};
use millpond_types::DType;
use smallvec::SmallVec;

use super::super::pieces::{Axes, Axis, Carry, Mode, STACK, joined};
use super::table::Direction;
use crate::api::Pointer;

/// The most calls that lines along several axes are transformed by; what would take more goes through
/// scratch memory.
const CALLS: usize = 8;

/// What places in scratch memory are aligned to.
const ALIGNED: usize = 256;

/// What the library is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    pub(crate) plan: Spec,
    pub(crate) direction: Direction,
    /// The result, and the input.
    pub(crate) sides: [Side; 2],
    /// Bytes behind the first lines that each call begins with, of the result and of the input.
    pub(crate) calls: SmallVec<[[isize; 2]; 1]>,
    /// The axes of all lines as they lie in the kernel's operands: the result, and the input.
    axes: Axes,
    /// Where the imaginary part of a real signal's spectrum doesn't count.
    last: Option<usize>,
    scale: f64,
}

/// What a plan is made for. Everything is in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Spec {
    pub(crate) length: usize,
    /// Of the result, and of the input.
    pub(crate) dtypes: [DType; 2],
    /// From one element of a line to the next.
    pub(crate) steps: [usize; 2],
    /// From one line to the next.
    pub(crate) distances: [usize; 2],
    pub(crate) count: usize,
}

/// The result or the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Side {
    line: Matrix,
    /// Elements of a line as the library takes it.
    points: usize,
    /// Whether lines go through scratch memory.
    carried: bool,
}

impl Form {
    /// The form of a transform, if it has one.
    pub(crate) fn of(work: &LibraryWork) -> Option<Self> {
        let Task::Transform {
            spectrum,
            length,
            scale,
        } = work.task
        else {
            return None;
        };
        let &[result, input] = &work.operands[..] else {
            return None;
        };
        let half = length / 2 + 1;
        let (points, direction) = match spectrum {
            Spectrum::Forward => ([length, length], Direction::Forward),
            Spectrum::Inverse => ([length, length], Direction::Inverse),
            Spectrum::RealForward => ([half, length], Direction::Forward),
            Spectrum::RealInverse => ([length, half], Direction::Inverse),
        };
        let items = [result, input].map(|line| line.dtype.size() as isize);
        let last = (spectrum == Spectrum::RealInverse).then(|| {
            // An odd number of points has no other end.
            if length.is_multiple_of(2) {
                length / 2
            } else {
                0
            }
        });
        let step = |line: Matrix, item: isize| line.steps[1] / item;
        let strides = [step(result, items[0]), step(input, items[1])];
        let forwards = |side: usize| strides[side] > 0 || points[side] == 1;
        let axes: Axes = work
            .stack
            .iter()
            .filter(|axis| axis.size > 1)
            .map(|axis| {
                (
                    axis.size,
                    [axis.steps[0] / items[0], axis.steps[1] / items[1]],
                )
            })
            .collect();
        if axes.len() > STACK {
            return None;
        }
        let mut carried = [
            !forwards(0),
            !forwards(1) || input.columns < points[1] || last.is_some(),
        ];
        // What goes through scratch memory runs on in one axis; the input first, as it may have to
        // anyway.
        for side in [None, Some(1), Some(0)] {
            if let Some(side) = side {
                carried[side] = true;
            }
            let lines = joined(&lines(&axes, points, carried));
            let Some((along, others)) = split(&lines) else {
                continue;
            };
            let number: usize = others.iter().map(|(size, _)| size).product();
            if number > CALLS {
                continue;
            }
            let (count, distances) = along.unwrap_or((1, points.map(|points| points as isize)));
            let steps = [0, 1].map(|side| {
                if carried[side] || points[side] == 1 {
                    1
                } else {
                    strides[side].unsigned_abs()
                }
            });
            let spec = Spec {
                length,
                dtypes: [result.dtype, input.dtype],
                steps,
                distances: distances.map(isize::unsigned_abs),
                count,
            };
            let calls = (0..number).map(|number| begin_of(number, &others, items));
            let calls: SmallVec<[[isize; 2]; 1]> = calls.collect();
            // Of a real signal pairs are read at once.
            let pair = items[0].max(items[1]);
            if calls.iter().flatten().any(|begin| begin % pair != 0) {
                continue;
            }
            return Some(Self {
                plan: spec,
                direction,
                sides: [0, 1].map(|side| Side {
                    line: [result, input][side],
                    points: points[side],
                    carried: carried[side],
                }),
                calls,
                axes,
                last,
                scale,
            });
        }
        None
    }

    /// Whether something is done that the library doesn't do.
    pub(crate) fn needs_pieces(&self) -> bool {
        self.scale != 1.0 || self.sides.iter().any(|side| side.carried)
    }

    /// Whether the library takes elements at these bases: whole ones, and of a real signal pairs.
    pub(crate) fn is_aligned(&self, bases: [usize; 2]) -> bool {
        let item = self.plan.dtypes.map(DType::size).into_iter().max();
        let is_aligned = |side: usize| {
            let line = &self.sides[side].line;
            let needed = if self.sides[side].carried {
                line.dtype.size()
            } else {
                item.unwrap_or(1)
            };
            bases[side]
                .wrapping_add_signed(line.begin)
                .is_multiple_of(needed)
        };
        is_aligned(0) && is_aligned(1)
    }

    /// Bytes of scratch memory of the result and the input, and where the plan's own begin.
    pub(crate) fn scratch(&self) -> [usize; 3] {
        let lines: usize = self.axes.iter().map(|(size, _)| size).product();
        let mut begin = 0;
        let mut begins = [0; 3];
        for (side, place) in self.sides.iter().zip(&mut begins) {
            *place = begin;
            if side.carried {
                let bytes = lines * side.points * side.line.dtype.size();
                begin += bytes.next_multiple_of(ALIGNED);
            }
        }
        begins[2] = begin;
        begins
    }

    /// Where the library finds the result and the input.
    pub(crate) fn addresses(&self, bases: [usize; 2], scratch: Pointer) -> [Pointer; 2] {
        let places = self.scratch();
        [0, 1].map(|side| {
            let it = &self.sides[side];
            if it.carried {
                scratch + places[side] as Pointer
            } else {
                bases[side].wrapping_add_signed(it.line.begin) as Pointer
            }
        })
    }

    /// What brings the input to scratch memory, with zeros behind it.
    pub(crate) fn carry_in(&self, bases: [usize; 2], scratch: Pointer) -> Option<Carry> {
        let side = &self.sides[1];
        if !side.carried {
            return None;
        }
        let own = bases[1].wrapping_add_signed(side.line.begin) as Pointer;
        let [_, there] = self.addresses(bases, scratch);
        let mut carry = self.carry(1, [there, own], [true, false]);
        carry.given = [1, side.line.columns.min(side.points)];
        if let Some(last) = self.last {
            carry.modes = Mode::Ends as u64;
            carry.last = last;
        }
        Some(carry)
    }

    /// What multiplies the result, and brings it out of scratch memory.
    pub(crate) fn carry_out(&self, bases: [usize; 2], scratch: Pointer) -> Option<Carry> {
        let side = &self.sides[0];
        if !side.carried && self.scale == 1.0 {
            return None;
        }
        let own = bases[0].wrapping_add_signed(side.line.begin) as Pointer;
        let [there, _] = self.addresses(bases, scratch);
        let mut carry = self.carry(0, [own, there], [false, side.carried]);
        carry.scale = self.scale;
        Some(carry)
    }

    /// What copies all lines of a side: whether each end lies in scratch memory, to and from.
    fn carry(&self, side: usize, addresses: [Pointer; 2], scratch: [bool; 2]) -> Carry {
        let it = &self.sides[side];
        let packed = lines(&self.axes, [it.points; 2], [true; 2]);
        let stack = self.axes.iter().zip(&packed);
        let stack: Axes = stack
            .map(|((size, own), (_, packed))| {
                let step = |scratch: bool| if scratch { packed[0] } else { own[side] };
                (*size, scratch.map(step))
            })
            .collect();
        let own = it.line.steps[1] / it.line.dtype.size() as isize;
        let step = |scratch: bool| if scratch { [0, 1] } else { [0, own] };
        Carry {
            stack: joined(&stack),
            steps: scratch.map(step),
            ..Carry::of_one(it.line.dtype, addresses, [1, it.points])
        }
    }
}

/// The axes of lines, with those that are carried one after the other.
fn lines(axes: &[Axis], points: [usize; 2], carried: [bool; 2]) -> Axes {
    let mut step = points.map(|points| points as isize);
    let mut lines: Axes = SmallVec::new();
    for (size, own) in axes.iter().rev() {
        let steps = [0, 1].map(|side| if carried[side] { step[side] } else { own[side] });
        lines.insert(0, (*size, steps));
        step = step.map(|step| step * *size as isize);
    }
    lines
}

/// The largest axis that the library can go along, and the others. `None` where there are axes and
/// none will do: the library takes no steps backwards.
fn split(axes: &[Axis]) -> Option<(Option<Axis>, Axes)> {
    let mut others: Axes = axes.into();
    if axes.is_empty() {
        return Some((None, others));
    }
    let forwards = |steps: &[isize; 2]| steps.iter().all(|&step| step > 0);
    let along = (0..others.len())
        .filter(|&axis| forwards(&others[axis].1))
        .max_by_key(|&axis| others[axis].0)?;
    let along = others.remove(along);
    Some((Some(along), others))
}

/// Bytes behind the first lines that the call of a number begins with.
fn begin_of(number: usize, axes: &[Axis], items: [isize; 2]) -> [isize; 2] {
    let mut begins = [0; 2];
    let mut rest = number;
    for (size, steps) in axes.iter().rev() {
        let at = (rest % size) as isize;
        rest /= size;
        for side in [0, 1] {
            begins[side] += steps[side] * at * items[side];
        }
    }
    begins
}
