//! Products: of matrices, of vectors, along any axes.

use millpond_linalg::{DotKernel, ProductKernel};
use millpond_types::shape::{self, Tuple, normalize_axis};
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use super::operand::{common_dtype, fitted, matrix_dtype, prepared, product_dtype};
use crate::cost;
use crate::creation::allocate;
use crate::error::{Error, Result};
use crate::manipulation::{self, normalize_axes};
use crate::place::Home;
use crate::tensor::Tensor;

/// The product of two matrices, or of the matrices of two stacks, whose other axes broadcast. A
/// vector counts as a row on the left and as a column on the right, and is left out of the result.
///
/// The result goes to `out` if that is given, which may overlap the operands.
///
/// # Errors
/// Operands without axes, or whose shapes or dtypes don't fit; an output that can't take the
/// result; no memory.
///
/// # Example
/// ```
/// # use millpond_tensor::{Place, creation, linalg};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = millpond_runtime::Device::open(
/// #     millpond_hal::Driver::devices(&millpond_cpu::CpuDriver::new(Default::default()))?.remove(0),
/// # );
/// # let place = Place::on(&device.default_queue()?);
/// let a = creation::from_slice(&[1.0, 2.0, 3.0, 4.0], &[2, 2], &place)?;
/// let x = creation::from_slice(&[1.0, -1.0], &[2], &place)?;
/// assert_eq!(linalg::matmul(&a, &x, None)?.to_vec::<f64>()?, [-1.0, -1.0]);
/// # Ok(())
/// # }
/// ```
pub fn matmul(lhs: &Tensor, rhs: &Tensor, out: Option<&Tensor>) -> Result<Tensor> {
    const OPERATION: &str = "matmul";
    let place = Home::common(OPERATION, [lhs, rhs])?;
    let dtype = common_dtype(OPERATION, lhs, rhs)?;
    if lhs.ndim() == 0 || rhs.ndim() == 0 {
        let reason = "an array without axes is no matrix; multiply takes numbers";
        return Err(Error::value(OPERATION, reason));
    }
    if out.is_none()
        && let Some(result) = plainly(lhs, rhs, dtype, place)?
    {
        return Ok(result);
    }
    let (vector_left, vector_right) = (lhs.ndim() == 1, rhs.ndim() == 1);
    let left = if vector_left {
        lhs.expand_dims(&[0])?
    } else {
        lhs.clone()
    };
    let right = if vector_right {
        rhs.expand_dims(&[1])?
    } else {
        rhs.clone()
    };
    let (&[ref outer_left @ .., rows, inner], &[ref outer_right @ .., other, columns]) =
        (left.shape(), right.shape())
    else {
        return Err(Error::value(OPERATION, "an array of one axis is no matrix"));
    };
    if inner != other {
        let reason = format!(
            "shapes {} and {} do not fit: {inner} columns against {other} rows",
            Tuple(lhs.shape()),
            Tuple(rhs.shape())
        );
        return Err(Error::value(OPERATION, reason));
    }
    let stack = shape::broadcast(&[outer_left, outer_right]).map_err(|error| Error::Broadcast {
        operation: OPERATION,
        error,
    })?;
    let with = |last: [usize; 2]| -> Shape { stack.iter().copied().chain(last).collect() };
    let mut shape = stack.clone();
    shape.extend((!vector_left).then_some(rows));
    shape.extend((!vector_right).then_some(columns));
    if let Some(out) = out {
        place.check_out(OPERATION, out, &shape, dtype)?;
    }
    let computed = matrix_dtype(dtype, &place);
    let left = fitted(prepared(&left, computed)?, &with([rows, inner]))?;
    let right = fitted(prepared(&right, computed)?, &with([inner, columns]))?;
    let full = with([rows, columns]);
    let target = allocate(Layout::contiguous(&full, computed.size())?, computed, place)?;
    launch(&target, &left, &right)?;
    let result = target.view(Layout::contiguous(&shape, computed.size())?);
    finished(&result, dtype, out)
}

