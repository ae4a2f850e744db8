//! Functions that pick along one axis, with a choice of what becomes of an index outside of it.

use std::borrow::Cow;

use millpond_kernel::IndexMode;
use millpond_types::shape::{self, normalize_axis};
use millpond_types::{DType, Shape};
use smallvec::SmallVec;

use super::integer::{Along, Integers};
use crate::error::{Error, Result};
use crate::operand::Operand;
use crate::place::{Home, check_device};
use crate::tensor::Tensor;

impl Tensor {
    /// The elements at indices along an axis, whose place the axes of the indices take. The axis
    /// may be left out if there is one at most.
    ///
    /// ```
    /// # use millpond_cpu::{CpuConfig, CpuDriver};
    /// # use millpond_kernel::IndexMode;
    /// # use millpond_tensor::{Place, creation};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = millpond_runtime::Device::open(
    /// #     millpond_hal::Driver::devices(&CpuDriver::new(CpuConfig::default()))?.remove(0),
    /// # );
    /// # let place = Place::on(&device.default_queue()?);
    /// let x = creation::from_slice(&[1.5, 2.5, 3.5], &[3], &place)?;
    /// let indices = creation::from_slice(&[-1_i64, 0, 7], &[3], &place)?;
    /// let taken = x.take(&indices, None, IndexMode::Clip, None)?;
    /// assert_eq!(taken.to_vec::<f64>()?, [1.5, 1.5, 3.5]);
    /// assert!(x.take(&indices, None, IndexMode::Check, None).and_then(|y| y.to_vec::<f64>()).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Type`] for indices that aren't integers; [`Error::Value`] without an axis where one
    /// is needed; an axis that the array doesn't have; an output that can't take the result;
    /// different devices; no memory. With [`IndexMode::Check`], an index outside of the axis fails
    /// the work.
    pub fn take(
        &self,
        indices: &Self,
        axis: Option<isize>,
        mode: IndexMode,
        out: Option<&Self>,
    ) -> Result<Self> {
        const OPERATION: &str = "take";
        let picked = self.along_one(OPERATION, indices, axis, mode)?;
        let Some(out) = out else {
            return picked.get(OPERATION);
        };
        let home = Home::from(self);
        home.check_out(OPERATION, out, &picked.shape(), self.dtype())?;
        let overlaps = out.may_overlap(self) || out.may_overlap(indices);
        if out.dtype() == self.dtype() && !overlaps {
            picked.get_into(OPERATION, out)?;
        } else {
            out.assign(&picked.get(OPERATION)?)?;
        }
        Ok(out.clone())
    }

