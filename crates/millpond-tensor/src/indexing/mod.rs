//! Elements named by index expressions: views of them, copies of them, and writing to them.
//!
//! Numbers, slices, `...` and new axes make views, in `basic`. With arrays in the expression, of
//! integers or of truth values, elements are copied: `expression` finds out which axes such arrays
//! stand for and where theirs go in the result, `integer` and `mask` pick the elements. The rules
//! are NumPy's. `taking` has the functions that name one axis.
//!
//! An index outside of its axis is found when the work runs. The work fails then, which the next
//! wait for its result tells, and nothing was written. Only what has a shape that a mask decides
//! waits: for that mask, and for nothing else (rule O5).

mod assign;
mod basic;
mod expression;
mod integer;
mod mask;
mod taking;

use crate::error::Result;
use crate::operand::Operand;
use crate::place::Place;
use crate::tensor::Tensor;

use expression::{Expression, OPERATION};
use integer::Integers;

pub use mask::{extract, place};

/// One part of an index expression.
#[derive(Clone, Copy, Debug)]
pub enum Index<'a> {
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
    /// Integers: the elements that they count to along the axis. All such arrays of an expression
    /// are broadcast together, and the axes of that shape take the place of those that they index,
    /// or come first if others lie between.
    ///
    /// Truth values: the elements where they hold, of as many axes as the array has, along one axis
    /// in their place.
    Array(&'a Tensor),
}

impl Index<'_> {
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

    /// How many axes of the array it names; an ellipsis names none by itself.
    fn axes(&self) -> usize {
        match self {
            Self::At(_) | Self::Slice { .. } => 1,
            Self::Ellipsis | Self::NewAxis => 0,
            Self::Array(array) if array.dtype() == millpond_types::DType::Bool => array.ndim(),
            Self::Array(_) => 1,
        }
    }
}

impl From<isize> for Index<'_> {
    fn from(index: isize) -> Self {
        Self::At(index)
    }
}

impl<'a> From<&'a Tensor> for Index<'a> {
    fn from(array: &'a Tensor) -> Self {
        Self::Array(array)
    }
}

impl Tensor {
    /// The elements that an expression names: a view of them, or, with arrays in it, a copy. Axes
    /// that it doesn't name are kept whole.
    ///
    /// ```
    /// # use millpond_cpu::{CpuConfig, CpuDriver};
    /// # use millpond_tensor::{Index, Place, creation};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = millpond_runtime::Device::open(
    /// #     millpond_hal::Driver::devices(&CpuDriver::new(CpuConfig::default()))?.remove(0),
    /// # );
    /// # let place = Place::on(&device.default_queue()?);
    /// let x = creation::from_slice(&[10, 11, 12, 13, 14, 15], &[2, 3], &place)?;
    /// let columns = creation::from_slice(&[2, 0, -1], &[3], &place)?;
    /// let picked = x.get(&[Index::ALL, Index::Array(&columns)])?;
    /// assert_eq!(picked.to_vec::<i32>()?, [12, 10, 12, 15, 13, 15]);
    /// let large = x.get(&[Index::Array(&x.greater(12)?)])?;
    /// assert_eq!(large.to_vec::<i32>()?, [13, 14, 15]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) for a number out of bounds;
    /// [`Error::IndexExpression`](crate::Error::IndexExpression) for too many parts, a second
    /// ellipsis, arrays that are neither integers nor truth values, that don't broadcast or, as
    /// masks, don't have the shape of their axes; [`Error::Value`](crate::Error::Value) for a step
    /// of zero; [`Error::Dimensions`](crate::Error::Dimensions) for too many axes; arrays of
    /// another device; no memory. An integer of an array that is out of bounds fails the work.
    #[inline]
    pub fn get(&self, indices: &[Index<'_>]) -> Result<Self> {
        if let [Index::Array(array)] = *indices
            && let Some(picked) = Integers::plain(self, array)?
        {
            return picked.get(OPERATION);
        }
        if has_arrays(indices) {
            return Expression::new(self, indices)?.get();
        }
        let mut view = self.clone();
        basic::index(view.layout_mut(), indices)?;
        Ok(view)
    }

    /// Writes a value to the elements that an expression names, to which it broadcasts, as if the
    /// value and the indices had been read before. Of several values for one element the last
    /// stays, in row-major order of the indices. Doesn't wait, unless masks stand beside other
    /// arrays.
    ///
    /// # Errors
    /// As for [`Tensor::get`] and [`Tensor::assign`].
    pub fn set<'a>(&self, indices: &[Index<'_>], value: impl Into<Operand<'a>>) -> Result<()> {
        if let [Index::Array(array)] = *indices
            && let Some(picked) = Integers::plain(self, array)?
        {
            return picked.set(OPERATION, value.into());
        }
        if has_arrays(indices) {
            return Expression::new(self, indices)?.set(value.into());
        }
        self.get(indices)?.assign(value)
    }

    /// The place of this array's results.
    pub fn place(&self) -> Place {
        Place::of(self)
    }
}

#[inline]
fn has_arrays(indices: &[Index<'_>]) -> bool {
    indices.iter().any(|index| matches!(index, Index::Array(_)))
}