/// The product of two matrices that a kernel takes as they are; `None` for others, which are made such.
fn plainly(lhs: &Tensor, rhs: &Tensor, dtype: DType, place: Home<'_>) -> Result<Option<Tensor>> {
    let (&[rows, inner], &[other, columns]) = (lhs.shape(), rhs.shape()) else {
        return Ok(None);
    };
    let alignment = dtype.real().size();
    let is_ready = |tensor: &Tensor| {
        tensor.dtype() == dtype && tensor.address().get().is_multiple_of(alignment)
    };
    let is_matrix = inner == other && rows > 1 && columns > 1;
    if !is_matrix || matrix_dtype(dtype, &place) != dtype || !is_ready(lhs) || !is_ready(rhs) {
        return Ok(None);
    }
    let layout = Layout::contiguous(&[rows, columns], dtype.size())?;
    let kernel = kernel(&layout, lhs, rhs, place)?;
    let nanoseconds = cost::of_product(layout.size(), inner, lhs.bytes().max(rhs.bytes()));
    let inputs = [lhs.memory(), rhs.memory()];
    place
        .compute(kernel, (layout, dtype), &inputs, nanoseconds)
        .map(Some)
}

/// The kernel of products that are more than sums of a row each.
fn kernel(output: &Layout, lhs: &Tensor, rhs: &Tensor, place: Home<'_>) -> Result<ProductKernel> {
    let threads = place.queue.device().info().width();
    let (left, right) = (lhs.layout(), rhs.layout());
    let kernel = ProductKernel::new(lhs.dtype(), output, left, right, threads)?;
    if lhs.memory().address() == rhs.memory().address() {
        return Ok(kernel.with_one_base(threads));
    }
    Ok(kernel)
}

/// The result in its dtype, or in `out`.
fn finished(result: &Tensor, dtype: DType, out: Option<&Tensor>) -> Result<Tensor> {
    let result = result.astype(dtype, false)?;
    match out {
        None => Ok(result),
        Some(out) => {
            out.assign(&result)?;
            Ok(out.clone())
        }
    }
}

/// Multiplies stacks of matrices of one dtype and the same outer axes.
fn launch(target: &Tensor, lhs: &Tensor, rhs: &Tensor) -> Result<()> {
    let (rows, inner) = (lhs.shape()[lhs.ndim() - 2], lhs.shape()[lhs.ndim() - 1]);
    let columns = rhs.shape()[rhs.ndim() - 1];
    let queue = target.memory().home();
    let memories = [target.memory(), lhs.memory(), rhs.memory()];
    let nanoseconds = cost::of_product(target.size(), inner, lhs.bytes().max(rhs.bytes()));
    let sums_products = product_dtype(target.dtype()) == target.dtype();
    if (rows == 1 || columns == 1) && sums_products {
        let turned = rhs.matrix_transpose()?;
        let in_one_piece = |tensor: &Tensor| {
            let last = tensor.ndim() - 1;
            tensor.strides()[last] == 1 || tensor.shape()[last] == 1
        };
        if in_one_piece(lhs) && in_one_piece(&turned) {
            // Each element is a sum along memory, which is read once: a library would pack it first.
            let mut full: Shape = target.shape().into();
            full.push(inner);
            let left = lhs.expand_dims(&[-2])?.broadcast_to(&full)?;
            let right = turned.expand_dims(&[-3])?.broadcast_to(&full)?;
            let (output, layouts) = (target.layout(), [left.layout(), right.layout()]);
            let kernel = DotKernel::new("matmul", target.dtype(), output, layouts, false)?;
            return Ok(queue.launch(kernel, &memories, nanoseconds)?);
        }
    }
    let kernel = kernel(target.layout(), lhs, rhs, Home::from(target))?;
    Ok(queue.launch(kernel, &memories, nanoseconds)?)
}

