//! Dtypes as programs ask about them: casting rules, limits, kinds, defaults, conversion.

use millpond_runtime::Device;
use millpond_types::config::Config;
use millpond_types::promote::{PromotionError, promote, result_type as join, with_scalar};
use millpond_types::{DType, Kind, Scalar};

use crate::apply::copy_into;
use crate::creation::{allocate, dense_like};
use crate::error::{Error, Result};
use crate::place::Place;
use crate::tensor::Tensor;

/// What a conversion between dtypes may lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Casting {
    /// No conversion at all.
    No,
    /// What promotion does: every value keeps its meaning.
    Safe,
    /// Values may be cut or rounded, but not to a lower kind: a float doesn't become an integer.
    SameKind,
    /// Anything.
    Unsafe,
}

impl Casting {
    /// The name, as NumPy spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Safe => "safe",
            Self::SameKind => "same_kind",
            Self::Unsafe => "unsafe",
        }
    }

    /// The rule of a name; `equiv` is `no`, as there is one byte order.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "no" | "equiv" => Self::No,
            "safe" => Self::Safe,
            "same_kind" => Self::SameKind,
            "unsafe" => Self::Unsafe,
            _ => return None,
        })
    }
}

/// Whether a rule lets values of one dtype be converted to another.
#[must_use]
pub fn can_cast(from: DType, to: DType, casting: Casting) -> bool {
    match casting {
        Casting::No => from == to,
        Casting::Safe => promote(from, to) == Ok(to),
        Casting::SameKind => rank(from) <= rank(to),
        Casting::Unsafe => true,
    }
}

const fn rank(dtype: DType) -> u8 {
    match dtype.kind() {
        Kind::Bool => 0,
        Kind::Uint => 1,
        Kind::Int => 2,
        Kind::Float => 3,
        Kind::Complex => 4,
    }
}

pub(crate) fn check_cast(
    operation: &'static str,
    from: DType,
    to: DType,
    casting: Casting,
) -> Result<()> {
    if can_cast(from, to, casting) {
        return Ok(());
    }
    Err(Error::Casting {
        operation,
        from,
        to,
        casting: casting.name(),
    })
}

/// Fails if conversion would drop imaginary parts.
pub(crate) fn check_not_complex(operation: &'static str, from: DType, to: DType) -> Result<()> {
    if from.is_complex() && !to.is_complex() && to != DType::Bool {
        return check_cast(operation, from, to, Casting::SameKind);
    }
    Ok(())
}

/// One argument of [`result_type`].
#[derive(Clone, Copy, Debug)]
pub enum TypeSource<'a> {
    /// A dtype.
    DType(DType),
    /// An array; only its dtype counts.
    Tensor(&'a Tensor),
    /// A number, which is weak.
    Scalar(Scalar),
}

/// The dtype that an operation over all of these promotes to. Floats that meet integers become
/// `default_float`.
///
/// # Errors
/// [`Error::Value`] without a dtype or array; [`Error::Promotion`] if there is no common dtype.
pub fn result_type(sources: &[TypeSource<'_>], default_float: DType) -> Result<DType> {
    const OPERATION: &str = "result_type";
    let mut dtypes = Vec::new();
    let mut scalars = Vec::new();
    for source in sources {
        match source {
            TypeSource::DType(dtype) => dtypes.push(*dtype),
            TypeSource::Tensor(tensor) => dtypes.push(tensor.dtype()),
            TypeSource::Scalar(value) => scalars.push(*value),
        }
    }
    if dtypes.is_empty() {
        return Err(Error::value(
            OPERATION,
            "at least one array or dtype is needed",
        ));
    }
    let joined = join(&dtypes).map_err(|error: PromotionError| Error::Promotion {
        operation: OPERATION,
        error,
    })?;
    Ok(scalars.into_iter().fold(joined, |dtype, value| {
        with_scalar(dtype, value, default_float)
    }))
}

/// The float dtype that a device computes with unless told otherwise: that of the setting
/// `MILLPOND_DEFAULT_FLOAT`, or `float64`, where the device has it.
#[must_use]
pub fn default_float(device: &Device) -> DType {
    let wanted = Config::get().default_float.unwrap_or(DType::Float64);
    if device.info().supports(wanted) {
        wanted
    } else {
        DType::Float32
    }
}

/// The complex dtype of the default float.
#[must_use]
pub fn default_complex(device: &Device) -> DType {
    complex_of(default_float(device))
}

/// The integer dtype unless told otherwise, and that of indices.
pub const DEFAULT_INTEGER: DType = DType::Int64;

const fn complex_of(float: DType) -> DType {
    match float {
        DType::Float64 => DType::Complex128,
        _ => DType::Complex64,
    }
}

/// The dtype of an array made of a number.
#[must_use]
pub fn default_dtype(value: Scalar, default_float: DType) -> DType {
    match value {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) if value.fits(DType::Int64) => DEFAULT_INTEGER,
        Scalar::Int(_) => DType::Uint64,
        Scalar::Float(_) => default_float,
        Scalar::Complex(_) => complex_of(default_float),
    }
}

