//! Decompositions, and solutions that come straight from them.

use millpond_linalg::{DecompositionKernel, Routine};
use millpond_types::shape::{self, Tuple};
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use super::operand::{common_dtype, prepared};
use super::product::matmul;
use crate::cost;
use crate::creation::{self, allocate};
use crate::data_types::{self, default_float};
use crate::error::{Error, Result};
use crate::place::{Home, Place};
use crate::tensor::Tensor;

/// The dtype that matrices of a dtype are taken apart in: `float32` for half floats, the device's
/// default float for integers and truth values.
pub(super) fn floating(tensor: &Tensor) -> DType {
    match tensor.dtype() {
        DType::Float16 | DType::Bfloat16 => DType::Float32,
        dtype if dtype.is_float() || dtype.is_complex() => dtype,
        _ => default_float(&tensor.device()),
    }
}

/// Rows and columns.
///
/// # Errors
/// Fewer axes.
pub(super) fn matrix_shape(operation: &'static str, tensor: &Tensor) -> Result<[usize; 2]> {
    if let [.., rows, columns] = *tensor.shape() {
        return Ok([rows, columns]);
    }
    let reason = format!("an array of {} dimensions is no matrix", tensor.ndim());
    Err(Error::value(operation, reason))
}

/// The results of a routine.
fn run<const RESULTS: usize>(routine: Routine, x: &Tensor) -> Result<[Tensor; RESULTS]> {
    launched(routine, &[&prepared_matrix(routine, x, floating(x))?])
}

/// Matrices in a dtype, square if the routine wants them so.
fn prepared_matrix(routine: Routine, x: &Tensor, dtype: DType) -> Result<Tensor> {
    let operation = routine.name();
    let [rows, columns] = matrix_shape(operation, x)?;
    if routine.needs_square() && rows != columns {
        let reason = format!(
            "matrices of shape {} are not square",
            Tuple(&[rows, columns])
        );
        return Err(Error::value(operation, reason));
    }
    prepared(x, dtype)
}

/// The results of a routine on matrices of one dtype and with the same outer axes.
fn launched<const RESULTS: usize>(
    routine: Routine,
    matrices: &[&Tensor],
) -> Result<[Tensor; RESULTS]> {
    let first = matrices[0];
    let place = Home::from(first);
    let [rows, columns] = matrix_shape(routine.name(), first)?;
    let sides = matrices.last().and_then(|matrix| matrix.shape().last());
    let shapes = routine.shapes(rows, columns, sides.copied().unwrap_or(0));
    let stack = &first.shape()[..first.ndim() - 2];
    let mut results = Vec::with_capacity(RESULTS);
    for (inner, dtype) in shapes.iter().zip(routine.dtypes(first.dtype())) {
        place.check_dtype(dtype)?;
        let shape: Shape = stack.iter().chain(inner).copied().collect();
        let layout = Layout::contiguous(&shape, dtype.size())?;
        results.push(allocate(layout, dtype, place)?);
    }
    let outputs: Vec<&Layout> = results.iter().map(Tensor::layout).collect();
    let inputs: SmallVec<[&Layout; 2]> = matrices.iter().map(|matrix| matrix.layout()).collect();
    let kernel = DecompositionKernel::new(routine, first.dtype(), &outputs, &inputs)?;
    let memories: Vec<_> = results
        .iter()
        .chain(matrices.iter().copied())
        .map(Tensor::memory)
        .collect();
    let count = stack.iter().product::<usize>();
    let nanoseconds = cost::of_decomposition(count, rows, columns);
    place.queue.launch(kernel, &memories, nanoseconds)?;
    let count = results.len();
    results.try_into().map_err(|_| {
        Error::value(
            routine.name(),
            format!("{count} results where {RESULTS} were expected"),
        )
    })
}

