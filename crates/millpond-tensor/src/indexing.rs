//! Basic indexing: numbers, slices, ellipsis and new axes, which make views; and writing to them.

use millpond_types::Layout;

use crate::apply::copy_into;
use crate::creation::check_value;
use crate::data_types::check_not_complex;
use crate::error::{During, Error, Result};
use crate::operand::Operand;
use crate::place::{Place, check_device};
use crate::tensor::Tensor;

/// One part of an index expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// An element along the axis, from its end if negative; the axis goes.
    At(isize),
    /// Elements along the axis, by the rules of Python's slices.
    Slice {
        /// The first.
        start: Option<isize>,
        /// The one behind the last.
        stop: Option<isize>,
        /// The distance, which isn't zero; 1 unless given.
        step: Option<isize>,
    },
    /// As many whole axes as are left.
    Ellipsis,
    /// A new axis of size one.
    NewAxis,
}

impl Index {
    /// The whole axis.
    pub const ALL: Self = Self::Slice {
        start: None,
        stop: None,
        step: None,
    };

    /// Elements from `start` up to `stop`.
    #[must_use]
    pub const fn range(start: isize, stop: isize) -> Self {
        Self::Slice {
            start: Some(start),
            stop: Some(stop),
            step: None,
        }
    }
}

impl From<isize> for Index {
    fn from(index: isize) -> Self {
        Self::At(index)
    }
}

impl Tensor {
    /// The view of some elements. Axes that the expression doesn't name are kept whole.
    ///
    /// # Errors
    /// [`Error::Index`] out of bounds; [`Error::IndexExpression`] for too many parts or a second
    /// ellipsis; [`Error::Value`] for a step of zero; [`Error::Dimensions`] for too many new axes.
    pub fn get(&self, indices: &[Index]) -> Result<Self> {
        let mut view = self.clone();
        index(view.layout_mut(), indices)?;
        Ok(view)
    }

    /// Writes a value to some elements, to which it broadcasts.
    ///
    /// # Errors
    /// As for [`Tensor::get`] and [`Tensor::assign`].
    pub fn set<'a>(&self, indices: &[Index], value: impl Into<Operand<'a>>) -> Result<()> {
        self.get(indices)?.assign(value)
    }

    /// Writes a value, which broadcasts, to all elements. Values are cut or rounded to the dtype
    /// as need be.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; values that don't broadcast, complex ones for a real array, an integer
    /// that the dtype can't hold, an array of another device.
    pub fn assign<'a>(&self, value: impl Into<Operand<'a>>) -> Result<()> {
        const OPERATION: &str = "assignment";
        self.check_writable(OPERATION)?;
        let queue = self.memory().home();
        match value.into() {
            Operand::Scalar(value) => {
                check_value(OPERATION, value, self.dtype())?;
                copy_into(self, value.into(), queue)
            }
            Operand::Tensor(source) => {
                check_device(OPERATION, queue, source)?;
                check_not_complex(OPERATION, source.dtype(), self.dtype())?;
                let source = &without_leading_ones(source, self.ndim())?;
                if let Err(error) = source.layout().broadcast_to(self.shape()) {
                    return Err(Error::Broadcast {
                        operation: OPERATION,
                        error,
                    });
                }
                if source.is_same_view(self) {
                    return Ok(());
                }
                if source.may_overlap(self) {
                    let temporary = source.astype(source.dtype(), true)?;
                    return copy_into(self, (&temporary).into(), queue);
                }
                copy_into(self, source.into(), queue)
            }
        }
    }

    /// The place of this array's results.
    pub fn place(&self) -> Place {
        Place::of(self)
    }
}

/// An assignment's value may have more axes than the target, as long as they have size one.
fn without_leading_ones(source: &Tensor, ndim: usize) -> Result<Tensor> {
    let extra = source.ndim().saturating_sub(ndim);
    if extra == 0 || source.shape()[..extra].iter().any(|&size| size != 1) {
        return Ok(source.clone());
    }
    let layout = source.layout();
    let (shape, strides) = (&layout.shape()[extra..], &layout.strides()[extra..]);
    Ok(source.view(Layout::new(shape, strides, layout.offset())?))
}

/// Narrows a layout to the elements that an expression names.
#[inline]
fn index(layout: &mut Layout, indices: &[Index]) -> Result<()> {
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
fn unnamed_axes(ndim: usize, indices: &[Index]) -> Result<usize> {
    let (mut named, mut ellipses) = (0, 0);
    for index in indices {
        match index {
            Index::Slice { .. } | Index::At(_) => named += 1,
            Index::Ellipsis => ellipses += 1,
            Index::NewAxis => {}
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
