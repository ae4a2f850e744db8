//! The transforms: what is padded, in which order axes go, and which of both directions divides.

use millpond_fft::{FftError, Sort, TransformKernel};
use millpond_types::shape::normalize_axis;
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use crate::cost;
use crate::creation::allocate;
use crate::data_types;
use crate::error::{Error, Result};
use crate::linalg::operand::prepared;
use crate::manipulation::normalize_axes;
use crate::place::Home;
use crate::tensor::Tensor;

/// Which direction divides by the number of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Norm {
    /// The inverse.
    #[default]
    Backward,
    /// Both, by the square root.
    Ortho,
    /// The forward direction.
    Forward,
}

impl Norm {
    /// The mode of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "backward" => Self::Backward,
            "ortho" => Self::Ortho,
            "forward" => Self::Forward,
            _ => return None,
        })
    }

    /// The other way round.
    const fn turned(self) -> Self {
        match self {
            Self::Backward => Self::Forward,
            Self::Ortho => Self::Ortho,
            Self::Forward => Self::Backward,
        }
    }

    /// What a transform is multiplied by.
    fn scale(self, sort: Sort, length: usize) -> f64 {
        let length = length as f64;
        let is_forward = matches!(sort, Sort::Forward | Sort::RealForward);
        match (self, is_forward) {
            (Self::Ortho, _) => 1.0 / length.sqrt(),
            (Self::Backward, true) | (Self::Forward, false) => 1.0,
            (Self::Backward, false) | (Self::Forward, true) => 1.0 / length,
        }
    }
}

/// Along which axes to transform how many points: all axes as they are, unless something is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Along<'a> {
    /// The points along each axis; -1 stands for what the axis has.
    pub lengths: Option<&'a [isize]>,
    /// The axes, each once; with lengths and without axes the last ones.
    pub axes: Option<&'a [isize]>,
}

/// Axes and the points along each.
type Points = SmallVec<[(usize, usize); 4]>;

impl Along<'_> {
    /// The axes of an array, and the points along each.
    fn of(self, operation: &'static str, tensor: &Tensor) -> Result<Points> {
        let ndim = tensor.ndim();
        let axes = match (self.axes, self.lengths) {
            (Some(axes), _) => normalize_axes(axes, ndim)?,
            (None, Some(lengths)) if lengths.len() > ndim => {
                let reason = format!("{} lengths for {ndim} axes", lengths.len());
                return Err(Error::value(operation, reason));
            }
            (None, lengths) => {
                let count = lengths.map_or(ndim, <[isize]>::len);
                (ndim - count..ndim).collect()
            }
        };
        let Some(lengths) = self.lengths else {
            let sizes = axes.iter().map(|&axis| (axis, tensor.shape()[axis]));
            return Ok(sizes.collect());
        };
        if lengths.len() != axes.len() {
            let reason = format!("{} lengths for {} axes", lengths.len(), axes.len());
            return Err(Error::value(operation, reason));
        }
        let mut points = Points::new();
        for (&axis, &length) in axes.iter().zip(lengths) {
            let length = if length == -1 {
                tensor.shape()[axis]
            } else {
                checked(operation, length)?
            };
            points.push((axis, length));
        }
        Ok(points)
    }
}

/// A number of points.
fn checked(operation: &'static str, length: isize) -> Result<usize> {
    match usize::try_from(length) {
        Ok(length) if length > 0 => Ok(length),
        _ => Err(FftError::Length { operation, length }.into()),
    }
}

/// The real dtype that an array is transformed in.
fn precision(tensor: &Tensor) -> DType {
    match tensor.dtype() {
        DType::Float16 | DType::Bfloat16 | DType::Float32 | DType::Complex64 => DType::Float32,
        DType::Float64 | DType::Complex128 => DType::Float64,
        _ => data_types::default_float(&tensor.device()),
    }
}

