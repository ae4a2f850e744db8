//! Numbers whose functions are straight-line code, for loops that the compiler turns into vector instructions.
//!
//! Contract: **a NaN from a [`Lane`] means “ask the reference”.** Where a lane function can't be right it gives a NaN, and
//! the loop computes that element again with the plain float. Everywhere else, subnormal numbers, signed zeros and
//! infinities included, it is right to the accuracy below. A body over lanes must let such a NaN through to its result.
//!
//! They need a fused multiply-add in hardware: use them only in functions compiled for a processor that has one. Without
//! it they are still right, but slower than the reference.
//!
//! Accuracy in units in the last place, held by the tests; at `f64` counted from the correctly rounded result:
//!
//! | functions | `f64` | `f32` |
//! | --- | --- | --- |
//! | `exp` `exp2` `exp_m1` `ln` `ln_1p` `log2` `log10` `pow` `sin` `cos` `tan` `acos` `cbrt` `hypot` | 1 | 1.1 |
//! | `cosh` `rsqrt` | 1 | 1.6 |
//! | `asin` `atan` `atan2` `asinh` `acosh` `atanh` | 2 | 1.1 |
//! | `sinh` `tanh` | 2 | 2 |
//! | `sqrt` `fmod` and what only moves bits | exact | exact |
//!
//! Left to the reference: `sin`, `cos`, `tan` of angles from 10⁹ on (`f32`: 10⁵), `pow` of zero and infinite bases, `fmod` of quotients that
//! have more digits than the format, and every case whose result is a NaN.

#[allow(
    clippy::unreadable_literal,
    clippy::excessive_precision,
    clippy::approx_constant,
    reason = "the digits are made by a program and read by none but the compiler"
)]
mod coefficients;
mod exponential;
mod format;
mod inverse;
mod logarithm;
mod power;
#[cfg(test)]
mod tests;
mod trigonometric;

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::real::Real;
pub use format::Format;

/// A float whose functions vectorise; see the [module](self) for its contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Lane<T>(pub T);

macro_rules! operators {
    ($($operator:ident $method:ident;)*) => { $(
        impl<T: $operator<Output = T>> $operator for Lane<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Lane(self.0.$method(other.0))
            }
        }
    )* };
}
operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

impl<T: Neg<Output = T>> Neg for Lane<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lane(-self.0)
    }
}

/// Remainder of the division rounded towards zero, where the quotient is exact to the unit; a NaN elsewhere.
#[inline(always)]
fn fmod<F: Format>(x: F, y: F) -> F {
    let zero = F::lit(0.0);
    let (numerator, divisor) = (x.abs(), y.abs());
    let quotient = (numerator / divisor).trunc();
    // Exact. The quotient may have been rounded up to the next integer, which leaves a negative rest.
    let rest = (-quotient).mul_add(divisor, numerator);
    let rest = F::select(rest.less(zero), rest + divisor, rest);
    let rest = F::select(numerator.less(divisor), numerator, rest);
    let known = quotient.less(F::lit(1.0) / F::epsilon());
    F::select(known, rest, F::lit(f64::NAN)).copysign(x)
}

/// The functions of a lane: those of the float itself, and the ones that this module has better bodies for.
macro_rules! functions {
    (own { $($own:ident($($own_more:ident),*);)* } lane { $($name:ident($($more:ident),*) = $path:path;)* }) => {
        $(
            #[inline(always)]
            fn $own(self $(, $own_more: Self)*) -> Self {
                Lane(self.0.$own($($own_more.0),*))
            }
        )*
        $(
            #[inline(always)]
            fn $name(self $(, $more: Self)*) -> Self {
                Lane($path(self.0 $(, $more.0)*))
            }
        )*
    };
}

impl<F: Format> Real for Lane<F> {
    type Mask = bool;

    #[inline(always)]
    fn lit(value: f64) -> Self {
        Lane(F::lit(value))
    }
    #[inline(always)]
    fn epsilon() -> Self {
        Lane(F::epsilon())
    }
    #[inline(always)]
    fn largest() -> Self {
        Lane(F::largest())
    }
    #[inline(always)]
    fn smallest_normal() -> Self {
        Lane(F::smallest_normal())
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self.0.less(other.0)
    }
    #[inline(always)]
    fn equals(self, other: Self) -> bool {
        self.0.equals(other.0)
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (sine, cosine) = trigonometric::sin_cos(self.0);
        (Lane(sine), Lane(cosine))
    }

    functions! {
        own {
            abs();
            sqrt();
            rsqrt();
            floor();
            ceil();
            trunc();
            round_even();
            copysign(sign);
            min(other);
            max(other);
            nextafter(towards);
            mul_add(factor, summand);
        }
        lane {
            exp() = exponential::exp;
            exp2() = exponential::exp2;
            exp_m1() = exponential::exp_m1;
            sinh() = exponential::sinh;
            cosh() = exponential::cosh;
            tanh() = exponential::tanh;
            ln() = logarithm::ln;
            ln_1p() = logarithm::ln_1p;
            log2() = logarithm::log2;
            log10() = logarithm::log10;
            log_add_exp(other) = exponential::log_add_exp;
            sin() = trigonometric::sin;
            cos() = trigonometric::cos;
            tan() = trigonometric::tan;
            asin() = inverse::asin;
            acos() = inverse::acos;
            atan() = inverse::atan;
            atan2(x) = inverse::atan2;
            asinh() = inverse::asinh;
            acosh() = inverse::acosh;
            atanh() = inverse::atanh;
            pow(exponent) = power::pow;
            cbrt() = power::cbrt;
            hypot(other) = power::hypot;
            fmod(divisor) = fmod;
        }
    }
}
