//! The transform of all lines along an axis.
//!
//! Lines that lie in one piece are transformed where they are. Others pass through buffers, a
//! group of neighbours at a time: elements that lie side by side in memory belong to neighbouring
//! lines, so each line of the caches is read and written once.

use std::fmt;
use std::ops::Range;

use millpond_hal::library::{self, LibraryWork, Matrix, Spectrum, Task};
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_kernel::host::value::Storage;
use millpond_kernel::template::space::Space;
use millpond_types::shape::{ShapeError, Tuple};
use millpond_types::{DType, Layout, Shape};
use rustfft::FftDirection;
use rustfft::num_complex::Complex;

use crate::error::FftError;
use crate::line::Line;
use crate::plan::{self, Precision};

/// The most lines that pass through the buffers together.
const GROUP: usize = 32;

/// Bytes of a line of the caches.
const LINE: usize = 64;

/// Bytes that side by side make up for having to go to another page for them.
const NEIGHBOURS: usize = 256;

/// Bytes of the buffers up to which they stay in the caches.
const BUFFERS: usize = 1 << 19;

/// Points worth a thread of their own.
const GRAIN: usize = 1 << 13;

/// What is transformed into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Complex to complex, with the negative exponent.
    Forward,
    /// Complex to complex, with the positive exponent.
    Inverse,
    /// Real to the first half of the complex spectrum: `n / 2 + 1` of its points.
    RealForward,
    /// The first half of the spectrum, of a real signal, to that.
    RealInverse,
}

impl Sort {
    /// Elements that a transform of `length` points takes and gives.
    #[must_use]
    pub const fn lengths(self, length: usize) -> [usize; 2] {
        match self {
            Self::Forward | Self::Inverse => [length, length],
            Self::RealForward => [length, length / 2 + 1],
            Self::RealInverse => [length / 2 + 1, length],
        }
    }

    /// The dtypes of what goes in and of what comes out, for a precision.
    #[must_use]
    pub const fn dtypes(self, real: DType) -> [DType; 2] {
        let complex = match real {
            DType::Float32 => DType::Complex64,
            _ => DType::Complex128,
        };
        match self {
            Self::Forward | Self::Inverse => [complex, complex],
            Self::RealForward => [real, complex],
            Self::RealInverse => [complex, real],
        }
    }
}

/// A transform along one axis.
///
/// Operands are the result and the input, each addressed by the base that its layout's offset
/// counts from; they don't overlap.
pub struct TransformKernel {
    operation: &'static str,
    sort: Sort,
    real: DType,
    /// Points.
    length: usize,
    /// Elements of a line that are read; zeros follow.
    given: usize,
    /// One element for each line.
    lines: Space,
    /// Bytes from one element of a line to the next, of the result and of the input.
    steps: [isize; 2],
    scale: f64,
    footprints: [Range<usize>; 2],
    filled: usize,
    shape: Shape,
    axis: usize,
}

