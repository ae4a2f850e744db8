//! Comparisons of integers for which there is no common dtype: they are answered exactly all the
//! same.
//!
//! An integer scalar beyond an array's range compares the same with all of its elements. Signed
//! integers and `uint64` promote to `float64`, which doesn't tell large ones apart; there, signs
//! are compared before values.

use millpond_kernel::Operation;
use millpond_kernel::ops::rows;
use millpond_types::{DType, Kind};

use crate::apply::apply;
use crate::data_types::Casting;
use crate::error::Result;
use crate::operand::Operand;
use crate::tensor::Tensor;

/// What an operation answers where the left operand is below the right one; `None` if it is no
/// comparison.
fn answer_below(operation: &Operation) -> Option<bool> {
    Some(match operation.name() {
        "less" | "less_equal" | "not_equal" => true,
        "greater" | "greater_equal" | "equal" => false,
        _ => return None,
    })
}

/// What an operation answers where the left operand is above the right one.
fn answer_above(operation: &Operation) -> Option<bool> {
    Some(match operation.name() {
        "greater" | "greater_equal" | "not_equal" => true,
        "less" | "less_equal" | "equal" => false,
        _ => return None,
    })
}

/// What comparing any integer of a dtype with one beyond its range gives; `None` if the operation
/// isn't a comparison. The scalar is above the range, or below, and on the left, or on the right.
pub(crate) fn beyond_range(operation: &Operation, above: bool, on_the_left: bool) -> Option<bool> {
    if above == on_the_left {
        answer_above(operation)
    } else {
        answer_below(operation)
    }
}

/// The comparison of signed integers with `uint64`; `None` if that isn't asked for.
pub(crate) fn signed_with_unsigned(
    operation: &'static Operation,
    operands: &[Operand<'_>],
    out: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let &[Operand::Tensor(left), Operand::Tensor(right)] = operands else {
        return Ok(None);
    };
    let is_signed = |tensor: &Tensor| tensor.dtype().kind() == Kind::Int;
    let is_wide = |tensor: &Tensor| tensor.dtype() == DType::Uint64;
    // Where the signed one is negative, it is below the other.
    let (signed, answer) = if is_signed(left) && is_wide(right) {
        (left, answer_below(operation))
    } else if is_wide(left) && is_signed(right) {
        (right, answer_above(operation))
    } else {
        return Ok(None);
    };
    let Some(answer) = answer else {
        return Ok(None);
    };
    let unsigned = signed.cast(DType::Uint64, Casting::Unsafe, false)?;
    let compared = if std::ptr::eq(signed, left) {
        apply(operation, &[(&unsigned).into(), right.into()], None)?
    } else {
        apply(operation, &[left.into(), (&unsigned).into()], None)?
    };
    let negative = signed.less(0)?;
    // Among truth values, `less` says that the left is false and the right true.
    let combine = if answer {
        &rows::logical_or
    } else {
        &rows::less
    };
    apply(combine, &[(&negative).into(), (&compared).into()], out).map(Some)
}