    /// Writes values, which broadcast, to the elements at indices along an axis. Of several values
    /// for one element the last stays.
    ///
    /// # Errors
    /// As for [`Tensor::take`] and [`Tensor::assign`].
    pub fn put<'a>(
        &self,
        indices: &Self,
        values: impl Into<Operand<'a>>,
        axis: Option<isize>,
        mode: IndexMode,
    ) -> Result<()> {
        const OPERATION: &str = "put";
        let picked = self.along_one(OPERATION, indices, axis, mode)?;
        picked.set(OPERATION, values.into())
    }

    /// The elements along an axis at indices that are chosen for each place on the other axes, which
    /// broadcast.
    ///
    /// # Errors
    /// As for [`Tensor::take`]; [`Error::Value`] for another number of axes; [`Error::Broadcast`].
    pub fn take_along_axis(&self, indices: &Self, axis: isize, mode: IndexMode) -> Result<Self> {
        const OPERATION: &str = "take_along_axis";
        let axis = self.check_along(OPERATION, indices, axis)?;
        let broadcast = |error| Error::Broadcast {
            operation: OPERATION,
            error,
        };
        // The array's other axes and the indices' are broadcast together.
        let mut sides: [Shape; 2] = [self.shape().into(), indices.shape().into()];
        sides[0][axis] = 1;
        let size = std::mem::replace(&mut sides[1][axis], 1);
        let mut shape = shape::broadcast(&[&sides[0], &sides[1]]).map_err(broadcast)?;
        shape[axis] = self.shape()[axis];
        let layout = self.layout().broadcast_to(&shape).map_err(broadcast)?;
        self.check_outside(OPERATION, axis, indices, mode)?;
        shape[axis] = size;
        let view = self.view(layout);
        let picked = Integers::along_axis(view, indices, axis, shape);
        picked.with_mode(mode).get(OPERATION)
    }

    /// Writes values, which broadcast, to the elements along an axis at indices that are chosen for
    /// each place on the other axes, to which they broadcast.
    ///
    /// # Errors
    /// As for [`Tensor::take_along_axis`] and [`Tensor::assign`].
    pub fn put_along_axis<'a>(
        &self,
        indices: &Self,
        values: impl Into<Operand<'a>>,
        axis: isize,
        mode: IndexMode,
    ) -> Result<()> {
        const OPERATION: &str = "put_along_axis";
        let axis = self.check_along(OPERATION, indices, axis)?;
        let mut shape: Shape = self.shape().into();
        shape[axis] = indices.shape()[axis];
        let fits = indices.layout().broadcast_to(&shape);
        fits.map_err(|error| Error::Broadcast {
            operation: OPERATION,
            error,
        })?;
        self.check_outside(OPERATION, axis, indices, mode)?;
        let picked = Integers::along_axis(self.clone(), indices, axis, shape);
        picked.with_mode(mode).set(OPERATION, values.into())
    }

    /// What indices along one axis pick.
    fn along_one<'a>(
        &self,
        operation: &'static str,
        indices: &'a Self,
        axis: Option<isize>,
        mode: IndexMode,
    ) -> Result<Integers<'a>> {
        self.check_indices(operation, indices)?;
        // An array without axes is one of one element.
        let view = match self.ndim() {
            0 => self.expand_dims(&[0])?,
            _ => self.clone(),
        };
        let axis = match axis {
            Some(axis) => normalize_axis(axis, view.ndim())?,
            None if view.ndim() == 1 => 0,
            None => {
                let reason = format!("an array of {} dimensions needs an axis", view.ndim());
                return Err(Error::value(operation, reason));
            }
        };
        view.check_outside(operation, axis, indices, mode)?;
        let along = SmallVec::from_iter([Along::new(Cow::Borrowed(indices), axis, axis)]);
        let picked = Integers::new(view, along, indices.shape().into(), axis);
        Ok(picked.with_mode(mode))
    }

    fn check_along(&self, operation: &'static str, indices: &Self, axis: isize) -> Result<usize> {
        self.check_indices(operation, indices)?;
        if self.ndim() != indices.ndim() {
            let (own, others) = (self.ndim(), indices.ndim());
            let reason = format!("the array has {own} dimensions, the indices have {others}");
            return Err(Error::value(operation, reason));
        }
        Ok(normalize_axis(axis, self.ndim())?)
    }

    fn check_indices(&self, operation: &'static str, indices: &Self) -> Result<()> {
        check_device(operation, self.memory().home(), indices)?;
        if indices.dtype().is_integer() {
            return Ok(());
        }
        let reason = match indices.dtype() {
            DType::Bool => "truth values are no indices; x[mask] selects by a mask".to_owned(),
            dtype => format!("indices are integers, not {dtype}"),
        };
        Err(Error::wrong_type(operation, reason))
    }

    /// Fails if indices are to be brought into an axis without elements.
    fn check_outside(
        &self,
        operation: &'static str,
        axis: usize,
        indices: &Self,
        mode: IndexMode,
    ) -> Result<()> {
        if mode == IndexMode::Check || self.shape()[axis] > 0 || indices.size() == 0 {
            return Ok(());
        }
        Err(Error::IndexExpression {
            ndim: self.ndim(),
            reason: format!("{operation} finds no elements along axis {axis} of size 0"),
        })
    }
}
