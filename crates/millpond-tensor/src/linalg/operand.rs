//! Operands as the kernels of linear algebra take them: of one dtype, aligned, broadcast.

use millpond_types::DType;
use millpond_types::promote::promote;

use crate::creation::Order;
use crate::error::{Error, Result};
use crate::place::Home;
use crate::tensor::Tensor;

/// The dtype of a product of two arrays, which the device must have.
pub(crate) fn common_dtype(operation: &'static str, lhs: &Tensor, rhs: &Tensor) -> Result<DType> {
    let dtype =
        promote(lhs.dtype(), rhs.dtype()).map_err(|error| Error::Promotion { operation, error })?;
    Home::from(lhs).check_dtype(dtype)?;
    Ok(dtype)
}

/// The dtype that products of a dtype are computed in: truth values are counted, half floats are
/// multiplied as `float32`.
pub(crate) const fn product_dtype(dtype: DType) -> DType {
    match dtype {
        DType::Bool => DType::Int32,
        DType::Float16 | DType::Bfloat16 => DType::Float32,
        other => other,
    }
}

/// The dtype that a product of matrices is computed in on a device. One that doesn't execute the host's code
/// multiplies half floats as they are, and rounds what it added up as `float32`.
pub(crate) fn matrix_dtype(dtype: DType, place: &Home<'_>) -> DType {
    match dtype {
        DType::Float16 | DType::Bfloat16 if !place.queue.device().info().host_executed => dtype,
        _ => product_dtype(dtype),
    }
}

/// An array with the shape that operands broadcast to.
pub(crate) fn fitted(tensor: Tensor, shape: &[usize]) -> Result<Tensor> {
    if *tensor.shape() == *shape {
        return Ok(tensor);
    }
    tensor.broadcast_to(shape)
}

/// An array in a dtype, its elements where processors read them in one go.
pub(crate) fn prepared(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    let tensor = tensor.astype(dtype, false)?;
    let alignment = dtype.real().size();
    if tensor.address().get() % alignment == 0 {
        return Ok(tensor);
    }
    tensor.copy(Order::K)
}
