//! Where the matrices or vectors of a stack lie.

use std::ops::Range;

use millpond_hal::{Access, Footprint};
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

/// The bytes that a layout's elements lie in.
pub(crate) fn bytes(layout: &Layout, item: usize) -> Range<usize> {
    let span = layout.span();
    span.start * item..span.end * item
}

/// The footprint of an operand that is read.
pub(crate) fn reads(bytes: &Range<usize>) -> Footprint {
    Footprint {
        bytes: bytes.clone(),
        access: Access::Read,
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
