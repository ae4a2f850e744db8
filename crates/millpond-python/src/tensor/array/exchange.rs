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
    ///
    /// Returns
    /// -------
    /// Array
    ///     A copy, or the array itself.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a device that there isn't, and for a queue of another device.
    /// TypeError
    ///     For a stream that is no queue, and for a dtype that the device lacks.
    ///
    /// Notes
    /// -----
    /// Array API standard, array object; beyond it: queues as devices.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.arange(3).to_device("cpu").device
    /// Device('cpu')
    #[pyo3(signature = (device, /, *, stream=None))]
    fn to_device<'py>(
        slf: &Bound<'py, Self>,
        device: DeviceLike,
        stream: Option<DeviceLike>,
    ) -> Answer<'py> {
        transfer::to_device(slf, &device, stream.as_ref())
    }

    /// NumPy, given this array by an element-wise function of its own, leaves it to this class.
    #[pyo3(signature = (ufunc, method, /, *operands, **keywords))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        ufunc: &Bound<'py, PyAny>,
        method: &Bound<'py, PyAny>,
        operands: &Bound<'py, PyTuple>,
        keywords: Option<Bound<'py, PyDict>>,
    ) -> Answer<'py> {
        let keywords = keywords.unwrap_or_else(|| PyDict::new(slf.py()));
        interop::numpy::ufunc(slf.py())?.call1((ufunc, method, operands, keywords))
    }

    /// The same for NumPy's other functions.
    #[pyo3(signature = (function, types, arguments, keywords, /))]
    fn __array_function__<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        arguments: &Bound<'py, PyAny>,
        keywords: &Bound<'py, PyAny>,
    ) -> Answer<'py> {
        interop::numpy::function(slf.py())?.call1((function, types, arguments, keywords))
    }

    #[classattr]
    fn __array_priority__() -> f64 {
        1000.0
    }

    /// Exports the array for other libraries, by DLPack, behind what is pending on it.
    ///
    /// Parameters
    /// ----------
    /// stream : int, optional
    ///     The consumer's stream, of a device that has streams: that waits. The default is the default stream, and
    ///     with -1 none does. Memory of the CPU has none, and the call waits.
    /// max_version : tuple of int, optional
    ///     The newest version of DLPack that the consumer knows; without, it is one before 1.0.
    /// dl_device : tuple of int, optional
    ///     Where to, as `__dlpack_device__` writes devices.
    /// copy : bool, optional
    ///     Whether memory is copied always, never, or, by default, where it is needed.
    ///
    /// Returns
    /// -------
    /// PyCapsule
    ///     What the consumer takes over.
    ///
    /// Raises
    /// ------
    /// BufferError
    ///     For another device, for a stream, for a read-only array and a consumer that knows no such flag,
    ///     and where ``copy=False`` forbids a copy that is needed.
    ///
    /// Notes
    /// -----
    /// Array API standard, array object.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import millpond.tensor as xp
    /// >>> np.from_dlpack(xp.arange(3)).tolist()
    /// [0, 1, 2]
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

    /// Says where the elements are, as DLPack writes devices.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///     Type and number of the device.
    ///
    /// Raises
    /// ------
    /// BufferError
    ///     For a device that DLPack has no name for.
    ///
    /// Notes
    /// -----
    /// Array API standard, array object.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.arange(3).__dlpack_device__()
    /// (1, 0)
    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        interop::dlpack::device_of(self.tensor())
    }

    /// The functions of DLPack 1.3 by which extensions exchange arrays without calls of Python.
    #[classattr]
    fn __dlpack_c_exchange_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        interop::dlpack::table(py)
    }

    /// How the elements lie in which memory, for other classes to show, and for `asarray` to read of these.
    #[getter]
    fn __millpond_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interop::interface::own(py, self.tensor())
    }

    /// Where the elements are, for libraries that use CUDA, and the stream that comes behind pending work: the default
    /// one. Arrays of other devices lack it.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interop::by_address::export(py, self.tensor())
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
        let owner = slf.clone().into_any();
        // SAFETY: Python hands in a view that may be filled, and the exporting object.
        unsafe { interop::buffer_protocol::fill(owner, slf.get().tensor(), view, flags) }
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
