//! Arrays seen otherwise, and arrays put together.
//!
//! What strides can express is a view and costs nothing; the rest copies in queue order.

mod joining;
mod repetition;
mod reshape;
mod views;

use millpond_types::shape::{ShapeError, normalize_axis};
use smallvec::SmallVec;

use crate::error::Result;

pub use joining::{broadcast_arrays, concat, stack};

type Axes = SmallVec<[usize; 4]>;

/// Axes as indices, each once.
pub(crate) fn normalize_axes(axes: &[isize], ndim: usize) -> Result<Axes> {
    let mut result = Axes::new();
    for &axis in axes {
        let axis = normalize_axis(axis, ndim)?;
        if result.contains(&axis) {
            return Err(ShapeError::RepeatedAxis { axis }.into());
        }
        result.push(axis);
    }
    Ok(result)
}