impl TransformKernel {
    /// The kernel that transforms `length` points along an axis, in a precision, `float32` or
    /// `float64`, and multiplies the results by `scale`. Lines that are shorter than that are
    /// followed by zeros, of longer ones the first elements count.
    ///
    /// # Errors
    /// [`FftError::Length`] for no points, [`FftError::Shape`] for a result of another shape,
    /// [`FftError::DType`] for another precision, [`FftError::Layout`] for an axis that isn't there.
    #[expect(
        clippy::too_many_arguments,
        reason = "a transform is no less than that"
    )]
    pub fn new(
        operation: &'static str,
        sort: Sort,
        real: DType,
        output: &Layout,
        input: &Layout,
        axis: usize,
        length: usize,
        scale: f64,
    ) -> Result<Self, FftError> {
        if !matches!(real, DType::Float32 | DType::Float64) {
            return Err(FftError::DType {
                operation,
                dtype: real,
            });
        }
        if length == 0 {
            return Err(FftError::Length {
                operation,
                length: 0,
            });
        }
        let Some(&size) = input.shape().get(axis) else {
            return Err(FftError::Layout(ShapeError::Axis {
                axis: axis as isize,
                ndim: input.ndim(),
            }));
        };
        let [taken, made] = sort.lengths(length);
        let mut needed = Shape::from(input.shape());
        needed[axis] = made;
        if *output.shape() != *needed {
            return Err(FftError::Shape {
                operation,
                given: output.shape().into(),
                needed,
            });
        }
        let items = sort.dtypes(real).map(DType::size);
        let (outputs, inputs) = (without(output, axis), without(input, axis));
        let operands = [Some((&outputs, items[1])), Some((&inputs, items[0]))];
        Ok(Self {
            operation,
            sort,
            real,
            length,
            given: taken.min(size),
            lines: Space::new(outputs.shape(), &operands),
            steps: [
                output.strides()[axis] * items[1] as isize,
                input.strides()[axis] * items[0] as isize,
            ],
            scale,
            footprints: [output.byte_span(items[1]), input.byte_span(items[0])],
            filled: output.size() * items[1],
            shape: input.shape().into(),
            axis,
        })
    }

    /// Transforms lines.
    ///
    /// # Safety
    /// As for [`HostKernel::run`], with elements of the line's types, aligned.
    unsafe fn lines<L: Line>(&self, line: &L, bases: &[Address], range: Range<usize>) {
        let [taken, made, scratch] = line.lengths();
        let items = [size_of::<L::Output>(), size_of::<L::Input>()];
        let in_place = [
            self.steps[0] == items[0] as isize,
            self.steps[1] == items[1] as isize,
        ];
        let most = if in_place == [true; 2] {
            1
        } else {
            let item = items[0].max(items[1]);
            let fitting = BUFFERS / (item * pitch::<L::Input>(taken).max(pitch::<L::Output>(made)));
            fitting.clamp(LINE / item, NEIGHBOURS / item).min(GROUP)
        };
        let most = most.min(range.end - range.start);
        let mut run = Run {
            kernel: self,
            line,
            reads_in_place: in_place[1] && self.given == taken,
            writes_in_place: in_place[0],
            input: Vec::new(),
            output: Vec::new(),
            scratch: vec![Complex::default(); scratch],
        };
        if !(run.reads_in_place && run.writes_in_place && line.keeps_input()) {
            run.input = vec![L::Input::default(); pitch::<L::Input>(taken) * most];
        }
        if !run.writes_in_place {
            run.output = vec![L::Output::default(); pitch::<L::Output>(made) * most];
        }
        let strides = self.lines.axes().last().map_or([0; 4], |axis| axis.strides);
        let count = range.end - range.start;
        self.lines.rows(range.start, count, |offsets, length| {
            for begin in (0..length).step_by(most) {
                let at = |operand: usize| {
                    let offset = offsets[operand] + strides[operand] * begin as isize;
                    bases[operand].as_ptr::<u8>().wrapping_offset(offset)
                };
                let group = Group {
                    output: at(0),
                    input: at(1),
                    strides: [strides[0], strides[1]],
                    count: most.min(length - begin),
                };
                // SAFETY: lines that the caller vouches for, which no other call transforms.
                unsafe { run.group(&group) };
            }
        });
    }

    /// Transforms lines in a precision.
    ///
    /// # Safety
    /// As for [`HostKernel::run`], with elements of this precision, aligned.
    unsafe fn run_in<T>(&self, bases: &[Address], range: Range<usize>)
    where
        T: Precision + Storage,
        Complex<T>: Storage,
    {
        let direction = match self.sort {
            Sort::Forward => FftDirection::Forward,
            Sort::Inverse => FftDirection::Inverse,
            Sort::RealForward => {
                let plan = plan::forward::<T>(self.length);
                // SAFETY: the caller's promise.
                return unsafe { self.lines(&plan, bases, range) };
            }
            Sort::RealInverse => {
                let plan = plan::inverse::<T>(self.length);
                // SAFETY: the caller's promise.
                return unsafe { self.lines(&plan, bases, range) };
            }
        };
        let plan = plan::complex::<T>(self.length, direction);
        // SAFETY: the caller's promise.
        unsafe { self.lines(&plan, bases, range) };
    }
}

/// Elements from one line of a buffer to the next: an odd number of the caches' lines, for else the
/// same elements of all lines would displace one another.
const fn pitch<T>(length: usize) -> usize {
    (((length * size_of::<T>()).div_ceil(LINE)) | 1) * LINE / size_of::<T>()
}

/// A layout without one of its axes, at its first element.
fn without(layout: &Layout, axis: usize) -> Layout {
    let mut result = layout.clone();
    result.select(axis, 0);
    result
}

/// Neighbouring lines: the addresses of the first elements of the first, and the bytes from each
/// line to the next, of the result and of the input.
struct Group {
    output: *mut u8,
    input: *const u8,
    strides: [isize; 2],
    count: usize,
}

/// One call of `TransformKernel::run`, with its buffers.
struct Run<'a, L: Line> {
    kernel: &'a TransformKernel,
    line: &'a L,
    /// Whether whole lines of the input lie in one piece.
    reads_in_place: bool,
    /// Whether lines of the result do.
    writes_in_place: bool,
    input: Vec<L::Input>,
    output: Vec<L::Output>,
    scratch: Vec<Complex<L::Real>>,
}

