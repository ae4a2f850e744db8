//! The table of dtypes: one row for each, from which everything else is derived.
//!
//! A row gives the variant, the name of the Array API standard, the Rust type that holds an
//! element, its [`Kind`], its size in bits, NumPy's character code and DLPack's type code.

use std::fmt;
use std::str::FromStr;

use half::{bf16, f16};
use num_complex::Complex;

/// What sort of number a dtype holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Signed integers, two's complement.
    Int,
    /// Unsigned integers.
    Uint,
    /// Binary floating point.
    Float,
    /// Pairs of floats.
    Complex,
}

/// A Rust type that stores one element of some dtype.
///
/// Sealed by use: only the types of the table implement it.
pub trait Element: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The dtype whose elements this type stores.
    const DTYPE: DType;
}

macro_rules! dtypes {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal, $rust:ty, $kind:ident, $bits:literal, $char:literal, $dlpack:literal; )*) => {
        /// Type of the elements of an array.
        ///
        /// Names and meaning are those of the Array API standard, section "Data Types"; `float16`
        /// and `bfloat16` are beyond it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType { $( $(#[$doc])* $variant, )* }

        impl DType {
            /// Every dtype, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The standard's name, for instance `float32`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What sort of number it is.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self { $(Self::$variant => Kind::$kind),* }
            }

            /// Bits of one element, storage included (8 for `bool`).
            #[must_use]
            pub const fn bits(self) -> usize {
                match self { $(Self::$variant => $bits),* }
            }

            /// NumPy's character code (`dtype.char`); `bfloat16` has none of its own and uses `E`.
            #[must_use]
            pub const fn numpy_char(self) -> char {
                match self { $(Self::$variant => $char),* }
            }

            /// DLPack's type code (`DLDataTypeCode`, dlpack.h 1.0).
            #[must_use]
            pub const fn dlpack_code(self) -> u8 {
                match self { $(Self::$variant => $dlpack),* }
            }
        }

        $( impl Element for $rust { const DTYPE: DType = DType::$variant; } )*

        /// Expands a block with a type alias bound to the Rust type of a dtype value.
        ///
        /// `with_dtype!(dtype, T => expression)` is one `match` over the table; the expression is
        /// compiled once for each dtype.
        #[macro_export]
        macro_rules! with_dtype {
            ($dtype:expr, $alias:ident => $body:expr) => {
                match $dtype {
                    $( $crate::DType::$variant => { type $alias = $crate::dtype::storage::$variant; $body } )*
                }
            };
        }

        /// The Rust type of each dtype, named as the variant.
        pub mod storage {
            use super::{Complex, bf16, f16};
            $(
                #[doc = concat!("Element of `", $name, "`.")]
                pub type $variant = $rust;
            )*
        }
    };
}

dtypes! {
    /// Truth value, one byte, 0 or 1.
    Bool = "bool", bool, Bool, 8, '?', 6;
    /// 8-bit signed integer.
    Int8 = "int8", i8, Int, 8, 'b', 0;
    /// 16-bit signed integer.
    Int16 = "int16", i16, Int, 16, 'h', 0;
    /// 32-bit signed integer.
    Int32 = "int32", i32, Int, 32, 'i', 0;
    /// 64-bit signed integer.
    Int64 = "int64", i64, Int, 64, 'l', 0;
    /// 8-bit unsigned integer.
    Uint8 = "uint8", u8, Uint, 8, 'B', 1;
    /// 16-bit unsigned integer.
    Uint16 = "uint16", u16, Uint, 16, 'H', 1;
    /// 32-bit unsigned integer.
    Uint32 = "uint32", u32, Uint, 32, 'I', 1;
    /// 64-bit unsigned integer.
    Uint64 = "uint64", u64, Uint, 64, 'L', 1;
    /// IEEE 754 half precision.
    Float16 = "float16", f16, Float, 16, 'e', 2;
    /// The upper half of a `float32`.
    Bfloat16 = "bfloat16", bf16, Float, 16, 'E', 4;
    /// IEEE 754 single precision.
    Float32 = "float32", f32, Float, 32, 'f', 2;
    /// IEEE 754 double precision.
    Float64 = "float64", f64, Float, 64, 'd', 2;
    /// Pair of `float32`.
    Complex64 = "complex64", Complex<f32>, Complex, 64, 'F', 5;
    /// Pair of `float64`.
    Complex128 = "complex128", Complex<f64>, Complex, 128, 'D', 5;
}

impl DType {
    /// Bytes of one element.
    #[must_use]
    pub const fn size(self) -> usize {
        self.bits() / 8
    }

    /// The float dtype of the real and imaginary parts; itself where it isn't complex.
    #[must_use]
    pub const fn real(self) -> Self {
        match self {
            Self::Complex64 => Self::Float32,
            Self::Complex128 => Self::Float64,
            other => other,
        }
    }

    /// Whether it is a signed or unsigned integer.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Int | Kind::Uint)
    }

    /// Whether it is a real floating-point dtype.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether it is a complex dtype.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no dtype.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype '{0}'")]
pub struct UnknownDType(pub String);

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        Self::ALL
            .iter()
            .copied()
            .find(|dtype| dtype.name() == name)
            .ok_or_else(|| UnknownDType(name.to_owned()))
    }
}
