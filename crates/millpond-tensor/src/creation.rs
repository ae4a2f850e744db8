//! Making arrays: of nothing, of one value, of ranges, of the host's elements.

use millpond_kernel::ops::rows;
use millpond_kernel::{GenerateKernel, Rule};
use millpond_runtime::Pattern;
use millpond_types::{DType, Kind, Layout, Scalar, Shape, shape};
use smallvec::SmallVec;

use crate::apply::copy_into;
use crate::cost;
use crate::data_types;
use crate::error::{During, Error, Result, check_fits};
use crate::item::{self, Item};
use crate::operand::Operand;
use crate::place::{Home, Place};
use crate::tensor::Tensor;

/// From this many bytes on, a fill is a command of its own rather than a kernel.
const LARGE: usize = 128 << 10;

/// What errors call the making of an array of any sort.
const OPERATION: &str = "array creation";

/// How elements follow one another in the memory of a new array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Row-major.
    C,
    /// Column-major.
    F,
    /// Column-major if the model is, else row-major.
    A,
    /// As close to the model as can be, without gaps.
    K,
}

impl Order {
    /// The order of a letter, in either case.
    #[must_use]
    pub fn named(letter: &str) -> Option<Self> {
        Some(match letter {
            "C" | "c" => Self::C,
            "F" | "f" => Self::F,
            "A" | "a" => Self::A,
            "K" | "k" => Self::K,
            _ => return None,
        })
    }

    /// The layout of a new array modelled on another.
    pub(crate) fn like(self, model: &Layout, dtype: DType) -> Result<Layout> {
        let column_major = model.is_column_major() && !model.is_contiguous();
        Ok(match self {
            Self::C => Layout::contiguous(model.shape(), dtype.size())?,
            Self::F => Layout::column_major(model.shape(), dtype.size())?,
            Self::A if column_major => Layout::column_major(model.shape(), dtype.size())?,
            Self::A => Layout::contiguous(model.shape(), dtype.size())?,
            Self::K => dense_like(model, dtype)?,
        })
    }
}

/// A layout without gaps whose axes have the order of another's.
pub(crate) fn dense_like(model: &Layout, dtype: DType) -> Result<Layout> {
    if model.is_contiguous() {
        return Ok(Layout::contiguous(model.shape(), dtype.size())?);
    }
    shape::element_count(model.shape(), dtype.size())?;
    let mut axes: SmallVec<[usize; 4]> = (0..model.ndim()).collect();
    // Insertion from behind keeps axes of equal steps in order, and those of none where they are.
    for end in 1..axes.len() {
        let mut at = end;
        let reach = |axis: usize| model.strides()[axis].unsigned_abs();
        while at > 0 && reach(axes[at]) > reach(axes[at - 1]) && reach(axes[at - 1]) > 0 {
            axes.swap(at, at - 1);
            at -= 1;
        }
    }
    let mut strides: SmallVec<[isize; 4]> = SmallVec::from_elem(0, axes.len());
    let mut stride = 1_isize;
    for &axis in axes.iter().rev() {
        strides[axis] = stride;
        stride = stride.saturating_mul(model.shape()[axis].max(1) as isize);
    }
    Ok(Layout::new(model.shape(), &strides, 0)?)
}

/// An uninitialised array of a layout without gaps.
#[inline]
pub(crate) fn allocate<'a>(
    layout: Layout,
    dtype: DType,
    place: impl Into<Home<'a>>,
) -> Result<Tensor> {
    let place = place.into();
    let bytes = layout.size() * dtype.size();
    let memory = place.queue.allocate(place.kind, bytes)?;
    Ok(Tensor::assemble(memory, dtype, layout, false))
}

/// An array whose elements are whatever the memory holds.
///
/// # Errors
/// A shape too large or of too many axes; a dtype that the device doesn't have; no memory.
pub fn empty(shape: &[usize], dtype: DType, place: &Place) -> Result<Tensor> {
    empty_in_order(shape, dtype, Order::C, place)
}

/// An array whose elements are whatever the memory holds, in row-major or column-major order.
///
/// # Errors
/// As for [`empty`].
pub fn empty_in_order(
    shape: &[usize],
    dtype: DType,
    order: Order,
    place: &Place,
) -> Result<Tensor> {
    place.check_dtype(dtype)?;
    let layout = match order {
        Order::F => Layout::column_major(shape, dtype.size()),
        Order::C | Order::A | Order::K => Layout::contiguous(shape, dtype.size()),
    };
    let layout = layout.during(OPERATION)?;
    allocate(layout, dtype, place)
}

/// An array of zeros.
///
/// # Errors
/// As for [`empty`].
pub fn zeros(shape: &[usize], dtype: DType, place: &Place) -> Result<Tensor> {
    full(shape, Scalar::Int(0), Some(dtype), place)
}

/// An array of ones.
///
/// # Errors
/// As for [`empty`].
pub fn ones(shape: &[usize], dtype: DType, place: &Place) -> Result<Tensor> {
    full(shape, Scalar::Int(1), Some(dtype), place)
}

