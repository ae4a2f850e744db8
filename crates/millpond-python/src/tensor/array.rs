//! The class of arrays, as Python sees it. Each method is a line that hands over to the module
//! that knows how.

use millpond::kernel::ops::rows;
use millpond::tensor::Tensor;
use pyo3::exceptions::{PyNotImplementedError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PyTuple};

use crate::error::IntoException;
use crate::interop;
use crate::memory::PyMemory;
use crate::runtime::PyDevice;
use crate::runtime::PyQueue;
use crate::tensor::dtype::PyDType;
use crate::tensor::extent::tuple;
use crate::tensor::flags::Flags;
use crate::tensor::operators::{self, Answer};
use crate::tensor::place::DeviceLike;
use crate::tensor::{conversion, indexing, iteration, pickle, printing, transfer};

/// Elements of one dtype, in any number of dimensions, in the memory of a device.
///
/// Arrays are made by the functions of ``millpond.tensor``, not by this class. Operations on them
/// return at once and run in order; what reads elements on the host waits for exactly those.
/// Views share the memory.
#[pyclass(
    frozen,
    weakref,
    freelist = 64,
    name = "Array",
    module = "millpond.tensor"
)]
#[derive(Debug)]
pub(crate) struct PyArray(Tensor);

impl PyArray {
    /// The Python object of an array.
    #[inline]
    pub(crate) fn object(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyAny>> {
        Bound::new(py, Self(tensor)).map(Bound::into_any)
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
        &self.0
    }
}

#[pymethods]
impl PyArray {
    /// Dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        PyDType::of(py, self.0.dtype())
    }

