//! The vocabulary of real numbers: one row per function.
//!
//! [`real_vocabulary!`](crate::real_vocabulary) holds the rows and hands them to whoever asks: below, to the trait, to the
//! reference instances, to the table of names and to the recording instance of [`device`](crate::device).
//!
//! Guarantee: a body that uses only [`Real`] means the same on every instance, up to the stated accuracy. For that to stay
//! so a body never branches on its data: it computes both sides and uses [`Real::select`].

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use super::derived;

/// What a comparison yields: a truth value per element.
pub trait Mask:
    Copy
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Send
    + Sync
    + 'static
{
    /// The same for every element.
    fn lit(value: bool) -> Self;
}

impl Mask for bool {
    #[inline(always)]
    fn lit(value: bool) -> Self {
        value
    }
}

/// A row of the vocabulary, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Name of the method of [`Real`].
    pub name: &'static str,
    /// Name of the function in C dialects, which their preludes define for every float.
    pub c_name: &'static str,
}

/// Hands the rows of the vocabulary to the macro `$each`.
///
/// A row is documentation, signature, the reference as a Rust expression that holds for `f32` and `f64`, and the C name.
/// A C name is what the function is called in C where it has the function; a dialect's own prelude defines them all.
#[macro_export]
macro_rules! real_vocabulary {
    ($each:ident) => {
        $each! {
            /// Magnitude.
            abs(x) = x.abs(), "fabs";
            /// `e` to the power `x`.
            exp(x) = x.exp(), "exp";
            /// Two to the power `x`.
            exp2(x) = x.exp2(), "exp2";
            /// `exp(x) - 1`, accurate near zero.
            exp_m1(x) = x.exp_m1(), "expm1";
            /// Natural logarithm.
            ln(x) = x.ln(), "log";
            /// `ln(1 + x)`, accurate near zero.
            ln_1p(x) = x.ln_1p(), "log1p";
            /// Logarithm to base two.
            log2(x) = x.log2(), "log2";
            /// Logarithm to base ten.
            log10(x) = x.log10(), "log10";
            /// Square root, correctly rounded.
            sqrt(x) = x.sqrt(), "sqrt";
            /// `1 / sqrt(x)`.
            rsqrt(x) = x.sqrt().recip(), "rsqrt";
            /// Cube root.
            cbrt(x) = x.cbrt(), "cbrt";
            /// Length of the vector `(x, y)`, without undue overflow; infinite if either is, even beside a NaN.
            hypot(x, y) = x.hypot(y), "hypot";
            /// `x` to the power `y`.
            pow(x, y) = x.powf(y), "pow";
            /// Sine.
            sin(x) = x.sin(), "sin";
            /// Cosine.
            cos(x) = x.cos(), "cos";
            /// Tangent.
            tan(x) = x.tan(), "tan";
            /// Inverse sine.
            asin(x) = x.asin(), "asin";
            /// Inverse cosine.
            acos(x) = x.acos(), "acos";
            /// Inverse tangent.
            atan(x) = x.atan(), "atan";
            /// Angle of the point with ordinate `x` and abscissa `y`: the inverse tangent of `x / y` in all quadrants.
            atan2(x, y) = x.atan2(y), "atan2";
            /// Hyperbolic sine.
            sinh(x) = x.sinh(), "sinh";
            /// Hyperbolic cosine.
            cosh(x) = x.cosh(), "cosh";
            /// Hyperbolic tangent.
            tanh(x) = x.tanh(), "tanh";
            /// Inverse hyperbolic sine.
            asinh(x) = derived::asinh_by(f64::from(x), f64::ln_1p) as Self, "asinh";
            /// Inverse hyperbolic cosine.
            acosh(x) = derived::acosh_by(f64::from(x), f64::ln_1p) as Self, "acosh";
            /// Inverse hyperbolic tangent.
            atanh(x) = derived::atanh_by(f64::from(x), f64::ln_1p) as Self, "atanh";
            /// Largest integer that isn't above `x`.
            floor(x) = x.floor(), "floor";
            /// Smallest integer that isn't below `x`.
            ceil(x) = x.ceil(), "ceil";
            /// `x` without its fraction.
            trunc(x) = x.trunc(), "trunc";
            /// Nearest integer, ties to even.
            round_even(x) = x.round_ties_even(), "rint";
            /// Magnitude of `x` with the sign of `y`.
            copysign(x, y) = x.copysign(y), "copysign";
            /// Smaller of both; NaN if either is.
            min(x, y) = if x < y || x.is_nan() { x } else { y }, "min";
            /// Larger of both; NaN if either is.
            max(x, y) = if x > y || x.is_nan() { x } else { y }, "max";
            /// Remainder of the division rounded towards zero: it has the sign of `x`.
            fmod(x, y) = x % y, "fmod";
            /// Neighbour of `x` in the direction of `y`.
            nextafter(x, y) = derived::nextafter!(x, y), "nextafter";
            /// Logarithm of the sum of the exponentials of both.
            log_add_exp(x, y) =
                derived::log_add_exp_by((f64::from(x), f64::from(y)), false, f64::exp, f64::ln_1p) as Self, "logaddexp";
            /// `x * y + z`, rounded once.
            mul_add(x, y, z) = x.mul_add(y, z), "fma";
        }
    };
}

