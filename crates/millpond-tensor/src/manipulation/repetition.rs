//! Elements moved along axes, or repeated: copies.

use millpond_kernel::IndexMode;
use millpond_runtime::Queue;
use millpond_types::shape::{self, Tuple, normalize_axis};
use millpond_types::{DType, Scalar, Shape};
use smallvec::SmallVec;

use crate::apply::copy_into;
use crate::creation::{Order, empty};
use crate::error::{During, Error, Result};
use crate::indexing::Index;
use crate::place::Place;
use crate::range::arange;
use crate::searching::Side;
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
            let shift = shifts.iter().map(|&shift| shift as i128).sum();
            return flat.rolled(&[shift])?.reshape(&shape, None);
        };
        if shifts.len() != axes.len() && shifts.len() != 1 {
            let reason = format!("{} shifts for {} axes", shifts.len(), axes.len());
            return Err(Error::value("roll", reason));
        }
        let mut moved: SmallVec<[i128; 4]> = SmallVec::from_elem(0, self.ndim());
        for (index, &axis) in axes.iter().enumerate() {
            // An axis may be named several times; its shifts add up.
            let shift = shifts[index.min(shifts.len() - 1)];
            moved[normalize_axis(axis, self.ndim())?] += shift as i128;
        }
        self.rolled(&moved)
    }

    /// A copy with elements moved so far along each axis.
    fn rolled(&self, shifts: &[i128]) -> Result<Self> {
        if shifts.iter().all(|&shift| shift == 0) {
            return self.copy(Order::K);
        }
        let place = Place::of(self);
        let result = empty(self.shape(), self.dtype(), &place)?;
        if self.size() > 0 {
            roll_into(&result, self, shifts, &place.queue)?;
        }
        Ok(result)
    }

    /// A copy repeated as a whole along each axis. Axes are added in front on either side as need
    /// be.
    ///
    /// # Errors
    /// A result too large; [`Error::Dimensions`] for too many axes; no memory.
    pub fn tile(&self, repetitions: &[usize]) -> Result<Self> {
        let ndim = self.ndim().max(repetitions.len());
        shape::check_ndim(ndim).during("tile")?;
        let mut parts: SmallVec<[Part; 8]> = SmallVec::new();
        let mut shape = Shape::new();
        for axis in 0..ndim {
            let size = (axis + self.ndim())
                .checked_sub(ndim)
                .map_or(1, |axis| self.shape()[axis]);
            let times = (axis + repetitions.len())
                .checked_sub(ndim)
                .map_or(1, |axis| repetitions[axis]);
            parts.extend([Part::Times(times), Part::Own(size)]);
            shape.push(times.saturating_mul(size));
        }
        self.repeated(&parts, &shape)
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
        let mut parts: SmallVec<[Part; 8]> = self.shape().iter().copied().map(Part::Own).collect();
        parts.insert(axis + 1, Part::Times(count));
        let mut shape: Shape = self.shape().into();
        shape[axis] = shape[axis].saturating_mul(count);
        self.repeated(&parts, &shape)
    }

    /// A copy with each element along an axis repeated as often as an array of integers says, which
    /// has one for each or one for all; without an axis, of the elements in row-major order. Waits
    /// for the integers, which say how many there are in all.
    ///
    /// ```
    /// # use millpond_cpu::{CpuConfig, CpuDriver};
    /// # use millpond_tensor::{Place, creation};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = millpond_runtime::Device::open(
    /// #     millpond_hal::Driver::devices(&CpuDriver::new(CpuConfig::default()))?.remove(0),
    /// # );
    /// # let place = Place::on(&device.default_queue()?);
    /// let x = creation::from_slice(&[7, 8, 9], &[3], &place)?;
    /// let counts = creation::from_slice(&[2, 0, 1], &[3], &place)?;
    /// assert_eq!(x.repeat_each(&counts, None)?.to_vec::<i32>()?, [7, 7, 9]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Type`] for counts that aren't integers; [`Error::Value`] for a negative one, or as
    /// many as neither one nor the axis has elements; as for [`Tensor::repeat`].
    pub fn repeat_each(&self, counts: &Self, axis: Option<isize>) -> Result<Self> {
        const OPERATION: &str = "repeat";
        let Some(axis) = axis else {
            let flat = self.reshape(&[self.size() as isize], None)?;
            return flat.repeat_each(counts, Some(0));
        };
        let size = self.shape()[normalize_axis(axis, self.ndim())?];
        if !counts.dtype().is_integer() {
            let reason = format!("repeats are integers, not {}", counts.dtype());
            return Err(Error::wrong_type(OPERATION, reason));
        }
        if counts.ndim() > 1 || (counts.size() != 1 && counts.size() != size) {
            let reason = format!(
                "repeats of shape {} for an axis of {size}",
                Tuple(counts.shape())
            );
            return Err(Error::value(OPERATION, reason));
        }
        if counts.size() == 0 {
            return self.repeat(0, Some(axis));
        }
        let counts = &counts.to_be_observed()?;
        let extreme = |counts: Result<Self>| Ok::<_, Error>(counts?.item()?.to_i128());
        let (least, most) = (
            extreme(counts.min(None, false))?,
            extreme(counts.max(None, false))?,
        );
        if least < 0 {
            let reason = format!("repeats is negative: {least}");
            return Err(Error::value(OPERATION, reason));
        }
        // What can't be counted is more than any memory has, as what is counted may be.
        if least == most || most.saturating_mul(size as i128) > i128::from(i64::MAX) {
            return self.repeat(usize::try_from(most).unwrap_or(usize::MAX), Some(axis));
        }
        let ends = counts.cumulative_sum(None, Some(DType::Int64), false)?;
        let (zero, one) = (Scalar::Int(0), Scalar::Int(1));
        let all = ends.get(&[Index::At(-1)])?.item()?;
        let places = arange(zero, all, one, Some(DType::Int64), &Place::of(self))?;
        let sources = ends.searchsorted(&places, Side::Right, None)?;
        self.take(&sources, Some(axis), IndexMode::Clip, None)
    }

    /// A copy of this shape, whose axes are products of these parts in turn.
    fn repeated(&self, parts: &[Part], shape: &[usize]) -> Result<Self> {
        shape::element_count(shape, self.item_size())?;
        let place = Place::of(self);
        if shape.contains(&0) {
            return empty(shape, self.dtype(), &place);
        }
        // Without parts of size one there are fewer than sizes have bits.
        let parts = parts.iter().filter(|part| part.size() != 1);
        let (wide, own): (Shape, SmallVec<[isize; 4]>) = parts
            .map(|part| match *part {
                Part::Own(size) => (size, size as isize),
                Part::Times(times) => (times, 1),
            })
            .unzip();
        let result = empty(&wide, self.dtype(), &place)?;
        let source = self.reshape(&own, None)?;
        copy_into(&result, (&source).into(), &place.queue)?;
        let shape: SmallVec<[isize; 4]> = shape.iter().map(|&size| size as isize).collect();
        result.reshape(&shape, None)
    }
}

/// Copies elements to where they are moved by these shifts of the last axes, which are cut in two
/// where theirs come in at the begin again.
fn roll_into(target: &Tensor, source: &Tensor, shifts: &[i128], queue: &Queue) -> Result<()> {
    let Some((&shift, rest)) = shifts.split_first() else {
        return copy_into(target, source.into(), queue);
    };
    let axis = source.ndim() - shifts.len();
    let size = source.shape()[axis] as isize;
    let shift = shift.rem_euclid(size as i128) as isize;
    if shift == 0 {
        return roll_into(target, source, rest, queue);
    }
    for (from, to, len) in [(0, shift, size - shift), (size - shift, 0, shift)] {
        let part = source.along(axis, Index::range(from, from + len))?;
        let place = target.along(axis, Index::range(to, to + len))?;
        roll_into(&place, &part, rest, queue)?;
    }
    Ok(())
}

/// A factor of the size of an axis of a copy.
#[derive(Clone, Copy)]
enum Part {
    /// The size of an axis that is copied.
    Own(usize),
    /// How many times it is.
    Times(usize),
}

impl Part {
    const fn size(self) -> usize {
        match self {
            Self::Own(size) | Self::Times(size) => size,
        }
    }
}
