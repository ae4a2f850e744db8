//! The kernel: matrices are copied in, their factors are copied out.

use std::fmt;
use std::ops::Range;

use faer::Mat;
use millpond_hal::library::{LibraryWork, Matrix, Task, Undefined};
use millpond_hal::{Address, Footprint, HostKernel, KernelError};
use millpond_kernel::template::space::{MAX_OPERANDS, Space};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Shape};
use num_complex::Complex;
use smallvec::SmallVec;

use super::field::Field;
use super::routine::{Routine, Value};
use crate::error::LinalgError;
use crate::stack::{check_shape, outer, reads, stacked, work_of};

/// Multiplications worth a thread of their own.
const GRAIN: usize = 1 << 15;

/// A matrix, vector or number of each element of a stack.
struct Part {
    dtype: DType,
    rows: usize,
    columns: usize,
    /// Bytes from row to row and from column to column.
    steps: [isize; 2],
    bytes: Range<usize>,
    /// Bytes of all of them together.
    filled: usize,
}

impl Part {
    /// The part of a layout beside the axes of the stack, of which there are `ndim`.
    fn new(dtype: DType, layout: &Layout, ndim: usize) -> Self {
        let item = dtype.size();
        let axis = |number: usize| {
            let axis = ndim + number;
            let size = layout.shape().get(axis).copied().unwrap_or(1);
            let stride = layout.strides().get(axis).copied().unwrap_or(0);
            (size, stride * item as isize)
        };
        let ((rows, row_step), (columns, column_step)) = (axis(0), axis(1));
        Self {
            dtype,
            rows,
            columns,
            steps: [row_step, column_step],
            bytes: layout.byte_span(item),
            filled: layout.size() * item,
        }
    }

    fn address(&self, first: *mut u8, row: usize, column: usize) -> *mut u8 {
        let [rows, columns] = self.steps;
        first.wrapping_offset(rows * row as isize + columns * column as isize)
    }

    /// The matrix at an address.
    ///
    /// # Safety
    /// Its elements may be read.
    unsafe fn read<T: Field>(&self, first: *mut u8) -> Mat<T> {
        let is_narrow = self.dtype == T::NARROW;
        Mat::from_fn(self.rows, self.columns, |row, column| {
            let address = self.address(first, row, column);
            if is_narrow {
                // SAFETY: an element, as the caller vouches.
                T::widen(unsafe { address.cast::<T::Narrow>().read_unaligned() })
            } else {
                // SAFETY: as above.
                unsafe { address.cast::<T>().read_unaligned() }
            }
        })
    }

    /// Writes a matrix to an address.
    ///
    /// # Safety
    /// Its elements may be written.
    unsafe fn write<T: Field>(&self, first: *mut u8, matrix: &Mat<T>) {
        let is_narrow = self.dtype == T::NARROW;
        for row in 0..self.rows {
            for column in 0..self.columns {
                let address = self.address(first, row, column);
                let value = matrix[(row, column)];
                if is_narrow {
                    // SAFETY: an element, as the caller vouches.
                    unsafe { address.cast::<T::Narrow>().write_unaligned(value.narrow()) };
                } else {
                    // SAFETY: as above.
                    unsafe { address.cast::<T>().write_unaligned(value) };
                }
            }
        }
    }
}

/// A routine on every matrix of a stack.
///
/// Operands are the results and then the matrices, each addressed by the base that its layout's
/// offset counts from; results don't overlap anything.
pub struct DecompositionKernel {
    routine: Routine,
    dtype: DType,
    /// One element for each matrix.
    stack: Space,
    /// The results, and then the matrices.
    parts: SmallVec<[Part; MAX_OPERANDS]>,
    outputs: usize,
    shape: Shape,
}