/// The sums of products along axes of both arrays, which come in pairs: the first of the one with
/// the first of the other, and so on. The result has the other axes of the first array and then
/// those of the second.
///
/// # Errors
/// Axes of different sizes or numbers, or that an array doesn't have or has twice; dtypes without
/// a common one; no memory.
///
/// # Example
/// ```
/// # use millpond_tensor::{Place, creation, linalg};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = millpond_runtime::Device::open(
/// #     millpond_hal::Driver::devices(&millpond_cpu::CpuDriver::new(Default::default()))?.remove(0),
/// # );
/// # let place = Place::on(&device.default_queue()?);
/// let a = creation::from_slice(&[1_i64, 2, 3, 4, 5, 6], &[2, 3], &place)?;
/// assert_eq!(linalg::tensordot(&a, &a, &[0, 1], &[0, 1])?.to_vec::<i64>()?, [91]);
/// # Ok(())
/// # }
/// ```
pub fn tensordot(
    lhs: &Tensor,
    rhs: &Tensor,
    lhs_axes: &[isize],
    rhs_axes: &[isize],
) -> Result<Tensor> {
    const OPERATION: &str = "tensordot";
    let (left, right) = (
        normalize_axes(lhs_axes, lhs.ndim())?,
        normalize_axes(rhs_axes, rhs.ndim())?,
    );
    if left.len() != right.len() {
        let reason = format!(
            "{} axes of one array against {} of the other",
            left.len(),
            right.len()
        );
        return Err(Error::value(OPERATION, reason));
    }
    for (&l, &r) in left.iter().zip(&right) {
        let (a, b) = (lhs.shape()[l], rhs.shape()[r]);
        if a != b {
            let reason = format!("axis {l} of size {a} against axis {r} of size {b}");
            return Err(Error::value(OPERATION, reason));
        }
    }
    let kept = |tensor: &Tensor, summed: &[usize]| -> SmallVec<[usize; 4]> {
        let axes = 0..tensor.ndim();
        axes.filter(|axis| !summed.contains(axis)).collect()
    };
    let (left_kept, right_kept) = (kept(lhs, &left), kept(rhs, &right));
    let sizes = |tensor: &Tensor, axes: &[usize]| -> Shape {
        axes.iter().map(|&axis| tensor.shape()[axis]).collect()
    };
    let inner = count(&sizes(lhs, &left))?;
    let (rows, columns) = (sizes(lhs, &left_kept), sizes(rhs, &right_kept));
    let matrix = |tensor: &Tensor, axes: [&[usize]; 2], shape: [isize; 2]| {
        let order: SmallVec<[isize; 4]> = axes.concat().iter().map(|&axis| axis as isize).collect();
        tensor.permute_dims(&order)?.reshape(&shape, None)
    };
    let a = matrix(lhs, [&left_kept, &left], [count(&rows)?, inner])?;
    let b = matrix(rhs, [&right, &right_kept], [inner, count(&columns)?])?;
    let product = matmul(&a, &b, None)?;
    let shape: SmallVec<[isize; 4]> = rows
        .iter()
        .chain(&columns)
        .map(|&size| size as isize)
        .collect();
    product.reshape(&shape, None)
}

fn count(sizes: &[usize]) -> Result<isize> {
    Ok(shape::element_count(sizes, 1)? as isize)
}

/// The products of each element of one vector with each of another.
///
/// # Errors
/// [`Error::Value`] for anything but vectors; as for [`matmul`].
pub fn outer(lhs: &Tensor, rhs: &Tensor) -> Result<Tensor> {
    for tensor in [lhs, rhs] {
        if tensor.ndim() != 1 {
            let reason = format!("an array of {} dimensions is no vector", tensor.ndim());
            return Err(Error::value("outer", reason));
        }
    }
    lhs.expand_dims(&[1])?.multiply(rhs)
}