/// Transforms along one axis.
fn along(
    operation: &'static str,
    sort: Sort,
    tensor: &Tensor,
    (axis, length): (usize, usize),
    norm: Norm,
) -> Result<Tensor> {
    if length == 0 {
        return Err(FftError::Length {
            operation,
            length: 0,
        }
        .into());
    }
    let real = precision(tensor);
    let [taken, made] = sort.dtypes(real);
    if !taken.is_complex() && tensor.dtype().is_complex() {
        let reason = format!("an array of {} is not real", tensor.dtype());
        return Err(Error::wrong_type(operation, reason));
    }
    let place = Home::from(tensor);
    place.check_dtype(made)?;
    let input = prepared(tensor, taken)?;
    let mut shape = Shape::from(input.shape());
    let [_, along_axis] = sort.lengths(length);
    shape[axis] = along_axis;
    let result = allocate(Layout::contiguous(&shape, made.size())?, made, place)?;
    let scale = norm.scale(sort, length);
    let (to, from) = (result.layout(), input.layout());
    let kernel = TransformKernel::new(operation, sort, real, to, from, axis, length, scale)?;
    let memories = [result.memory(), input.memory()];
    let lines = result.size() / along_axis;
    let nanoseconds = cost::of_transform(lines, length);
    place.queue.launch(kernel, &memories, nanoseconds)?;
    Ok(result)
}

/// The axis and the points along it: those that there are, unless said otherwise.
fn single(
    operation: &'static str,
    tensor: &Tensor,
    length: Option<isize>,
    axis: isize,
) -> Result<(usize, usize)> {
    let axis = normalize_axis(axis, tensor.ndim())?;
    let length = match length {
        None => tensor.shape()[axis],
        Some(length) => checked(operation, length)?,
    };
    Ok((axis, length))
}

/// The same for a transform whose result is real: twice as many as there are, but for the ends.
fn single_half(
    operation: &'static str,
    tensor: &Tensor,
    length: Option<isize>,
    axis: isize,
) -> Result<(usize, usize)> {
    let axis = normalize_axis(axis, tensor.ndim())?;
    let there = 2 * tensor.shape()[axis] as isize - 2;
    Ok((axis, checked(operation, length.unwrap_or(there))?))
}

