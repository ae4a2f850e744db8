//! Arrays put together.

use millpond_kernel::{JoinKernel, JoinPart};
use millpond_types::shape::{self, normalize_axis};
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use crate::apply::{copy_into, join};
use crate::cost;
use crate::creation::empty;
use crate::data_types;
use crate::error::{During, Error, Result};
use crate::indexing::Index;
use crate::operand::Operand;
use crate::place::{Home, Place};
use crate::tensor::Tensor;

/// Arrays as views of the shape that all broadcast to.
///
/// # Errors
/// [`Error::Broadcast`] if there is none.
pub fn broadcast_arrays(arrays: &[&Tensor]) -> Result<Vec<Tensor>> {
    let shapes: SmallVec<[&[usize]; 4]> = arrays.iter().map(|array| array.shape()).collect();
    let shape = shape::broadcast(&shapes).map_err(|error| Error::Broadcast {
        operation: "broadcast_arrays",
        error,
    })?;
    arrays
        .iter()
        .map(|array| array.broadcast_to(&shape))
        .collect()
}

/// What [`concat()`] and [`stack`] give: the promoted dtype, and the place.
fn together(operation: &'static str, arrays: &[&Tensor]) -> Result<(DType, Place)> {
    let place = Place::common(operation, arrays.iter().copied())?;
    let operands: SmallVec<[Operand<'_>; 4]> =
        arrays.iter().map(|&array| Operand::Tensor(array)).collect();
    let dtype = join(
        operation,
        &operands,
        data_types::default_float(place.device()),
    )?;
    Ok((dtype, place))
}

/// Arrays one after the other along an axis; without an axis, their elements in row-major order.
///
/// # Errors
/// Shapes that differ elsewhere; no common dtype; different devices; no arrays; no memory.
pub fn concat(arrays: &[&Tensor], axis: Option<isize>) -> Result<Tensor> {
    const OPERATION: &str = "concat";
    let Some(axis) = axis else {
        let flat = arrays
            .iter()
            .map(|array| array.reshape(&[array.size() as isize], None))
            .collect::<Result<Vec<_>>>()?;
        return concat(&flat.iter().collect::<Vec<_>>(), Some(0));
    };
    let (dtype, place) = together(OPERATION, arrays)?;
    let first = arrays[0];
    if first.ndim() == 0 {
        return Err(Error::value(
            OPERATION,
            "arrays without axes can't be joined",
        ));
    }
    let axis = normalize_axis(axis, first.ndim())?;
    let mut shape: Shape = first.shape().into();
    shape[axis] = 0;
    for array in arrays {
        let mut other: Shape = array.shape().into();
        let len = if other.len() == shape.len() {
            other[axis]
        } else {
            0
        };
        if let Some(size) = other.get_mut(axis) {
            *size = shape[axis];
        }
        if other != shape {
            return Err(Error::value(
                OPERATION,
                format!(
                    "arrays of shapes {} and {} differ in another axis than {axis}",
                    shape::Tuple(first.shape()),
                    shape::Tuple(array.shape())
                ),
            ));
        }
        shape[axis] = shape[axis].saturating_add(len);
    }
    if let Some(result) = joined_at_once(&shape, dtype, arrays, axis)? {
        return Ok(result);
    }
    let result = empty(&shape, dtype, &place)?;
    let mut begin = 0;
    for array in arrays {
        let end = begin + array.shape()[axis] as isize;
        if array.size() > 0 {
            let target = result.along(axis, Index::range(begin, end))?;
            copy_into(&target, Operand::Tensor(array), &place.queue)?;
        }
        begin = end;
    }
    Ok(result)
}

/// Arrays of one shape along a new axis.
///
/// # Errors
/// Shapes that differ; [`Error::Dimensions`] for too many axes; no common dtype; different devices;
/// no arrays; no memory.
pub fn stack(arrays: &[&Tensor], axis: isize) -> Result<Tensor> {
    const OPERATION: &str = "stack";
    let (dtype, place) = together(OPERATION, arrays)?;
    let first = arrays[0];
    let axis = normalize_axis(axis, first.ndim() + 1)?;
    if let Some(other) = arrays.iter().find(|array| array.shape() != first.shape()) {
        return Err(Error::value(
            OPERATION,
            format!(
                "arrays have shapes {} and {}",
                shape::Tuple(first.shape()),
                shape::Tuple(other.shape())
            ),
        ));
    }
    let mut shape: Shape = first.shape().into();
    shape.insert(axis, arrays.len());
    shape::check_ndim(shape.len()).during(OPERATION)?;
    if let Some(result) = joined_at_once(&shape, dtype, arrays, axis)? {
        return Ok(result);
    }
    let result = empty(&shape, dtype, &place)?;
    for (index, array) in arrays.iter().enumerate() {
        let target = result.along(axis, Index::At(index as isize))?;
        copy_into(&target, Operand::Tensor(array), &place.queue)?;
    }
    Ok(result)
}

/// Bytes up to which arrays are joined by few commands, each of which copies several of them. More are
/// copied one by one, by all threads and past the caches.
const SMALL: usize = 1 << 15;

/// The result of joining arrays along an axis, old or new, if they are small and lie as it does.
fn joined_at_once(
    shape: &[usize],
    dtype: DType,
    arrays: &[&Tensor],
    axis: usize,
) -> Result<Option<Tensor>> {
    let home = Home::common("joining", arrays.iter().copied())?;
    let layout = Layout::contiguous(shape, dtype.size())?;
    let (item, bytes) = (dtype.size(), layout.size() * dtype.size());
    let is_alike = |array: &&Tensor| array.dtype() == dtype && array.is_contiguous();
    let is_small = (1..=SMALL).contains(&bytes);
    if !is_small || home.compiles() || !arrays.iter().all(is_alike) {
        return Ok(None);
    }
    home.check_dtype(dtype)?;
    let rows: usize = shape[..axis].iter().product();
    let pitch = bytes / rows;
    let (mut result, mut begin) = (None, 0);
    for arrays in arrays.chunks(JoinKernel::PARTS) {
        let parts = arrays.iter().map(|array| JoinPart {
            begin: array.layout().offset() * item,
            row: array.bytes() / rows,
        });
        let kernel = JoinKernel::new(rows, (begin, pitch), parts);
        let memories = arrays.iter().map(|array| array.memory());
        let bytes: usize = arrays.iter().map(|array| array.bytes()).sum();
        let nanoseconds = cost::of_copy(rows, 2 * bytes);
        result = Some(if let Some(result) = result {
            let target = std::iter::once(Tensor::memory(&result));
            let operands: SmallVec<[_; 1 + JoinKernel::PARTS]> = target.chain(memories).collect();
            home.queue.launch(kernel, &operands, nanoseconds)?;
            drop(operands);
            result
        } else {
            let memories: SmallVec<[_; JoinKernel::PARTS]> = memories.collect();
            home.compute(kernel, (layout.clone(), dtype), &memories, nanoseconds)?
        });
        begin += bytes / rows;
    }
    Ok(result)
}
