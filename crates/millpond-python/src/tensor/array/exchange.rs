//! What carries an array elsewhere: to devices, to other libraries, into pickles.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::PyArray;
use crate::interop;
use crate::tensor::operators::Answer;
use crate::tensor::place::DeviceLike;
use crate::tensor::{pickle, transfer};

#[pymethods]
impl PyArray {
    /// Copies the array to another device, or another queue of its device.
    ///
    /// Parameters
    /// ----------
    /// device : Device, Queue or str
    ///     Where to. An array that is there already is returned as it is.
    /// stream : Queue, optional
    ///     Queue that operations on the result are submitted to.
    #[pyo3(signature = (device, /, *, stream=None))]
    fn to_device<'py>(
        slf: &Bound<'py, Self>,
        device: DeviceLike,
        stream: Option<DeviceLike>,
    ) -> Answer<'py> {
        transfer::to_device(slf, &device, stream.as_ref())
    }

    /// NumPy, asked to combine one of its arrays with this one, leaves it to this class.
    #[classattr]
    fn __array_ufunc__() -> Option<bool> {
        None
    }

    #[classattr]
    fn __array_priority__() -> f64 {
        1000.0
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        interop::dlpack::export(
            slf.py(),
            slf.get().tensor(),
            stream,
            max_version,
            dl_device,
            copy,
        )
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        interop::dlpack::device_of(self.tensor())
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        interop::numpy::array(slf, dtype, copy)
    }

    /// # Safety
    /// Called by Python only, with a view to fill.
    #[allow(
        unsafe_code,
        reason = "the buffer protocol hands in a raw pointer to fill"
    )]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: std::ffi::c_int,
    ) -> PyResult<()> {
        let tensor = slf.get().tensor().clone();
        // SAFETY: Python hands in a view that may be filled, and the exporting object.
        unsafe { interop::buffer_protocol::fill(slf.into_any(), &tensor, view, flags) }
    }

    /// # Safety
    /// Called by Python only, with a view that `__getbuffer__` filled.
    #[allow(
        unsafe_code,
        reason = "the buffer protocol hands in a raw pointer to release"
    )]
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: Python hands in each view once that was filled by `__getbuffer__`.
        unsafe { interop::buffer_protocol::release(view) }
    }

    #[pyo3(signature = (protocol, /))]
    fn __reduce_ex__<'py>(slf: &Bound<'py, Self>, protocol: i32) -> PyResult<Bound<'py, PyTuple>> {
        pickle::reduce(slf, protocol)
    }

    fn __copy__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        Self::object(py, transfer::copied(self.tensor())?)
    }

    #[pyo3(signature = (memo, /))]
    fn __deepcopy__<'py>(&self, memo: &Bound<'py, PyDict>) -> Answer<'py> {
        Self::object(memo.py(), transfer::copied(self.tensor())?)
    }
}