/// An array of one value; its dtype is that of the value unless given.
///
/// # Errors
/// As for [`empty`]; [`Error::Overflow`] for an integer that the dtype can't hold;
/// [`Error::Casting`] for a complex number and a real dtype.
pub fn full(shape: &[usize], value: Scalar, dtype: Option<DType>, place: &Place) -> Result<Tensor> {
    let dtype = dtype_or_default(dtype, value, place);
    check_value("full", value, dtype)?;
    let tensor = empty(shape, dtype, place)?;
    fill(&tensor, value)?;
    Ok(tensor)
}

/// Fails if the dtype can't hold the integer, or would drop an imaginary part.
pub(crate) fn check_value(operation: &'static str, value: Scalar, dtype: DType) -> Result<()> {
    check_fits(operation, value, dtype)?;
    if value.kind() == Kind::Complex {
        data_types::check_not_complex(operation, DType::Complex128, dtype)?;
    }
    Ok(())
}

/// Lets every element of a new array be a value: it has no gaps, and lies at the beginning of its
/// memory.
pub(crate) fn fill(tensor: &Tensor, value: Scalar) -> Result<()> {
    let bytes = tensor.memory().bytes();
    let large = bytes >= LARGE && tensor.bytes() == bytes;
    if large || !tensor.device().info().host_executed {
        let element = value.to_bytes(tensor.dtype());
        if let Some(pattern) = Pattern::new(&element[..tensor.item_size()]) {
            return Ok(tensor
                .memory()
                .home()
                .fill(tensor.memory(), 0..tensor.bytes(), pattern)?);
        }
    }
    // The identity of a scalar needs no plan.
    let identity = rows::positive.contiguous_loop(tensor.dtype());
    match identity.map(|work| work.with_scalar(0, value)) {
        Some(Ok(work)) => {
            let work = work.over(tensor.size());
            let nanoseconds = cost::of_copy(tensor.size(), tensor.bytes());
            let queue = tensor.memory().home();
            Ok(queue.launch(work, &[tensor.memory()], nanoseconds)?)
        }
        _ => copy_into(tensor, value.into(), tensor.memory().home()),
    }
}

fn dtype_or_default(dtype: Option<DType>, value: Scalar, place: &Place) -> DType {
    dtype.unwrap_or_else(|| {
        data_types::default_dtype(value, data_types::default_float(place.device()))
    })
}

/// An uninitialised array of the same shape as a model; dtype and place are the model's unless
/// given.
///
/// # Errors
/// As for [`empty`].
pub fn empty_like(
    model: &Tensor,
    dtype: Option<DType>,
    order: Order,
    place: Option<&Place>,
) -> Result<Tensor> {
    let dtype = dtype.unwrap_or(model.dtype());
    let place = place.cloned().unwrap_or_else(|| Place::of(model));
    place.check_dtype(dtype)?;
    allocate(order.like(model.layout(), dtype)?, dtype, &place)
}

/// An array of one value of the same shape as a model; dtype and place are the model's unless
/// given.
///
/// # Errors
/// As for [`full`].
pub fn full_like(
    model: &Tensor,
    value: Scalar,
    dtype: Option<DType>,
    order: Order,
    place: Option<&Place>,
) -> Result<Tensor> {
    check_value("full_like", value, dtype.unwrap_or(model.dtype()))?;
    let tensor = empty_like(model, dtype, order, place)?;
    fill(&tensor, value)?;
    Ok(tensor)
}

/// Zeros of the same shape as a model.
///
/// # Errors
/// As for [`empty`].
pub fn zeros_like(model: &Tensor) -> Result<Tensor> {
    full_like(model, Scalar::Int(0), None, Order::K, None)
}

/// Ones of the same shape as a model.
///
/// # Errors
/// As for [`empty`].
pub fn ones_like(model: &Tensor) -> Result<Tensor> {
    full_like(model, Scalar::Int(1), None, Order::K, None)
}

/// An array of the host's elements, in row-major order.
///
/// # Errors
/// As for [`from_bytes`].
pub fn from_slice<T: Item>(items: &[T], shape: &[usize], place: &Place) -> Result<Tensor> {
    from_bytes(item::to_bytes(items), T::DTYPE, shape, place)
}

/// An array of the host's bytes, in row-major order and native byte order. Doesn't wait: the bytes
/// are kept until they have been copied.
///
/// # Errors
/// As for [`empty`]; [`Error::Value`] unless there are as many bytes as the shape needs.
pub fn from_bytes(bytes: Vec<u8>, dtype: DType, shape: &[usize], place: &Place) -> Result<Tensor> {
    let tensor = empty_for("from_bytes", bytes.len(), dtype, shape, place)?;
    tensor.memory().write_owned(0, bytes)?;
    Ok(tensor)
}

/// The same of bytes that are borrowed: what can't be copied at once is copied twice.
///
/// # Errors
/// As for [`from_bytes`].
pub fn copied_from(bytes: &[u8], dtype: DType, shape: &[usize], place: &Place) -> Result<Tensor> {
    let tensor = empty_for("copied_from", bytes.len(), dtype, shape, place)?;
    tensor.memory().write_soon(0, bytes)?;
    Ok(tensor)
}

