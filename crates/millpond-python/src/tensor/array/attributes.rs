//! What an array says about itself, without a wait, and its views that are attributes.

use millpond::kernel::ops::rows;
use millpond::tensor::Tensor;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyTuple};

use super::PyArray;
use crate::error::Raise;
use crate::memory::PyMemory;
use crate::runtime::{PyDevice, PyQueue};
use crate::tensor::dtype::PyDType;
use crate::tensor::extent::tuple;
use crate::tensor::flags::Flags;
use crate::tensor::indexing;
use crate::tensor::operators::{self, Answer};

#[pymethods]
impl PyArray {
    /// Dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        PyDType::of(py, self.tensor().dtype())
    }

    /// Device that the elements are on.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.tensor().device())
    }

    /// Queue that operations on the array are submitted to.
    #[getter]
    fn queue(&self) -> PyQueue {
        PyQueue(self.tensor().queue())
    }

    /// Kind of memory: ``'device'``, ``'shared'`` or ``'host'``.
    #[getter]
    fn usm_type(&self) -> &'static str {
        self.tensor().kind().name()
    }

    /// Memory that holds the elements; views share it.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyMemory::of(py, self.tensor())
    }

    /// Sizes of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.tensor().shape())
    }

    /// Steps of the axes, counted in elements (NumPy counts bytes).
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.tensor().strides())
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.tensor().ndim()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.tensor().size()
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.tensor().item_size()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.tensor().bytes()
    }

    /// How the elements lie in memory, and whether they may be written.
    #[getter]
    fn flags(&self) -> Flags {
        Flags::of(self.tensor())
    }

    /// View of a matrix with its axes exchanged.
    #[getter(T)]
    fn transposed<'py>(&self, py: Python<'py>) -> Answer<'py> {
        Self::of(py, self.tensor().transpose())
    }

    /// View with the last two axes exchanged.
    #[getter(mT)]
    fn matrix_transposed<'py>(&self, py: Python<'py>) -> Answer<'py> {
        Self::of(py, self.tensor().matrix_transpose())
    }

    /// Real parts, a view.
    #[getter]
    fn real<'py>(&self, py: Python<'py>) -> Answer<'py> {
        Self::of(py, self.tensor().real_view())
    }

    #[setter(real)]
    fn set_real(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(&self.tensor().real_view().raise()?, value)
    }

    /// Imaginary parts; a view, where the elements are complex, else zeros.
    #[getter]
    fn imag<'py>(&self, py: Python<'py>) -> Answer<'py> {
        if self.tensor().dtype().is_complex() {
            return Self::of(py, self.tensor().imag_view());
        }
        operators::unary(py, &rows::imag, self)
    }

    #[setter(imag)]
    fn set_imag(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        assign(&self.tensor().imag_view().raise()?, value)
    }

    /// Namespace of the functions that the Array API standard asks for.
    #[pyo3(signature = (*, api_version=None))]
    fn __array_namespace__<'py>(
        &self,
        py: Python<'py>,
        api_version: Option<&str>,
    ) -> PyResult<Bound<'py, PyModule>> {
        crate::tensor::namespace(py, api_version)
    }
}

/// `view[...] = value`.
fn assign(view: &Tensor, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let everything = PyEllipsis::get(value.py()).to_owned().into_any();
    indexing::set(view, &everything, value)
}
