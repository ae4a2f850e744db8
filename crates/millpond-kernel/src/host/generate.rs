//! Arrays made from nothing but a rule: constants, ranges, identity, and triangles of an array.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Kind, Layout, Scalar, Shape};
use num_complex::Complex;
use smallvec::SmallVec;

use crate::error::{PlanError, UnsupportedDType};
use crate::host::gather::scatter;
use crate::host::map::{Input, MapKernel};
use crate::host::tile::TILE_BYTES;
use crate::template::space::Space;

/// What an element is, by its number in row-major order or its place in the last two axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// `start + i * step`, computed in the kind of the dtype: exact for integers, rounded twice
    /// for floats.
    Arange {
        /// The first element.
        start: Scalar,
        /// From one element to the next.
        step: Scalar,
    },
    /// `count` numbers from `start` to `stop`, evenly spaced. The first is `start`; the last is
    /// `stop` to the bit if `endpoint`, else one step before.
    Linspace {
        /// The first element.
        start: Scalar,
        /// The end of the interval.
        stop: Scalar,
        /// The number of elements.
        count: usize,
        /// Whether the interval's end is an element.
        endpoint: bool,
    },
    /// One where the column is the row plus `diagonal`, else zero.
    Eye {
        /// Positive above the main diagonal.
        diagonal: isize,
    },
    /// One on and below a diagonal, else zero: the mask of a lower triangle.
    Lower {
        /// Positive above the main diagonal.
        diagonal: isize,
    },
    /// One on and above a diagonal, else zero: the mask of an upper triangle.
    Upper {
        /// Positive above the main diagonal.
        diagonal: isize,
    },
}

impl Rule {
    const fn name(self) -> &'static str {
        match self {
            Self::Arange { .. } => "arange",
            Self::Linspace { .. } => "linspace",
            Self::Eye { .. } => "eye",
            Self::Lower { .. } => "lower triangle",
            Self::Upper { .. } => "upper triangle",
        }
    }

    /// Element number `index`, in row `row` and column `column` of the last two axes.
    fn element(self, kind: Kind, index: usize, row: usize, column: usize) -> Scalar {
        let offset = || column as isize - row as isize;
        match self {
            Self::Arange { start, step } => match kind {
                Kind::Complex => Scalar::Complex(Complex {
                    re: line(start.to_complex().re, step.to_complex().re, index),
                    im: line(start.to_complex().im, step.to_complex().im, index),
                }),
                Kind::Float => Scalar::Float(line(start.to_f64(), step.to_f64(), index)),
                _ => {
                    let steps = step.to_i128().wrapping_mul(index as i128);
                    Scalar::Int(start.to_i128().wrapping_add(steps))
                }
            },
            Self::Linspace {
                start,
                stop,
                count,
                endpoint,
            } => {
                let intervals = if endpoint {
                    count.saturating_sub(1)
                } else {
                    count
                };
                let at = |start, stop| between(start, stop, index, intervals);
                let (start, stop) = (start.to_complex(), stop.to_complex());
                Scalar::Complex(Complex::new(at(start.re, stop.re), at(start.im, stop.im)))
            }
            Self::Eye { diagonal } => Scalar::Bool(offset() == diagonal),
            Self::Lower { diagonal } => Scalar::Bool(offset() <= diagonal),
            Self::Upper { diagonal } => Scalar::Bool(offset() >= diagonal),
        }
    }
}

fn line(start: f64, step: f64, index: usize) -> f64 {
    start + index as f64 * step
}

/// The point after `index` of `intervals` steps; the ends are met to the bit.
fn between(start: f64, stop: f64, index: usize, intervals: usize) -> f64 {
    if index == 0 {
        return start;
    }
    if index == intervals {
        return stop;
    }
    let step = (stop - start) / intervals as f64;
    if step == 0.0 || !step.is_finite() {
        // The step underflowed or overflowed: weigh the ends instead.
        let share = index as f64 / intervals as f64;
        return start * (1.0 - share) + stop * share;
    }
    start + index as f64 * step
}

/// A kernel that writes what a rule says.
///
/// The one operand is the output, addressed by the base that its layout's offset counts from.
pub struct GenerateKernel {
    rule: Rule,
    dtype: DType,
    shape: Shape,
    space: Space,
    footprint: Range<usize>,
}

impl GenerateKernel {
    /// The kernel of a rule. Elements are numbered in row-major order of the output's shape.
    ///
    /// # Errors
    /// [`PlanError::DType`] for a range of truth values.
    pub fn new(rule: Rule, (dtype, layout): (DType, &Layout)) -> Result<Self, PlanError> {
        let is_range = matches!(rule, Rule::Arange { .. } | Rule::Linspace { .. });
        if is_range && dtype == DType::Bool {
            return Err(PlanError::DType(UnsupportedDType {
                operation: rule.name(),
                dtypes: [dtype].into_iter().collect(),
            }));
        }
        let span = layout.span();
        Ok(Self {
            rule,
            dtype,
            shape: layout.shape().into(),
            space: Space::ordered(layout.shape(), &[Some((layout, dtype.size()))]),
            footprint: span.start * dtype.size()..span.end * dtype.size(),
        })
    }

    /// The kernel that sets every element to a value.
    ///
    /// # Errors
    /// None today; the signature leaves room for values that a dtype can't hold.
    pub fn fill(output: (DType, &Layout), value: Scalar) -> Result<MapKernel, PlanError> {
        MapKernel::copy(output, Input::Scalar(value))
    }

    /// Writes elements `position..` into `tile`.
    fn make(&self, position: usize, tile: &mut [u8]) {
        let columns = self.shape.last().copied().unwrap_or(1).max(1);
        let rows = match self.shape.len() {
            0 | 1 => 1,
            ndim => self.shape[ndim - 2].max(1),
        };
        let (kind, size) = (self.dtype.kind(), self.dtype.size());
        let mut column = position % columns;
        let mut row = position / columns % rows;
        for (step, bytes) in tile.chunks_exact_mut(size).enumerate() {
            let value = self.rule.element(kind, position + step, row, column);
            bytes.copy_from_slice(&value.to_bytes(self.dtype)[..size]);
            column += 1;
            if column == columns {
                column = 0;
                row = (row + 1) % rows;
            }
        }
    }
}

impl fmt::Debug for GenerateKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: every write goes to an element of the layout, which lies within the footprint.
unsafe impl HostKernel for GenerateKernel {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _: usize) -> Footprint {
        Footprint {
            bytes: self.footprint.clone(),
            access: Access::Write,
        }
    }

    fn extent(&self) -> usize {
        self.space.size()
    }

    fn grain(&self) -> usize {
        4096
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let base: *mut u8 = bases[0].as_ptr();
        let size = self.dtype.size();
        let stride = self.space.inner_stride(0);
        let mut buffer: SmallVec<[u8; TILE_BYTES]> = SmallVec::new();
        let tile = TILE_BYTES / size;
        for position in range.clone().step_by(tile) {
            let count = tile.min(range.end - position);
            buffer.resize(count * size, 0);
            self.make(position, &mut buffer);
            let mut from = buffer.as_ptr();
            self.space.rows(position, count, |offsets, length| {
                let dst = base.wrapping_offset(offsets[0]);
                // SAFETY: `length` elements of a row of the output, made above.
                unsafe { scatter(size, from, dst, stride, length) };
                from = from.wrapping_add(length * size);
            });
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, shape) = (self.rule.name(), Tuple(&self.shape));
        write!(f, "{name} -> {} {shape}", self.dtype)
    }
}
