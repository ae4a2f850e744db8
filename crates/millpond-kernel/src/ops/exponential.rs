//! Exponentials, logarithms, powers and roots.

use crate::math::complex::{
    exp as exp_complex, exp_m1 as expm1_complex, ln as log_complex, ln_1p as log1p_complex,
    log2 as log2_complex, log10 as log10_complex, pow as pow_complex, sqrt as sqrt_complex,
};
use crate::math::{Complex, Int, Real};
use crate::ops::row::registry;

/// The rows of the chapter.
#[macro_export]
#[doc(hidden)]
macro_rules! exponential_rows {
    ($each:ident) => {
        $each! {
            /// Cube root of each element.
            unary cbrt(x) { lane cbrt } ulp 2
                { "[8.0, -27.0]" => "[ 2., -3.]" };
            /// `e` to the power of each element.
            unary exp(x) { lane exp, complex_lane exp_complex } ulp 2
                { "[0.0, 1.0]" => "[1.        , 2.71828183]" };
            /// Two to the power of each element.
            unary exp2(x) { lane exp2, complex_lane exp2_complex } ulp 2
                { "[3.0, -1.0]" => "[8. , 0.5]" };
            /// `exp(x) - 1` of each element, accurate near zero.
            unary expm1(x) { lane expm1, complex_lane expm1_complex } ulp 2
                { "[0.0, 1e-10]" => "[0.e+00, 1.e-10]" };
            /// Natural logarithm of each element.
            unary log(x) { lane log, complex_lane log_complex } ulp 2
                { "[1.0, xp.e]" => "[0., 1.]" };
            /// Logarithm to base 10 of each element.
            unary log10(x) { lane log10, complex_lane log10_complex } ulp 2
                { "[1.0, 1000.0]" => "[0., 3.]" };
            /// Logarithm of one plus each element, accurate near zero.
            unary log1p(x) { lane log1p, complex_lane log1p_complex } ulp 2
                { "[0.0, 1e-10]" => "[0.e+00, 1.e-10]" };
            /// Logarithm to base 2 of each element.
            unary log2(x) { lane log2, complex_lane log2_complex } ulp 2
                { "[1.0, 8.0]" => "[0., 3.]" };
            /// Logarithm of the sum of the exponentials of both operands; below one, as exact as one.
            binary logaddexp(x1, x2) { lane logaddexp } ulp 2
                { "[1000.0, 0.0]", "[1000.0, -xp.inf]" => "[1000.69314718,    0.        ]" };
            /// The first operand to the power of the second.
            binary pow(x1, x2) { int pow_int, lane pow, complex_lane pow_complex } ulp 2
                { "[2, 3]", "[10, 2]" => "[1024,    9]" };
            /// One divided by the square root of each element.
            unary rsqrt(x) { real rsqrt } ulp 2
                { "[4.0, 0.25]" => "[0.5, 2. ]" };
            /// Square root of each element.
            unary sqrt(x) { real sqrt, complex_lane sqrt_complex } ulp 1
                { "[4.0, 2.0]" => "[2.        , 1.41421356]" };
        }
    };
}
exponential_rows!(registry);

#[inline(always)]
fn cbrt<R: Real>(x: R) -> R {
    x.cbrt()
}

#[inline(always)]
fn exp<R: Real>(x: R) -> R {
    x.exp()
}

#[inline(always)]
fn exp2<R: Real>(x: R) -> R {
    x.exp2()
}

#[inline(always)]
fn exp2_complex<R: Real>(z: Complex<R>) -> Complex<R> {
    let ln_2 = R::lit(std::f64::consts::LN_2);
    exp_complex(Complex::new(z.re * ln_2, z.im * ln_2))
}

#[inline(always)]
fn expm1<R: Real>(x: R) -> R {
    x.exp_m1()
}

#[inline(always)]
fn log<R: Real>(x: R) -> R {
    x.ln()
}

#[inline(always)]
fn log10<R: Real>(x: R) -> R {
    x.log10()
}

#[inline(always)]
fn log1p<R: Real>(x: R) -> R {
    x.ln_1p()
}

#[inline(always)]
fn log2<R: Real>(x: R) -> R {
    x.log2()
}

#[inline(always)]
fn logaddexp<R: Real>(a: R, b: R) -> R {
    a.log_add_exp(b)
}

#[inline(always)]
fn pow_int<I: Int>(a: I, b: I) -> I {
    a.power(b)
}

#[inline(always)]
fn pow<R: Real>(a: R, b: R) -> R {
    a.pow(b)
}

#[inline(always)]
fn rsqrt<R: Real>(x: R) -> R {
    x.rsqrt()
}

#[inline(always)]
fn sqrt<R: Real>(x: R) -> R {
    x.sqrt()
}
