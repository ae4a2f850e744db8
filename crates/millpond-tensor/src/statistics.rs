//! Reductions: sums, extremes, moments, truth, positions along axes.
//!
//! How they are computed is in `millpond_kernel::ops::reduction`; here they are placed and
//! launched. Without axes they reduce all of them.

use millpond_kernel::ops::reduction::rows;
use millpond_kernel::{ReduceKernel, Reduction};
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use crate::cost;
use crate::creation::allocate;
use crate::data_types;
use crate::error::{Error, Result};
use crate::fuse;
use crate::manipulation::normalize_axes;
use crate::place::Home;
use crate::tensor::Tensor;

/// How to reduce: everything but what and by which operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reduce<'a> {
    /// The axes to reduce; `None` for all.
    pub axes: Option<&'a [isize]>,
    /// Whether reduced axes stay, with size one.
    pub keepdims: bool,
    /// The dtype of the result, where the reduction leaves it open.
    pub dtype: Option<DType>,
    /// What a variance subtracts from the number of elements.
    pub correction: f64,
    /// Where to put the result.
    pub out: Option<&'a Tensor>,
}

/// Reduces an array.
///
/// # Errors
/// A dtype that the reduction isn't defined for; axes that the array doesn't have; no elements
/// for a reduction without an identity; an output that can't take the result; no memory.
pub fn reduce(reduction: &'static Reduction, input: &Tensor, how: &Reduce<'_>) -> Result<Tensor> {
    let operation = reduction.name();
    // Asked for a truth value, elements become truth values before they are added or multiplied.
    let to_truth = how.dtype == Some(DType::Bool);
    let reduction = match reduction {
        sum if to_truth && *sum == rows::sum => &rows::any,
        product if to_truth && *product == rows::prod => &rows::all,
        other => other,
    };
    let place = Home::from(input);
    let default_float = data_types::default_float(place.queue.device());
    let signature = reduction.resolve(input.dtype(), how.dtype, default_float)?;
    place.check_dtype(signature.output)?;
    let axes = match how.axes {
        Some(axes) => normalize_axes(axes, input.ndim())?,
        None => all_axes(input.ndim()),
    };
    if how.axes.is_some_and(|axes| axes.len() > 1) && is_positional(reduction) {
        let reason = "positions are along one axis, or through the whole array";
        return Err(Error::value(operation, reason));
    }
    let shape = reduced_shape(input.shape(), &axes, how.keepdims);
    if let Some(out) = how.out {
        place.check_out(operation, out, &shape, signature.output)?;
    }
    let direct = how.out.filter(|out| !out.may_overlap(input));
    let output = signature.output;
    let layout = Layout::contiguous(&shape, output.size())?;
    let written = direct.map_or((output, &layout), |out| (out.dtype(), out.layout()));
    let bytes = input.bytes() + layout.size() * written.0.size();
    let nanoseconds = cost::of_reduction(input.size(), bytes);
    let from = (input.dtype(), input.layout());
    let kernel = ReduceKernel::new(reduction, signature, written, from, &axes, how.correction)?;
    let is_joined = place.queue.is_worth_joining(nanoseconds);
    if how.out.is_none() && !is_joined {
        return place.compute(kernel, (layout, output), &[input.memory()], nanoseconds);
    }
    let target = match direct {
        Some(out) => out.clone(),
        None => allocate(layout, output, place)?,
    };
    let operands = [target.memory(), input.memory()];
    if is_joined {
        if let Some(kernel) = fuse::reduce(place.queue, Box::new(kernel), &target, input)? {
            place.queue.launch(*kernel, &operands, nanoseconds)?;
        }
    } else {
        place.queue.launch(kernel, &operands, nanoseconds)?;
    }
    match how.out {
        Some(out) if direct.is_none() => {
            out.assign(&target)?;
            Ok(out.clone())
        }
        _ => Ok(target),
    }
}

fn is_positional(reduction: &Reduction) -> bool {
    *reduction == rows::argmax || *reduction == rows::argmin
}

