//! Arrays for NumPy, which is imported when it is first needed and not linked.

use millpond::tensor::Tensor;
use millpond::types::DType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::gil;
use crate::interop::view::View;
use crate::tensor::array::PyArray;

/// What answers NumPy's element-wise functions of arrays.
pub(crate) fn ufunc(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static ANSWER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    ANSWER.import(py, "millpond._numpy.ufuncs", "answer")
}

/// What answers NumPy's other functions of arrays.
pub(crate) fn function(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static ANSWER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    ANSWER.import(py, "millpond._numpy.functions", "answer")
}

/// What of NumPy every array needs. Looking it up again would take longer than a small array's copy.
struct NumPy {
    asarray: Py<PyAny>,
    empty: Py<PyAny>,
    from_dlpack: Py<PyAny>,
    /// Its dtype of each of ours, where it has one.
    dtypes: Vec<Option<Py<PyAny>>>,
}

impl NumPy {
    /// The one, found at the first call.
    ///
    /// # Errors
    /// `ImportError` where there is no NumPy.
    fn get(py: Python<'_>) -> PyResult<&Self> {
        static FOUND: PyOnceLock<NumPy> = PyOnceLock::new();
        FOUND.get_or_try_init(py, || {
            let module = py.import("numpy")?;
            let function = |name| module.getattr(name).map(Bound::unbind);
            let known = |dtype: &DType| by_name(&module, *dtype).ok().map(Bound::unbind);
            let dtypes = DType::ALL.iter().map(known);
            Ok(Self {
                asarray: function("asarray")?,
                empty: function("empty")?,
                from_dlpack: function("from_dlpack")?,
                dtypes: dtypes.collect(),
            })
        })
    }

    /// Its dtype of one of ours.
    ///
    /// # Errors
    /// `TypeError` if it lacks it.
    fn dtype<'py>(&self, py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
        if let Some(known) = &self.dtypes[dtype as usize] {
            return Ok(known.bind(py).clone());
        }
        // Other packages add dtypes to NumPy whenever they are imported.
        by_name(&py.import("numpy")?, dtype).map_err(|_| {
            PyTypeError::new_err(format!(
                "NumPy has no {dtype}: convert to another dtype first"
            ))
        })
    }
}

fn by_name<'py>(numpy: &Bound<'py, PyModule>, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    numpy.call_method1("dtype", (dtype.name(),))
}

/// NumPy's dtype of the same name.
///
/// # Errors
/// `ImportError` where there is no NumPy; `TypeError` if it lacks the dtype.
pub(crate) fn dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    NumPy::get(py)?.dtype(py, dtype)
}

/// An array of NumPy with the elements: over the same memory where the host may look at it, which
/// is where it isn't device memory, else, or if `copy` is true, a copy.
///
/// # Errors
/// `ValueError` if `copy` is false and there is no other way; `TypeError` for dtypes that NumPy
/// lacks; the failure of what computed the elements.
pub(crate) fn asnumpy<'py>(
    array: &Bound<'py, PyArray>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let tensor = array.get().tensor();
    let numpy = NumPy::get(py)?;
    let shared = tensor.kind().host_accessible() && copy != Some(true);
    if shared {
        let view = pyo3::types::PyMemoryView::from(array)?;
        return numpy.asarray.bind(py).call1((view,));
    }
    if copy != Some(false) {
        return copied(py, numpy, tensor);
    }
    if !tensor.device().info().host_executed {
        return Err(PyValueError::new_err(format!(
            "{} memory of {} reaches NumPy by a copy only, which copy=False forbids",
            tensor.kind(),
            tensor.device()
        )));
    }
    numpy.from_dlpack.bind(py).call1((array,))
}

fn copied<'py>(py: Python<'py>, numpy: &NumPy, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let dtype = numpy.dtype(py, tensor.dtype())?;
    let shape = PyTuple::new(py, tensor.shape())?;
    let target = numpy.empty.bind(py).call1((shape, dtype))?;
    let mut buffer = View::writable(&target)?;
    let bytes = buffer.bytes_mut();
    if !gil::submit(py, || tensor.read_at_once(bytes))? {
        gil::wait_written(py, tensor.memory())?;
        gil::submit(py, || tensor.read_into(bytes))?;
    }
    Ok(target)
}

/// `__array__`: what NumPy calls to make an array of this one.
///
/// # Errors
/// As for [`asnumpy`]; a dtype that NumPy can't convert to.
pub(crate) fn array<'py>(
    array: &Bound<'py, PyArray>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = asnumpy(array, copy)?;
    let Some(dtype) = dtype.filter(|dtype| !dtype.is_none()) else {
        return Ok(made);
    };
    let py = array.py();
    let same = made
        .getattr("dtype")?
        .eq(py.import("numpy")?.call_method1("dtype", (dtype,))?)?;
    if !same && copy == Some(false) {
        return Err(PyValueError::new_err(format!(
            "a conversion to {dtype} needs a copy, which copy=False forbids"
        )));
    }
    let arguments = PyDict::new(py);
    arguments.set_item("copy", false)?;
    made.call_method("astype", (dtype,), Some(&arguments))
}
