//! Where the elements of an array lie within an allocation.
//!
//! A [`Layout`] is a shape, a stride for each axis and an offset, all counted in elements. It is
//! cheap to copy up to four axes, which need no heap. Views are made by changing layouts; nothing
//! here touches memory.

use std::array::from_fn;
use std::cmp::Ordering;
use std::ops::Range;

use smallvec::SmallVec;

use crate::shape::{self, ShapeError};

const INLINE: usize = 4;

#[derive(Clone, Debug)]
enum Axes {
    /// Axes beyond `ndim` have size 1 and any stride, so that loops over all of them, which the
    /// compiler unrolls, count the same.
    Inline {
        ndim: u8,
        shape: [usize; INLINE],
        strides: [isize; INLINE],
    },
    /// More than [`INLINE`].
    Heap {
        shape: Box<[usize]>,
        strides: Box<[isize]>,
    },
}

impl Axes {
    #[inline]
    fn shape(&self) -> &[usize] {
        match self {
            Self::Inline { ndim, shape, .. } => &shape[..usize::from(*ndim)],
            Self::Heap { shape, .. } => shape,
        }
    }

    /// Sizes and strides to change in place, of the axes there are.
    #[inline]
    fn as_mut(&mut self) -> (&mut [usize], &mut [isize]) {
        match self {
            Self::Inline {
                ndim,
                shape,
                strides,
            } => {
                let ndim = usize::from(*ndim);
                (&mut shape[..ndim], &mut strides[..ndim])
            }
            Self::Heap { shape, strides } => (shape, strides),
        }
    }
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
            && self.offset() == other.offset()
    }
}

impl Eq for Layout {}

impl Layout {
    /// A layout of these parts.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if elements can't be counted. `shape` and `strides` have the same
    /// length; extra strides are cut.
    #[inline]
    pub fn new(shape: &[usize], strides: &[isize], offset: usize) -> Result<Self, ShapeError> {
        let strides = &strides[..shape.len()];
        Self::of(shape.len(), |axis| (shape[axis], strides[axis]), offset, 1)
    }

    /// Row-major layout of a shape ("C order"), from offset 0.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the bytes of such an array can't be counted.
    #[inline]
    pub fn contiguous(shape: &[usize], item_size: usize) -> Result<Self, ShapeError> {
        let ndim = shape.len();
        if ndim > INLINE {
            let axis = |axis: usize| (shape[axis], steps(&shape[axis + 1..]));
            return Self::of(ndim, axis, 0, item_size);
        }
        let sizes: [_; INLINE] = from_fn(|axis| if axis < ndim { shape[axis] } else { 1 });
        let Some(size) = shape::count(&sizes, item_size) else {
            return Err(shape::too_large(shape, item_size));
        };
        let mut strides = [1; INLINE];
        for axis in (1..INLINE).rev() {
            strides[axis - 1] = strides[axis] * sizes[axis].max(1) as isize;
        }
        Ok(Self {
            axes: Axes::Inline {
                ndim: ndim as u8,
                shape: sizes,
                strides,
            },
            offset: 0,
            size,
            contiguous: true,
        })
    }

    /// Column-major layout of a shape ("Fortran order"), from offset 0.
    ///
    /// # Errors
    /// As for [`Layout::contiguous`].
    pub fn column_major(shape: &[usize], item_size: usize) -> Result<Self, ShapeError> {
        let axis = |axis: usize| (shape[axis], steps(&shape[..axis]));
        Self::of(shape.len(), axis, 0, item_size)
    }