/// The triangular matrix whose product with its adjoint is the matrix, which is self-adjoint and
/// positive definite: the lower one first, or the upper one last. Its other triangle isn't read.
///
/// # Errors
/// Anything but square matrices; no memory; later, a matrix that isn't positive definite.
///
/// # Example
/// ```
/// # use millpond_tensor::{Place, creation, linalg};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = millpond_runtime::Device::open(
/// #     millpond_hal::Driver::devices(&millpond_cpu::CpuDriver::new(Default::default()))?.remove(0),
/// # );
/// # let place = Place::on(&device.default_queue()?);
/// let x = creation::from_slice(&[4.0, 2.0, 2.0, 5.0], &[2, 2], &place)?;
/// assert_eq!(linalg::cholesky(&x, false)?.to_vec::<f64>()?, [2.0, 0.0, 1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
pub fn cholesky(x: &Tensor, upper: bool) -> Result<Tensor> {
    run(Routine::Cholesky { upper }, x).map(|[factor]| factor)
}

/// The determinants; that of a matrix without elements is one.
///
/// # Errors
/// Anything but square matrices; no memory.
pub fn det(x: &Tensor) -> Result<Tensor> {
    run(Routine::Determinant, x).map(|[determinant]| determinant)
}

/// The signs of the determinants, and the logarithms of their moduli: zero and minus infinity for a
/// singular matrix.
///
/// # Errors
/// As for [`det`].
pub fn slogdet(x: &Tensor) -> Result<[Tensor; 2]> {
    run(Routine::LogDeterminant, x)
}

/// The inverses.
///
/// # Errors
/// Anything but square matrices; no memory; later, a singular matrix.
pub fn inv(x: &Tensor) -> Result<Tensor> {
    run(Routine::Inverse, x).map(|[inverse]| inverse)
}

/// What the matrices have to be multiplied with to give `right`: one vector, if that has one axis,
/// or matrices, whose other axes broadcast.
///
/// # Errors
/// Anything but square matrices; sizes that don't fit; no memory; later, a singular matrix.
pub fn solve(x: &Tensor, right: &Tensor) -> Result<Tensor> {
    const OPERATION: &str = "solve";
    Home::common(OPERATION, [x, right])?;
    let common = common_dtype(OPERATION, x, right)?;
    let dtype = match common {
        DType::Float16 | DType::Bfloat16 => DType::Float32,
        dtype if dtype.is_float() || dtype.is_complex() => dtype,
        _ => default_float(&x.device()),
    };
    let matrix = prepared_matrix(Routine::Solve, x, dtype)?;
    let is_vector = right.ndim() == 1;
    let sides = prepared(right, dtype)?;
    let sides = if is_vector {
        sides.expand_dims(&[1])?
    } else {
        sides
    };
    let ([rows, _], [given, count]) = (
        matrix_shape(OPERATION, &matrix)?,
        matrix_shape(OPERATION, &sides)?,
    );
    if rows != given {
        let reason = format!(
            "shapes {} and {} do not fit: {rows} rows against {given}",
            Tuple(x.shape()),
            Tuple(right.shape())
        );
        return Err(Error::value(OPERATION, reason));
    }
    let outer = |tensor: &Tensor| Shape::from(&tensor.shape()[..tensor.ndim() - 2]);
    let stack =
        shape::broadcast(&[&outer(&matrix), &outer(&sides)]).map_err(|error| Error::Broadcast {
            operation: OPERATION,
            error,
        })?;
    let with = |last: [usize; 2]| -> Shape { stack.iter().copied().chain(last).collect() };
    let matrix = matrix.broadcast_to(&with([rows, rows]))?;
    let sides = sides.broadcast_to(&with([rows, count]))?;
    let [solution] = launched(Routine::Solve, &[&matrix, &sides])?;
    if is_vector {
        return solution.squeeze(Some(&[-1]));
    }
    Ok(solution)
}

/// A matrix with orthonormal columns and an upper triangle, whose product is the matrix. The first
/// is square if `complete` is asked for.
///
/// # Errors
/// Fewer than two axes; no memory.
pub fn qr(x: &Tensor, complete: bool) -> Result<[Tensor; 2]> {
    run(Routine::Qr { complete }, x)
}

/// Left singular vectors, singular values from the largest on, and the adjoint of the right
/// singular vectors. With `full` the vectors make square matrices.
///
/// # Errors
/// Fewer than two axes; no memory; later, infinities or NaNs.
pub fn svd(x: &Tensor, full: bool) -> Result<[Tensor; 3]> {
    run(Routine::Svd { full }, x)
}

