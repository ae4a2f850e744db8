//! The same elements in another shape.

use millpond_types::shape;
use millpond_types::{Layout, Shape};
use smallvec::SmallVec;

use crate::creation::Order;
use crate::error::{During, Error, Result};
use crate::tensor::Tensor;

impl Tensor {
    /// The elements, in row-major order, in another shape; one size may be -1 and follows from the
    /// others. `copy` asks for a copy, or forbids one; else it is made where it must be.
    ///
    /// # Errors
    /// Another number of elements; [`Error::Dimensions`] for too many axes; [`Error::Value`] if a forbidden copy is needed; no memory.
    pub fn reshape(&self, shape: &[isize], copy: Option<bool>) -> Result<Self> {
        self.reshape_in_order(shape, Order::C, copy)
    }

    /// The same with elements counted in row-major or, for [`Order::F`], column-major order.
    ///
    /// # Errors
    /// As for [`Tensor::reshape`].
    pub fn reshape_in_order(
        &self,
        shape: &[isize],
        order: Order,
        copy: Option<bool>,
    ) -> Result<Self> {
        let shape = self.complete_shape(shape)?;
        if order == Order::F {
            // Column-major is row-major with all axes turned round.
            let turned: SmallVec<[isize; 4]> =
                shape.iter().rev().map(|&size| size as isize).collect();
            return self
                .reversed_axes()?
                .reshape(&turned, copy)?
                .reversed_axes();
        }
        let view = self.layout().reshape(&shape)?;
        match (view, copy) {
            (Some(layout), None | Some(false)) => Ok(self.view(layout)),
            (None, Some(false)) => Err(Error::value(
                "reshape",
                format!(
                    "an array of shape {} and strides {:?} needs a copy to take shape {}",
                    shape::Tuple(self.shape()),
                    self.strides(),
                    shape::Tuple(&shape)
                ),
            )),
            (_, None | Some(true)) => {
                let source = if copy.is_none() {
                    self.to_contiguous()?
                } else {
                    self.copy(Order::C)?
                };
                let layout = Layout::contiguous(&shape, self.item_size())?;
                Ok(source.view(layout.at_offset(source.layout().offset())))
            }
        }
    }

    /// A shape for this array's elements, with the size that stands as -1.
    fn complete_shape(&self, shape: &[isize]) -> Result<Shape> {
        let fail = |reason: String| Error::value("reshape", reason);
        shape::check_ndim(shape.len()).during("reshape")?;
        let mut open = None;
        let mut result = Shape::from_elem(1, shape.len());
        for (axis, (target, &size)) in result.iter_mut().zip(shape).enumerate() {
            match usize::try_from(size) {
                Ok(size) => *target = size,
                Err(_) if size != -1 => return Err(fail(format!("size {size} is negative"))),
                Err(_) if open.replace(axis).is_some() => {
                    return Err(fail("-1 stands for one size at most".to_owned()));
                }
                Err(_) => {}
            }
        }
        if let Some(axis) = open {
            let known = shape::element_count(&result, 1)?;
            if known == 0 || !self.size().is_multiple_of(known) {
                return Err(fail(format!(
                    "{} elements don't make a shape of {shape:?}",
                    self.size()
                )));
            }
            result[axis] = self.size() / known;
        }
        Ok(result)
    }
}
