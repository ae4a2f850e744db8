//! One format for all numbers of an array, and the one of a number alone.

use millpond_types::{DType, Kind, Scalar};

use super::digits::{Digits, largest_with_point};
use super::float::FloatFormat;
use super::options::{PrintOptions, Sign};

/// How the numbers of an array are written.
#[derive(Debug)]
pub(super) enum NumberFormat {
    /// Truth values, to this width.
    Bool { width: usize },
    /// Integers, to this width.
    Integer { width: usize, sign: Sign },
    /// Real numbers.
    Float(FloatFormat),
    /// Real and imaginary parts.
    Complex(FloatFormat, FloatFormat),
}

impl NumberFormat {
    /// The format for these values of an array of `dtype` and so many axes.
    pub(super) fn of(values: &[Scalar], dtype: DType, ndim: usize, options: &PrintOptions) -> Self {
        let parts = |part: fn(Scalar) -> f64| values.iter().map(|&value| part(value)).collect();
        match dtype.kind() {
            Kind::Bool => Self::Bool {
                width: if ndim == 0 { 0 } else { "False".len() },
            },
            Kind::Int | Kind::Uint => {
                let is_negative = |value: &Scalar| value.to_i128() < 0;
                let sign = match options.sign {
                    Sign::Space if values.iter().any(is_negative) => Sign::Minus,
                    sign => sign,
                };
                let widths = values.iter().map(|&value| integer(value, sign).len());
                Self::Integer {
                    width: widths.max().unwrap_or(0),
                    sign,
                }
            }
            Kind::Float => {
                let values: Vec<f64> = parts(Scalar::to_f64);
                Self::Float(FloatFormat::of(&values, dtype, options, options.sign))
            }
            Kind::Complex => {
                let re: Vec<f64> = parts(|value| value.to_complex().re);
                let im: Vec<f64> = parts(|value| value.to_complex().im);
                Self::Complex(
                    FloatFormat::of(&re, dtype.real(), options, options.sign),
                    FloatFormat::of(&im, dtype.real(), options, Sign::Plus),
                )
            }
        }
    }

    /// A value as a word.
    pub(super) fn word(&self, value: Scalar) -> String {
        match self {
            Self::Bool { width } => format!("{:>width$}", truth(value)),
            Self::Integer { width, sign } => format!("{:>width$}", integer(value, *sign)),
            Self::Float(format) => format.word(value.to_f64()),
            Self::Complex(re, im) => {
                let value = value.to_complex();
                let im = im.word(value.im);
                let digits = im.trim_end();
                let padding = &im[digits.len()..];
                format!("{}{digits}j{padding}", re.word(value.re))
            }
        }
    }
}

fn truth(value: Scalar) -> &'static str {
    if value.is_truthy() { "True" } else { "False" }
}

fn integer(value: Scalar, sign: Sign) -> String {
    let value = value.to_i128();
    match sign {
        Sign::Plus => format!("{value:+}"),
        Sign::Space if value >= 0 => format!(" {value}"),
        Sign::Minus | Sign::Space => value.to_string(),
    }
}

/// A number that stands for itself, with all its digits.
pub(super) fn alone(value: Scalar, dtype: DType) -> String {
    match dtype.kind() {
        Kind::Bool => truth(value).to_owned(),
        Kind::Int | Kind::Uint => integer(value, Sign::Minus),
        Kind::Float => {
            let text = float_alone(value.to_f64(), dtype);
            let is_whole = text
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_digit());
            if is_whole { format!("{text}.0") } else { text }
        }
        Kind::Complex => {
            let (value, dtype) = (value.to_complex(), dtype.real());
            let im = float_alone(value.im, dtype);
            if value.re == 0.0 && value.re.is_sign_positive() {
                return format!("{im}j");
            }
            let plus = if im.starts_with('-') { "" } else { "+" };
            format!("({}{plus}{im}j)", float_alone(value.re, dtype))
        }
    }
}

/// A float with all its digits, and no point where none is needed.
fn float_alone(value: f64, dtype: DType) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return value.to_string();
    }
    let number = if value == 0.0 || (1e-4..largest_with_point(dtype)).contains(&value.abs()) {
        Digits::SHORTEST.positional(value, dtype)
    } else {
        Digits::SHORTEST.scientific(value, dtype, 2)
    };
    let point = if number.fraction.is_empty() { "" } else { "." };
    format!(
        "{}{point}{}{}",
        number.whole, number.fraction, number.exponent
    )
}