macro_rules! declare {
    ($( $(#[$documentation:meta])* $name:ident($first:ident $(, $more:ident)*) = $host:expr, $c_name:literal; )*) => {
        /// A real number as operation bodies see it.
        ///
        /// Comparisons are those of IEEE 754: every one with a NaN is false but for "not equal".
        pub trait Real:
            Copy
            + Add<Output = Self>
            + Sub<Output = Self>
            + Mul<Output = Self>
            + Div<Output = Self>
            + Neg<Output = Self>
            + Send
            + Sync
            + 'static
        {
            /// What comparisons yield.
            type Mask: Mask;

            /// The number nearest to `value`.
            fn lit(value: f64) -> Self;
            /// Distance from one to the next larger number.
            fn epsilon() -> Self;
            /// Largest finite number.
            fn largest() -> Self;
            /// Smallest positive number of full precision.
            fn smallest_normal() -> Self;
            /// `self < other`.
            fn less(self, other: Self) -> Self::Mask;
            /// `self == other`.
            fn equals(self, other: Self) -> Self::Mask;
            /// `yes` where the mask holds, else `no`.
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

            $( $(#[$documentation])* #[must_use] fn $name(self $(, $more: Self)*) -> Self; )*

            /// Sine and cosine.
            #[must_use]
            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                (self.sin(), self.cos())
            }
            /// `self <= other`.
            #[inline(always)]
            fn less_equal(self, other: Self) -> Self::Mask {
                self.less(other) | self.equals(other)
            }
            /// Whether this is a NaN.
            #[inline(always)]
            fn is_nan(self) -> Self::Mask {
                !self.equals(self)
            }
            /// Whether this is neither infinite nor a NaN.
            #[inline(always)]
            fn is_finite(self) -> Self::Mask {
                self.abs().less_equal(Self::largest())
            }
            /// Whether this is an infinity of either sign.
            #[inline(always)]
            fn is_inf(self) -> Self::Mask {
                Self::largest().less(self.abs())
            }
            /// Whether the sign bit is set, also of zeros and NaNs.
            #[inline(always)]
            fn sign_bit(self) -> Self::Mask {
                Self::lit(1.0).copysign(self).less(Self::lit(0.0))
            }
            /// Whether this is an integer.
            #[inline(always)]
            fn is_integer(self) -> Self::Mask {
                self.trunc().equals(self) & self.is_finite()
            }
            /// Remainder of the division rounded down, as Python's `%`: it has the sign of `other`.
            #[must_use]
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                derived::remainder(self, other)
            }
            /// Quotient rounded down; zeros and infinities follow the plain quotient.
            #[must_use]
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                derived::floor_divide(self, other)
            }
        }

        /// The vocabulary as data, in the order of the rows.
        pub const VOCABULARY: &[Word] = &[$( Word { name: stringify!($name), c_name: $c_name } ),*];
    };
}

/// Comparisons and choices of the numbers that the host has, floats and integers.
macro_rules! host_choices {
    () => {
        #[inline(always)]
        fn less(self, other: Self) -> bool {
            self < other
        }
        #[inline(always)]
        fn equals(self, other: Self) -> bool {
            self == other
        }
        #[inline(always)]
        fn select(mask: bool, yes: Self, no: Self) -> Self {
            if mask { yes } else { no }
        }
    };
}
pub(super) use host_choices;

macro_rules! reference {
    ($( $(#[$documentation:meta])* $name:ident($first:ident $(, $more:ident)*) = $host:expr, $c_name:literal; )*) => {
        reference!(@instance f32 { $( $name($first $(, $more)*) = $host; )* });
        reference!(@instance f64 { $( $name($first $(, $more)*) = $host; )* });
    };
    (@instance $float:ident { $( $name:ident($first:ident $(, $more:ident)*) = $host:expr; )* }) => {
        impl Real for $float {
            type Mask = bool;

            #[inline(always)]
            fn lit(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn epsilon() -> Self {
                $float::EPSILON
            }
            #[inline(always)]
            fn largest() -> Self {
                $float::MAX
            }
            #[inline(always)]
            fn smallest_normal() -> Self {
                $float::MIN_POSITIVE
            }
            host_choices!();

            $(
                #[inline(always)]
                fn $name(self $(, $more: Self)*) -> Self {
                    let $first = self;
                    $host
                }
            )*
        }
    };
}

real_vocabulary!(declare);
real_vocabulary!(reference);