/// The products of three-dimensional vectors along an axis, which are perpendicular to both; other
/// axes broadcast.
///
/// # Errors
/// Axes of sizes other than three, or that an array doesn't have; no memory.
pub fn cross(lhs: &Tensor, rhs: &Tensor, axis: isize) -> Result<Tensor> {
    const OPERATION: &str = "cross";
    let mut parts: SmallVec<[SmallVec<[Tensor; 3]>; 2]> = SmallVec::new();
    for tensor in [lhs, rhs] {
        let at = normalize_axis(axis, tensor.ndim())?;
        if tensor.shape()[at] != 3 {
            let reason = format!(
                "axis {axis} has size {}, vectors have three",
                tensor.shape()[at]
            );
            return Err(Error::value(OPERATION, reason));
        }
        parts.push(tensor.moveaxis(&[axis], &[0])?.unstack(0)?.into());
    }
    let (a, b) = (&parts[0], &parts[1]);
    let component = |first: usize, second: usize| {
        let ahead = a[first].multiply(&b[second])?;
        ahead.subtract(&a[second].multiply(&b[first])?)
    };
    let components = [component(1, 2)?, component(2, 0)?, component(0, 1)?];
    let last = manipulation::stack(&components.each_ref(), -1)?;
    last.moveaxis(&[-1], &[axis])
}

impl Tensor {
    /// The product of matrices, as [`matmul`].
    ///
    /// # Errors
    /// As for [`matmul`].
    pub fn matmul(&self, other: &Self) -> Result<Self> {
        matmul(self, other, None)
    }

    /// The sum of the products along an axis of both arrays, the first conjugated; other axes
    /// broadcast.
    ///
    /// # Errors
    /// Axes of different sizes, or that an array doesn't have; dtypes without a common one; no
    /// memory.
    pub fn vecdot(&self, other: &Self, axis: isize) -> Result<Self> {
        const OPERATION: &str = "vecdot";
        let place = Home::common(OPERATION, [self, other])?;
        let dtype = common_dtype(OPERATION, self, other)?;
        let from_end = |tensor: &Self| -> Result<usize> {
            Ok(tensor.ndim() - normalize_axis(axis, tensor.ndim())?)
        };
        let (first, second) = (from_end(self)?, from_end(other)?);
        let size = |tensor: &Self, from_end: usize| tensor.shape()[tensor.ndim() - from_end];
        let (a, b) = (size(self, first), size(other, second));
        if first != second || a != b {
            let reason = format!(
                "axis {axis} has size {a} of {} axes in one array and {b} of {} in the other",
                self.ndim(),
                other.ndim()
            );
            return Err(Error::value(OPERATION, reason));
        }
        let computed = product_dtype(dtype);
        let along_last = |tensor: &Self| -> Result<Self> {
            let tensor = prepared(tensor, computed)?;
            if axis == -1 {
                return Ok(tensor);
            }
            tensor.moveaxis(&[axis], &[-1])
        };
        let (left, right) = (along_last(self)?, along_last(other)?);
        let stacks = [&left, &right].map(|tensor| &tensor.shape()[..tensor.ndim() - 1]);
        let stack = shape::broadcast(&stacks).map_err(|error| Error::Broadcast {
            operation: OPERATION,
            error,
        })?;
        let full: Shape = stack.iter().copied().chain([a]).collect();
        let (left, right) = (fitted(left, &full)?, fitted(right, &full)?);
        let steps = |tensor: &Self| tensor.strides()[tensor.ndim() - 1].unsigned_abs();
        if stack.iter().product::<usize>() > 1 && steps(&left).min(steps(&right)) > 1 {
            // Vectors lie across memory: whole rows of them are multiplied and added at a time.
            let first = if computed.is_complex() {
                left.conj()?
            } else {
                left
            };
            let sums = first
                .multiply(&right)?
                .sum(Some(&[-1]), false, Some(computed))?;
            return sums.astype(dtype, false);
        }
        let target = allocate(
            Layout::contiguous(&stack, computed.size())?,
            computed,
            place,
        )?;
        let layouts = [left.layout(), right.layout()];
        let kernel = DotKernel::new(OPERATION, computed, target.layout(), layouts, true)?;
        let memories = [target.memory(), left.memory(), right.memory()];
        let bytes = left.bytes().max(right.bytes());
        let nanoseconds = cost::of_product(target.size(), a, bytes);
        place.queue.launch(kernel, &memories, nanoseconds)?;
        target.astype(dtype, false)
    }
}
