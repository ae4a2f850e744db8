//! Where the elements of an array lie within an allocation.
//!
//! A [`Layout`] is a shape, a stride for each axis and an offset, all counted in elements. It is
//! cheap to copy up to four axes, which need no heap. Views are made by changing layouts; nothing
//! here touches memory.

mod axes;
mod views;

use std::array::from_fn;
use std::ops::Range;

use crate::shape::{self, ShapeError};
use axes::{Axes, INLINE, count, follow_one_another};

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
    /// [`ShapeError::TooLarge`] if elements can't be counted, [`ShapeError::Dimensions`] if there
    /// are more than [`shape::MAX_NDIM`] axes. `shape` and `strides` have the same length; extra
    /// strides are cut.
    #[inline]
    pub fn new(shape: &[usize], strides: &[isize], offset: usize) -> Result<Self, ShapeError> {
        let strides = &strides[..shape.len()];
        Self::of(shape.len(), |axis| (shape[axis], strides[axis]), offset, 1)
    }

    /// Row-major layout of a shape ("C order"), from offset 0.
    ///
    /// # Errors
    /// [`ShapeError::TooLarge`] if the bytes of such an array can't be counted,
    /// [`ShapeError::Dimensions`] if there are more than [`shape::MAX_NDIM`] axes.
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
            return Self::of_many(ndim, &axis, offset, item_size);
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

    /// The same for more than [`INLINE`] axes, of which there may be [`shape::MAX_NDIM`].
    #[cold]
    fn of_many(
        ndim: usize,
        axis: &dyn Fn(usize) -> (usize, isize),
        offset: usize,
        item_size: usize,
    ) -> Result<Self, ShapeError> {
        shape::check_ndim(ndim)?;
        let axes = Axes::of(ndim, axis);
        let Some((size, contiguous)) = axes.count(item_size) else {
            return Err(shape::too_large(axes.shape(), item_size));
        };
        Ok(Self {
            axes,
            offset,
            size,
            contiguous,
        })
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
        self.axes.strides()
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

    /// The bytes that elements of this size lie in, as a range within the allocation.
    ///
    /// ```
    /// # use millpond_types::Layout;
    /// let columns = Layout::new(&[2], &[3], 1)?;
    /// assert_eq!(columns.byte_span(4), 4..20);
    /// # Ok::<(), millpond_types::shape::ShapeError>(())
    /// ```
    pub fn byte_span(&self, item_size: usize) -> Range<usize> {
        let span = self.span();
        span.start * item_size..span.end * item_size
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
