//! The decimal digits of one float.
//!
//! Binary floats have finite decimal expansions, of which the fewest digits that tell a float from
//! its neighbours are enough to read it back. Where more are asked for, they are those of the
//! expansion rather than zeros. The digits themselves come from the standard library.

use millpond_types::{DType, Scalar};

/// How many digits a float has behind the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits {
    pub(super) least: usize,
    pub(super) most: usize,
    /// Whether digits end where the float is told from its neighbours, bounds permitting.
    pub(super) unique: bool,
}

impl Digits {
    /// As many as tell a float from its neighbours.
    pub(super) const SHORTEST: Self = Self {
        least: 0,
        most: usize::MAX,
        unique: true,
    };

    /// Exactly this many, counted from the float itself.
    pub(super) const fn exactly(count: usize) -> Self {
        Self {
            least: count,
            most: count,
            unique: false,
        }
    }

    /// How many to write where the shortest writing has `shortest`; none if that one will do.
    fn cut(self, shortest: usize) -> Option<usize> {
        let count = shortest.clamp(self.least, self.most);
        (!self.unique || count != shortest).then_some(count)
    }

    /// A float without exponent.
    pub(super) fn positional(self, value: f64, dtype: DType) -> Decimal {
        let shortest = Shortest::of(value, dtype).positional(value);
        match self.cut(shortest.fraction.len()) {
            Some(count) => Decimal::split(&format!("{value:.count$}")),
            None => shortest,
        }
    }

    /// A float with an exponent of at least `width` digits.
    pub(super) fn scientific(self, value: f64, dtype: DType, width: usize) -> Decimal {
        let shortest = Shortest::of(value, dtype);
        let (text, exponent) = match self.cut(shortest.digits.len() - 1) {
            Some(count) => split_exponent(&format!("{value:.count$e}")),
            None => (shortest.mantissa(value), shortest.exponent),
        };
        let sign = if exponent < 0 { '-' } else { '+' };
        Decimal {
            exponent: format!("e{sign}{:0width$}", exponent.unsigned_abs()),
            ..Decimal::split(&text)
        }
    }
}

/// A float taken apart as it is written.
#[derive(Debug)]
pub(super) struct Decimal {
    /// The sign, if any, and the digits before the point.
    pub(super) whole: String,
    /// The digits behind the point.
    pub(super) fraction: String,
    /// The exponent with its letter, or nothing.
    pub(super) exponent: String,
}

impl Decimal {
    fn split(text: &str) -> Self {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        Self {
            whole: whole.to_owned(),
            fraction: fraction.to_owned(),
            exponent: String::new(),
        }
    }

    /// Without zeros at the end of the fraction.
    pub(super) fn trimmed(mut self) -> Self {
        let len = self.fraction.trim_end_matches('0').len();
        self.fraction.truncate(len);
        self
    }

    /// With a sign before positive numbers too.
    pub(super) fn signed(mut self) -> Self {
        if !self.whole.starts_with('-') {
            self.whole.insert(0, '+');
        }
        self
    }
}

/// A float as the nearest one of a dtype.
pub(super) fn rounded(value: f64, dtype: DType) -> f64 {
    let bytes = Scalar::Float(value).to_bytes(dtype);
    Scalar::from_bytes(dtype, &bytes).map_or(value, Scalar::to_f64)
}

/// From here on, a float of the dtype has digits before the point that mean nothing.
pub(super) const fn largest_with_point(dtype: DType) -> f64 {
    match dtype {
        DType::Bfloat16 => 1e2,
        DType::Float16 => 1e3,
        DType::Float32 => 1e6,
        _ => 1e16,
    }
}

/// The fewest digits that tell the magnitude of a float from its neighbours; the nearest to it of
/// those, and the even one if two are as near.
struct Shortest {
    /// The point belongs behind the first.
    digits: String,
    exponent: i32,
}

impl Shortest {
    fn of(value: f64, dtype: DType) -> Self {
        let value = value.abs();
        let shortest = match dtype {
            DType::Float64 => format!("{value:e}"),
            DType::Float32 => format!("{:e}", value as f32),
            _ => shortest_half(value, dtype),
        };
        let (mantissa, exponent) = split_exponent(&shortest);
        // Between two that are as near, the standard library takes the greater.
        let count = mantissa.len().saturating_sub("0.".len());
        let even = format!("{value:.count$e}");
        let (mantissa, exponent) = if is_read_as(&even, value, dtype) {
            split_exponent(&even)
        } else {
            (mantissa, exponent)
        };
        let digits = mantissa.replace('.', "");
        Self { digits, exponent }
    }

    /// The digits with a point behind the first, and the sign of the float.
    fn mantissa(&self, value: f64) -> String {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let (whole, fraction) = self.digits.split_at(1);
        format!("{sign}{whole}.{fraction}")
    }

    /// The digits with the point where it belongs, and the sign of the float.
    fn positional(&self, value: f64) -> Decimal {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let leading = "0".repeat((-self.exponent).max(0) as usize);
        let digits = format!("{leading}{}", self.digits);
        let before = self.exponent.max(0) as usize + 1;
        let (whole, fraction) = digits.split_at_checked(before).unwrap_or((&digits, ""));
        Decimal {
            whole: format!("{sign}{whole:0<before$}"),
            fraction: fraction.to_owned(),
            exponent: String::new(),
        }
    }
}

/// Mantissa and exponent of a number as the standard library writes it.
fn split_exponent(text: &str) -> (String, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

/// Whether a number's nearest float of the dtype is this one.
fn is_read_as(text: &str, value: f64, dtype: DType) -> bool {
    match dtype {
        DType::Float64 => text.parse() == Ok(value),
        DType::Float32 => text.parse() == Ok(value as f32),
        _ => text
            .parse()
            .is_ok_and(|parsed| rounded(parsed, dtype) == value),
    }
}

/// The fewest digits, with an exponent, of a magnitude of a dtype of two bytes.
fn shortest_half(value: f64, dtype: DType) -> String {
    // Floats that are powers of two are further from the next above than from the one below, so
    // that the decimal above may be meant where the nearest isn't.
    let above = value + (next_half(value, dtype) - value) / 4.0;
    (0..5)
        .flat_map(|digits| [format!("{value:.digits$e}"), format!("{above:.digits$e}")])
        .find(|text| is_read_as(text, value, dtype))
        .unwrap_or_else(|| format!("{value:e}"))
}

/// The magnitude that comes next in a dtype of two bytes; the same if there is none.
fn next_half(value: f64, dtype: DType) -> f64 {
    let [low, high, ..] = Scalar::Float(value).to_bytes(dtype);
    let next = u16::from_ne_bytes([low, high]) + 1;
    let next = Scalar::from_bytes(dtype, &next.to_ne_bytes()).map_or(value, Scalar::to_f64);
    if next.is_finite() { next } else { value }
}
