//! Values written to elements: cast to their dtype, broadcast to their shape, read before.

use millpond_types::{Layout, Scalar};

use crate::apply::copy_into;
use crate::creation::{self, check_value};
use crate::data_types::check_not_complex;
use crate::error::{Error, Result};
use crate::operand::Operand;
use crate::place::{Place, check_device};
use crate::tensor::Tensor;

/// What assignments are called in errors.
pub(super) const OPERATION: &str = "assignment";

impl Tensor {
    /// Writes a value, which broadcasts, to all elements. Values are cut or rounded to the dtype
    /// as need be.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; values that don't broadcast, complex ones for a real array, an integer
    /// that the dtype can't hold, an array of another device.
    pub fn assign<'a>(&self, value: impl Into<Operand<'a>>) -> Result<()> {
        self.check_writable(OPERATION)?;
        let queue = self.memory().home();
        match value.into() {
            Operand::Scalar(value) => {
                check_value(OPERATION, value, self.dtype())?;
                copy_into(self, value.into(), queue)
            }
            Operand::Tensor(source) => {
                let source = &fitting(source, self, self.shape())?;
                if source.is_same_view(self) {
                    return Ok(());
                }
                if source.may_overlap(self) {
                    let temporary = source.astype(source.dtype(), true)?;
                    return copy_into(self, (&temporary).into(), queue);
                }
                copy_into(self, source.into(), queue)
            }
        }
    }
}

/// The source of an assignment to elements of a target that have this shape, to which it
/// broadcasts.
fn fitting(source: &Tensor, target: &Tensor, shape: &[usize]) -> Result<Tensor> {
    check_device(OPERATION, target.memory().home(), source)?;
    check_not_complex(OPERATION, source.dtype(), target.dtype())?;
    let source = without_leading_ones(source, shape.len())?;
    match source.layout().broadcast_to(shape) {
        Ok(_) => Ok(source),
        Err(error) => Err(Error::Broadcast {
            operation: OPERATION,
            error,
        }),
    }
}

/// A value in the dtype of a target, in memory of its own, for elements that have the shape that
/// `shape` makes of the value's.
pub(super) fn packed(
    value: Operand<'_>,
    target: &Tensor,
    shape: impl FnOnce(&[usize]) -> millpond_types::Shape,
) -> Result<(Tensor, Layout)> {
    target.check_writable(OPERATION)?;
    let source = match value {
        Operand::Scalar(value) => scalar(value, target)?,
        Operand::Tensor(source) => {
            let shape = shape(source.shape());
            let source = fitting(source, target, &shape)?;
            let is_apart = !source.may_overlap(target);
            let source = source.astype(target.dtype(), !is_apart)?;
            let layout = source.layout().broadcast_to(&shape)?;
            return Ok((source, layout));
        }
    };
    let layout = source.layout().broadcast_to(&shape(&[]))?;
    Ok((source, layout))
}

/// A number as an array beside a target.
fn scalar(value: Scalar, target: &Tensor) -> Result<Tensor> {
    check_value(OPERATION, value, target.dtype())?;
    creation::scalar(value, Some(target.dtype()), &Place::of(target))
}

/// An assignment's value may have more axes than the target, as long as they have size one.
fn without_leading_ones(source: &Tensor, ndim: usize) -> Result<Tensor> {
    let extra = source.ndim().saturating_sub(ndim);
    if extra == 0 || source.shape()[..extra].iter().any(|&size| size != 1) {
        return Ok(source.clone());
    }
    let layout = source.layout();
    let (shape, strides) = (&layout.shape()[extra..], &layout.strides()[extra..]);
    Ok(source.view(Layout::new(shape, strides, layout.offset())?))
}
