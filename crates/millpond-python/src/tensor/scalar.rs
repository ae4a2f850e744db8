//! Numbers between Python and arrays.
//!
//! Python's own numbers have no dtype and adapt to the array beside them. NumPy's scalars have
//! one, and count as arrays of no dimension, as they do in NumPy.

use millpond::types::{DType, Scalar};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt};

use crate::tensor::array::PyArray;
use crate::tensor::{conversion, foreign};

/// The number that an object is, if it is one of Python's.
///
/// # Errors
/// `OverflowError` for an integer of more than 128 bits.
#[inline]
pub(crate) fn of_python(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return Ok(Some(Scalar::Float(value.value())));
    }
    if let Ok(value) = object.cast_exact::<PyInt>() {
        return integer(value).map(Some);
    }
    if let Ok(value) = object.cast_exact::<PyBool>() {
        return Ok(Some(Scalar::Bool(value.is_true())));
    }
    if let Ok(value) = object.cast_exact::<PyComplex>() {
        return Ok(Some(complex(value)));
    }
    of_subclass(object)
}

/// As [`of_python`] for classes derived from Python's numbers; NumPy derives some of its own, which
/// aren't meant.
#[cold]
fn of_subclass(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if foreign::is_numpy(object.py(), object, "generic")? {
        return Ok(None);
    }
    if let Ok(value) = object.cast::<PyInt>() {
        return integer(value).map(Some);
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Some(Scalar::Float(value.value())));
    }
    if let Ok(value) = object.cast::<PyComplex>() {
        return Ok(Some(complex(value)));
    }
    Ok(None)
}

fn integer(value: &Bound<'_, PyInt>) -> PyResult<Scalar> {
    if let Ok(small) = value.extract::<i64>() {
        return Ok(Scalar::Int(small.into()));
    }
    value.extract::<i128>().map(Scalar::Int).map_err(|_| {
        PyOverflowError::new_err(format!(
            "{} is out of bounds for every dtype",
            foreign::describe(value)
        ))
    })
}

fn complex(value: &Bound<'_, PyComplex>) -> Scalar {
    Scalar::Complex(millpond::kernel::math::Complex::new(
        value.real(),
        value.imag(),
    ))
}

/// The value and the dtype of a scalar of NumPy; `None` if the object is none.
///
/// # Errors
/// `TypeError` for a scalar of a dtype that there is no equivalent of.
pub(crate) fn of_numpy(object: &Bound<'_, PyAny>) -> PyResult<Option<(Scalar, DType)>> {
    if !foreign::is_numpy(object.py(), object, "generic")? {
        return Ok(None);
    }
    let dtype = foreign::native_dtype(&object.getattr("dtype")?)?.ok_or_else(|| {
        PyTypeError::new_err(format!(
            "{} has a dtype that millpond does not have",
            foreign::describe(object)
        ))
    })?;
    let item = object.call_method0("item")?;
    let value = match of_python(&item)? {
        Some(value) => value,
        // `bfloat16` and its like may not become Python numbers by themselves.
        None => Scalar::Float(item.extract()?),
    };
    Ok(Some((value, dtype)))
}

/// The value and the dtype of an array of no dimension, once it is there; `None` if the object is none.
///
/// # Errors
/// The failure of what computes the element.
pub(crate) fn of_array(object: &Bound<'_, PyAny>) -> PyResult<Option<(Scalar, DType)>> {
    let Ok(array) = object.cast::<PyArray>() else {
        return Ok(None);
    };
    let tensor = array.get().tensor();
    if tensor.ndim() != 0 {
        return Ok(None);
    }
    let item = conversion::item(object.py(), tensor)?;
    Ok(of_python(&item)?.map(|value| (value, tensor.dtype())))
}

/// The Python number of a value.
pub(crate) fn to_python(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Scalar::Int(value) => value.into_pyobject(py)?.into_any(),
        Scalar::Float(value) => PyFloat::new(py, value).into_any(),
        Scalar::Complex(value) => PyComplex::from_doubles(py, value.re, value.im).into_any(),
    })
}

/// A number, as an argument that takes nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) Scalar);

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Some(value) = of_python(&obj)? {
            return Ok(Self(value));
        }
        if let Some((value, _)) = of_array(&obj)? {
            return Ok(Self(value));
        }
        match of_numpy(&obj)? {
            Some((value, _)) => Ok(Self(value)),
            None => Err(PyTypeError::new_err(format!(
                "expected a number, got {}",
                foreign::describe(&obj)
            ))),
        }
    }
}
