//! Where the matrices or vectors of a stack lie.

use std::ops::Range;

use millpond_hal::library::{self, LibraryWork, Matrix, Task};
use millpond_hal::{Access, Footprint};
use millpond_kernel::template::space::Space;
use millpond_types::shape::ShapeError;
use millpond_types::{Layout, Shape};

use crate::error::LinalgError;

/// The first axes of a layout, all but the last `rank`, as a layout of their own.
pub(crate) fn outer(layout: &Layout, rank: usize) -> Result<Layout, ShapeError> {
    let ndim = layout.ndim() - rank;
    Layout::new(
        &layout.shape()[..ndim],
        &layout.strides()[..ndim],
        layout.offset(),
    )
}

/// The steps of the last `RANK` axes, in elements.
pub(crate) fn steps<const RANK: usize>(layout: &Layout) -> [isize; RANK] {
    let strides = layout.strides();
    std::array::from_fn(|axis| strides[strides.len() - RANK + axis])
}

/// The footprint of an operand that is read.
pub(crate) fn reads(bytes: &Range<usize>) -> Footprint {
    Footprint {
        bytes: bytes.clone(),
        access: Access::Read,
    }
}

/// Where the result of a multiplication and the two stacks that are multiplied lie.
pub(crate) struct Extents {
    bytes: [Range<usize>; 3],
    /// Bytes of the result that are written.
    pub(crate) filled: usize,
}

impl Extents {
    /// Those of a result and its operands, of items of one size.
    pub(crate) fn new(layouts: [&Layout; 3], item: usize) -> Self {
        Self {
            bytes: layouts.map(|layout| layout.byte_span(item)),
            filled: layouts[0].size() * item,
        }
    }

    /// The footprint of an operand.
    pub(crate) fn footprint(&self, operand: usize) -> Footprint {
        let bytes = &self.bytes[operand];
        if operand == 0 {
            Footprint::filled(bytes.clone(), self.filled)
        } else {
            reads(bytes)
        }
    }
}

/// Fails unless a layout has the shape that others call for.
pub(crate) fn check_shape(
    operation: &'static str,
    layout: &Layout,
    needed: &[usize],
) -> Result<(), LinalgError> {
    if layout.shape() == needed {
        return Ok(());
    }
    Err(LinalgError::Shape {
        operation,
        given: Shape::from(layout.shape()),
        needed: Shape::from(needed),
    })
}

/// The shape of a stack of matrices or vectors.
pub(crate) fn stacked(outer: &[usize], inner: &[usize]) -> Shape {
    outer.iter().chain(inner).copied().collect()
}

/// What is done to every matrix of a stack, in the words of libraries. Matrices lie where the operands
/// of the space begin, whatever they say themselves. `None` where there is nothing to do.
pub(crate) fn work_of(
    task: Task,
    stack: &Space,
    matrices: impl IntoIterator<Item = Matrix>,
) -> Option<LibraryWork> {
    if stack.size() == 0 {
        return None;
    }
    let begins = stack.locate(0);
    let placed = |(matrix, begin)| Matrix { begin, ..matrix };
    let axes = stack.axes().iter();
    Some(LibraryWork {
        task,
        operands: matrices.into_iter().zip(begins).map(placed).collect(),
        stack: axes
            .map(|axis| library::Axis::new(axis.size, &axis.strides))
            .collect(),
    })
}
