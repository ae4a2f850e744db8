//! Operands of functions: arrays and numbers, in any order, with one array at least.

use millpond::Scalar;
use millpond::tensor::{Operand, Place, Tensor, creation};
use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::error::Raise;
use crate::tensor::array::PyArray;
use crate::tensor::{foreign, scalar};

enum Held<'a, 'py> {
    Array(Borrowed<'a, 'py, PyArray>),
    Number(Scalar),
    /// A scalar of NumPy, as an array.
    Made(Tensor),
}

/// The operands of a call, held for its time.
pub(crate) struct Operands<'a, 'py>(SmallVec<[Held<'a, 'py>; 3]>);

impl<'a, 'py> Operands<'a, 'py> {
    /// The operands that these objects are.
    ///
    /// # Errors
    /// `TypeError` for other objects, arrays of NumPy among them, and where no operand is an
    /// array.
    pub(crate) fn of(
        operation: &'static str,
        objects: impl Iterator<Item = Borrowed<'a, 'py, PyAny>>,
    ) -> PyResult<Self> {
        let mut held = SmallVec::new();
        let mut strangers: SmallVec<[(usize, Borrowed<'a, 'py, PyAny>); 3]> = SmallVec::new();
        let mut place = None;
        for (index, object) in objects.enumerate() {
            if let Ok(array) = object.cast::<PyArray>() {
                place.get_or_insert_with(|| Place::of(array.get().tensor()));
                held.push(Held::Array(array));
            } else if let Some(value) = scalar::of_python(&object)? {
                held.push(Held::Number(value));
            } else {
                strangers.push((index, object));
            }
        }
        // NumPy's scalars go where the arrays are, so they come last.
        for (index, object) in strangers {
            foreign::refuse_arrays(&object)?;
            match (scalar::of_numpy(&object)?, &place) {
                (Some((value, dtype)), Some(place)) => {
                    let made = creation::scalar(value, Some(dtype), place).raise()?;
                    held.insert(index, Held::Made(made));
                }
                _ => {
                    return Err(PyTypeError::new_err(format!(
                        "{operation}: expected an array or a number, got {}",
                        foreign::describe(&object)
                    )));
                }
            }
        }
        if place.is_none() {
            return Err(PyTypeError::new_err(format!(
                "{operation}: at least one operand must be an array"
            )));
        }
        Ok(Self(held))
    }

    /// As the operations take them.
    pub(crate) fn list(&self) -> SmallVec<[Operand<'_>; 3]> {
        self.0
            .iter()
            .map(|held| match held {
                Held::Array(array) => Operand::Tensor(array.get().tensor()),
                Held::Number(value) => Operand::Scalar(*value),
                Held::Made(tensor) => Operand::Tensor(tensor),
            })
            .collect()
    }
}
