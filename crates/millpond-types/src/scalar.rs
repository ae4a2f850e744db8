//! One value of any dtype, as Python and Rust programs hand them in.

use num_complex::Complex;

use crate::dtype::{DType, Kind};
use crate::rounding::{bf16_from_f64, f16_from_f64};

/// A number without a dtype of its own: what Python's `bool`, `int`, `float` and `complex` are.
///
/// Integers hold the range of every integer dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
}

impl Scalar {
    /// What sort of number it is; integers count as signed.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::Float(_) => Kind::Float,
            Self::Complex(_) => Kind::Complex,
        }
    }

    /// The bytes of the value as an element of `dtype`, in native order; as many as
    /// [`DType::size`], the rest zero.
    ///
    /// Conversions between kinds are those of a C cast. An integer that an integer dtype can't
    /// hold wraps; callers that must refuse it ask [`Scalar::fits`] first.
    #[must_use]
    pub fn to_bytes(self, dtype: DType) -> [u8; 16] {
        fn put(bytes: &[u8]) -> [u8; 16] {
            let mut all = [0; 16];
            all[..bytes.len()].copy_from_slice(bytes);
            all
        }
        let real = self.to_f64();
        match dtype {
            DType::Bool => put(&[u8::from(self.is_truthy())]),
            DType::Int8 | DType::Uint8 => put(&self.to_i128().to_ne_bytes_low::<1>()),
            DType::Int16 | DType::Uint16 => put(&self.to_i128().to_ne_bytes_low::<2>()),
            DType::Int32 | DType::Uint32 => put(&self.to_i128().to_ne_bytes_low::<4>()),
            DType::Int64 | DType::Uint64 => put(&self.to_i128().to_ne_bytes_low::<8>()),
            DType::Float16 => put(&f16_from_f64(real).to_ne_bytes()),
            DType::Bfloat16 => put(&bf16_from_f64(real).to_ne_bytes()),
            DType::Float32 => put(&(real as f32).to_ne_bytes()),
            DType::Float64 => put(&real.to_ne_bytes()),
            DType::Complex64 => {
                let value = self.to_complex();
                let mut all = put(&(value.re as f32).to_ne_bytes());
                all[4..8].copy_from_slice(&(value.im as f32).to_ne_bytes());
                all
            }
            DType::Complex128 => {
                let value = self.to_complex();
                let mut all = put(&value.re.to_ne_bytes());
                all[8..].copy_from_slice(&value.im.to_ne_bytes());
                all
            }
        }
    }

    /// The value of an element of `dtype` from its bytes in native order; `None` if there are
    /// fewer than [`DType::size`].
    #[must_use]
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Option<Self> {
        macro_rules! number {
            ($t:ty) => {
                <$t>::from_ne_bytes(bytes.get(..size_of::<$t>())?.try_into().ok()?)
            };
        }
        Some(match dtype {
            DType::Bool => Self::Bool(*bytes.first()? != 0),
            DType::Int8 => Self::Int(number!(i8).into()),
            DType::Int16 => Self::Int(number!(i16).into()),
            DType::Int32 => Self::Int(number!(i32).into()),
            DType::Int64 => Self::Int(number!(i64).into()),
            DType::Uint8 => Self::Int(number!(u8).into()),
            DType::Uint16 => Self::Int(number!(u16).into()),
            DType::Uint32 => Self::Int(number!(u32).into()),
            DType::Uint64 => Self::Int(number!(u64).into()),
            DType::Float16 => Self::Float(half::f16::from_bits(number!(u16)).to_f64()),
            DType::Bfloat16 => Self::Float(half::bf16::from_bits(number!(u16)).to_f64()),
            DType::Float32 => Self::Float(number!(f32).into()),
            DType::Float64 => Self::Float(number!(f64)),
            DType::Complex64 => {
                let im = Self::from_bytes(DType::Float32, bytes.get(4..)?)?.to_f64();
                Self::Complex(Complex::new(number!(f32).into(), im))
            }
            DType::Complex128 => {
                let im = Self::from_bytes(DType::Float64, bytes.get(8..)?)?.to_f64();
                Self::Complex(Complex::new(number!(f64), im))
            }
        })
    }

    /// Whether an integer or truth value lies within the range of an integer dtype. Anything fits
    /// a dtype of another kind.
    #[must_use]
    pub const fn fits(self, dtype: DType) -> bool {
        let Self::Int(value) = self else { return true };
        let bits = dtype.bits() as u32;
        match dtype.kind() {
            Kind::Int => value >= -(1 << (bits - 1)) && value < 1 << (bits - 1),
            Kind::Uint => value >= 0 && value < 1 << bits,
            _ => true,
        }
    }

    /// Whether it differs from zero; NaN does.
    #[must_use]
    pub fn is_truthy(self) -> bool {
        match self {
            Self::Bool(value) => value,
            Self::Int(value) => value != 0,
            Self::Float(value) => value != 0.0,
            Self::Complex(value) => value.re != 0.0 || value.im != 0.0,
        }
    }

    /// The value as a float; the real part of a complex one.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
            Self::Complex(value) => value.re,
        }
    }

    /// The value as an integer, cut towards zero; the real part of a complex one.
    #[must_use]
    pub fn to_i128(self) -> i128 {
        match self {
            Self::Bool(value) => i128::from(value),
            Self::Int(value) => value,
            Self::Float(value) => value as i128,
            Self::Complex(value) => value.re as i128,
        }
    }

    /// The value as a complex number.
    #[must_use]
    pub fn to_complex(self) -> Complex<f64> {
        match self {
            Self::Complex(value) => value,
            other => Complex::new(other.to_f64(), 0.0),
        }
    }
}

trait LowBytes {
    fn to_ne_bytes_low<const N: usize>(self) -> [u8; N];
}

impl LowBytes for i128 {
    /// The low `N` bytes of the two's complement, in native order.
    fn to_ne_bytes_low<const N: usize>(self) -> [u8; N] {
        let mut low = [0; N];
        low.copy_from_slice(&self.to_le_bytes()[..N]);
        if cfg!(target_endian = "big") {
            low.reverse();
        }
        low
    }
}

macro_rules! from {
    ($($variant:ident($as:ty) from $($t:ty),*;)*) => { $($(
        impl From<$t> for Scalar {
            fn from(value: $t) -> Self {
                Self::$variant(<$as>::from(value))
            }
        }
    )*)* };
}

from! {
    Bool(bool) from bool;
    Int(i128) from i8, i16, i32, i64, u8, u16, u32, u64;
    Float(f64) from half::f16, half::bf16, f32, f64;
}

impl From<Complex<f32>> for Scalar {
    fn from(value: Complex<f32>) -> Self {
        Self::Complex(Complex::new(value.re.into(), value.im.into()))
    }
}

impl From<Complex<f64>> for Scalar {
    fn from(value: Complex<f64>) -> Self {
        Self::Complex(value)
    }
}
