//! Arrays made from nothing but a rule: constants, ranges, identity, and triangles of an array.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Address, DeviceCode, Footprint, HostKernel, KernelError};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Kind, Layout, Scalar, Shape};
use smallvec::SmallVec;

use crate::device::elements::{Base, Elements, Step, element_wise};
use crate::error::{PlanError, UnsupportedDType};
use crate::host::cast::cast;
use crate::host::gather::scatter_space;
use crate::host::map::{Input, MapKernel};
use crate::host::tile::{TILE_BYTES, Tile};
use crate::simd;
use crate::template::space::Space;

/// What an element is, by its number in row-major order or its place in the last two axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// `start + i * step`: exact for integers, in double precision for floats.
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

    /// The dtype that elements are computed in, before they are cast.
    const fn compute(self, dtype: DType) -> DType {
        match (self, dtype.kind()) {
            (Self::Eye { .. } | Self::Lower { .. } | Self::Upper { .. }, _) => DType::Bool,
            (_, Kind::Complex) => DType::Complex128,
            (Self::Linspace { .. }, _) | (_, Kind::Float) => DType::Float64,
            _ => DType::Int64,
        }
    }

    /// A part of the numbers of a range.
    fn points(self, of: impl Fn(Scalar) -> f64) -> Points {
        match self {
            Self::Arange { start, step } => Points::Steps {
                start: of(start),
                step: of(step),
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
                let (start, stop) = (of(start), of(stop));
                Points::Interval {
                    start,
                    stop,
                    step: (stop - start) / intervals as f64,
                    intervals,
                }
            }
            _ => Points::Steps {
                start: 0.0,
                step: 0.0,
            },
        }
    }

    /// Whether the element at a row and column of a mask is one.
    #[inline(always)]
    const fn holds(self, row: usize, column: usize) -> bool {
        let offset = column as isize - row as isize;
        match self {
            Self::Eye { diagonal } => offset == diagonal,
            Self::Lower { diagonal } => offset <= diagonal,
            Self::Upper { diagonal } => offset >= diagonal,
            _ => false,
        }
    }
}

/// Evenly spaced numbers, of which is known what all of them need.
#[derive(Clone, Copy)]
enum Points {
    /// `start + index * step`.
    Steps { start: f64, step: f64 },
    /// As many steps from `start` to `stop`; the ends are met to the bit.
    Interval {
        start: f64,
        stop: f64,
        step: f64,
        intervals: usize,
    },
}

impl Points {
    const fn start(self) -> f64 {
        match self {
            Self::Steps { start, .. } | Self::Interval { start, .. } => start,
        }
    }

    const fn step(self) -> f64 {
        match self {
            Self::Steps { step, .. } | Self::Interval { step, .. } => step,
        }
    }

    const fn stop(self) -> f64 {
        match self {
            Self::Steps { .. } => f64::NAN,
            Self::Interval { stop, .. } => stop,
        }
    }

    #[inline(always)]
    fn at(self, index: usize) -> f64 {
        match self {
            Self::Steps { start, step } => start + index as f64 * step,
            Self::Interval { start, .. } if index == 0 => start,
            Self::Interval {
                stop, intervals, ..
            } if index == intervals => stop,
            Self::Interval {
                start,
                stop,
                step,
                intervals,
            } if step == 0.0 || !step.is_finite() => {
                // The step underflowed or overflowed: weigh the ends instead.
                let share = index as f64 / intervals as f64;
                start * (1.0 - share) + stop * share
            }
            Self::Interval { start, step, .. } => start + index as f64 * step,
        }
    }
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
        Ok(Self {
            rule,
            dtype,
            shape: layout.shape().into(),
            space: Space::ordered(layout.shape(), &[Some((layout, dtype.size()))]),
            footprint: layout.byte_span(dtype.size()),
        })
    }

    /// The kernel that sets every element to a value.
    ///
    /// # Errors
    /// None today; the signature leaves room for values that a dtype can't hold.
    pub fn fill(output: (DType, &Layout), value: Scalar) -> Result<MapKernel, PlanError> {
        MapKernel::copy(output, Input::Scalar(value))
    }

    /// Computes elements from number `position` on, in the rule's own dtype.
    fn make(&self, position: usize, count: usize, tile: &mut Wide) {
        let rule = self.rule;
        match (rule.compute(self.dtype), rule) {
            (DType::Int64, Rule::Arange { start, step }) => {
                let (start, step) = (start.to_i128() as i64, step.to_i128() as i64);
                for (index, word) in tile.0[..count].iter_mut().enumerate() {
                    let steps = step.wrapping_mul((position + index) as i64);
                    *word = start.wrapping_add(steps).cast_unsigned();
                }
            }
            (DType::Float64, _) => {
                let points = rule.points(Scalar::to_f64);
                for (index, word) in tile.0[..count].iter_mut().enumerate() {
                    *word = points.at(position + index).to_bits();
                }
            }
            (DType::Complex128, _) => {
                let re = rule.points(|z| z.to_complex().re);
                let im = rule.points(|z| z.to_complex().im);
                let pairs = &mut tile.0.as_chunks_mut::<2>().0[..count];
                for (index, words) in pairs.iter_mut().enumerate() {
                    *words = [re, im].map(|points| points.at(position + index).to_bits());
                }
            }
            _ => self.mask(position, count, tile),
        }
    }

    /// Computes truth values from number `position` on.
    fn mask(&self, position: usize, count: usize, tile: &mut Wide) {
        let [rows, columns] = self.matrix();
        let mut column = position % columns;
        let mut row = position / columns % rows;
        let (words, _) = tile.0.split_at_mut(count.div_ceil(8));
        for (word, begin) in words.iter_mut().zip((0..count).step_by(8)) {
            let mut bytes = [0; 8];
            for byte in &mut bytes[..8.min(count - begin)] {
                *byte = u8::from(self.rule.holds(row, column));
                column += 1;
                if column == columns {
                    column = 0;
                    row = (row + 1) % rows;
                }
            }
            *word = u64::from_ne_bytes(bytes);
        }
    }
}

