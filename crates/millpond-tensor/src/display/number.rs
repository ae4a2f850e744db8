//! One format for all numbers of an array.
//!
//! Floats have the fewest digits that tell them from their neighbours, unless options say
//! otherwise, and a common place for the point.

use millpond_types::{DType, Kind, Scalar};

use super::{FloatMode, PrintOptions, Sign};

/// How the numbers of an array are written.
#[derive(Debug)]
pub(super) enum NumberFormat {
    /// Truth values and integers, to this width.
    Exact { width: usize, sign: Sign },
    /// Real numbers.
    Float(FloatFormat),
    /// Real and imaginary parts.
    Complex(FloatFormat, FloatFormat),
}

impl NumberFormat {
    /// The format for these values of an array of `dtype`.
    pub(super) fn of(values: &[Scalar], dtype: DType, options: &PrintOptions) -> Self {
        let parts = |part: fn(Scalar) -> f64| values.iter().map(|&value| part(value)).collect();
        match dtype.kind() {
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
            _ => {
                let sign = options.sign;
                let widths = values.iter().map(|&value| exact(value, sign).len());
                Self::Exact {
                    width: widths.max().unwrap_or(0),
                    sign,
                }
            }
        }
    }

    /// A value as a word.
    pub(super) fn word(&self, value: Scalar) -> String {
        match self {
            Self::Exact { width, sign } => format!("{:>width$}", exact(value, *sign)),
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

fn exact(value: Scalar, sign: Sign) -> String {
    match value {
        Scalar::Bool(true) => "True".to_owned(),
        Scalar::Bool(false) => "False".to_owned(),
        other => with_sign(other.to_i128().to_string(), sign),
    }
}

fn with_sign(digits: String, sign: Sign) -> String {
    if digits.starts_with('-') {
        return digits;
    }
    match sign {
        Sign::Minus => digits,
        Sign::Plus => format!("+{digits}"),
        Sign::Space => format!(" {digits}"),
    }
}

/// How floats are written.
#[derive(Debug)]
pub(super) struct FloatFormat {
    dtype: DType,
    sign: Sign,
    exponent: bool,
    /// Digits behind the point: at most, and at least.
    digits: (usize, usize),
    /// Columns before the point, and behind it.
    left: usize,
    right: usize,
    nan: String,
    infinity: String,
}

/// A number taken apart: before the point, behind it, and the exponent with its letter.
struct Parts {
    whole: String,
    fraction: String,
    exponent: String,
}

impl FloatFormat {
    fn of(values: &[f64], dtype: DType, options: &PrintOptions, sign: Sign) -> Self {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let magnitudes = || finite().map(f64::abs).filter(|&value| value != 0.0);
        let largest = magnitudes().fold(0.0, f64::max);
        let smallest = magnitudes().fold(f64::INFINITY, f64::min);
        let exponent = !options.suppress
            && largest > 0.0
            && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000.0);
        let digits = match options.float_mode {
            FloatMode::Fixed => (options.precision, options.precision),
            FloatMode::Unique => (usize::MAX, 0),
            FloatMode::MaxPrec | FloatMode::MaxPrecEqual => (options.precision, 0),
        };
        let mut format = Self {
            dtype,
            sign,
            exponent,
            digits,
            left: 0,
            right: 0,
            nan: options.nan.clone(),
            infinity: options.infinity.clone(),
        };
        for value in finite() {
            let parts = format.parts(value);
            format.left = format.left.max(parts.whole.len());
            format.right = format.right.max(parts.fraction.len());
        }
        // Mantissas are of one length, and so is everything in the modes that say so.
        if exponent || options.float_mode == FloatMode::MaxPrecEqual {
            format.digits.1 = format.right;
        }
        let others = values.iter().copied().filter(|value| !value.is_finite());
        for value in others {
            let len = format.name(value).chars().count();
            format.left = format.left.max(len.saturating_sub(format.right + 1));
        }
        format
    }

    fn word(&self, value: f64) -> String {
        if !value.is_finite() {
            let width = self.left + 1 + self.right;
            return format!("{:>width$}", self.name(value));
        }
        let Parts {
            whole,
            fraction,
            exponent,
        } = self.parts(value);
        let (left, right) = (self.left, self.right);
        format!("{whole:>left$}.{fraction:<right$}{exponent}")
    }

    fn name(&self, value: f64) -> String {
        if value.is_nan() {
            return match self.sign {
                Sign::Plus => format!("+{}", self.nan),
                _ => self.nan.clone(),
            };
        }
        let minus = if value < 0.0 { "-" } else { "" };
        with_sign(format!("{minus}{}", self.infinity), self.sign)
    }

    fn parts(&self, value: f64) -> Parts {
        let (text, exponent) = if self.exponent {
            let text = self.scientific(value);
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let power: i32 = exponent.parse().unwrap_or(0);
            let sign = if power < 0 { '-' } else { '+' };
            (
                mantissa.to_owned(),
                format!("e{sign}{:02}", power.unsigned_abs()),
            )
        } else {
            (self.positional(value), String::new())
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let mut fraction = fraction.trim_end_matches('0').to_owned();
        while fraction.len() < self.digits.1 {
            fraction.push('0');
        }
        Parts {
            whole: with_sign(whole.to_owned(), self.sign),
            fraction,
            exponent,
        }
    }

    /// The fewest digits that tell the number from its neighbours, cut to the precision.
    fn positional(&self, value: f64) -> String {
        let unique = match self.dtype {
            DType::Float64 => value.to_string(),
            DType::Float32 => (value as f32).to_string(),
            _ => shortest_half(value)
                .parse::<f64>()
                .unwrap_or(value)
                .to_string(),
        };
        let fraction = unique.split_once('.').map_or(0, |(_, digits)| digits.len());
        if fraction > self.digits.0 {
            return format!("{value:.*}", self.digits.0);
        }
        unique
    }

    fn scientific(&self, value: f64) -> String {
        let unique = match self.dtype {
            DType::Float64 => format!("{value:e}"),
            DType::Float32 => format!("{:e}", value as f32),
            _ => shortest_half(value),
        };
        let mantissa = unique.split_once('e').map_or("", |(mantissa, _)| mantissa);
        let fraction = mantissa
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        if fraction > self.digits.0 {
            return format!("{value:.*e}", self.digits.0);
        }
        unique
    }
}

/// The fewest digits that tell a half-precision number from its neighbours, with an exponent.
fn shortest_half(value: f64) -> String {
    let target = half::f16::from_f64(value);
    (0..=5)
        .map(|digits| format!("{value:.digits$e}"))
        .find(|text| {
            text.parse::<f64>()
                .is_ok_and(|parsed| half::f16::from_f64(parsed) == target)
        })
        .unwrap_or_else(|| format!("{value:e}"))
}
