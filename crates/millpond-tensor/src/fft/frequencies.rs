//! The frequencies that the points of a spectrum stand for, and their order.

use millpond_fft::FftError;
use millpond_types::{DType, Scalar};
use smallvec::SmallVec;

use crate::data_types;
use crate::error::{Error, Result};
use crate::manipulation::normalize_axes;
use crate::place::Place;
use crate::range;
use crate::tensor::Tensor;

/// The frequencies of the points of [`fft`](super::fft()) for a signal of `n` points that are
/// `spacing` apart: zero, the positive ones, the negative ones.
///
/// # Errors
/// No points; a dtype that isn't real floating or that the device doesn't have; no memory.
pub fn fftfreq(n: isize, spacing: f64, dtype: Option<DType>, place: &Place) -> Result<Tensor> {
    let count = checked("fftfreq", n)?;
    let negative = (count / 2) as isize;
    let ascending = numbers("fftfreq", -negative, n - negative, dtype, place)?;
    let turned = ascending.roll(&[-negative], Some(&[0]))?;
    turned.divide(spacing * count as f64)
}

/// The frequencies of the points of [`rfft`](super::rfft): zero and the positive ones.
///
/// # Errors
/// As for [`fftfreq`].
pub fn rfftfreq(n: isize, spacing: f64, dtype: Option<DType>, place: &Place) -> Result<Tensor> {
    let count = checked("rfftfreq", n)?;
    let ascending = numbers("rfftfreq", 0, n / 2 + 1, dtype, place)?;
    ascending.divide(spacing * count as f64)
}

fn checked(operation: &'static str, length: isize) -> Result<usize> {
    match usize::try_from(length) {
        Ok(length) if length > 0 => Ok(length),
        _ => Err(FftError::Length { operation, length }.into()),
    }
}

/// The numbers from `start` to before `stop`.
fn numbers(
    operation: &'static str,
    start: isize,
    stop: isize,
    dtype: Option<DType>,
    place: &Place,
) -> Result<Tensor> {
    let dtype = dtype.unwrap_or_else(|| data_types::default_float(place.device()));
    if !dtype.is_float() {
        let reason = format!("frequencies are real floating-point numbers, not {dtype}");
        return Err(Error::wrong_type(operation, reason));
    }
    let (start, stop) = (Scalar::Int(start as i128), Scalar::Int(stop as i128));
    range::arange(start, stop, Scalar::Int(1), Some(dtype), place)
}

/// Moves the frequency zero from the beginning to the middle of the axes; all of them, if nothing
/// is said.
///
/// # Errors
/// Axes that the array doesn't have; no memory.
pub fn fftshift(x: &Tensor, axes: Option<&[isize]>) -> Result<Tensor> {
    shifted(x, axes, |size| size / 2)
}

/// Moves the frequency zero back to the beginning.
///
/// # Errors
/// As for [`fftshift`].
pub fn ifftshift(x: &Tensor, axes: Option<&[isize]>) -> Result<Tensor> {
    shifted(x, axes, |size| -(size / 2))
}

fn shifted(x: &Tensor, axes: Option<&[isize]>, shift: fn(isize) -> isize) -> Result<Tensor> {
    let axes: SmallVec<[usize; 4]> = match axes {
        Some(axes) => normalize_axes(axes, x.ndim())?,
        None => (0..x.ndim()).collect(),
    };
    let shifts: SmallVec<[isize; 4]> = axes
        .iter()
        .map(|&axis| shift(x.shape()[axis] as isize))
        .collect();
    let axes: SmallVec<[isize; 4]> = axes.iter().map(|&axis| axis as isize).collect();
    x.roll(&shifts, Some(&axes))
}
