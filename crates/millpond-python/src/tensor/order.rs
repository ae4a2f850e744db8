//! The argument `order=`: how the axes of a new array lie in memory.

use millpond::tensor::{Order, Tensor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Raise;

/// The order of a letter.
///
/// # Errors
/// `ValueError` for anything but C, F, A and K.
pub(crate) fn parse(letter: &str) -> PyResult<Order> {
    Order::named(letter).ok_or_else(|| {
        PyValueError::new_err(format!(
            "order: expected 'C', 'F', 'A' or 'K', got '{letter}'"
        ))
    })
}

/// Whether an array lies in this order.
pub(crate) fn is_met(tensor: &Tensor, order: Order) -> bool {
    match order {
        Order::A | Order::K => true,
        Order::C => tensor.is_contiguous(),
        Order::F => tensor.layout().is_column_major(),
    }
}

/// The array itself if it lies in this order, else a copy that does.
pub(crate) fn arranged(tensor: Tensor, order: Order) -> PyResult<Tensor> {
    if is_met(&tensor, order) {
        return Ok(tensor);
    }
    tensor.copy(order).raise()
}