    /// Device that the elements are on.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device())
    }

    /// Queue that operations on the array are submitted to.
    #[getter]
    fn queue(&self) -> PyQueue {
        PyQueue(self.0.queue())
    }

    /// Kind of memory: ``'device'``, ``'shared'`` or ``'host'``.
    #[getter]
    fn usm_type(&self) -> &'static str {
        self.0.kind().name()
    }

    /// Memory that holds the elements; views share it.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyMemory::of(py, &self.0)
    }

    /// Sizes of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.0.shape())
    }

    /// Steps of the axes, counted in elements (NumPy counts bytes).
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.0.strides())
    }

    /// Number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.ndim()
    }

    /// Number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.item_size()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes()
    }

    /// How the elements lie in memory, and whether they may be written.
    #[getter]
    fn flags(&self) -> Flags {
        Flags::of(&self.0)
    }

    /// View of a matrix with its axes exchanged.
    #[getter(T)]
    fn transposed<'py>(&self, py: Python<'py>) -> Answer<'py> {
        Self::of(py, self.0.transpose())
    }

    /// View with the last two axes exchanged.
    #[getter(mT)]
    fn matrix_transposed<'py>(&self, py: Python<'py>) -> Answer<'py> {
        Self::of(py, self.0.matrix_transpose())
    }

    /// Real parts, a view.
    #[getter]
    fn real<'py>(&self, py: Python<'py>) -> Answer<'py> {
        Self::of(py, self.0.real_view())
    }

    /// Imaginary parts; a view, where the elements are complex, else zeros.
    #[getter]
    fn imag<'py>(&self, py: Python<'py>) -> Answer<'py> {
        if self.0.dtype().is_complex() {
            return Self::of(py, self.0.imag_view());
        }
        operators::unary(py, &rows::imag, self)
    }

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

    /// Namespace of the functions that the Array API standard asks for.
    #[pyo3(signature = (*, api_version=None))]
    fn __array_namespace__<'py>(
        &self,
        py: Python<'py>,
        api_version: Option<&str>,
    ) -> PyResult<Bound<'py, PyModule>> {
        super::namespace(py, api_version)
    }

    // Other libraries.

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
        interop::dlpack::export(slf.py(), &slf.get().0, stream, max_version, dl_device, copy)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        interop::dlpack::device_of(&self.0)
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
        let tensor = slf.get().0.clone();
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
        Self::object(py, transfer::copied(&self.0)?)
    }

    #[pyo3(signature = (memo, /))]
    fn __deepcopy__<'py>(&self, memo: &Bound<'py, PyDict>) -> Answer<'py> {
        Self::object(memo.py(), transfer::copied(&self.0)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        printing::repr(py, &self.0)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        printing::text(py, &self.0)
    }

    fn __format__(slf: &Bound<'_, Self>, spec: &str) -> PyResult<String> {
        printing::format(slf, spec)
    }

    // Elements.

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> Answer<'py> {
        indexing::get(&self.0, key)
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        indexing::set(&self.0, key, value)
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = key;
        Err(PyTypeError::new_err(
            "elements of an array cannot be deleted",
        ))
    }

    fn __len__(&self) -> PyResult<usize> {
        iteration::length(&self.0)
    }

    fn __iter__(&self) -> PyResult<iteration::ArrayIterator> {
        iteration::ArrayIterator::new(&self.0)
    }

    fn __contains__(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        iteration::contains(self, value)
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        conversion::truth(py, &self.0)
    }

    fn __int__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::int(py, &self.0)
    }

    fn __float__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::float(py, &self.0)
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::complex(py, &self.0)
    }

    fn __index__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::index(py, &self.0)
    }

    /// The only element, as a Python number.
    fn item<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::item(py, &self.0)
    }

    /// The elements as nested lists of Python numbers; of no dimension, as a number.
    fn tolist<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::list(py, &self.0)
    }

    // Operators.

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, how: CompareOp) -> Answer<'py> {
        let operation = match how {
            CompareOp::Lt => &rows::less,
            CompareOp::Le => &rows::less_equal,
            CompareOp::Eq => &rows::equal,
            CompareOp::Ne => &rows::not_equal,
            CompareOp::Gt => &rows::greater,
            CompareOp::Ge => &rows::greater_equal,
        };
        operators::binary(operation, self, other)
    }

    fn __pos__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        operators::unary(py, &rows::positive, self)
    }

    fn __neg__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        operators::unary(py, &rows::negative, self)
    }

    fn __abs__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        operators::unary(py, &rows::abs, self)
    }

    fn __invert__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        operators::unary(py, &rows::bitwise_invert, self)
    }

    fn __add__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::add, self, other)
    }

    fn __radd__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::add, self, other)
    }

    fn __iadd__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::add, self, other)
    }

    fn __sub__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::subtract, self, other)
    }

    fn __rsub__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::subtract, self, other)
    }

    fn __isub__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::subtract, self, other)
    }

    fn __mul__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::multiply, self, other)
    }

    fn __rmul__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::multiply, self, other)
    }

    fn __imul__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::multiply, self, other)
    }

    fn __truediv__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::divide, self, other)
    }

    fn __rtruediv__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::divide, self, other)
    }

    fn __itruediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::divide, self, other)
    }

    fn __floordiv__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::floor_divide, self, other)
    }

    fn __rfloordiv__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::floor_divide, self, other)
    }

    fn __ifloordiv__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::floor_divide, self, other)
    }

    fn __mod__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::remainder, self, other)
    }

    fn __rmod__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::remainder, self, other)
    }

    fn __imod__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::remainder, self, other)
    }

    fn __pow__<'py>(&self, other: &Bound<'py, PyAny>, modulo: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::refuse_modulo(modulo)?;
        operators::binary(&rows::pow, self, other)
    }

    fn __rpow__<'py>(&self, other: &Bound<'py, PyAny>, modulo: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::refuse_modulo(modulo)?;
        operators::reflected(&rows::pow, self, other)
    }

    fn __ipow__(&self, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::refuse_modulo(modulo)?;
        operators::in_place(&rows::pow, self, other)
    }

    fn __matmul__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        let _ = other;
        Err(no_matrix_product())
    }

    fn __rmatmul__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        let _ = other;
        Err(no_matrix_product())
    }

    fn __imatmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = other;
        Err(no_matrix_product())
    }

    fn __and__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::bitwise_and, self, other)
    }

    fn __rand__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::bitwise_and, self, other)
    }

    fn __iand__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::bitwise_and, self, other)
    }

    fn __or__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::bitwise_or, self, other)
    }

    fn __ror__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::bitwise_or, self, other)
    }

    fn __ior__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::bitwise_or, self, other)
    }

    fn __xor__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::bitwise_xor, self, other)
    }

    fn __rxor__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::bitwise_xor, self, other)
    }

    fn __ixor__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::bitwise_xor, self, other)
    }

    fn __lshift__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::bitwise_left_shift, self, other)
    }

    fn __rlshift__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::bitwise_left_shift, self, other)
    }

    fn __ilshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::bitwise_left_shift, self, other)
    }

    fn __rshift__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::binary(&rows::bitwise_right_shift, self, other)
    }

    fn __rrshift__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::reflected(&rows::bitwise_right_shift, self, other)
    }

    fn __irshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::in_place(&rows::bitwise_right_shift, self, other)
    }
}

fn no_matrix_product() -> PyErr {
    PyNotImplementedError::new_err("matmul: matrix products are not available yet")
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

    fn extract(obj: pyo3::Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = obj.cast::<PyArray>() {
            return Ok(Self(array.to_owned()));
        }
        crate::tensor::foreign::refuse_arrays(&obj)?;
        Err(PyTypeError::new_err(format!(
            "expected an array, got {}; millpond.tensor.asarray makes one",
            crate::tensor::foreign::describe(&obj)
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
