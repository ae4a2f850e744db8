//! What an expression with arrays means: a view by its other parts, axes of that view that arrays
//! stand for, and where the axes of what they pick go.

use std::borrow::Cow;

use millpond_types::shape::{self, Tuple};
use millpond_types::{DType, Shape};
use smallvec::SmallVec;

use super::integer::{Along, Integers};
use super::mask::Masked;
use super::{Index, basic};
use crate::error::{Error, Result};
use crate::operand::Operand;
use crate::place::check_device;
use crate::tensor::Tensor;

/// What operations by expression are called in errors.
pub(super) const OPERATION: &str = "indexing";

/// An expression with arrays.
pub(super) enum Expression<'a> {
    /// Integers along axes.
    Integers(Integers<'a>),
    /// One mask and no integers.
    Masked(Masked<'a>),
}

impl<'a> Expression<'a> {
    /// The meaning of an expression for an array. Waits for masks, unless there is one and no other
    /// array.
    pub(super) fn new(tensor: &Tensor, indices: &[Index<'a>]) -> Result<Self> {
        let parts = Parts::new(tensor, indices)?;
        let mut view = tensor.clone();
        basic::index(view.layout_mut(), &parts.basic)?;
        let queue = view.memory().home();
        for &Part { array, axis, .. } in &parts.arrays {
            check_device(OPERATION, queue, array)?;
            check_array(tensor.ndim(), array, &view, axis)?;
        }
        let at = parts.at;
        if let [Part { array, axis, .. }] = parts.arrays[..]
            && array.dtype() == DType::Bool
            && array.ndim() > 0
        {
            return Ok(Self::Masked(Masked::new(view, array, axis, at)));
        }
        let mut along = SmallVec::new();
        let mut positions: SmallVec<[Shape; 2]> = SmallVec::new();
        for part in &parts.arrays {
            part.add_to(&mut along, &mut positions)?;
        }
        let shapes: SmallVec<[&[usize]; 4]> = positions.iter().map(|shape| &shape[..]).collect();
        let positions = shape::broadcast(&shapes).map_err(|error| Error::IndexExpression {
            ndim: tensor.ndim(),
            reason: format!("arrays of indices don't broadcast: {error}"),
        })?;
        Ok(Self::Integers(Integers::new(view, along, positions, at)))
    }

    /// A copy of the elements.
    pub(super) fn get(&self) -> Result<Tensor> {
        match self {
            Self::Integers(integers) => integers.get(OPERATION),
            Self::Masked(masked) => masked.get(OPERATION),
        }
    }

    /// Writes a value to the elements.
    pub(super) fn set(&self, value: Operand<'_>) -> Result<()> {
        match self {
            Self::Integers(integers) => integers.set(OPERATION, value),
            Self::Masked(masked) => masked.set(OPERATION, value),
        }
    }
}

/// An array of an expression.
struct Part<'a> {
    array: &'a Tensor,
    /// The first axis of the view that it stands for.
    axis: usize,
    /// The same axis of the array that is indexed.
    called: usize,
}

impl<'a> Part<'a> {
    /// Adds the indices that it stands for, and the shape of their positions.
    fn add_to(
        &self,
        along: &mut SmallVec<[Along<'a>; 1]>,
        positions: &mut SmallVec<[Shape; 2]>,
    ) -> Result<()> {
        let Self {
            array,
            axis,
            called,
        } = *self;
        if array.dtype() != DType::Bool {
            positions.push(array.shape().into());
            along.push(Along::new(Cow::Borrowed(array), axis, called));
        } else if array.ndim() == 0 {
            // Without an axis to stand for it makes one, of a size that depends on it.
            positions.push(Shape::from_slice(&[usize::from(array.is_truthy()?)]));
        } else {
            for (number, coordinates) in array.nonzero()?.into_iter().enumerate() {
                positions.push(coordinates.shape().into());
                let coordinates = Cow::Owned(coordinates);
                along.push(Along::new(coordinates, axis + number, called + number));
            }
        }
        Ok(())
    }
}

/// An expression taken apart.
struct Parts<'a> {
    /// The expression that makes the view: arrays replaced by the axes that they stand for.
    basic: SmallVec<[Index<'a>; 4]>,
    arrays: SmallVec<[Part<'a>; 2]>,
    /// How many kept axes come before those of what is picked.
    at: usize,
}

impl<'a> Parts<'a> {
    fn new(tensor: &Tensor, indices: &[Index<'a>]) -> Result<Self> {
        let whole = basic::unnamed_axes(tensor.ndim(), indices)?;
        let mut place = Place::None;
        let mut parts = Self {
            basic: SmallVec::new(),
            arrays: SmallVec::new(),
            at: 0,
        };
        // Axes so far: of the view, of the array, and those that are kept.
        let (mut axis, mut called, mut kept) = (0, 0, 0);
        for &index in indices {
            match index {
                // Numbers beside arrays count as arrays without axes.
                Index::At(_) => place.meet(kept),
                Index::Array(array) => {
                    place.meet(kept);
                    parts.arrays.push(Part {
                        array,
                        axis,
                        called,
                    });
                    // The standard lets an axis of a mask be empty whatever the array's is.
                    let is_empty = |axis| array.dtype() == DType::Bool && array.shape()[axis] == 0;
                    parts.basic.extend((0..index.axes()).map(|axis| {
                        if is_empty(axis) {
                            Index::range(0, 0)
                        } else {
                            Index::ALL
                        }
                    }));
                    axis += index.axes();
                    called += index.axes();
                    continue;
                }
                Index::Slice { .. } | Index::NewAxis | Index::Ellipsis => {
                    place.pass();
                    let axes = match index {
                        Index::Ellipsis => whole,
                        _ => 1,
                    };
                    axis += axes;
                    kept += axes;
                }
            }
            called += match index {
                Index::Ellipsis => whole,
                index => index.axes(),
            };
            parts.basic.push(index);
        }
        parts.at = place.at();
        Ok(parts)
    }
}

/// Where the axes of what is picked go: in place of those that are indexed, if these stand side by
/// side in the expression, else first.
enum Place {
    None,
    /// Behind so many kept axes, with nothing behind it yet.
    Open(usize),
    /// The same, with others behind it.
    Closed(usize),
    First,
}

impl Place {
    /// Meets an index that picks, behind so many kept axes.
    fn meet(&mut self, kept: usize) {
        *self = match *self {
            Self::None => Self::Open(kept),
            Self::Open(at) => Self::Open(at),
            Self::Closed(_) | Self::First => Self::First,
        };
    }

    /// Passes an index that keeps axes.
    fn pass(&mut self) {
        if let Self::Open(at) = *self {
            *self = Self::Closed(at);
        }
    }

    const fn at(&self) -> usize {
        match *self {
            Self::None | Self::First => 0,
            Self::Open(at) | Self::Closed(at) => at,
        }
    }
}

/// Fails unless an array can stand for the axes of a view from `axis` on.
fn check_array(ndim: usize, array: &Tensor, view: &Tensor, axis: usize) -> Result<()> {
    let fail = |reason| Err(Error::IndexExpression { ndim, reason });
    if array.dtype() != DType::Bool {
        if array.dtype().is_integer() {
            return Ok(());
        }
        return fail(format!(
            "an array of {} is no index; integers and truth values are",
            array.dtype()
        ));
    }
    let under = &view.shape()[axis..axis + array.ndim()];
    if under == array.shape() {
        return Ok(());
    }
    fail(format!(
        "a mask of shape {} stands for axes of shape {}",
        Tuple(array.shape()),
        Tuple(under)
    ))
}
