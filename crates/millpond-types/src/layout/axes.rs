//! Sizes and strides of the axes of a layout, on the heap only if there are many.

use std::array::from_fn;

use crate::shape;

/// As many axes need no heap.
pub(super) const INLINE: usize = 4;

#[derive(Clone, Debug)]
pub(super) enum Axes {
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
    pub(super) fn shape(&self) -> &[usize] {
        match self {
            Self::Inline { ndim, shape, .. } => &shape[..usize::from(*ndim)],
            Self::Heap { shape, .. } => shape,
        }
    }

    /// Axes of the size and stride that a function names for each.
    pub(super) fn of(ndim: usize, axis: impl Fn(usize) -> (usize, isize)) -> Self {
        if ndim > INLINE {
            let (shape, strides): (Vec<_>, Vec<_>) = (0..ndim).map(axis).unzip();
            return Self::Heap {
                shape: shape.into(),
                strides: strides.into(),
            };
        }
        let axes: [_; INLINE] = from_fn(|index| if index < ndim { axis(index) } else { (1, 0) });
        Self::Inline {
            ndim: ndim as u8,
            shape: axes.map(|(size, _)| size),
            strides: axes.map(|(_, step)| step),
        }
    }

    #[inline]
    pub(super) fn strides(&self) -> &[isize] {
        match self {
            Self::Inline { ndim, strides, .. } => &strides[..usize::from(*ndim)],
            Self::Heap { strides, .. } => strides,
        }
    }

    /// The number of elements, unless these are too many to count, and whether they follow one
    /// another in row-major order.
    #[inline]
    pub(super) fn count(&self, item_size: usize) -> Option<(usize, bool)> {
        match self {
            Self::Inline { shape, strides, .. } => count(shape, strides, item_size),
            Self::Heap { shape, strides } => count(shape, strides, item_size),
        }
    }

    /// Sizes and strides to change in place, of the axes there are.
    #[inline]
    pub(super) fn as_mut(&mut self) -> (&mut [usize], &mut [isize]) {
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

/// The number of elements, unless these are too many to count, and whether they follow one another
/// in row-major order.
#[inline]
pub(super) fn count(shape: &[usize], strides: &[isize], item_size: usize) -> Option<(usize, bool)> {
    let size = shape::count(shape, item_size)?;
    let axes = shape.iter().zip(strides).rev();
    Some((size, size == 0 || follow_one_another(axes)))
}

/// Whether axes, from the innermost, leave no gap.
#[inline]
pub(super) fn follow_one_another<'a>(axes: impl Iterator<Item = (&'a usize, &'a isize)>) -> bool {
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
