//! Functions about dtypes: conversion, casting rules, limits, kinds.

use millpond::tensor::data_types::{self, TypeSource};
use millpond::tensor::{Casting, Tensor};
use millpond::types::DType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::error::Raise;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::{DTypeLike, PyDType};
use crate::tensor::operators::Answer;
use crate::tensor::place::{DeviceLike, device_or_default};
use crate::tensor::{enter, order, scalar};

/// Converts an array to another dtype.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// dtype : dtype
///     The dtype.
/// copy : bool, optional
///     Whether to copy where the array has the dtype already.
/// device : Device, Queue or str, optional
///     Where the result goes.
/// order : {'K', 'C', 'F', 'A'}, optional
///     How the axes of the result lie in memory.
/// casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}, optional
///     What the conversion may lose.
///
/// Returns
/// -------
/// Array
///     The array itself, if it has the dtype and nothing asks for a copy.
///
/// Raises
/// ------
/// TypeError
///     For a dtype that there isn't, and for a conversion that the rule forbids; complex
///     numbers never become real ones.
/// ValueError
///     For a rule or an order that there isn't.
///
/// Notes
/// -----
/// Array API standard, data type functions; beyond it: `order`, `casting`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.astype(xp.asarray([1.7, -1.7, xp.nan]), xp.int8)
/// Array([ 1, -1,  0], dtype=int8)
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, copy=true, device=None, order="K", casting="unsafe"))]
fn astype<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    dtype: DTypeLike,
    copy: bool,
    device: Option<DeviceLike>,
    order: &str,
    casting: &str,
) -> Answer<'py> {
    enter(py);
    let order = order::parse(order)?;
    let moved = |tensor: Tensor| match &device {
        Some(device) if device.names_queue() => tensor.to_queue(device.queue()),
        Some(device) => tensor.to_device(device.device()),
        None => Ok(tensor),
    };
    let mut source = x.tensor().clone();
    // Converted where it is, unless only the other device has the dtype.
    if !source.device().info().supports(dtype.0) {
        source = moved(source).raise()?;
    }
    let result = match rule("astype", casting)? {
        Casting::Unsafe => source.astype(dtype.0, copy),
        casting => source.cast(dtype.0, casting, copy),
    };
    let result = moved(order::arranged(result.raise()?, order)?).raise()?;
    if result.memory().same_as(x.tensor().memory()) {
        return Ok(x.object().clone().into_any());
    }
    PyArray::object(py, result)
}

/// Says whether values of one dtype can be converted to another.
///
/// Parameters
/// ----------
/// from_ : Array or dtype
///     The dtype of the values.
/// to : dtype
///     The dtype to convert to.
/// casting : {'safe', 'same_kind', 'unsafe', 'equiv', 'no'}, optional
///     What the conversion may lose; ``'safe'`` is what promotion does.
///
/// Returns
/// -------
/// bool
///     Whether the rule allows it.
///
/// Raises
/// ------
/// TypeError
///     For a dtype that there isn't.
/// ValueError
///     For a rule that there isn't.
///
/// Notes
/// -----
/// Array API standard, data type functions; beyond it: `casting`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.can_cast(xp.int32, xp.float64), xp.can_cast(xp.float64, xp.int32)
/// (True, False)
#[pyfunction]
#[pyo3(signature = (from_, to, /, *, casting="safe"))]
fn can_cast(from_: DTypeSource, to: DTypeLike, casting: &str) -> PyResult<bool> {
    Ok(data_types::can_cast(
        from_.0,
        to.0,
        rule("can_cast", casting)?,
    ))
}

fn rule(operation: &str, casting: &str) -> PyResult<Casting> {
    Casting::named(casting).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{operation}: casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not \
             '{casting}'"
        ))
    })
}

/// Says which dtype an operation over all of these promotes to.
///
/// Parameters
/// ----------
/// *arrays_and_dtypes : Array, dtype or number
///     At least one array or dtype; numbers have no dtype of their own.
///
/// Returns
/// -------
/// dtype
///     The dtype; where the standard leaves it open, that of NumPy.
///
/// Raises
/// ------
/// TypeError
///     For what is no dtype.
/// ValueError
///     Without an array or a dtype.
///
/// Notes
/// -----
/// Array API standard, data type functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.result_type(xp.int8, xp.uint8), xp.result_type(xp.float32, 1.5)
/// (int16, float32)
#[pyfunction]
#[pyo3(signature = (*arrays_and_dtypes))]
fn result_type<'py>(arrays_and_dtypes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyDType>> {
    let py = arrays_and_dtypes.py();
    let mut default_float = None;
    let mut sources: Vec<TypeSource<'_>> = Vec::new();
    for argument in arrays_and_dtypes.iter_borrowed() {
        if let Ok(array) = argument.cast::<PyArray>() {
            let tensor = array.get().tensor();
            default_float = Some(data_types::default_float(&tensor.device()));
            sources.push(TypeSource::DType(tensor.dtype()));
        } else if let Some(value) = scalar::of_python(&argument)? {
            sources.push(TypeSource::Scalar(value));
        } else if let Some((_, dtype)) = scalar::of_numpy(&argument)? {
            sources.push(TypeSource::DType(dtype));
        } else {
            sources.push(TypeSource::DType(argument.extract::<DTypeLike>()?.0));
        }
    }
    let default_float = match default_float {
        Some(dtype) => dtype,
        None => data_types::default_float(&device_or_default(None)?),
    };
    PyDType::of(
        py,
        data_types::result_type(&sources, default_float).raise()?,
    )
}

