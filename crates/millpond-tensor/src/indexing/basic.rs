//! Numbers, slices, ellipsis and new axes: what makes views.

use millpond_types::Layout;

use super::Index;
use crate::error::{During, Error, Result};

/// Narrows a layout to the elements that an expression names.
#[inline]
pub(super) fn index(layout: &mut Layout, indices: &[Index<'_>]) -> Result<()> {
    let whole = unnamed_axes(layout.ndim(), indices)?;
    // Where the next part applies, in the result; and how much further that is in the array.
    let (mut axis, mut behind) = (0, 0_isize);
    for index in indices {
        match *index {
            Index::NewAxis => {
                layout.insert_axis(axis).during("indexing")?;
                axis += 1;
                behind -= 1;
            }
            Index::Ellipsis => axis += whole,
            Index::At(index) => {
                let size = layout.shape()[axis];
                let Some(at) = position(index, size) else {
                    let axis = axis.wrapping_add_signed(behind);
                    return Err(Error::Index { index, axis, size });
                };
                layout.select(axis, at);
                behind += 1;
            }
            Index::Array(_) => {
                return Err(Error::IndexExpression {
                    ndim: layout.ndim(),
                    reason: "an array names no view".to_owned(),
                });
            }
            Index::Slice { start, stop, step } => {
                let step = step.unwrap_or(1);
                if step == 0 {
                    return Err(Error::value("indexing", "the step of a slice is zero"));
                }
                let (first, len) = slice(start, stop, step, layout.shape()[axis]);
                layout.narrow(axis, first, len, step);
                axis += 1;
            }
        }
    }
    Ok(())
}

/// How many axes of the array no part of an expression names.
#[inline]
pub(super) fn unnamed_axes(ndim: usize, indices: &[Index<'_>]) -> Result<usize> {
    let (mut named, mut ellipses) = (0, 0);
    for index in indices {
        match index {
            Index::Ellipsis => ellipses += 1,
            index => named += index.axes(),
        }
    }
    let fail = |reason| Err(Error::IndexExpression { ndim, reason });
    if named > ndim {
        return fail(format!("{named} axes are indexed"));
    }
    if ellipses > 1 {
        return fail("an ellipsis stands once at most".to_owned());
    }
    Ok(ndim - named)
}

/// The element that a number counts to, from the end if negative.
fn position(index: isize, size: usize) -> Option<usize> {
    let at = if index < 0 {
        index.checked_add_unsigned(size)?
    } else {
        index
    };
    usize::try_from(at).ok().filter(|&at| at < size)
}

/// The first element and the number of elements of a slice, by Python's rules.
#[inline]
fn slice(start: Option<isize>, stop: Option<isize>, step: isize, size: usize) -> (usize, usize) {
    let size = size as isize;
    // Backwards, a bound may stand before the first element.
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let bound = |bound: isize| {
        let bound = if bound < 0 {
            bound.saturating_add(size)
        } else {
            bound
        };
        bound.clamp(low, high)
    };
    let (first, end) = if step > 0 {
        (start.map_or(low, bound), stop.map_or(high, bound))
    } else {
        (start.map_or(high, bound), stop.map_or(low, bound))
    };
    let distance = if step > 0 { end - first } else { first - end };
    if distance <= 0 {
        return (0, 0);
    }
    let len = match step {
        // The common case needs no division.
        1 => distance as usize,
        _ => (distance as usize).div_ceil(step.unsigned_abs()),
    };
    (first as usize, len)
}