impl GenerateKernel {
    /// What it does for each element.
    fn elements(&self) -> Elements {
        let axes = self.space.axes().iter().map(|axis| axis.size);
        let mut elements = Elements::over(axes);
        let output = elements.operand(&self.space, 0, self.dtype, Base::Operand(0));
        let compute = self.rule.compute(self.dtype);
        let word = |number: u64| (DType::Uint64, bytes_of([number, 0]));
        let (function, scalars): (_, SmallVec<[_; 4]>) = match (self.rule, compute) {
            (Rule::Arange { start, step }, DType::Int64) => {
                let part = |value: Scalar| (compute, value.to_bytes(compute));
                ("steps", SmallVec::from_iter([part(start), part(step)]))
            }
            (Rule::Arange { .. } | Rule::Linspace { .. }, _) => {
                let re = self.rule.points(|z| z.to_complex().re);
                let im = self.rule.points(|z| z.to_complex().im);
                let both = |of: fn(Points) -> f64| {
                    let words = [of(re).to_bits(), of(im).to_bits()];
                    (compute, bytes_of(words))
                };
                match re {
                    Points::Steps { .. } => (
                        "steps",
                        SmallVec::from_iter([both(Points::start), both(Points::step)]),
                    ),
                    Points::Interval { intervals, .. } => {
                        let ends = [both(Points::start), both(Points::stop), both(Points::step)];
                        let intervals = word(intervals as u64);
                        ("interval", ends.into_iter().chain([intervals]).collect())
                    }
                }
            }
            (Rule::Eye { diagonal } | Rule::Lower { diagonal } | Rule::Upper { diagonal }, _) => {
                let [rows, columns] = self.matrix();
                let diagonal = (DType::Int64, bytes_of([diagonal as u64, 0]));
                let function = match self.rule {
                    Rule::Lower { .. } => "in_lower",
                    Rule::Upper { .. } => "in_upper",
                    _ => "on_diagonal",
                };
                let sizes = [word(rows as u64), word(columns as u64), diagonal];
                (function, SmallVec::from_iter(sizes))
            }
        };
        let scalars = scalars.into_iter();
        let scalars = scalars
            .map(|(dtype, bytes)| elements.scalar(dtype, bytes))
            .collect();
        let made = elements.push(Step::Rule(function, scalars), compute);
        let result = elements.convert(made, self.dtype);
        elements.stores.push((result, output));
        elements.join_axes();
        elements
    }

    /// Rows and columns of the matrices that a mask is made of.
    fn matrix(&self) -> [usize; 2] {
        let columns = self.shape.last().copied().unwrap_or(1).max(1);
        let rows = match self.shape.len() {
            0 | 1 => 1,
            ndim => self.shape[ndim - 2].max(1),
        };
        [rows, columns]
    }
}

/// Two words as the bytes of a scalar.
fn bytes_of(words: [u64; 2]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&words[0].to_ne_bytes());
    bytes[8..].copy_from_slice(&words[1].to_ne_bytes());
    bytes
}

// What is stored are elements of the layout, which lies within the footprint.
element_wise!(GenerateKernel);

/// A tile of elements of up to two words.
#[repr(align(64))]
struct Wide([u64; TILE_BYTES / 8]);

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
        Footprint::filled(
            self.footprint.clone(),
            self.space.size() * self.dtype.size(),
        )
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
        let computed = self.rule.compute(self.dtype);
        let level = simd::current();
        let (mut wide, mut converted) = (Wide([0; TILE_BYTES / 8]), Tile::new());
        let tile = TILE_BYTES / size.max(computed.size());
        for position in range.clone().step_by(tile) {
            let count = tile.min(range.end - position);
            self.make(position, count, &mut wide);
            let made = wide.0.as_ptr().cast();
            let to = converted.as_mut_ptr();
            // SAFETY: `count` elements were made, and the other tile has room for as many.
            unsafe { cast(level, (computed, made), (self.dtype, to), count) };
            let elements = (position, count);
            // SAFETY: `count` elements of the output, made above.
            unsafe { scatter_space((&self.space, 0), to, (size, base), elements) };
        }
        Ok(())
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        Some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, shape) = (self.rule.name(), Tuple(&self.shape));
        write!(f, "{name} -> {} {shape}", self.dtype)
    }
}
