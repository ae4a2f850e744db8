//! Numbers as bodies see them, and how they lie in memory.

use half::{bf16, f16};
use millpond_types::DType;
use num_complex::Complex;

use crate::math::Lane;

/// An element in memory: any bit pattern is one.
pub trait Storage: Copy + Send + Sync + 'static {
    /// Whether it, or a part of it, is a NaN.
    fn has_nan(self) -> bool;
}

macro_rules! storage {
    ($($t:ty => $has_nan:expr;)*) => { $(
        impl Storage for $t {
            #[inline(always)]
            fn has_nan(self) -> bool {
                let has_nan: fn($t) -> bool = $has_nan;
                has_nan(self)
            }
        }
    )* };
}

storage! {
    u8 => |_| false;
    u16 => |_| false;
    u32 => |_| false;
    u64 => |_| false;
    i8 => |_| false;
    i16 => |_| false;
    i32 => |_| false;
    i64 => |_| false;
    f16 => f16::is_nan;
    bf16 => bf16::is_nan;
    f32 => f32::is_nan;
    f64 => f64::is_nan;
    Complex<f32> => |z| z.re.is_nan() | z.im.is_nan();
    Complex<f64> => |z| z.re.is_nan() | z.im.is_nan();
}

/// A number that bodies compute with.
pub trait Value: Copy + 'static {
    /// What one occupies in memory.
    type Storage: Storage;

    /// The dtype of the memory.
    const DTYPE: DType;

    /// The number that memory holds.
    fn load(stored: Self::Storage) -> Self;

    /// The number as memory holds it.
    fn store(self) -> Self::Storage;
}

macro_rules! plain {
    ($($t:ty = $dtype:ident),*) => { $(
        impl Value for $t {
            type Storage = Self;
            const DTYPE: DType = DType::$dtype;

            #[inline(always)]
            fn load(stored: Self) -> Self {
                stored
            }

            #[inline(always)]
            fn store(self) -> Self {
                self
            }
        }
    )* };
}

plain! {
    i8 = Int8, i16 = Int16, i32 = Int32, i64 = Int64,
    u8 = Uint8, u16 = Uint16, u32 = Uint32, u64 = Uint64,
    f16 = Float16, bf16 = Bfloat16, f32 = Float32, f64 = Float64, Complex<f32> = Complex64, Complex<f64> = Complex128
}

/// Truth values are read from bytes, as foreign memory may hold others than 0 and 1.
impl Value for bool {
    type Storage = u8;
    const DTYPE: DType = DType::Bool;

    #[inline(always)]
    fn load(stored: u8) -> Self {
        stored != 0
    }

    #[inline(always)]
    fn store(self) -> u8 {
        u8::from(self)
    }
}

macro_rules! lanes {
    ($($float:ty = $real:ident $complex:ident),*) => { $(
        impl Value for Lane<$float> {
            type Storage = $float;
            const DTYPE: DType = DType::$real;

            #[inline(always)]
            fn load(stored: $float) -> Self {
                Lane(stored)
            }

            #[inline(always)]
            fn store(self) -> $float {
                self.0
            }
        }

        impl Value for Complex<Lane<$float>> {
            type Storage = Complex<$float>;
            const DTYPE: DType = DType::$complex;

            #[inline(always)]
            fn load(stored: Complex<$float>) -> Self {
                Complex::new(Lane(stored.re), Lane(stored.im))
            }

            #[inline(always)]
            fn store(self) -> Complex<$float> {
                Complex::new(self.re.0, self.im.0)
            }
        }
    )* };
}

lanes! { f32 = Float32 Complex64, f64 = Float64 Complex128 }
