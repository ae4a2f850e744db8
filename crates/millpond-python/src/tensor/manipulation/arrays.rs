//! Arrays as one argument.

use millpond::tensor::Tensor;
use pyo3::prelude::*;

use crate::tensor::array::ArrayLike;

/// Arrays given as a sequence.
pub(super) struct Arrays<'py> {
    pub(super) py: Python<'py>,
    pub(super) held: Vec<ArrayLike<'py>>,
}

impl<'py> Arrays<'py> {
    pub(super) fn of(objects: &Bound<'py, PyAny>) -> PyResult<Self> {
        let held = objects
            .try_iter()?
            .map(|object| object?.extract())
            .collect::<PyResult<_>>()?;
        Ok(Self {
            py: objects.py(),
            held,
        })
    }

    pub(super) fn tensors(&self) -> Vec<&Tensor> {
        self.held.iter().map(ArrayLike::tensor).collect()
    }
}
