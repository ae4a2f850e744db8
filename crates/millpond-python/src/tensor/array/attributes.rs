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
use crate::tensor::extent::{Integers, tuple};
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
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDevice>> {
        PyDevice::object(py, self.tensor().memory().home().device())
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

    /// Sizes of the axes. Setting them sees the same elements in another shape, of which one size may
    /// be -1; it raises `ValueError` where that would take a copy.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.tensor().shape())
    }

    /// Sees the same elements in another shape; never copies.
    #[setter]
    fn set_shape(&self, shape: Integers) -> PyResult<()> {
        let view = self.tensor().reshape(&shape.0, Some(false)).raise()?;
        self.become_view(view);
        Ok(())
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

    /// How the elements lie in memory, and whether they may be written, which can be set:
    /// ``x.flags.writable = False``.
    #[getter]
    fn flags(slf: &Bound<'_, Self>) -> Flags {
        Flags::of(slf)
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

    /// Gives the namespace of the functions that the Array API standard asks for.
    ///
    /// Parameters
    /// ----------
    /// api_version : str, optional
    ///     The version of the standard, of the form ``'YYYY.MM'``; the newest one, if nothing is said.
    ///
    /// Returns
    /// -------
    /// module
    ///     `millpond.tensor`, or what an earlier version says otherwise.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a version that isn't known.
    ///
    /// Notes
    /// -----
    /// Array API standard, array object.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.arange(3).__array_namespace__() is xp
    /// True
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
