//! What Python's operators do: hand the operands to the one place that applies operations.
//!
//! The common cases, an array or a Python number on the other side, are decided by comparing type
//! pointers and take no memory of Python's but the result's.

use millpond::Scalar;
use millpond::kernel::Operation;
use millpond::kernel::ops::rows;
use millpond::tensor::{Operand, Place, Tensor, apply, apply_in_place, creation};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Raise;
use crate::tensor::array::PyArray;
use crate::tensor::{enter, foreign, scalar};

/// An array, or Python's `NotImplemented`.
pub(crate) type Answer<'py> = PyResult<Bound<'py, PyAny>>;

/// `array op other`.
#[inline]
pub(crate) fn binary<'py>(
    operation: &'static Operation,
    array: &PyArray,
    other: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let py = other.py();
    match combined(operation, array, other)? {
        Some(result) => Ok(result),
        None => Ok(py.NotImplemented().into_bound(py)),
    }
}

/// The result of a binary operation; `None` if the other operand is nothing that an array combines
/// with.
#[inline]
pub(crate) fn combined<'py>(
    operation: &'static Operation,
    array: &PyArray,
    other: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = other.py();
    enter(py);
    // Two arrays come first, as nothing has to be made of them.
    if let Ok(other) = other.cast_exact::<PyArray>() {
        let operands = [array.tensor().into(), other.get().tensor().into()];
        return PyArray::of(py, apply(operation, &operands, None)).map(Some);
    }
    let Some(other) = Other::of(array, other)? else {
        return Ok(None);
    };
    let operands = [array.tensor().into(), other.operand()];
    PyArray::of(py, apply(operation, &operands, None)).map(Some)
}

/// `other op array`, where the other operand didn't know what to do.
pub(crate) fn reflected<'py>(
    operation: &'static Operation,
    array: &PyArray,
    other: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let py = other.py();
    enter(py);
    match Other::of(array, other)? {
        Some(other) => {
            let operands = [other.operand(), array.tensor().into()];
            PyArray::of(py, apply(operation, &operands, None))
        }
        None => Ok(py.NotImplemented().into_bound(py)),
    }
}

/// What `divmod` gives: the quotients and the remainders, or `NotImplemented` where the operands
/// don't combine.
pub(crate) fn divided<'py>(
    py: Python<'py>,
    operator: impl Fn(&'static Operation) -> Answer<'py>,
) -> Answer<'py> {
    let quotient = operator(&rows::floor_divide)?;
    if quotient.is(py.NotImplemented()) {
        return Ok(quotient);
    }
    let remainder = operator(&rows::remainder)?;
    Ok(PyTuple::new(py, [quotient, remainder])?.into_any())
}

/// `array op= other`.
pub(crate) fn in_place(
    operation: &'static Operation,
    array: &PyArray,
    other: &Bound<'_, PyAny>,
) -> PyResult<()> {
    enter(other.py());
    match Other::of(array, other)? {
        Some(other) => apply_in_place(operation, array.tensor(), &[other.operand()]).raise(),
        // Python lets in-place methods answer `NotImplemented`, but then tries others and loses
        // what is said here.
        None => Err(PyTypeError::new_err(format!(
            "{}: an array and {} cannot be combined in place",
            operation.name(),
            foreign::describe(other)
        ))),
    }
}

/// `op array`.
#[inline]
pub(crate) fn unary<'py>(
    py: Python<'py>,
    operation: &'static Operation,
    array: &PyArray,
) -> Answer<'py> {
    enter(py);
    PyArray::of(py, apply(operation, &[array.tensor().into()], None))
}

/// Fails if a power was asked for with a modulus.
///
/// # Errors
/// `TypeError`.
pub(crate) fn refuse_modulo(modulo: &Bound<'_, PyAny>) -> PyResult<()> {
    if modulo.is_none() {
        return Ok(());
    }
    Err(PyTypeError::new_err("pow: arrays take no modulus"))
}

/// The operand beside an array.
enum Other<'a> {
    Array(&'a Tensor),
    Number(Scalar),
    /// A scalar of NumPy, as an array.
    Made(Tensor),
}

impl<'a> Other<'a> {
    /// What an object is; `None` if it is nothing that an array combines with.
    #[inline]
    fn of(array: &PyArray, object: &'a Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(other) = object.cast_exact::<PyArray>() {
            return Ok(Some(Self::Array(other.get().tensor())));
        }
        match scalar::of_python(object)? {
            Some(value) => Ok(Some(Self::Number(value))),
            None => Self::of_foreign(array, object),
        }
    }

    #[cold]
    fn of_foreign(array: &PyArray, object: &'a Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Some((value, dtype)) = scalar::of_numpy(object)? {
            let place = Place::of(array.tensor());
            let made = creation::scalar(value, Some(dtype), &place).raise()?;
            return Ok(Some(Self::Made(made)));
        }
        foreign::refuse_arrays(object)?;
        Ok(None)
    }

    fn operand(&self) -> Operand<'_> {
        match self {
            Self::Array(tensor) => Operand::Tensor(tensor),
            Self::Number(value) => Operand::Scalar(*value),
            Self::Made(tensor) => Operand::Tensor(tensor),
        }
    }
}