impl<L: Line> Run<'_, L> {
    /// Transforms a group.
    ///
    /// # Safety
    /// As for [`HostKernel::run`]: the lines may be read and written.
    unsafe fn group(&mut self, group: &Group) {
        let [taken, made, _] = self.line.lengths();
        let in_place = self.reads_in_place && self.writes_in_place;
        if !in_place {
            // SAFETY: the caller's promise.
            unsafe { self.gather(group) };
        }
        let factor = L::Real::of(self.kernel.scale);
        for index in 0..group.count {
            let to = group
                .output
                .wrapping_offset(group.strides[0] * index as isize);
            let output = if self.writes_in_place {
                // SAFETY: the elements of a line of the result, which nobody else touches.
                unsafe { std::slice::from_raw_parts_mut(to.cast(), made) }
            } else {
                &mut self.output[index * pitch::<L::Output>(made)..][..made]
            };
            if in_place {
                let from = group
                    .input
                    .wrapping_offset(group.strides[1] * index as isize);
                // SAFETY: the elements of a line of the input, which nobody changes.
                let input = unsafe { std::slice::from_raw_parts(from.cast(), taken) };
                if self.line.keeps_input() {
                    self.line.transform_kept(input, output, &mut self.scratch);
                } else {
                    let buffer = &mut self.input[..taken];
                    buffer.copy_from_slice(input);
                    self.line.transform(buffer, output, &mut self.scratch);
                }
            } else {
                let buffer = &mut self.input[index * pitch::<L::Input>(taken)..][..taken];
                self.line.transform(buffer, output, &mut self.scratch);
            }
            if self.kernel.scale != 1.0 {
                L::scale(output, factor);
            }
        }
        if !self.writes_in_place {
            // SAFETY: the caller's promise.
            unsafe { self.scatter(group) };
        }
    }

    /// Copies the lines of the input to the buffers, with zeros behind them.
    ///
    /// # Safety
    /// The lines may be read.
    unsafe fn gather(&mut self, group: &Group) {
        let [taken, ..] = self.line.lengths();
        let (given, step) = (self.kernel.given, self.kernel.steps[1]);
        let pitch = pitch::<L::Input>(taken);
        for element in 0..given {
            let from = group.input.wrapping_offset(step * element as isize);
            for index in 0..group.count {
                let from = from.wrapping_offset(group.strides[1] * index as isize);
                // SAFETY: an element of a line, as the caller vouches.
                self.input[index * pitch + element] = unsafe { from.cast::<L::Input>().read() };
            }
        }
        for line in self.input.chunks_exact_mut(pitch).take(group.count) {
            line[given..taken].fill(L::Input::default());
        }
    }

    /// Copies the buffers to the lines of the result.
    ///
    /// # Safety
    /// The lines may be written.
    unsafe fn scatter(&self, group: &Group) {
        let [_, made, _] = self.line.lengths();
        let step = self.kernel.steps[0];
        let pitch = pitch::<L::Output>(made);
        for element in 0..made {
            let to = group.output.wrapping_offset(step * element as isize);
            for index in 0..group.count {
                let to = to.wrapping_offset(group.strides[0] * index as isize);
                let value = self.output[index * pitch + element];
                // SAFETY: an element of a line, as the caller vouches.
                unsafe { to.cast::<L::Output>().write(value) };
            }
        }
    }
}

impl fmt::Debug for TransformKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: every access goes to an element of the layouts, which lie within the footprints; each
// line of the result belongs to one piece.
unsafe impl HostKernel for TransformKernel {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let bytes = self.footprints[operand].clone();
        if operand == 0 {
            return Footprint::filled(bytes, self.filled);
        }
        Footprint {
            bytes,
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.lines.size()
    }

    fn grain(&self) -> usize {
        let lines = GRAIN / self.length;
        lines.next_multiple_of(GROUP).clamp(1, 1 << 13)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        if range.is_empty() {
            return Ok(());
        }
        let alignment = self.real.size();
        let offsets = self.lines.locate(0);
        for (base, offset) in bases.iter().zip(offsets) {
            let address = base.as_ptr::<u8>().wrapping_offset(offset).addr();
            if address % alignment != 0 {
                let reason = format!("an operand is not aligned to {alignment} bytes");
                return Err(KernelError::from(reason));
            }
        }
        if self.real == DType::Float32 {
            // SAFETY: the caller's promise; steps are whole elements, so all are aligned as the
            // first ones are.
            unsafe { self.run_in::<f32>(bases, range) };
        } else {
            // SAFETY: as above.
            unsafe { self.run_in::<f64>(bases, range) };
        }
        Ok(())
    }

    fn library_work(&self) -> Option<LibraryWork> {
        if self.lines.size() == 0 {
            return None;
        }
        let spectrum = match self.sort {
            Sort::Forward => Spectrum::Forward,
            Sort::Inverse => Spectrum::Inverse,
            Sort::RealForward => Spectrum::RealForward,
            Sort::RealInverse => Spectrum::RealInverse,
        };
        let [taken, made] = self.sort.dtypes(self.real);
        let [_, results] = self.sort.lengths(self.length);
        let begins = self.lines.locate(0);
        let line = |operand: usize, dtype, columns| Matrix {
            dtype,
            begin: begins[operand],
            rows: 1,
            columns,
            steps: [0, self.steps[operand]],
        };
        let axes = self.lines.axes().iter();
        Some(LibraryWork {
            task: Task::Transform {
                spectrum,
                length: self.length,
                scale: self.scale,
            },
            operands: [line(0, made, results), line(1, taken, self.given)]
                .into_iter()
                .collect(),
            stack: axes
                .map(|axis| library::Axis::new(axis.size, &axis.strides))
                .collect(),
        })
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [dtype, _] = self.sort.dtypes(self.real);
        write!(
            f,
            "{}({dtype} {}, axis {}, n {})",
            self.operation,
            Tuple(&self.shape),
            self.axis,
            self.length
        )
    }
}
