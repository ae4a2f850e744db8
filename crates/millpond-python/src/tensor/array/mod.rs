//! The class of arrays, as Python sees it. Each method is a line that hands over to the module
//! that knows how; the files of this folder hold the methods by subject.

#[allow(
    unsafe_op_in_unsafe_fn,
    reason = "what PyO3 writes around methods that a table makes"
)]
mod arithmetic;
mod attributes;
mod elements;
mod exchange;
mod state;

use millpond::tensor::Tensor;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::IntoException;
use crate::tensor::foreign;
use state::State;

/// Elements of one dtype, in any number of dimensions, in the memory of a device.
///
/// Arrays are made by the functions of ``millpond.tensor``, not by this class. Operations on them
/// return at once and run in order; what reads elements on the host waits for exactly those.
/// Views share the memory.
#[pyclass(frozen, weakref, name = "Array", module = "millpond.tensor")]
#[derive(Debug)]
pub(crate) struct PyArray(State);

impl PyArray {
    /// The Python object of an array.
    #[inline]
    pub(crate) fn object(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyAny>> {
        Bound::new(py, Self(State::new(tensor))).map(Bound::into_any)
    }

    /// The Python object of an operation's result, or the exception for its error.
    #[inline]
    pub(crate) fn of(
        py: Python<'_>,
        result: millpond::tensor::Result<Tensor>,
    ) -> PyResult<Bound<'_, PyAny>> {
        // Matched here, so that the array is moved once: into the object.
        match result {
            Ok(tensor) => Self::object(py, tensor),
            Err(error) => Err(error.into_exception()),
        }
    }

    /// The array.
    #[inline]
    pub(crate) fn tensor(&self) -> &Tensor {
        self.0.tensor()
    }

    /// Whether the array may be made writable, if it isn't.
    pub(crate) fn may_be_writable(&self) -> bool {
        !self.0.first().is_read_only()
    }

    /// Makes the object another view of the same elements, for all who have it.
    pub(crate) fn become_view(&self, view: Tensor) {
        self.0.set(view);
    }
}

/// An array as an argument; other objects are refused with what to do about them.
#[derive(Debug)]
pub(crate) struct ArrayLike<'py>(Bound<'py, PyArray>);

impl<'py> ArrayLike<'py> {
    pub(crate) fn tensor(&self) -> &Tensor {
        self.0.get().tensor()
    }

    pub(crate) fn object(&self) -> &Bound<'py, PyArray> {
        &self.0
    }
}

impl<'py> FromPyObject<'_, 'py> for ArrayLike<'py> {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = obj.cast::<PyArray>() {
            return Ok(Self(array.to_owned()));
        }
        foreign::refuse_arrays(&obj)?;
        Err(PyTypeError::new_err(format!(
            "expected an array, got {}; millpond.tensor.asarray makes one",
            foreign::describe(&obj)
        )))
    }
}

/// Arrays as a tuple.
pub(crate) fn tuple_of(py: Python<'_>, tensors: Vec<Tensor>) -> PyResult<Bound<'_, PyTuple>> {
    let arrays: Vec<_> = tensors
        .into_iter()
        .map(|tensor| PyArray::object(py, tensor))
        .collect::<PyResult<_>>()?;
    PyTuple::new(py, arrays)
}

/// Arrays as a named tuple, of a class of `millpond._results`.
pub(crate) fn named<'py>(
    py: Python<'py>,
    class: &str,
    tensors: Vec<Tensor>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("millpond._results")?.getattr(class)?;
    class.call1(tuple_of(py, tensors)?)
}