/// The singular values, from the largest on.
///
/// # Errors
/// As for [`svd`].
pub fn svdvals(x: &Tensor) -> Result<Tensor> {
    run(Routine::SingularValues, x).map(|[values]| values)
}

/// The eigenvalues of self-adjoint matrices, from the smallest on, and the eigenvectors, as columns.
/// The upper triangle isn't read.
///
/// # Errors
/// Anything but square matrices; no memory; later, infinities or NaNs.
pub fn eigh(x: &Tensor) -> Result<[Tensor; 2]> {
    run(Routine::SelfAdjointEigen, x)
}

/// The eigenvalues of self-adjoint matrices, from the smallest on. The upper triangle isn't read.
///
/// # Errors
/// As for [`eigh`].
pub fn eigvalsh(x: &Tensor) -> Result<Tensor> {
    run(Routine::SelfAdjointEigenvalues, x).map(|[values]| values)
}

/// The eigenvalues and eigenvectors, as columns of length one; both are complex.
///
/// # Errors
/// As for [`eigh`].
pub fn eig(x: &Tensor) -> Result<[Tensor; 2]> {
    run(Routine::Eigen, x)
}

/// The eigenvalues, which are complex.
///
/// # Errors
/// As for [`eigh`].
pub fn eigvals(x: &Tensor) -> Result<Tensor> {
    run(Routine::Eigenvalues, x).map(|[values]| values)
}

/// The pseudo-inverses: singular values of at most `rtol` times the largest count as zero. Unless
/// given, that is the larger size times the distance from one to the next number.
///
/// # Errors
/// As for [`svd`]; a tolerance that doesn't broadcast.
pub fn pinv(x: &Tensor, rtol: Option<&Tensor>) -> Result<Tensor> {
    const OPERATION: &str = "pinv";
    let [rows, columns] = matrix_shape(OPERATION, x)?;
    let [left, values, right] = svd(x, false)?;
    let left = left.matrix_transpose()?.conj()?;
    let right = right.matrix_transpose()?.conj()?;
    if rows.min(columns) == 0 {
        return matmul(&right, &left, None);
    }
    let counts = above_tolerance(&values, rtol, rows.max(columns))?;
    let inverses = counts.choose(&values.reciprocal()?, 0.0)?;
    matmul(&right, &left.multiply(&inverses.expand_dims(&[-1])?)?, None)
}

/// Whether singular values count as more than zero.
pub(super) fn above_tolerance(
    values: &Tensor,
    rtol: Option<&Tensor>,
    size: usize,
) -> Result<Tensor> {
    let largest = values.max(Some(&[-1]), true)?;
    let least = if let Some(rtol) = rtol {
        largest.multiply(&rtol.expand_dims(&[-1])?)?
    } else {
        let eps = data_types::finfo(values.dtype()).map_or(0.0, |info| info.eps);
        largest.multiply(size as f64 * eps)?
    };
    values.greater(&least)
}

/// The product of a matrix with itself, `power` times; of its inverse for negative powers.
///
/// # Errors
/// Anything but square matrices; no memory; for negative powers as for [`inv`].
pub fn matrix_power(x: &Tensor, power: isize) -> Result<Tensor> {
    const OPERATION: &str = "matrix_power";
    let [rows, columns] = matrix_shape(OPERATION, x)?;
    if rows != columns {
        let reason = format!(
            "matrices of shape {} are not square",
            Tuple(&[rows, columns])
        );
        return Err(Error::value(OPERATION, reason));
    }
    if power == 0 {
        let identity = creation::eye(rows, rows, 0, x.dtype(), &Place::of(x))?;
        return identity.broadcast_to(x.shape())?.copy(creation::Order::C);
    }
    let mut square = if power < 0 { inv(x)? } else { x.clone() };
    let mut left = power.unsigned_abs();
    let mut result: Option<Tensor> = None;
    loop {
        if left % 2 == 1 {
            let product = match &result {
                Some(result) => matmul(result, &square, None)?,
                None => square.clone(),
            };
            if left == 1 {
                return if product.is_same_view(x) {
                    x.copy(creation::Order::K)
                } else {
                    Ok(product)
                };
            }
            result = Some(product);
        }
        left /= 2;
        square = matmul(&square, &square, None)?;
    }
}