/// Says whether a dtype is of a kind.
///
/// Parameters
/// ----------
/// dtype : dtype
///     The dtype.
/// kind : dtype, str or tuple of them
///     A dtype, or one of ``'bool'``, ``'signed integer'``, ``'unsigned integer'``,
///     ``'integral'``, ``'real floating'``, ``'complex floating'`` and ``'numeric'``.
///
/// Returns
/// -------
/// bool
///     Whether it is.
///
/// Raises
/// ------
/// TypeError
///     For what is no dtype.
/// ValueError
///     For the name of a kind that there isn't.
///
/// Notes
/// -----
/// Array API standard, data type functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.isdtype(xp.int8, "integral"), xp.isdtype(xp.int8, (xp.int16, "bool"))
/// (True, False)
#[pyfunction]
#[pyo3(signature = (dtype, kind))]
fn isdtype(dtype: DTypeLike, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(kinds) = kind.cast::<PyTuple>() {
        for kind in kinds.iter_borrowed() {
            if isdtype(dtype, &kind)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    if let Ok(kind) = kind.cast::<PyString>() {
        return data_types::isdtype(dtype.0, kind.to_str()?).raise();
    }
    Ok(dtype.0 == kind.extract::<DTypeLike>()?.0)
}

/// Limits of a float dtype, also of the parts of a complex one.
///
/// Parameters
/// ----------
/// type_ : dtype or Array
///     The dtype.
///
/// Raises
/// ------
/// TypeError
///     For a dtype of another kind.
///
/// Notes
/// -----
/// Array API standard, data type functions; beyond it: `tiny`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> limits = xp.finfo(xp.float32)
/// >>> limits.bits, limits.eps, limits.smallest_normal
/// (32, 1.1920928955078125e-07, 1.1754943508222875e-38)
#[pyclass(frozen, get_all, name = "finfo", module = "millpond.tensor")]
#[derive(Debug)]
struct FloatLimits {
    /// Bits of an element.
    bits: usize,
    /// Distance from one to the next number.
    eps: f64,
    /// Largest finite number.
    max: f64,
    /// Smallest finite number.
    min: f64,
    /// Smallest positive number of full precision.
    smallest_normal: f64,
    /// The dtype.
    dtype: Py<PyDType>,
}

#[pymethods]
impl FloatLimits {
    #[new]
    #[pyo3(signature = (type_, /))]
    fn new(py: Python<'_>, type_: DTypeSource) -> PyResult<Self> {
        let info = data_types::finfo(type_.0)
            .ok_or_else(|| PyTypeError::new_err(format!("finfo: {} is no float dtype", type_.0)))?;
        Ok(Self {
            bits: info.bits,
            eps: info.eps,
            max: info.max,
            min: info.min,
            smallest_normal: info.smallest_normal,
            dtype: PyDType::of(py, info.dtype)?.unbind(),
        })
    }

    /// Smallest positive number of full precision.
    #[getter]
    fn tiny(&self) -> f64 {
        self.smallest_normal
    }

    fn __repr__(&self) -> String {
        format!(
            "finfo(bits={}, eps={:e}, max={:e}, min={:e}, smallest_normal={:e}, dtype={})",
            self.bits, self.eps, self.max, self.min, self.smallest_normal, self.dtype
        )
    }
}

/// Limits of an integer dtype.
///
/// Parameters
/// ----------
/// type_ : dtype or Array
///     The dtype.
///
/// Raises
/// ------
/// TypeError
///     For a dtype of another kind.
///
/// Notes
/// -----
/// Array API standard, data type functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> limits = xp.iinfo(xp.int8)
/// >>> limits.bits, limits.min, limits.max
/// (8, -128, 127)
#[pyclass(frozen, get_all, name = "iinfo", module = "millpond.tensor")]
#[derive(Debug)]
struct IntegerLimits {
    /// Bits of an element.
    bits: usize,
    /// Largest number.
    max: i128,
    /// Smallest number.
    min: i128,
    /// The dtype.
    dtype: Py<PyDType>,
}

#[pymethods]
impl IntegerLimits {
    #[new]
    #[pyo3(signature = (type_, /))]
    fn new(py: Python<'_>, type_: DTypeSource) -> PyResult<Self> {
        let info = data_types::iinfo(type_.0).ok_or_else(|| {
            PyTypeError::new_err(format!("iinfo: {} is no integer dtype", type_.0))
        })?;
        Ok(Self {
            bits: info.bits,
            max: info.max,
            min: info.min,
            dtype: PyDType::of(py, info.dtype)?.unbind(),
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "iinfo(bits={}, max={}, min={}, dtype={})",
            self.bits, self.max, self.min, self.dtype
        )
    }
}

/// A dtype, or the array that has it.
#[derive(Clone, Copy, Debug)]
struct DTypeSource(DType);

impl<'py> FromPyObject<'_, 'py> for DTypeSource {
    type Error = PyErr;

    fn extract(obj: pyo3::Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match obj.cast::<PyArray>() {
            Ok(array) => Ok(Self(array.get().tensor().dtype())),
            Err(_) => obj.extract::<DTypeLike>().map(|dtype| Self(dtype.0)),
        }
    }
}

/// Adds the functions and classes.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<FloatLimits>()?;
    module.add_class::<IntegerLimits>()?;
    module.add_function(wrap_pyfunction!(astype, module)?)?;
    module.add_function(wrap_pyfunction!(can_cast, module)?)?;
    module.add_function(wrap_pyfunction!(result_type, module)?)?;
    module.add_function(wrap_pyfunction!(isdtype, module)?)
}
