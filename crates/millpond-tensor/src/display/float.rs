//! One format for all floats of an array: digits, exponents and columns in common.

use millpond_types::DType;

use super::digits::{Decimal, Digits, largest_with_point, rounded};
use super::options::{FloatMode, PrintOptions, Sign};

/// How the floats of an array are written.
#[derive(Debug)]
pub(super) struct FloatFormat {
    dtype: DType,
    sign: Sign,
    digits: Digits,
    /// Digits of exponents, if numbers have one.
    exponent: Option<usize>,
    /// Whether zeros that end a fraction are kept.
    keep_zeros: bool,
    /// Columns before the point, and behind it.
    left: usize,
    right: usize,
    nan: String,
    infinity: String,
}

impl FloatFormat {
    /// The format for these values of an array of `dtype`.
    pub(super) fn of(values: &[f64], dtype: DType, options: &PrintOptions, sign: Sign) -> Self {
        let mode = options.float_mode;
        let mut format = Self {
            dtype,
            sign,
            digits: match mode {
                FloatMode::Fixed => Digits::exactly(options.precision),
                FloatMode::Unique => Digits::SHORTEST,
                FloatMode::MaxPrec | FloatMode::MaxPrecEqual => Digits {
                    most: options.precision,
                    ..Digits::SHORTEST
                },
            },
            exponent: wants_exponent(values, dtype, options.suppress).then_some(2),
            keep_zeros: mode == FloatMode::Fixed,
            left: 0,
            right: 0,
            nan: options.nan.clone(),
            infinity: options.infinity.clone(),
        };
        format.measure(values);
        // Mantissas are of one length, and so is everything in the modes that say so.
        if format.exponent.is_some() || matches!(mode, FloatMode::Fixed | FloatMode::MaxPrecEqual) {
            format.digits.least = format.right;
            format.digits.most = format.right;
            format.keep_zeros = true;
        }
        if let Some(digits) = format.exponent {
            format.right += "e+".len() + digits;
        }
        format.make_room(values);
        format
    }

    /// Takes columns and exponents from the numbers as they would be written alone.
    fn measure(&mut self, values: &[f64]) {
        let mut exponent = 0;
        for &value in values.iter().filter(|value| value.is_finite()) {
            let number = self.number(value);
            self.left = self.left.max(number.whole.len());
            self.right = self.right.max(number.fraction.len());
            exponent = exponent.max(number.exponent.len().saturating_sub("e+".len()));
        }
        self.exponent = self.exponent.map(|_| exponent);
    }

    /// Widens the columns for signs that aren't written, and for what is not a number.
    fn make_room(&mut self, values: &[f64]) {
        let is_negative = |value: &f64| value.is_finite() && value.is_sign_negative();
        if self.sign == Sign::Space && !values.iter().any(is_negative) {
            self.left += 1;
        }
        if values.iter().any(|value| !value.is_finite()) {
            let is_signed = self.sign != Sign::Minus || values.contains(&f64::NEG_INFINITY);
            let infinity = self.infinity.chars().count() + usize::from(is_signed);
            let longest = self.nan.chars().count().max(infinity);
            self.left = self.left.max(longest.saturating_sub(self.right + 1));
        }
    }

    fn number(&self, value: f64) -> Decimal {
        let mut number = match self.exponent {
            Some(exponent) => self.digits.scientific(value, self.dtype, exponent),
            None => self.digits.positional(value, self.dtype),
        };
        if !self.keep_zeros {
            number = number.trimmed();
        }
        if self.sign == Sign::Plus {
            number = number.signed();
        }
        number
    }

    /// A value as a word as wide as all others.
    pub(super) fn word(&self, value: f64) -> String {
        let (left, right) = (self.left, self.right);
        if !value.is_finite() {
            let width = left + 1 + right;
            let plus = if self.sign == Sign::Plus { "+" } else { "" };
            let word = if value.is_nan() {
                format!("{plus}{}", self.nan)
            } else {
                let sign = if value < 0.0 { "-" } else { plus };
                format!("{sign}{}", self.infinity)
            };
            return format!("{word:>width$}");
        }
        let Decimal {
            whole,
            mut fraction,
            exponent,
        } = self.number(value);
        fraction.push_str(&exponent);
        format!("{whole:>left$}.{fraction:<right$}")
    }
}

/// Whether numbers are so large, so small or so far apart that they need an exponent.
///
/// As NumPy does, computes in the array's own dtype.
fn wants_exponent(values: &[f64], dtype: DType, suppress: bool) -> bool {
    let magnitudes = || {
        let finite = values.iter().filter(|value| value.is_finite());
        finite
            .map(|value| value.abs())
            .filter(|&value| value != 0.0)
    };
    let largest = magnitudes().fold(0.0, f64::max);
    let smallest = magnitudes().fold(f64::INFINITY, f64::min);
    let limit = largest_with_point(dtype).min(1e8);
    let ratio = rounded(largest / smallest, dtype);
    largest >= limit
        || (!suppress && largest > 0.0 && (smallest < rounded(1e-4, dtype) || ratio > 1000.0))
}
