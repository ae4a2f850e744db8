//! Where the elements of an array lie within an allocation.
//!
//! A [`Layout`] is a shape, a stride for each axis and an offset, all counted in elements. It is
//! cheap to copy up to four axes, which need no heap. Views are made by changing layouts; nothing
//! here touches memory.

use std::ops::Range;

use smallvec::SmallVec;

use crate::shape::{self, Shape, ShapeError};

const INLINE: usize = 4;

#[derive(Clone, Debug)]
enum Axes {
    Inline {
        ndim: u8,
        shape: [usize; INLINE],
        strides: [isize; INLINE],
    },
    Heap {
        shape: Box<[usize]>,
        strides: Box<[isize]>,
    },
}

/// Shape, strides and offset of an array, in elements.
#[derive(Clone, Debug)]
pub struct Layout {
    axes: Axes,
    offset: usize,
    size: usize,
    contiguous: bool,
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape()
            && self.strides() == other.strides()
            && self.offset == other.offset
    }
}

impl Eq for Layout {}

impl Layout {
    /// A layout of these parts.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if elements can't be counted. `shape` and `strides` have the same
    /// length; extra strides are cut.
    pub fn new(shape: &[usize], strides: &[isize], offset: usize) -> Result<Self, ShapeError> {
        let size = shape::element_count(shape, 1)?;
        let axes = match u8::try_from(shape.len()) {
            Ok(ndim) if shape.len() <= INLINE => {
                let mut axes = ([0; INLINE], [0; INLINE]);
                axes.0[..shape.len()].copy_from_slice(shape);
                axes.1[..shape.len()].copy_from_slice(&strides[..shape.len()]);
                Axes::Inline {
                    ndim,
                    shape: axes.0,
                    strides: axes.1,
                }
            }
            _ => Axes::Heap {
                shape: shape.into(),
                strides: strides[..shape.len()].into(),
            },
        };
        let contiguous = is_c_contiguous(shape, strides);
        Ok(Self {
            axes,
            offset,
            size,
            contiguous,
        })
    }

    /// Row-major layout of a shape ("C order"), from offset 0.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the bytes of such an array can't be counted.
    pub fn contiguous(shape: &[usize], item_size: usize) -> Result<Self, ShapeError> {
        shape::element_count(shape, item_size)?;
        let mut strides: SmallVec<[isize; INLINE]> = SmallVec::from_elem(0, shape.len());
        let mut stride = 1_isize;
        for (target, &size) in strides.iter_mut().zip(shape).rev() {
            *target = stride;
            stride = stride.saturating_mul(size.max(1) as isize);
        }
        Self::new(shape, &strides, 0)
    }

    /// Column-major layout of a shape ("Fortran order"), from offset 0.
    ///
    /// # Errors
    /// As for [`Layout::contiguous`].
    pub fn column_major(shape: &[usize], item_size: usize) -> Result<Self, ShapeError> {
        shape::element_count(shape, item_size)?;
        let mut strides: SmallVec<[isize; INLINE]> = SmallVec::from_elem(0, shape.len());
        let mut stride = 1_isize;
        for (target, &size) in strides.iter_mut().zip(shape) {
            *target = stride;
            stride = stride.saturating_mul(size.max(1) as isize);
        }
        Self::new(shape, &strides, 0)
    }

    /// The layout of a single element at offset 0.
    #[must_use]
    pub const fn scalar() -> Self {
        let axes = Axes::Inline {
            ndim: 0,
            shape: [0; INLINE],
            strides: [0; INLINE],
        };
        Self {
            axes,
            offset: 0,
            size: 1,
            contiguous: true,
        }
    }

    /// Sizes of the axes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match &self.axes {
            Axes::Inline { ndim, shape, .. } => &shape[..usize::from(*ndim)],
            Axes::Heap { shape, .. } => shape,
        }
    }

    /// Steps of the axes, in elements.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        match &self.axes {
            Axes::Inline { ndim, strides, .. } => &strides[..usize::from(*ndim)],
            Axes::Heap { strides, .. } => strides,
        }
    }

    /// The number of axes.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// The element of index zero on each axis, counted from the allocation's begin.
    #[inline]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The number of elements.
    #[inline]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Whether elements follow one another in row-major order. Arrays of no element are.
    #[inline]
    pub const fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Whether elements follow one another in column-major order.
    pub fn is_column_major(&self) -> bool {
        let shape: Shape = self.shape().iter().rev().copied().collect();
        let strides: SmallVec<[isize; INLINE]> = self.strides().iter().rev().copied().collect();
        is_c_contiguous(&shape, &strides)
    }

    /// The elements that it touches, as a range within the allocation; empty if there are none.
    pub fn span(&self) -> Range<usize> {
        if self.size == 0 {
            return 0..0;
        }
        if self.contiguous {
            return self.offset..self.offset + self.size;
        }
        let (mut low, mut high) = (self.offset as isize, self.offset as isize);
        for (&size, &stride) in self.shape().iter().zip(self.strides()) {
            let reach = stride * (size as isize - 1);
            if reach < 0 {
                low += reach;
            } else {
                high += reach;
            }
        }
        low as usize..high as usize + 1
    }

    /// The same elements seen through another shape of a broadcast; new axes have stride 0.
    ///
    /// # Errors
    /// [`ShapeError::Broadcast`] unless this shape broadcasts to `shape`.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self, ShapeError> {
        let fail = || ShapeError::Broadcast(vec![self.shape().into(), shape.into()]);
        let skip = shape.len().checked_sub(self.ndim()).ok_or_else(fail)?;
        let mut strides: SmallVec<[isize; INLINE]> = SmallVec::from_elem(0, shape.len());
        for (axis, (&size, &stride)) in self.shape().iter().zip(self.strides()).enumerate() {
            if size == shape[skip + axis] {
                strides[skip + axis] = stride;
            } else if size != 1 {
                return Err(fail());
            }
        }
        Self::new(shape, &strides, self.offset)
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
        let shape: Shape = axes.iter().map(|&axis| self.shape()[axis]).collect();
        let strides: SmallVec<[isize; INLINE]> =
            axes.iter().map(|&axis| self.strides()[axis]).collect();
        Self::new(&shape, &strides, self.offset)
    }

    /// The same elements in another shape, if strides can express it without a copy.
    ///
    /// `None` where a copy is needed.
    ///
    /// # Errors
    /// [`ShapeError::Reshape`] if the number of elements differs.
    pub fn reshape(&self, shape: &[usize]) -> Result<Option<Self>, ShapeError> {
        let size = shape::element_count(shape, 1)?;
        if size != self.size {
            return Err(ShapeError::Reshape {
                from: self.shape().into(),
                to: shape.into(),
            });
        }
        if self.contiguous {
            return Self::contiguous(shape, 1).map(|layout| Some(layout.at_offset(self.offset)));
        }
        let strides = reshaped_strides(self.shape(), self.strides(), shape);
        strides
            .map(|strides| Self::new(shape, &strides, self.offset))
            .transpose()
    }

    /// The same layout beginning elsewhere.
    #[must_use]
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }
}

fn is_c_contiguous(shape: &[usize], strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1_isize;
    for (&size, &stride) in shape.iter().zip(strides).rev() {
        if size != 1 {
            if stride != expected {
                return false;
            }
            expected *= size as isize;
        }
    }
    true
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