/// An uninitialised array, if it has so many bytes.
fn empty_for(
    operation: &'static str,
    bytes: usize,
    dtype: DType,
    shape: &[usize],
    place: &Place,
) -> Result<Tensor> {
    place.check_dtype(dtype)?;
    let layout = Layout::contiguous(shape, dtype.size()).during(OPERATION)?;
    let needed = layout.size() * dtype.size();
    if bytes != needed {
        let elements = layout.size();
        return Err(Error::value(
            operation,
            format!("{bytes} bytes given, {elements} elements of {dtype} need {needed}"),
        ));
    }
    allocate(layout, dtype, place)
}

/// An array without axes that holds one value.
///
/// # Errors
/// As for [`full`].
pub fn scalar(value: Scalar, dtype: Option<DType>, place: &Place) -> Result<Tensor> {
    full(&[], value, dtype, place)
}

/// A matrix of zeros with ones on the diagonal `k` columns right of the main one.
///
/// # Errors
/// As for [`empty`].
pub fn eye(rows: usize, columns: usize, k: isize, dtype: DType, place: &Place) -> Result<Tensor> {
    let matrix = zeros(&[rows, columns], dtype, place)?;
    let (down, right) = (k.min(0).unsigned_abs(), k.max(0).unsigned_abs());
    let len = rows.saturating_sub(down).min(columns.saturating_sub(right));
    if len > 0 {
        let begin = down * columns + right;
        let diagonal = matrix.view(Layout::new(&[len], &[columns as isize + 1], begin)?);
        copy_into(&diagonal, Scalar::Int(1).into(), &place.queue)?;
    }
    Ok(matrix)
}

/// The elements on and below the diagonal `k` columns right of the main one; zeros elsewhere.
///
/// # Errors
/// [`Error::Value`] for fewer than two axes; no memory.
pub fn tril(matrix: &Tensor, k: isize) -> Result<Tensor> {
    triangle("tril", matrix, Rule::Lower { diagonal: k })
}

/// The elements on and above the diagonal `k` columns right of the main one; zeros elsewhere.
///
/// # Errors
/// As for [`tril`].
pub fn triu(matrix: &Tensor, k: isize) -> Result<Tensor> {
    triangle("triu", matrix, Rule::Upper { diagonal: k })
}

fn triangle(operation: &'static str, matrix: &Tensor, kept: Rule) -> Result<Tensor> {
    let [.., rows, columns] = *matrix.shape() else {
        return Err(Error::value(
            operation,
            format!("an array of {} dimensions is no matrix", matrix.ndim()),
        ));
    };
    let place = Place::of(matrix);
    let mask = empty(&[rows, columns], DType::Bool, &place)?;
    let kernel = GenerateKernel::new(kept, (DType::Bool, mask.layout()))?;
    let cost = cost::of_generation(mask.size());
    place.queue.launch(kernel, &[mask.memory()], cost)?;
    let zero = match matrix.dtype() {
        DType::Bool => Scalar::Bool(false),
        _ => Scalar::Int(0),
    };
    mask.choose(matrix, zero)
}

/// How the axes of [`meshgrid`] are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// As points in a plane: the first array runs along the second axis.
    Xy,
    /// As indices of a matrix.
    Ij,
}

/// The coordinates of a grid, an array for each axis.
///
/// # Errors
/// [`Error::Value`] for arrays of more than one axis or of different dtypes;
/// [`Error::Dimensions`] for too many arrays; no memory.
pub fn meshgrid(axes: &[&Tensor], indexing: Indexing) -> Result<Vec<Tensor>> {
    const OPERATION: &str = "meshgrid";
    shape::check_ndim(axes.len()).during(OPERATION)?;
    for axis in axes {
        if axis.ndim() > 1 {
            let reason = format!("an axis has {} dimensions instead of one", axis.ndim());
            return Err(Error::value(OPERATION, reason));
        }
        if axis.dtype() != axes[0].dtype() {
            let reason = format!("axes have dtypes {} and {}", axes[0].dtype(), axis.dtype());
            return Err(Error::value(OPERATION, reason));
        }
    }
    let swaps = indexing == Indexing::Xy && axes.len() > 1;
    let position = |index: usize| match index {
        0 | 1 if swaps => 1 - index,
        _ => index,
    };
    let mut shape = Shape::from_elem(1, axes.len());
    for (index, axis) in axes.iter().enumerate() {
        shape[position(index)] = axis.size();
    }
    let mut grids = Vec::with_capacity(axes.len());
    for (index, axis) in axes.iter().enumerate() {
        let mut line = Shape::from_elem(1, axes.len());
        line[position(index)] = axis.size();
        let line = axis.layout().reshape(&line)?;
        let line = line.unwrap_or_else(|| axis.layout().clone());
        let place = Place::of(axis);
        let grid = empty(&shape, axis.dtype(), &place)?;
        copy_into(&grid, Operand::Tensor(&axis.view(line)), &place.queue)?;
        grids.push(grid);
    }
    Ok(grids)
}
