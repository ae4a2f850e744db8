//! Type promotion: the lattice of the Array API standard, and the mixed kinds that it leaves open.
//!
//! Source of the rule: Array API standard 2025.12, "Type Promotion Rules". Where the standard says
//! nothing (integers with floats, `uint64` with signed integers, half types), the result is what
//! `dpctl.tensor` and NumPy give: the smallest float that holds the integer's range in kind.

use crate::dtype::{DType, Kind};
use crate::scalar::Scalar;

/// Dtypes for which there is no common one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no dtype holds both {0} and {1}")]
pub struct PromotionError(pub DType, pub DType);

/// The dtype that holds both.
///
/// # Errors
/// [`PromotionError`] if there is none in the table.
pub fn promote(a: DType, b: DType) -> Result<DType, PromotionError> {
    use Kind::{Bool, Complex, Float, Int, Uint};
    if a == b {
        return Ok(a);
    }
    // Ordered by kind, so that each pair is met once.
    let (low, high) = if (a.kind(), a.bits()) <= (b.kind(), b.bits()) {
        (a, b)
    } else {
        (b, a)
    };
    Ok(match (low.kind(), high.kind()) {
        (Bool, _) => high,
        (Int, Int) | (Uint, Uint) | (Complex, Complex) => high,
        (Int, Uint) => match (low.bits(), high.bits()) {
            (signed, unsigned) if signed > unsigned => low,
            (_, 8) => DType::Int16,
            (_, 16) => DType::Int32,
            (_, 32) => DType::Int64,
            _ => DType::Float64,
        },
        (Float, Float) if low.bits() == high.bits() => DType::Float32,
        (Float, Float) => high,
        (Int | Uint, Float) => integer_with_float(low, high),
        (Int | Uint, Complex) => complex_of(integer_with_float(low, high.real())),
        (Float, Complex) => complex_of(promote(low, high.real())?),
        _ => return Err(PromotionError(a, b)),
    })
}

fn integer_with_float(integer: DType, float: DType) -> DType {
    match (integer.bits(), float) {
        (8, float) => float,
        (16, DType::Float16 | DType::Bfloat16) => DType::Float32,
        (16, float) => float,
        _ => DType::Float64,
    }
}

const fn complex_of(float: DType) -> DType {
    match float {
        DType::Float64 => DType::Complex128,
        _ => DType::Complex64,
    }
}

/// The dtype that holds all of `dtypes`, of which there is at least one.
///
/// # Errors
/// [`PromotionError`] for the first pair that has none; an empty list gives `bool`.
pub fn result_type(dtypes: &[DType]) -> Result<DType, PromotionError> {
    let mut result = *dtypes.first().unwrap_or(&DType::Bool);
    for &dtype in dtypes {
        result = promote(result, dtype)?;
    }
    Ok(result)
}

/// The dtype of an operation between an array and a Python scalar: the array's dtype, raised to
/// the scalar's kind where that is higher (standard, "Mixing arrays with Python scalars").
///
/// `default_float` is what an integer array becomes with a float, for instance `float64`.
#[must_use]
pub fn with_scalar(array: DType, scalar: Scalar, default_float: DType) -> DType {
    match (scalar.kind(), array.kind()) {
        (Kind::Int, Kind::Bool) => DType::Int64,
        (Kind::Float, Kind::Bool | Kind::Int | Kind::Uint) => default_float,
        (Kind::Complex, Kind::Bool | Kind::Int | Kind::Uint) => complex_of(default_float),
        (Kind::Complex, Kind::Float) => complex_of(array),
        _ => array,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_symmetric_and_absorbs() {
        for &a in DType::ALL {
            for &b in DType::ALL {
                let joined = promote(a, b);
                assert_eq!(joined, promote(b, a));
                if let Ok(joined) = joined {
                    assert_eq!(promote(joined, a), Ok(joined), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn promotion_matches_the_standard() {
        assert_eq!(promote(DType::Int8, DType::Uint8), Ok(DType::Int16));
        assert_eq!(promote(DType::Int64, DType::Uint32), Ok(DType::Int64));
        assert_eq!(
            promote(DType::Float32, DType::Complex128),
            Ok(DType::Complex128)
        );
        assert_eq!(
            promote(DType::Float64, DType::Complex64),
            Ok(DType::Complex128)
        );
    }
}
