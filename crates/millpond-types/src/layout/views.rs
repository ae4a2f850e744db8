//! Layouts of the same elements, or of some of them, seen otherwise.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::Layout;
use super::axes::{Axes, INLINE};
use crate::shape::{self, ShapeError};

impl Layout {
    /// The same elements seen through another shape of a broadcast; new axes have stride 0.
    ///
    /// # Errors
    /// [`ShapeError::Broadcast`] unless this shape broadcasts to `shape`; a `shape` that no array
    /// can have.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self, ShapeError> {
        shape::check_ndim(shape.len())?;
        let (from, strides) = (self.shape(), self.strides());
        let fail = || ShapeError::Broadcast(vec![from.into(), shape.into()]);
        let skip = shape.len().checked_sub(from.len()).ok_or_else(fail)?;
        let mut axes = from.iter().zip(&shape[skip..]);
        if !axes.all(|(&from, &to)| from == to || from == 1) {
            return Err(fail());
        }
        let axis = |axis: usize| match axis.checked_sub(skip) {
            Some(own) if from[own] == shape[axis] => (shape[axis], strides[own]),
            _ => (shape[axis], 0),
        };
        Self::of(shape.len(), axis, self.offset, 1)
    }

    /// Keeps `len` of an axis, `step` apart from number `first` on, which the axis has.
    #[inline]
    pub fn narrow(&mut self, axis: usize, first: usize, len: usize, step: isize) {
        let (shape, strides) = self.axes.as_mut();
        if len > 0 {
            self.offset = self
                .offset
                .wrapping_add_signed((first as isize).wrapping_mul(strides[axis]));
        }
        shape[axis] = len;
        strides[axis] = strides[axis].saturating_mul(step);
        self.recount();
    }

    /// Keeps what an axis has at number `at`, without the axis.
    #[inline]
    pub fn select(&mut self, axis: usize, at: usize) {
        let step = self.strides()[axis];
        let reach = (at as isize).wrapping_mul(step);
        self.offset = self.offset.wrapping_add_signed(reach);
        if let Axes::Inline {
            ndim,
            shape,
            strides,
        } = &mut self.axes
        {
            for axis in axis..INLINE - 1 {
                (shape[axis], strides[axis]) = (shape[axis + 1], strides[axis + 1]);
            }
            (shape[INLINE - 1], strides[INLINE - 1]) = (1, 0);
            *ndim -= 1;
            self.recount();
        } else {
            let old = |new: usize| new + usize::from(new >= axis);
            self.replace_axes(self.ndim() - 1, |new| Some(old(new)));
        }
    }

    /// Puts an axis of size 1 before another, or behind all.
    ///
    /// # Errors
    /// [`ShapeError::Dimensions`] if there are as many as there may be; nothing has changed then.
    pub fn insert_axis(&mut self, axis: usize) -> Result<(), ShapeError> {
        shape::check_ndim(self.ndim() + 1)?;
        self.replace_axes(self.ndim() + 1, |new| match new.cmp(&axis) {
            Ordering::Less => Some(new),
            Ordering::Equal => None,
            Ordering::Greater => Some(new - 1),
        });
        Ok(())
    }

    /// Takes other axes: for each its old number, or none for one of size 1.
    fn replace_axes(&mut self, ndim: usize, old: impl Fn(usize) -> Option<usize>) {
        let (shape, strides) = (self.shape(), self.strides());
        let axis = |new| old(new).map_or((1, 0), |old| (shape[old], strides[old]));
        self.axes = Axes::of(ndim, axis);
        self.recount();
    }

    /// The same elements with the axes in another order; `axes` is a permutation.
    ///
    /// # Errors
    /// [`ShapeError::Axis`] or [`ShapeError::RepeatedAxis`] if it isn't one.
    pub fn permute(&self, axes: &[usize]) -> Result<Self, ShapeError> {
        let ndim = self.ndim();
        let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, ndim);
        for &axis in axes {
            match seen.get_mut(axis) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(ShapeError::RepeatedAxis { axis }),
                None => {
                    return Err(ShapeError::Axis {
                        axis: axis as isize,
                        ndim,
                    });
                }
            }
        }
        if axes.len() != ndim {
            return Err(ShapeError::Axis {
                axis: axes.len() as isize,
                ndim,
            });
        }
        let (shape, strides) = (self.shape(), self.strides());
        let axis = |axis: usize| (shape[axes[axis]], strides[axes[axis]]);
        Self::of(ndim, axis, self.offset, 1)
    }

    /// The same elements in another shape, if strides can express it without a copy.
    ///
    /// `None` where a copy is needed.
    ///
    /// # Errors
    /// [`ShapeError::Reshape`] if the number of elements differs.
    #[inline]
    pub fn reshape(&self, shape: &[usize]) -> Result<Option<Self>, ShapeError> {
        let mut layout = Self::contiguous(shape, 1)?;
        if layout.size != self.size {
            return Err(ShapeError::Reshape {
                from: self.shape().into(),
                to: shape.into(),
            });
        }
        if self.contiguous {
            layout.offset = self.offset;
            return Ok(Some(layout));
        }
        let strides = reshaped_strides(self.shape(), self.strides(), shape);
        strides
            .map(|strides| Self::new(shape, &strides, self.offset))
            .transpose()
    }

    /// Says how many elements there are now, and how they lie.
    #[inline]
    fn recount(&mut self) {
        // Views have no more elements than what they are made of.
        if let Some((size, contiguous)) = self.axes.count(1) {
            (self.size, self.contiguous) = (size, contiguous);
        }
    }
}

/// Strides for `to` over the elements of `from`, where every group of merged axes is uniform.
fn reshaped_strides(
    from: &[usize],
    strides: &[isize],
    to: &[usize],
) -> Option<SmallVec<[isize; INLINE]>> {
    let old: SmallVec<[(usize, isize); INLINE]> = from
        .iter()
        .copied()
        .zip(strides.iter().copied())
        .filter(|&(size, _)| size != 1)
        .collect();
    let mut result: SmallVec<[isize; INLINE]> = SmallVec::from_elem(0, to.len());
    let (mut old_begin, mut new_begin) = (0, 0);
    while old_begin < old.len() && new_begin < to.len() {
        let (mut old_end, mut new_end) = (old_begin + 1, new_begin + 1);
        let (mut old_size, mut new_size) = (old[old_begin].0, to[new_begin]);
        while old_size != new_size {
            if new_size < old_size {
                new_size *= to.get(new_end)?;
                new_end += 1;
            } else {
                old_size *= old.get(old_end)?.0;
                old_end += 1;
            }
        }
        for pair in old[old_begin..old_end].windows(2) {
            if pair[0].1 != pair[1].1 * pair[1].0 as isize {
                return None;
            }
        }
        let mut stride = old[old_end - 1].1;
        for axis in (new_begin..new_end).rev() {
            result[axis] = stride;
            stride *= to[axis] as isize;
        }
        (old_begin, new_begin) = (old_end, new_end);
    }
    Some(result)
}
