//! What millpond knows of NumPy without importing it: objects of its types exist only in programs
//! that have imported it.

use millpond::types::DType;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// The classes that objects are asked about at every call, once found.
static ARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static SCALAR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A class of NumPy, if the program has imported it.
pub(crate) fn numpy_class<'py>(
    py: Python<'py>,
    name: &'static str,
) -> PyResult<Option<Bound<'py, PyType>>> {
    let place = match name {
        "ndarray" => &ARRAY,
        "generic" => &SCALAR,
        _ => return find_numpy_class(py, name),
    };
    if let Some(class) = place.get(py) {
        return Ok(Some(class.bind(py).clone()));
    }
    let class = find_numpy_class(py, name)?;
    if let Some(class) = &class {
        // Whoever was first has found the same.
        let _ = place.set(py, class.clone().unbind());
    }
    Ok(class)
}

/// Whether an object is an array of NumPy and of no class derived from it.
///
/// # Errors
/// As for [`numpy_class`].
#[inline]
pub(crate) fn is_plain_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = numpy_class(object.py(), "ndarray")?;
    Ok(class.is_some_and(|class| object.get_type().is(&class)))
}

#[cold]
fn find_numpy_class<'py>(
    py: Python<'py>,
    name: &'static str,
) -> PyResult<Option<Bound<'py, PyType>>> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let modules = MODULES.get_or_try_init(py, || {
        let modules = py.import("sys")?.getattr("modules")?;
        PyResult::Ok(modules.cast_into::<PyDict>()?.unbind())
    })?;
    let Some(numpy) = modules.bind(py).get_item(intern!(py, "numpy"))? else {
        return Ok(None);
    };
    // A program may be halfway through importing it.
    match numpy.getattr_opt(name)? {
        Some(class) => Ok(Some(class.cast_into::<PyType>()?)),
        None => Ok(None),
    }
}

/// Whether an object is an instance of a class of NumPy.
pub(crate) fn is_numpy(
    py: Python<'_>,
    object: &Bound<'_, PyAny>,
    class: &'static str,
) -> PyResult<bool> {
    match numpy_class(py, class)? {
        Some(class) => object.is_instance(&class),
        None => Ok(false),
    }
}

/// The dtype that a dtype of NumPy is, if there is one in the byte order of this machine.
pub(crate) fn native_dtype(numpy: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let py = numpy.py();
    if !numpy.getattr(intern!(py, "isnative"))?.is_truthy()? {
        return Ok(None);
    }
    let name: String = numpy.getattr(intern!(py, "name"))?.extract()?;
    Ok(name.parse().ok())
}

/// Fails for arrays of NumPy, which are on the host and never transferred unasked.
///
/// # Errors
/// `TypeError` that says how to convert it.
pub(crate) fn refuse_arrays(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if is_numpy(object.py(), object, "ndarray")? {
        return Err(PyTypeError::new_err(
            "an operand is a NumPy array; convert it with millpond.tensor.asarray(operand, \
             device=array.device), or the other one with millpond.tensor.asnumpy(array)",
        ));
    }
    Ok(())
}

/// An object and its type, for messages; long ones are cut.
pub(crate) fn describe(object: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 60;
    let class = object.get_type();
    let class = class
        .fully_qualified_name()
        .map_or_else(|_| "object".to_owned(), |name| name.to_string());
    let text = object.repr().map(|text| text.to_string());
    match text {
        Ok(text) if text.len() <= LONGEST => format!("{text} (of type {class})"),
        _ => format!("an object of type {class}"),
    }
}
