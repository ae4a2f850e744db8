//! Dtype objects: one for each row of the table of dtypes, and no other.
//!
//! A dtype equals whatever else means it, as in NumPy: names and their abbreviations, Python's
//! types, NumPy's dtypes and scalar types. It hashes as its name: of these, the name alone finds it
//! in a dictionary. NumPy is never imported, except to be given its dtype.

use std::str::FromStr;

use millpond::types::{DType, Kind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyType};

use crate::interop::numpy;
use crate::tensor::foreign;

/// Type of the elements of an array.
///
/// The dtypes are ``bool``, ``int8`` to ``int64``, ``uint8`` to ``uint64``, ``float16``,
/// ``bfloat16``, ``float32``, ``float64``, ``complex64`` and ``complex128`` of
/// ``millpond.tensor``; ``dtype(spec)`` gives the one that a name, a Python type or a dtype of
/// NumPy means.
///
/// Parameters
/// ----------
/// spec : dtype, str, type or numpy.dtype
///     What means the dtype.
///
/// Raises
/// ------
/// TypeError
///     For what means none.
///
/// Notes
/// -----
/// Array API standard, data types; beyond it: the class itself, its names and sizes.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.dtype("f4") is xp.float32, xp.float32 == "float32"
/// (True, True)
#[pyclass(frozen, name = "dtype", module = "millpond.tensor")]
#[derive(Debug)]
pub(crate) struct PyDType(DType);

static SINGLETONS: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

impl PyDType {
    /// The object of a dtype.
    pub(crate) fn of(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, Self>> {
        let singletons = SINGLETONS.get_or_try_init(py, || {
            DType::ALL
                .iter()
                .map(|&dtype| Py::new(py, Self(dtype)))
                .collect::<PyResult<Vec<_>>>()
        })?;
        Ok(singletons[dtype as usize].bind(py).clone())
    }
}

#[pymethods]
impl PyDType {
    #[new]
    #[pyo3(signature = (spec, /))]
    fn new(py: Python<'_>, spec: DTypeLike) -> PyResult<Bound<'_, Self>> {
        Self::of(py, spec.0)
    }

    /// Name of the dtype, for instance ``'float32'``.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Sort of number, as NumPy abbreviates it: one of ``'b'``, ``'i'``, ``'u'``, ``'f'``, ``'c'``.
    #[getter]
    fn kind(&self) -> char {
        match self.0.kind() {
            Kind::Bool => 'b',
            Kind::Int => 'i',
            Kind::Uint => 'u',
            Kind::Float => 'f',
            Kind::Complex => 'c',
        }
    }

    /// Character that NumPy abbreviates the dtype to.
    #[getter]
    fn char(&self) -> char {
        self.0.numpy_char()
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }

    /// NumPy's dtype of the same name; imports NumPy.
    ///
    /// NumPy looks for this attribute, so that it takes the dtype wherever it takes its own.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy::dtype(py, self.0)
    }

    /// NumPy's type of the numbers of the dtype; imports NumPy.
    #[getter]
    fn r#type<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        numpy::dtype(py, self.0)?.getattr("type")
    }

    /// What means no dtype may know how to compare itself.
    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match meaning(other.as_borrowed())? {
            Some(other) => Ok(PyBool::new(py, self.0 == other).to_owned().into_any()),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, self.0.name()).hash()
    }

    fn __repr__(&self) -> &'static str {
        self.0.name()
    }

    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
}

/// Whatever a Python program may write for a dtype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DTypeLike(pub(crate) DType);

impl<'py> FromPyObject<'_, 'py> for DTypeLike {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        meaning(obj)?.map(Self).ok_or_else(|| {
            let names: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            PyTypeError::new_err(format!(
                "{} is no dtype; the dtypes are {}",
                foreign::describe(&obj),
                names.join(", ")
            ))
        })
    }
}

/// The dtype that an object means, if it means one.
fn meaning(object: Borrowed<'_, '_, PyAny>) -> PyResult<Option<DType>> {
    if let Ok(dtype) = object.cast::<PyDType>() {
        return Ok(Some(dtype.get().0));
    }
    if let Ok(name) = object.cast::<PyString>() {
        return Ok(parse(name.to_str()?));
    }
    if let Ok(class) = object.cast::<PyType>() {
        return of_class(&class);
    }
    if foreign::is_numpy(object.py(), &object, "dtype")? {
        return foreign::native_dtype(&object);
    }
    Ok(None)
}

/// The dtype of a name, or of NumPy's abbreviation of it: `float32`, `f4`, `<f4`, `f`.
fn parse(text: &str) -> Option<DType> {
    if let Ok(dtype) = DType::from_str(text) {
        return Some(dtype);
    }
    match text {
        "int" => return Some(DType::Int64),
        "float" => return Some(DType::Float64),
        "complex" => return Some(DType::Complex128),
        _ => {}
    }
    let foreign_order = if cfg!(target_endian = "little") {
        '>'
    } else {
        '<'
    };
    let text = match text.chars().next()? {
        order if order == foreign_order => return None,
        '<' | '>' | '=' | '|' => &text[1..],
        _ => text,
    };
    let mut rest = text.chars();
    let (first, size) = (rest.next()?, rest.as_str());
    // `bfloat16` has no abbreviation of its own.
    let mut dtypes = DType::ALL
        .iter()
        .copied()
        .filter(|&dtype| dtype != DType::Bfloat16);
    if size.is_empty() {
        return dtypes.find(|dtype| dtype.numpy_char() == first);
    }
    let kind = match first {
        'b' => Kind::Bool,
        'i' => Kind::Int,
        'u' => Kind::Uint,
        'f' => Kind::Float,
        'c' => Kind::Complex,
        _ => return None,
    };
    let size: usize = size.parse().ok()?;
    dtypes.find(|dtype| dtype.kind() == kind && dtype.size() == size)
}

/// The dtype of a Python type, or of a scalar type of NumPy.
fn of_class(class: &Bound<'_, PyType>) -> PyResult<Option<DType>> {
    let py = class.py();
    let builtin = [
        (PyType::new::<PyBool>(py), DType::Bool),
        (PyType::new::<PyInt>(py), DType::Int64),
        (PyType::new::<PyFloat>(py), DType::Float64),
        (PyType::new::<PyComplex>(py), DType::Complex128),
    ];
    if let Some((_, dtype)) = builtin.iter().find(|(builtin, _)| class.is(builtin)) {
        return Ok(Some(*dtype));
    }
    match foreign::numpy_class(py, "generic")? {
        Some(generic) if class.is_subclass(&generic)? && !is_abstract(class)? => {
            let numpy = py.import("numpy")?;
            foreign::native_dtype(&numpy.call_method1("dtype", (class,))?)
        }
        _ => Ok(None),
    }
}

/// Whether a scalar type of NumPy is of many dtypes, of which NumPy would choose one.
fn is_abstract(class: &Bound<'_, PyType>) -> PyResult<bool> {
    const ABSTRACT: [&str; 9] = [
        "generic",
        "number",
        "integer",
        "signedinteger",
        "unsignedinteger",
        "inexact",
        "floating",
        "complexfloating",
        "flexible",
    ];
    Ok(class.module()? == "numpy" && ABSTRACT.contains(&class.name()?.to_str()?))
}

/// Adds the class and the dtypes.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyDType>()?;
    for &dtype in DType::ALL {
        module.add(dtype.name(), PyDType::of(module.py(), dtype)?)?;
    }
    Ok(())
}