/// The shape without the reduced axes, or with size one in their place.
fn reduced_shape(shape: &[usize], axes: &[usize], keepdims: bool) -> Shape {
    let mut result = Shape::new();
    if axes.len() == shape.len() && !keepdims {
        return result;
    }
    for (axis, &size) in shape.iter().enumerate() {
        if !axes.contains(&axis) {
            result.push(size);
        } else if keepdims {
            result.push(1);
        }
    }
    result
}

fn all_axes(ndim: usize) -> SmallVec<[usize; 4]> {
    let mut axes = SmallVec::from_elem(0, ndim);
    for (number, axis) in axes.iter_mut().enumerate() {
        *axis = number;
    }
    axes
}

macro_rules! reductions {
    ($( $(#[$doc:meta])* $name:ident; )*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// As for [`reduce`].
        pub fn $name(&self, axes: Option<&[isize]>, keepdims: bool) -> Result<Self> {
            let how = Reduce { axes, keepdims, ..Reduce::default() };
            reduce(&rows::$name, self, &how)
        }
    )* };
}

macro_rules! typed_reductions {
    ($( $(#[$doc:meta])* $name:ident; )*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// As for [`reduce`].
        pub fn $name(
            &self,
            axes: Option<&[isize]>,
            keepdims: bool,
            dtype: Option<DType>,
        ) -> Result<Self> {
            let how = Reduce { axes, keepdims, dtype, ..Reduce::default() };
            reduce(&rows::$name, self, &how)
        }
    )* };
}

/// Reductions.
impl Tensor {
    reductions! {
        /// The largest elements along the axes.
        max;
        /// The smallest elements along the axes.
        min;
        /// The mean of the elements along the axes.
        mean;
        /// Whether any element along the axes differs from zero.
        any;
        /// Whether all elements along the axes differ from zero.
        all;
        /// How many elements along the axes differ from zero.
        count_nonzero;
    }

    typed_reductions! {
        /// The sum of the elements along the axes; small integers are summed as `int64`, or
        /// `uint64`, unless a dtype is given.
        sum;
        /// The product of the elements along the axes, in dtypes as for a sum.
        prod;
        /// The logarithm of the sum of the exponentials along the axes.
        logsumexp;
        /// The square root of the sum of the squares along the axes.
        reduce_hypot;
    }

    /// The variance of the elements along the axes; `correction` is subtracted from their number.
    ///
    /// # Errors
    /// As for [`reduce`].
    pub fn var(&self, axes: Option<&[isize]>, correction: f64, keepdims: bool) -> Result<Self> {
        self.moment(&rows::var, axes, correction, keepdims)
    }

    /// The standard deviation of the elements along the axes; `correction` is subtracted from
    /// their number.
    ///
    /// # Errors
    /// As for [`reduce`].
    pub fn std(&self, axes: Option<&[isize]>, correction: f64, keepdims: bool) -> Result<Self> {
        self.moment(&rows::std, axes, correction, keepdims)
    }

    fn moment(
        &self,
        reduction: &'static Reduction,
        axes: Option<&[isize]>,
        correction: f64,
        keepdims: bool,
    ) -> Result<Self> {
        let how = Reduce {
            axes,
            keepdims,
            correction,
            ..Reduce::default()
        };
        reduce(reduction, self, &how)
    }

    /// The position of the first largest element along an axis, or through the whole array.
    ///
    /// # Errors
    /// As for [`reduce`].
    pub fn argmax(&self, axis: Option<isize>, keepdims: bool) -> Result<Self> {
        self.position(&rows::argmax, axis, keepdims)
    }

    /// The position of the first smallest element along an axis, or through the whole array.
    ///
    /// # Errors
    /// As for [`reduce`].
    pub fn argmin(&self, axis: Option<isize>, keepdims: bool) -> Result<Self> {
        self.position(&rows::argmin, axis, keepdims)
    }

    fn position(
        &self,
        reduction: &'static Reduction,
        axis: Option<isize>,
        keepdims: bool,
    ) -> Result<Self> {
        let axes: Option<SmallVec<[isize; 1]>> = axis.map(|axis| [axis].into_iter().collect());
        let how = Reduce {
            axes: axes.as_deref(),
            keepdims,
            ..Reduce::default()
        };
        reduce(reduction, self, &how)
    }
}