    /// A layout of axes of the size and stride that a function names for each.
    #[inline]
    fn of(
        ndim: usize,
        axis: impl Fn(usize) -> (usize, isize),
        offset: usize,
        item_size: usize,
    ) -> Result<Self, ShapeError> {
        if ndim > INLINE {
            return Self::of_many((0..ndim).map(axis).unzip(), offset, item_size);
        }
        // One by one: an array that is filled in parts and then copied whole makes the processor
        // wait for its own stores.
        let axes: [_; INLINE] = from_fn(|index| if index < ndim { axis(index) } else { (1, 0) });
        let (shape, strides) = (axes.map(|(size, _)| size), axes.map(|(_, step)| step));
        let Some((size, contiguous)) = count(&shape, &strides, item_size) else {
            return Err(shape::too_large(&shape[..ndim], item_size));
        };
        let ndim = ndim as u8;
        Ok(Self {
            axes: Axes::Inline {
                ndim,
                shape,
                strides,
            },
            offset,
            size,
            contiguous,
        })
    }

    /// The same for more than [`INLINE`] axes.
    #[cold]
    fn of_many(
        (shape, strides): (Vec<usize>, Vec<isize>),
        offset: usize,
        item_size: usize,
    ) -> Result<Self, ShapeError> {
        let Some((size, contiguous)) = count(&shape, &strides, item_size) else {
            return Err(shape::too_large(&shape, item_size));
        };
        Ok(Self {
            axes: Axes::Heap {
                shape: shape.into(),
                strides: strides.into(),
            },
            offset,
            size,
            contiguous,
        })
    }

    /// Says how many elements there are now, and how they lie.
    #[inline]
    fn recount(&mut self) {
        let counted = match &self.axes {
            Axes::Inline { shape, strides, .. } => count(shape, strides, 1),
            Axes::Heap { shape, strides } => count(shape, strides, 1),
        };
        // Views have no more elements than what they are made of.
        if let Some((size, contiguous)) = counted {
            (self.size, self.contiguous) = (size, contiguous);
        }
    }

    /// The layout of a single element at offset 0.
    #[must_use]
    pub const fn scalar() -> Self {
        let axes = Axes::Inline {
            ndim: 0,
            shape: [1; INLINE],
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
        self.axes.shape()
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
        // Nothing lies anywhere in an array of no element, whatever views were taken of it.
        if self.size == 0 { 0 } else { self.offset }
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
        let axes = self.shape().iter().zip(self.strides());
        self.size == 0 || follow_one_another(axes)
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
    pub fn insert_axis(&mut self, axis: usize) {
        self.replace_axes(self.ndim() + 1, |new| match new.cmp(&axis) {
            Ordering::Less => Some(new),
            Ordering::Equal => None,
            Ordering::Greater => Some(new - 1),
        });
    }

    /// Takes other axes: for each its old number, or none for one of size 1.
    fn replace_axes(&mut self, ndim: usize, old: impl Fn(usize) -> Option<usize>) {
        let (shape, strides) = (self.shape(), self.strides());
        let axis = |new| old(new).map_or((1, 0), |old| (shape[old], strides[old]));
        if let Ok(layout) = Self::of(ndim, axis, self.offset, 1) {
            *self = layout;
        }
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

    /// The same layout beginning elsewhere.
    #[must_use]
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }
}

/// The elements from one step to the next along an axis, where those of `inner` axes lie between.
#[inline]
fn steps(inner: &[usize]) -> isize {
    inner.iter().fold(1, |steps: isize, &size| {
        steps.saturating_mul(size.max(1) as isize)
    })
}

/// The number of elements, unless these are too many to count, and whether they follow one another
/// in row-major order.
#[inline]
fn count(shape: &[usize], strides: &[isize], item_size: usize) -> Option<(usize, bool)> {
    let size = shape::count(shape, item_size)?;
    let axes = shape.iter().zip(strides).rev();
    Some((size, size == 0 || follow_one_another(axes)))
}

/// Whether axes, from the innermost, leave no gap.
#[inline]
fn follow_one_another<'a>(axes: impl Iterator<Item = (&'a usize, &'a isize)>) -> bool {
    let mut expected = 1_isize;
    for (&size, &stride) in axes {
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
