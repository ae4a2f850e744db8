//! Elements moved along axes, or repeated: copies.

use millpond_types::Shape;
use millpond_types::shape::{self, normalize_axis};
use smallvec::SmallVec;

use crate::apply::copy_into;
use crate::creation::{Order, empty};
use crate::error::{Error, Result};
use crate::indexing::Index;
use crate::place::Place;
use crate::tensor::Tensor;

impl Tensor {
    /// A copy with elements moved along axes, those beyond the end coming in at the begin. Without
    /// axes, elements move through the whole array in row-major order.
    ///
    /// # Errors
    /// Axes that the array doesn't have; as many shifts as axes; no memory.
    pub fn roll(&self, shifts: &[isize], axes: Option<&[isize]>) -> Result<Self> {
        let Some(axes) = axes else {
            if self.size() == 0 {
                return self.copy(Order::C);
            }
            let flat = self.reshape(&[self.size() as isize], None)?;
            let shape: SmallVec<[isize; 4]> =
                self.shape().iter().map(|&size| size as isize).collect();
            return flat.rolled(0, shifts.iter().sum())?.reshape(&shape, None);
        };
        if shifts.len() != axes.len() && shifts.len() != 1 {
            let reason = format!("{} shifts for {} axes", shifts.len(), axes.len());
            return Err(Error::value("roll", reason));
        }
        let mut moved: SmallVec<[isize; 4]> = SmallVec::from_elem(0, self.ndim());
        for (index, &axis) in axes.iter().enumerate() {
            // An axis may be named several times; its shifts add up.
            moved[normalize_axis(axis, self.ndim())?] += shifts[index.min(shifts.len() - 1)];
        }
        let mut result = self.clone();
        for (axis, &shift) in moved.iter().enumerate() {
            if shift != 0 {
                result = result.rolled(axis, shift)?;
            }
        }
        if result.is_same_view(self) {
            return self.copy(Order::K);
        }
        Ok(result)
    }

    fn rolled(&self, axis: usize, shift: isize) -> Result<Self> {
        let place = Place::of(self);
        let result = empty(self.shape(), self.dtype(), &place)?;
        let size = self.shape()[axis] as isize;
        if self.size() == 0 {
            return Ok(result);
        }
        let shift = shift.rem_euclid(size);
        for (from, to, len) in [(0, shift, size - shift), (size - shift, 0, shift)] {
            if len > 0 {
                let source = self.along(axis, Index::range(from, from + len))?;
                let target = result.along(axis, Index::range(to, to + len))?;
                copy_into(&target, (&source).into(), &place.queue)?;
            }
        }
        Ok(result)
    }

    /// A copy repeated as a whole along each axis. Axes are added in front on either side as need
    /// be.
    ///
    /// # Errors
    /// A result too large; no memory.
    pub fn tile(&self, repetitions: &[usize]) -> Result<Self> {
        let ndim = self.ndim().max(repetitions.len());
        let mut pairs = Shape::new();
        let mut whole = Shape::new();
        let mut open: SmallVec<[isize; 4]> = SmallVec::new();
        let mut source: SmallVec<[isize; 4]> = SmallVec::new();
        for axis in 0..ndim {
            let size = (axis + self.ndim())
                .checked_sub(ndim)
                .map_or(1, |axis| self.shape()[axis]);
            let times = (axis + repetitions.len())
                .checked_sub(ndim)
                .map_or(1, |axis| repetitions[axis]);
            pairs.extend_from_slice(&[times, size]);
            source.extend_from_slice(&[1, size as isize]);
            let product = times.checked_mul(size);
            whole.push(product.unwrap_or(usize::MAX));
            open.push(product.unwrap_or(usize::MAX) as isize);
        }
        shape::element_count(&whole, self.item_size())?;
        let place = Place::of(self);
        let result = empty(&pairs, self.dtype(), &place)?;
        copy_into(
            &result,
            (&self.reshape(&source, None)?).into(),
            &place.queue,
        )?;
        result.reshape(&open, None)
    }

    /// A copy with each element along an axis repeated; without an axis, of the elements in
    /// row-major order.
    ///
    /// # Errors
    /// An axis that the array doesn't have; a result too large; no memory.
    pub fn repeat(&self, count: usize, axis: Option<isize>) -> Result<Self> {
        let Some(axis) = axis else {
            let flat = self.reshape(&[self.size() as isize], None)?;
            return flat.repeat(count, Some(0));
        };
        let axis = normalize_axis(axis, self.ndim())?;
        let mut shape: Shape = self.shape().into();
        shape[axis] = shape[axis].saturating_mul(count);
        let open: SmallVec<[isize; 4]> = shape.iter().map(|&size| size as isize).collect();
        shape::element_count(&shape, self.item_size())?;
        let mut pairs: Shape = self.shape().into();
        pairs.insert(axis + 1, count);
        let place = Place::of(self);
        let result = empty(&pairs, self.dtype(), &place)?;
        let source = self.expand_dims(&[axis as isize + 1])?;
        copy_into(&result, (&source).into(), &place.queue)?;
        result.reshape(&open, None)
    }
}