macro_rules! single_axis {
    ($($(#[$doc:meta])* $name:ident: $sort:ident, $points:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Errors
        /// An axis that the array doesn't have; no points; a complex array where a real one is
        /// transformed; no memory.
        pub fn $name(x: &Tensor, n: Option<isize>, axis: isize, norm: Norm) -> Result<Tensor> {
            const OPERATION: &str = stringify!($name);
            let points = $points(OPERATION, x, n, axis)?;
            along(OPERATION, Sort::$sort, x, points, norm)
        }
    )* };
}

single_axis! {
    /// The Fourier transform of `n` points along an axis.
    ///
    /// # Example
    /// ```
    /// # use millpond_tensor::{Place, creation, fft};
    /// # use num_complex::Complex;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = millpond_runtime::Device::open(
    /// #     millpond_hal::Driver::devices(&millpond_cpu::CpuDriver::new(Default::default()))?.remove(0),
    /// # );
    /// # let place = Place::on(&device.default_queue()?);
    /// let x = creation::from_slice(&[0.0, 1.0, 0.0, 0.0], &[4], &place)?;
    /// let spectrum = fft::fft(&x, None, -1, fft::Norm::Backward)?;
    /// assert_eq!(spectrum.to_vec::<Complex<f64>>()?[1], Complex::new(0.0, -1.0));
    /// # Ok(())
    /// # }
    /// ```
    fft: Forward, single;
    /// The inverse Fourier transform of `n` points along an axis.
    ifft: Inverse, single;
    /// The Fourier transform of `n` real points along an axis: the first half of the spectrum,
    /// which the other half mirrors.
    rfft: RealForward, single;
    /// The `n` real points along an axis whose spectrum has this first half.
    irfft: RealInverse, single_half;
}

/// The Fourier transform of a signal of which the first half is given and which the other half
/// mirrors, so that its spectrum of `n` points is real.
///
/// # Errors
/// As for [`irfft`].
pub fn hfft(x: &Tensor, n: Option<isize>, axis: isize, norm: Norm) -> Result<Tensor> {
    const OPERATION: &str = "hfft";
    let points = single_half(OPERATION, x, n, axis)?;
    let conjugated = conjugate(x)?;
    along(
        OPERATION,
        Sort::RealInverse,
        &conjugated,
        points,
        norm.turned(),
    )
}

/// The first half of the signal whose spectrum is real and has `n` points along an axis.
///
/// # Errors
/// As for [`rfft`].
pub fn ihfft(x: &Tensor, n: Option<isize>, axis: isize, norm: Norm) -> Result<Tensor> {
    const OPERATION: &str = "ihfft";
    let points = single(OPERATION, x, n, axis)?;
    conjugate(&along(
        OPERATION,
        Sort::RealForward,
        x,
        points,
        norm.turned(),
    )?)
}

fn conjugate(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() {
        return x.conj();
    }
    Ok(x.clone())
}

/// Transforms along axes, the last one first.
fn along_all(
    operation: &'static str,
    sort: Sort,
    x: &Tensor,
    points: &[(usize, usize)],
    norm: Norm,
) -> Result<Tensor> {
    let mut result = x.clone();
    for &point in points.iter().rev() {
        result = along(operation, sort, &result, point, norm)?;
    }
    if points.is_empty() {
        let [_, made] = sort.dtypes(precision(x));
        return x.astype(made, true);
    }
    Ok(result)
}

/// The Fourier transform along several axes.
///
/// # Errors
/// Axes that the array doesn't have, or has once; as many lengths as axes are needed; no points;
/// no memory.
pub fn fftn(x: &Tensor, how: Along<'_>, norm: Norm) -> Result<Tensor> {
    along_all("fftn", Sort::Forward, x, &how.of("fftn", x)?, norm)
}

/// The inverse Fourier transform along several axes.
///
/// # Errors
/// As for [`fftn`].
pub fn ifftn(x: &Tensor, how: Along<'_>, norm: Norm) -> Result<Tensor> {
    along_all("ifftn", Sort::Inverse, x, &how.of("ifftn", x)?, norm)
}

/// The Fourier transform of real points along several axes, of the last of them the first half.
///
/// # Errors
/// As for [`fftn`]; no axes; a complex array.
pub fn rfftn(x: &Tensor, how: Along<'_>, norm: Norm) -> Result<Tensor> {
    const OPERATION: &str = "rfftn";
    let points = how.of(OPERATION, x)?;
    let Some((&last, others)) = points.split_last() else {
        return Err(Error::value(OPERATION, "at least one axis is needed"));
    };
    let half = along(OPERATION, Sort::RealForward, x, last, norm)?;
    if others.is_empty() {
        return Ok(half);
    }
    along_all(OPERATION, Sort::Forward, &half, others, norm)
}

/// The real points whose spectrum along several axes has this first half, along the last of them.
///
/// # Errors
/// As for [`fftn`]; no axes.
pub fn irfftn(x: &Tensor, how: Along<'_>, norm: Norm) -> Result<Tensor> {
    const OPERATION: &str = "irfftn";
    let points = how.of(OPERATION, x)?;
    let Some((&(axis, length), others)) = points.split_last() else {
        return Err(Error::value(OPERATION, "at least one axis is needed"));
    };
    let given = how.lengths.map(|_| length as isize);
    let last = single_half(OPERATION, x, given, axis as isize)?;
    let mut spectrum = x.clone();
    if !others.is_empty() {
        spectrum = along_all(OPERATION, Sort::Inverse, x, others, norm)?;
    }
    along(OPERATION, Sort::RealInverse, &spectrum, last, norm)
}