impl DecompositionKernel {
    /// The kernel of a routine on matrices of a floating-point dtype; results have the shapes and
    /// dtypes that the routine says.
    ///
    /// # Errors
    /// [`LinalgError::Shape`] for matrices that aren't square where they have to be, or results of
    /// other shapes, [`LinalgError::DType`] for dtypes that matrices aren't taken apart in.
    pub fn new(
        routine: Routine,
        dtype: DType,
        outputs: &[&Layout],
        inputs: &[&Layout],
    ) -> Result<Self, LinalgError> {
        let operation = routine.name();
        let doubles = [DType::Float64, DType::Complex128];
        if !doubles.contains(&dtype) && !matches!(dtype, DType::Float32 | DType::Complex64) {
            return Err(LinalgError::DType { operation, dtype });
        }
        let shape: Shape = inputs[0].shape().into();
        let refused = |given: &[usize], needed: &[usize]| LinalgError::Shape {
            operation,
            given: given.into(),
            needed: needed.into(),
        };
        let &[ref stack @ .., rows, columns] = &shape[..] else {
            return Err(refused(&shape, &[1, 1]));
        };
        if routine.needs_square() && rows != columns {
            return Err(refused(&shape, &stacked(stack, &[rows, rows])));
        }
        let sides = inputs.last().and_then(|input| input.shape().last());
        let sides = sides.copied().unwrap_or(0);
        if let Some(second) = inputs.get(1) {
            check_shape(operation, second, &stacked(stack, &[rows, sides]))?;
        }
        let shapes = routine.shapes(rows, columns, sides);
        for (output, inner) in outputs.iter().zip(&shapes) {
            check_shape(operation, output, &stacked(stack, inner))?;
        }
        let dtypes = routine.dtypes(dtype).into_iter();
        let dtypes = dtypes.chain(std::iter::repeat_n(dtype, inputs.len()));
        let layouts = outputs.iter().chain(inputs);
        let mut outers: SmallVec<[(Layout, usize); MAX_OPERANDS]> = SmallVec::new();
        let mut parts = SmallVec::new();
        for (dtype, layout) in dtypes.zip(layouts) {
            outers.push((outer(layout, layout.ndim() - stack.len())?, dtype.size()));
            parts.push(Part::new(dtype, layout, stack.len()));
        }
        let operands: SmallVec<[Option<(&Layout, usize)>; MAX_OPERANDS]> = outers
            .iter()
            .map(|(layout, item)| Some((layout, *item)))
            .collect();
        Ok(Self {
            routine,
            dtype,
            stack: Space::new(stack, &operands),
            parts,
            outputs: outputs.len(),
            shape: shape.clone(),
        })
    }

    /// Takes the matrix of a number apart.
    ///
    /// # Safety
    /// As for [`HostKernel::run`], with elements that `T` or its narrow companion holds.
    unsafe fn take_apart<T: Field>(
        &self,
        bases: &[Address],
        number: usize,
    ) -> Result<(), Undefined> {
        let offsets = self.stack.locate(number);
        let first = |operand: usize| {
            bases[operand]
                .as_ptr::<u8>()
                .wrapping_offset(offsets[operand])
        };
        let (outputs, inputs) = self.parts.split_at(self.outputs);
        let mut matrices: SmallVec<[Mat<T>; 2]> = SmallVec::new();
        for (index, part) in inputs.iter().enumerate() {
            // SAFETY: a matrix of the stack, which the caller vouches for.
            matrices.push(unsafe { part.read(first(self.outputs + index)) });
        }
        let values = self.routine.run(&matrices)?;
        for (index, (part, value)) in outputs.iter().zip(&values).enumerate() {
            let first = first(index);
            match value {
                // SAFETY: a result of this matrix, which nobody else touches.
                Value::Same(matrix) => unsafe { part.write(first, matrix) },
                // SAFETY: as above.
                Value::Real(matrix) => unsafe { part.write(first, matrix) },
                // SAFETY: as above.
                Value::Complex(matrix) => unsafe { part.write::<Complex<f64>>(first, matrix) },
            }
        }
        Ok(())
    }
}

impl fmt::Debug for DecompositionKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: every access goes to an element of the layouts, which lie within the footprints; each
// result belongs to one matrix.
unsafe impl HostKernel for DecompositionKernel {
    fn operands(&self) -> usize {
        self.parts.len()
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let part = &self.parts[operand];
        if operand < self.outputs {
            Footprint::filled(part.bytes.clone(), part.filled)
        } else {
            reads(&part.bytes)
        }
    }

    fn extent(&self) -> usize {
        self.stack.size()
    }

    fn grain(&self) -> usize {
        let input = &self.parts[self.outputs];
        let work = input.rows * input.columns * input.rows.min(input.columns);
        (GRAIN / work.max(1)).clamp(1, 256)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        for number in range {
            let outcome = if self.dtype.is_complex() {
                // SAFETY: the caller's promise.
                unsafe { self.take_apart::<Complex<f64>>(bases, number) }
            } else {
                // SAFETY: the caller's promise.
                unsafe { self.take_apart::<f64>(bases, number) }
            };
            outcome?;
        }
        Ok(())
    }

    fn library_work(&self) -> Option<LibraryWork> {
        let task = Task::Factorisation(self.routine.factorisation()?);
        if self.parts.iter().any(|part| part.rows * part.columns == 0) {
            return None;
        }
        let matrices = self.parts.iter().map(|part| Matrix {
            dtype: part.dtype,
            begin: 0,
            rows: part.rows,
            columns: part.columns,
            steps: part.steps,
        });
        work_of(task, &self.stack, matrices)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}({} {})",
            self.routine.name(),
            self.dtype,
            Tuple(&self.shape)
        )
    }
}
