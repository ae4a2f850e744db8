//! Comparison of floating-point results in units in the last place.

use std::fmt;

/// How many representable numbers lie between two `f32`.
///
/// Equal numbers and two NaNs are 0 apart, both zeros count as one number, and a NaN is
/// `u64::MAX` away from every number.
#[must_use]
pub fn ulp_distance_f32(a: f32, b: f32) -> u64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => line(a.to_bits().into(), 31).abs_diff(line(b.to_bits().into(), 31)),
        _ => u64::MAX,
    }
}

/// How many representable numbers lie between two `f64`; as [`ulp_distance_f32`].
#[must_use]
pub fn ulp_distance_f64(a: f64, b: f64) -> u64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => line(a.to_bits(), 63).abs_diff(line(b.to_bits(), 63)),
        _ => u64::MAX,
    }
}

/// The place of a sign-and-magnitude number on a line where neighbours are 1 apart.
fn line(bits: u64, sign: u32) -> i64 {
    let magnitude = (bits & ((1 << sign) - 1)) as i64;
    if bits >> sign == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// A number whose distances are measured in units in the last place.
pub trait Ulp: Copy + fmt::Debug {
    /// How many representable numbers lie between the two.
    fn ulp_distance(self, other: Self) -> u64;
}

impl Ulp for f32 {
    fn ulp_distance(self, other: Self) -> u64 {
        ulp_distance_f32(self, other)
    }
}

impl Ulp for f64 {
    fn ulp_distance(self, other: Self) -> u64 {
        ulp_distance_f64(self, other)
    }
}

/// The element that is furthest off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst<T> {
    /// Where.
    pub index: usize,
    /// What was computed.
    pub actual: T,
    /// What should have been.
    pub expected: T,
    /// How far apart they are.
    pub ulp: u64,
}

/// What a comparison of two sequences found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison<T> {
    /// How many elements were compared.
    pub compared: usize,
    /// How many were further apart than the tolerance.
    pub outside: usize,
    /// The tolerance.
    pub tolerance: u64,
    /// The worst element; `None` where all were equal.
    pub worst: Option<Worst<T>>,
}

impl<T> Comparison<T> {
    /// Whether every element was within the tolerance.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.outside == 0
    }
}

impl<T: fmt::Debug> fmt::Display for Comparison<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} elements are more than {} ulp off",
            self.outside, self.compared, self.tolerance
        )?;
        match &self.worst {
            Some(worst) => write!(
                f,
                "; the worst is element {}: {:?} instead of {:?}, {} ulp",
                worst.index, worst.actual, worst.expected, worst.ulp
            ),
            None => Ok(()),
        }
    }
}

/// Compares element by element.
///
/// # Panics
/// When the lengths differ.
#[must_use]
pub fn compare<T: Ulp>(actual: &[T], expected: &[T], tolerance: u64) -> Comparison<T> {
    assert_eq!(
        actual.len(),
        expected.len(),
        "compared sequences have one length"
    );
    let mut comparison = Comparison {
        compared: actual.len(),
        outside: 0,
        tolerance,
        worst: None,
    };
    for (index, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        let ulp = actual.ulp_distance(expected);
        comparison.outside += usize::from(ulp > tolerance);
        if ulp > comparison.worst.map_or(0, |worst| worst.ulp) {
            comparison.worst = Some(Worst {
                index,
                actual,
                expected,
                ulp,
            });
        }
    }
    comparison
}

/// Compares element by element.
///
/// # Panics
/// With the comparison's report when an element is off by more than the tolerance.
pub fn assert_close<T: Ulp>(actual: &[T], expected: &[T], tolerance: u64) {
    let comparison = compare(actual, expected, tolerance);
    assert!(comparison.holds(), "{comparison}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_apart_across_zero_and_binades() {
        assert_eq!(ulp_distance_f32(0.0, -0.0), 0);
        assert_eq!(ulp_distance_f32(f32::from_bits(1), -f32::from_bits(1)), 2);
        assert_eq!(ulp_distance_f64(2.0, 2.0_f64.next_down()), 1);
        assert_eq!(ulp_distance_f64(f64::MAX, f64::INFINITY), 1);
        assert_eq!(
            ulp_distance_f64(f64::INFINITY, f64::NEG_INFINITY),
            2 * f64::INFINITY.to_bits()
        );
    }

    #[test]
    fn a_nan_equals_only_nans() {
        assert_eq!(ulp_distance_f32(f32::NAN, -f32::NAN), 0);
        assert_eq!(ulp_distance_f32(f32::NAN, 1.0), u64::MAX);
    }

    #[test]
    fn the_report_names_the_worst_element() {
        let off = 1.0_f64 + 3.0 * f64::EPSILON;
        let comparison = compare(&[1.0, off, 2.0_f64.next_up()], &[1.0, 1.0, 2.0], 2);
        assert_eq!(comparison.outside, 1);
        assert_eq!(comparison.worst.map(|worst| worst.index), Some(1));
        assert!(
            comparison
                .to_string()
                .starts_with("1 of 3 elements are more than 2 ulp off; the worst is element 1")
        );
    }

    #[test]
    #[should_panic(expected = "1 of 1 elements")]
    fn assert_close_fails_outside_the_tolerance() {
        assert_close(&[1.0_f32], &[1.5], 10);
    }
}
