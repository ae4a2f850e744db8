//! Numbers that are multiplied and added here, rather than by a library: integers wrap, so that one
//! unsigned type serves both.

use millpond_kernel::host::value::Storage;
use millpond_types::DType;
use num_complex::Complex;

use crate::error::LinalgError;

/// Calls `$floats!(Type)` or `$integers!(Type)` with the type whose products a dtype has: wrapping
/// products are the same bits whether signed or not.
macro_rules! with_number {
    ($dtype:expr, $floats:ident, $integers:ident) => {
        match $dtype {
            DType::Float32 => $floats!(f32),
            DType::Float64 => $floats!(f64),
            DType::Complex64 => $floats!(Complex<f32>),
            DType::Complex128 => $floats!(Complex<f64>),
            dtype => match dtype.size() {
                1 => $integers!(u8),
                2 => $integers!(u16),
                4 => $integers!(u32),
                _ => $integers!(u64),
            },
        }
    };
}
pub(crate) use with_number;

/// Fails for a dtype whose products aren't made here: callers convert truth values and half floats.
pub(crate) const fn check_dtype(operation: &'static str, dtype: DType) -> Result<(), LinalgError> {
    match dtype {
        DType::Bool | DType::Float16 | DType::Bfloat16 => {
            Err(LinalgError::DType { operation, dtype })
        }
        _ => Ok(()),
    }
}

/// A number whose products are added.
pub(crate) trait Number: Storage + Default {
    /// One.
    const ONE: Self;

    /// `self + a * b`.
    fn plus(self, a: Self, b: Self) -> Self;

    /// `self + conj(a) * b`.
    fn plus_conjugate(self, a: Self, b: Self) -> Self {
        self.plus(a, b)
    }

    /// `self + other`.
    fn add(self, other: Self) -> Self;

    /// The bits.
    fn to_words(self) -> [u64; 2];

    /// The number of these bits.
    fn of_words(words: [u64; 2]) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Number for $t {
            const ONE: Self = 1;

            #[inline(always)]
            fn plus(self, a: Self, b: Self) -> Self {
                self.wrapping_add(a.wrapping_mul(b))
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn to_words(self) -> [u64; 2] {
                [u64::from(self), 0]
            }

            fn of_words(words: [u64; 2]) -> Self {
                words[0] as Self
            }
        }
    )* };
}

integers!(u8, u16, u32, u64);

macro_rules! floats {
    ($($t:ty),*) => { $(
        impl Number for $t {
            const ONE: Self = 1.0;

            #[inline(always)]
            fn plus(self, a: Self, b: Self) -> Self {
                self + a * b
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            fn to_words(self) -> [u64; 2] {
                [u64::from(self.to_bits()), 0]
            }

            fn of_words(words: [u64; 2]) -> Self {
                Self::from_bits(words[0] as _)
            }
        }

        impl Number for Complex<$t> {
            const ONE: Self = Self::new(1.0, 0.0);

            #[inline(always)]
            fn plus(self, a: Self, b: Self) -> Self {
                Self::new(
                    self.re + a.re * b.re - a.im * b.im,
                    self.im + a.re * b.im + a.im * b.re,
                )
            }

            #[inline(always)]
            fn plus_conjugate(self, a: Self, b: Self) -> Self {
                Self::new(
                    self.re + a.re * b.re + a.im * b.im,
                    self.im + a.re * b.im - a.im * b.re,
                )
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            fn to_words(self) -> [u64; 2] {
                [self.re.to_bits().into(), self.im.to_bits().into()]
            }

            fn of_words(words: [u64; 2]) -> Self {
                Self::new(<$t>::from_bits(words[0] as _), <$t>::from_bits(words[1] as _))
            }
        }
    )* };
}

floats!(f32, f64);
