//! The argument `out=`: the array that a result goes to.

use millpond::tensor::Tensor;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::tensor::array::PyArray;
use crate::tensor::foreign;

/// The array that a result goes to.
#[derive(Debug)]
pub(crate) struct Out<'py>(Bound<'py, PyArray>);

impl<'py> Out<'py> {
    pub(crate) fn tensor(&self) -> &Tensor {
        self.0.get().tensor()
    }

    /// What a call that was given it returns: the same object.
    pub(crate) fn object(&self) -> Bound<'py, PyAny> {
        self.0.clone().into_any()
    }
}

impl<'py> FromPyObject<'_, 'py> for Out<'py> {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match obj.cast::<PyArray>() {
            Ok(array) => Ok(Self(array.to_owned())),
            Err(_) => Err(PyTypeError::new_err(format!(
                "out: expected an array of millpond, got {}",
                foreign::describe(&obj)
            ))),
        }
    }
}
