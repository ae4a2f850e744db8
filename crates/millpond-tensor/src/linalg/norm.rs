//! How large vectors and matrices are: norms, ranks, traces.

use millpond_types::{DType, Scalar};

use super::decomposition::{above_tolerance, floating, matrix_shape, svdvals};
use crate::creation;
use crate::data_types;
use crate::error::{Error, Result};
use crate::place::Place;
use crate::tensor::Tensor;

/// Which norm of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MatrixNorm {
    /// The square root of the sum of the squares of the moduli.
    #[default]
    Frobenius,
    /// The sum of the singular values.
    Nuclear,
    /// Of order 1 or infinity, the largest sum of moduli of a column or row; of order 2, the
    /// largest singular value; of the negative orders the smallest.
    Order(f64),
}

/// The norms of vectors along axes, all axes if nothing is said: of order infinity the largest
/// modulus, of order minus infinity the smallest, of order zero how many numbers differ from zero,
/// of other orders *p* the *p*-th root of the sum of *p*-th powers of the moduli.
///
/// # Errors
/// Axes that the array doesn't have; no elements for the orders that are infinite; no memory.
///
/// # Example
/// ```
/// # use millpond_tensor::{Place, creation, linalg};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = millpond_runtime::Device::open(
/// #     millpond_hal::Driver::devices(&millpond_cpu::CpuDriver::new(Default::default()))?.remove(0),
/// # );
/// # let place = Place::on(&device.default_queue()?);
/// let x = creation::from_slice(&[3.0, -4.0], &[2], &place)?;
/// assert_eq!(linalg::vector_norm(&x, None, false, 2.0)?.to_vec::<f64>()?, [5.0]);
/// # Ok(())
/// # }
/// ```
pub fn vector_norm(
    x: &Tensor,
    axes: Option<&[isize]>,
    keepdims: bool,
    order: f64,
) -> Result<Tensor> {
    let dtype = match x.dtype() {
        dtype if dtype.is_float() || dtype.is_complex() => dtype,
        _ => data_types::default_float(&x.device()),
    };
    let x = x.astype(dtype, false)?;
    let real = dtype.real();
    if order == 0.0 {
        return x.count_nonzero(axes, keepdims)?.astype(real, false);
    }
    let moduli = x.abs()?;
    if order == f64::INFINITY {
        moduli.max(axes, keepdims)
    } else if order == f64::NEG_INFINITY {
        moduli.min(axes, keepdims)
    } else if order == 1.0 {
        moduli.sum(axes, keepdims, Some(real))
    } else if order == 2.0 {
        moduli.reduce_hypot(axes, keepdims, Some(real))
    } else {
        let sum = moduli.pow(order)?.sum(axes, keepdims, Some(real))?;
        sum.pow(1.0 / order)
    }
}

/// The norms of matrices, in the last two axes.
///
/// # Errors
/// Fewer than two axes; an order that there isn't; no memory; for norms from singular values as for
/// [`svdvals`].
pub fn matrix_norm(x: &Tensor, keepdims: bool, norm: MatrixNorm) -> Result<Tensor> {
    const OPERATION: &str = "matrix_norm";
    matrix_shape(OPERATION, x)?;
    let last: &[isize] = &[-2, -1];
    let summed_along = |axis: isize, largest: bool| -> Result<Tensor> {
        let sums = vector_norm(x, Some(&[axis]), true, 1.0)?;
        if largest {
            sums.max(Some(last), keepdims)
        } else {
            sums.min(Some(last), keepdims)
        }
    };
    let of_values = |reduce: fn(&Tensor, Option<&[isize]>, bool) -> Result<Tensor>| {
        let result = reduce(&svdvals(x)?, Some(&[-1]), keepdims)?;
        if keepdims {
            result.expand_dims(&[-1])
        } else {
            Ok(result)
        }
    };
    match norm {
        MatrixNorm::Frobenius => vector_norm(x, Some(last), keepdims, 2.0),
        MatrixNorm::Nuclear => of_values(|values, axes, keep| values.sum(axes, keep, None)),
        MatrixNorm::Order(order) if order.abs() == 1.0 => summed_along(-2, order > 0.0),
        MatrixNorm::Order(order) if order.is_infinite() => summed_along(-1, order > 0.0),
        MatrixNorm::Order(2.0) => of_values(Tensor::max),
        MatrixNorm::Order(-2.0) => of_values(Tensor::min),
        MatrixNorm::Order(order) => {
            let reason =
                format!("the orders of norms are 1, 2, infinity and their negatives, not {order}");
            Err(Error::value(OPERATION, reason))
        }
    }
}

/// How many singular values are more than `rtol` times the largest. Unless given, that is the
/// larger size times the distance from one to the next number.
///
/// # Errors
/// As for [`svdvals`]; a tolerance that doesn't broadcast.
pub fn matrix_rank(x: &Tensor, rtol: Option<&Tensor>) -> Result<Tensor> {
    let [rows, columns] = matrix_shape("matrix_rank", x)?;
    if rows.min(columns) == 0 {
        let stack = &x.shape()[..x.ndim() - 2];
        return creation::zeros(stack, data_types::DEFAULT_INTEGER, &Place::of(x));
    }
    let values = svdvals(x)?;
    let counts = above_tolerance(&values, rtol, rows.max(columns))?;
    counts.count_nonzero(Some(&[-1]), false)
}

/// The sums along diagonals, `offset` columns to the right of the main ones.
///
/// # Errors
/// Fewer than two axes; no memory.
pub fn trace(x: &Tensor, offset: isize, dtype: Option<DType>) -> Result<Tensor> {
    matrix_shape("trace", x)?;
    x.diagonal(offset)?.sum(Some(&[-1]), false, dtype)
}

/// A tolerance as an array beside another.
///
/// # Errors
/// No memory.
pub fn tolerance(value: f64, x: &Tensor) -> Result<Tensor> {
    let dtype = floating(x).real();
    creation::scalar(Scalar::Float(value), Some(dtype), &Place::of(x))
}
