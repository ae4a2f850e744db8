//! Shapes: sizes of axes, their product, and broadcasting.

use std::fmt;

use smallvec::SmallVec;

/// Sizes of the axes of an array; four of them without the heap.
pub type Shape = SmallVec<[usize; 4]>;

/// The most axes that an array may have.
pub const MAX_NDIM: usize = 64;

/// A shape that can't be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// Shapes that don't broadcast to one.
    #[error("shapes {} cannot be broadcast together", join(.0))]
    Broadcast(Vec<Shape>),
    /// More elements or bytes than a size can count.
    #[error("an array of shape {} and {item_size}-byte elements is larger than the address space", Tuple(.shape))]
    TooLarge {
        /// The shape.
        shape: Shape,
        /// Bytes of one element.
        item_size: usize,
    },
    /// More axes than an array may have.
    #[error("an array has {MAX_NDIM} dimensions at most, not {ndim}")]
    Dimensions {
        /// The axes asked for.
        ndim: usize,
    },
    /// An axis that the array doesn't have.
    #[error("axis {axis} is out of bounds for an array of {ndim} dimensions")]
    Axis {
        /// The axis asked for.
        axis: isize,
        /// The axes there are.
        ndim: usize,
    },
    /// An axis named twice.
    #[error("axis {axis} is named more than once")]
    RepeatedAxis {
        /// The axis.
        axis: usize,
    },
    /// A shape of another number of elements.
    #[error("cannot reshape an array of shape {} into shape {}", Tuple(.from), Tuple(.to))]
    Reshape {
        /// The array's shape.
        from: Shape,
        /// The shape asked for.
        to: Shape,
    },
}

/// Prints a shape as Python prints a tuple.
#[derive(Clone, Copy, Debug)]
pub struct Tuple<'a>(pub &'a [usize]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (index, size) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{size}")?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

fn join(shapes: &[Shape]) -> String {
    let shapes: Vec<String> = shapes
        .iter()
        .map(|shape| Tuple(shape).to_string())
        .collect();
    shapes.join(" and ")
}

/// Fails if an array can't have as many axes.
///
/// # Errors
/// [`ShapeError::Dimensions`] beyond [`MAX_NDIM`].
#[inline]
pub const fn check_ndim(ndim: usize) -> Result<(), ShapeError> {
    if ndim > MAX_NDIM {
        return Err(ShapeError::Dimensions { ndim });
    }
    Ok(())
}

/// The number of elements of a shape.
///
/// # Errors
/// [`ShapeError::Dimensions`] for too many axes. [`ShapeError::TooLarge`] if the elements, or their bytes, exceed `isize::MAX`. Sizes of zero
/// don't hide an overflow of the others, as strides are computed from them.
#[inline]
pub fn element_count(shape: &[usize], item_size: usize) -> Result<usize, ShapeError> {
    check_ndim(shape.len())?;
    count(shape, item_size).ok_or_else(|| too_large(shape, item_size))
}

/// The number of elements, unless these are too many to count.
#[inline]
pub(crate) fn count(shape: &[usize], item_size: usize) -> Option<usize> {
    let mut bytes = item_size.max(1);
    let mut elements = 1;
    for &size in shape {
        bytes = bytes.checked_mul(size.max(1))?;
        elements *= size;
    }
    isize::try_from(bytes).ok().map(|_| elements)
}

#[cold]
pub(crate) fn too_large(shape: &[usize], item_size: usize) -> ShapeError {
    ShapeError::TooLarge {
        shape: shape.into(),
        item_size,
    }
}

/// The shape that all of `shapes` broadcast to (Array API standard, "Broadcasting").
///
/// # Errors
/// [`ShapeError::Broadcast`] with all the shapes; [`ShapeError::Dimensions`] for too many axes.
pub fn broadcast(shapes: &[&[usize]]) -> Result<Shape, ShapeError> {
    let ndim = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    check_ndim(ndim)?;
    let mut result = Shape::from_elem(1, ndim);
    for shape in shapes {
        let skip = ndim - shape.len();
        for (target, &size) in result[skip..].iter_mut().zip(*shape) {
            if *target == 1 {
                *target = size;
            } else if size != 1 && size != *target {
                let all = shapes.iter().map(|&shape| shape.into()).collect();
                return Err(ShapeError::Broadcast(all));
            }
        }
    }
    Ok(result)
}

/// A possibly negative axis as an index.
///
/// # Errors
/// [`ShapeError::Axis`] unless `-ndim <= axis < ndim`.
pub fn normalize_axis(axis: isize, ndim: usize) -> Result<usize, ShapeError> {
    let index = if axis < 0 {
        axis.checked_add_unsigned(ndim)
    } else {
        Some(axis)
    };
    match index {
        Some(index) if index >= 0 && (index as usize) < ndim => Ok(index as usize),
        _ => Err(ShapeError::Axis { axis, ndim }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_follows_the_standard() {
        assert_eq!(
            broadcast(&[&[8, 1, 6, 1], &[7, 1, 5]]),
            Ok(Shape::from_slice(&[8, 7, 6, 5]))
        );
        assert_eq!(
            broadcast(&[&[0, 1], &[1, 3]]),
            Ok(Shape::from_slice(&[0, 3]))
        );
        let error = broadcast(&[&[2], &[3]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "shapes (2,) and (3,) cannot be broadcast together"
        );
    }

    #[test]
    fn counts_are_checked() {
        assert_eq!(element_count(&[2, 3], 8), Ok(6));
        assert_eq!(element_count(&[], 8), Ok(1));
        assert!(element_count(&[0, usize::MAX], 8).is_err());
        assert!(element_count(&[1 << 62], 8).is_err());
    }

    #[test]
    fn shapes_have_no_more_axes_than_arrays() {
        let most = [1; MAX_NDIM];
        let more = [1; MAX_NDIM + 1];
        assert_eq!(element_count(&most, 8), Ok(1));
        assert_eq!(broadcast(&[&most, &[2]]).map(|shape| shape[63]), Ok(2));
        let error = ShapeError::Dimensions { ndim: 65 };
        assert_eq!(element_count(&more, 8), Err(error.clone()));
        assert_eq!(broadcast(&[&[2], &more]), Err(error.clone()));
        assert_eq!(
            error.to_string(),
            "an array has 64 dimensions at most, not 65"
        );
    }

    #[test]
    fn axes_are_normalized() {
        assert_eq!(normalize_axis(-1, 3), Ok(2));
        assert!(normalize_axis(3, 3).is_err());
        assert!(normalize_axis(-4, 3).is_err());
        assert!(normalize_axis(0, 0).is_err());
    }
}
