//! The axes of a reduction, split into those that stay and those that go.

use millpond_types::shape::ShapeError;
use millpond_types::{Layout, Shape};
use smallvec::SmallVec;

use crate::error::PlanError;

/// The layouts of an output, of the first inputs of each, and of the inputs of one.
pub(crate) struct Split {
    pub(crate) output: Layout,
    pub(crate) kept: Layout,
    pub(crate) reduced: Layout,
}

impl Split {
    /// The split of `axes`, each named once; the output may keep them with size one.
    pub(crate) fn new(
        operation: &'static str,
        output: &Layout,
        input: &Layout,
        axes: &[usize],
    ) -> Result<Self, PlanError> {
        let ndim = input.ndim();
        let mut is_reduced: SmallVec<[bool; 8]> = SmallVec::from_elem(false, ndim);
        for &axis in axes {
            match is_reduced.get_mut(axis) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(ShapeError::RepeatedAxis { axis }.into()),
                None => {
                    let axis = axis as isize;
                    return Err(ShapeError::Axis { axis, ndim }.into());
                }
            }
        }
        let part = |wanted: bool| {
            let axes = (0..ndim).filter(|&axis| is_reduced[axis] == wanted);
            let (shape, strides): (Shape, SmallVec<[isize; 4]>) = axes
                .map(|axis| (input.shape()[axis], input.strides()[axis]))
                .unzip();
            let offset = if wanted { 0 } else { input.offset() };
            Layout::new(&shape, &strides, offset)
        };
        let (kept, reduced) = (part(false)?, part(true)?);
        let squeezed = if output.ndim() == ndim {
            let axes = (0..ndim).filter(|&axis| !is_reduced[axis] || output.shape()[axis] != 1);
            let (shape, strides): (Shape, SmallVec<[isize; 4]>) = axes
                .map(|axis| (output.shape()[axis], output.strides()[axis]))
                .unzip();
            Layout::new(&shape, &strides, output.offset())?
        } else {
            output.clone()
        };
        if squeezed.shape() != kept.shape() {
            return Err(PlanError::ReducedShape {
                operation,
                input: input.shape().into(),
                axes: axes.into(),
                output: output.shape().into(),
            });
        }
        Ok(Self {
            output: squeezed,
            kept,
            reduced,
        })
    }
}