/// The integer of a dtype's range that is nearest; other numbers stay what they are.
pub(crate) fn clamped(value: Scalar, dtype: DType) -> Scalar {
    match (value, iinfo(dtype)) {
        (Scalar::Int(number), Some(info)) => Scalar::Int(number.clamp(info.min, info.max)),
        _ => value,
    }
}

/// Whether elements are computed in a wider dtype than their own.
pub(crate) const fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::Bfloat16)
}

/// What a number is as an element of a dtype.
pub(crate) fn as_element(value: Scalar, dtype: DType) -> Scalar {
    let bytes = value.to_bytes(dtype);
    Scalar::from_bytes(dtype, &bytes[..dtype.size()]).unwrap_or(value)
}

/// Limits of an integer dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerInfo {
    /// The dtype.
    pub dtype: DType,
    /// Bits of an element.
    pub bits: usize,
    /// The smallest value.
    pub min: i128,
    /// The largest value.
    pub max: i128,
}

/// Limits of an integer dtype; `None` for others.
#[must_use]
pub const fn iinfo(dtype: DType) -> Option<IntegerInfo> {
    let bits = dtype.bits();
    let (min, max) = match dtype.kind() {
        Kind::Int => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        Kind::Uint => (0, (1 << bits) - 1),
        _ => return None,
    };
    Some(IntegerInfo {
        dtype,
        bits,
        min,
        max,
    })
}

/// Limits of a float dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatInfo {
    /// The dtype; of a complex one, that of its parts.
    pub dtype: DType,
    /// Bits of an element.
    pub bits: usize,
    /// The distance from one to the next number.
    pub eps: f64,
    /// The largest finite number.
    pub max: f64,
    /// The smallest finite number.
    pub min: f64,
    /// The smallest positive number of full precision.
    pub smallest_normal: f64,
}

/// Limits of a float or complex dtype; `None` for others.
#[must_use]
pub fn finfo(dtype: DType) -> Option<FloatInfo> {
    let (eps, max, smallest_normal) = match dtype.real() {
        DType::Float16 => (
            half::f16::EPSILON.to_f64(),
            half::f16::MAX.to_f64(),
            half::f16::MIN_POSITIVE.to_f64(),
        ),
        DType::Bfloat16 => (
            half::bf16::EPSILON.to_f64(),
            half::bf16::MAX.to_f64(),
            half::bf16::MIN_POSITIVE.to_f64(),
        ),
        DType::Float32 => (
            f64::from(f32::EPSILON),
            f64::from(f32::MAX),
            f64::from(f32::MIN_POSITIVE),
        ),
        DType::Float64 => (f64::EPSILON, f64::MAX, f64::MIN_POSITIVE),
        _ => return None,
    };
    Some(FloatInfo {
        dtype: dtype.real(),
        bits: dtype.real().bits(),
        eps,
        max,
        min: -max,
        smallest_normal,
    })
}

/// Whether a dtype is of a kind, by the standard's name of the kind.
///
/// # Errors
/// [`Error::Value`] for a name that is no kind.
pub fn isdtype(dtype: DType, kind: &str) -> Result<bool> {
    let found = dtype.kind();
    Ok(match kind {
        "bool" => found == Kind::Bool,
        "signed integer" => found == Kind::Int,
        "unsigned integer" => found == Kind::Uint,
        "integral" => matches!(found, Kind::Int | Kind::Uint),
        "real floating" => found == Kind::Float,
        "complex floating" => found == Kind::Complex,
        "numeric" => found != Kind::Bool,
        _ => {
            return Err(Error::value(
                "isdtype",
                format!(
                    "unknown kind '{kind}'; there are bool, signed integer, unsigned integer, \
                     integral, real floating, complex floating, numeric"
                ),
            ));
        }
    })
}

impl Tensor {
    /// The array with elements of another dtype, by the standard's rules: everything but from
    /// complex to real. With the same dtype and without `copy` it is the same array.
    ///
    /// # Errors
    /// [`Error::Casting`] from complex to real; a dtype that the device doesn't have; no memory.
    pub fn astype(&self, dtype: DType, copy: bool) -> Result<Self> {
        check_not_complex("astype", self.dtype(), dtype)?;
        self.cast(dtype, Casting::Unsafe, copy)
    }

    /// The array with elements of another dtype, where a rule allows it.
    ///
    /// # Errors
    /// As for [`Tensor::astype`], by this rule.
    pub fn cast(&self, dtype: DType, casting: Casting, copy: bool) -> Result<Self> {
        check_cast("astype", self.dtype(), dtype, casting)?;
        if dtype == self.dtype() && !copy {
            return Ok(self.clone());
        }
        let place = Place::of(self);
        place.check_dtype(dtype)?;
        let result = allocate(dense_like(self.layout(), dtype)?, dtype, &place)?;
        copy_into(&result, self.into(), &place.queue)?;
        Ok(result)
    }
}
