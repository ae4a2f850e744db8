//! `asarray` and its kin: whatever can become an array, with a copy only where one is needed or
//! asked for.

use millpond::tensor::manipulation::stack;
use millpond::tensor::{Order, Place, Tensor, creation};
use millpond::types::DType;
use millpond::{MemoryKind, Queue};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::interop::{buffer_protocol, by_address, dlpack, interface};
use crate::runtime::PyQueue;
use crate::tensor::array::PyArray;
use crate::tensor::dtype::DTypeLike;
use crate::tensor::operators::Answer;
use crate::tensor::place::{DeviceLike, KindLike};
use crate::tensor::request::Request;
use crate::tensor::{foreign, order, scalar, sequence};

/// Converts an object to an array.
///
/// Parameters
/// ----------
/// obj : object
///     An array, a number, nested sequences of numbers or arrays, or an object with the DLPack or
///     the buffer protocol or `__cuda_array_interface__`, such as an array of NumPy.
/// dtype : dtype, optional
///     The default is what holds all elements.
/// device : Device, Queue or str, optional
///     Where the array goes; where the object is, if nothing is said.
/// copy : bool, optional
///     Whether memory is copied always, never (which fails where it would be needed), or, by
///     default, where it is needed.
/// usm_type : {'device', 'shared', 'host'}, optional
///     Kind of memory. The default is that of an array, and for anything else ``'device'``: so
///     memory of NumPy and others is copied, unless ``usm_type='host'`` or ``copy=False`` has it
///     shared.
/// queue : Queue, optional
///     Queue that operations on the array are submitted to.
/// order : {'K', 'C', 'F', 'A'}, optional
///     How the axes lie in memory.
///
/// Returns
/// -------
/// Array
///     The object itself, if it is an array already and nothing else was asked for. Memory of the
///     host that is shared stays visible to both sides, for which every operation on it finishes
///     before its call returns.
///
/// Raises
/// ------
/// TypeError
///     For what can't become an array.
/// ValueError
///     For sequences of unequal lengths, and where ``copy=False`` forbids a copy that is
///     needed.
/// OverflowError
///     For an integer that the dtype can't hold.
///
/// Notes
/// -----
/// Array API standard, creation functions; beyond it: `usm_type`, `queue`, `order`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.asarray([[1, 2], [3, 4]], dtype=xp.float32)
/// Array([[1., 2.],
///        [3., 4.]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (obj, /, *, dtype=None, device=None, copy=None, usm_type=None, queue=None, order="K"))]
fn asarray<'py>(
    obj: &Bound<'py, PyAny>,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    copy: Option<bool>,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
    order: &str,
) -> Answer<'py> {
    let py = obj.py();
    let request = Request::new(py, dtype, order, device, usm_type, queue)?;
    let wanted = Wanted {
        function: Function::AsArray,
        request,
        copy,
    };
    if let Ok(array) = obj.cast::<PyArray>() {
        let source = array.get().tensor();
        return match wanted.of_array(source)? {
            Some(result) => PyArray::object(py, result),
            None => Ok(obj.clone()),
        };
    }
    if let Some(copy) = wanted.copied_quickly(obj)? {
        return PyArray::object(py, copy);
    }
    if !is_new(obj)? {
        if let Some(source) = interface::import(obj)? {
            let result = wanted.of_array(&source)?;
            return PyArray::object(py, result.unwrap_or(source));
        }
        let source = imported(obj, wanted.request.place.queue()?.as_ref(), copy)?;
        return PyArray::object(py, wanted.of_foreign(source)?);
    }
    if copy == Some(false) {
        return Err(PyValueError::new_err(format!(
            "asarray: copy=False, but {} has no memory that an array could share",
            foreign::describe(obj)
        )));
    }
    let Request {
        dtype,
        order,
        place,
    } = wanted.request;
    let result = new(obj, dtype, &place.place()?, 0)?;
    PyArray::object(py, order::arranged(result, order)?)
}

/// Makes an array of an array of NumPy, whose elements are copied, unless told otherwise.
///
/// Parameters
/// ----------
/// np_ary : numpy.ndarray
///     The array.
/// device, usm_type, queue
///     As for `asarray`.
///
/// Returns
/// -------
/// Array
///     The array, as `asarray` makes it.
///
/// Raises
/// ------
/// TypeError
///     For what is no array of NumPy.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> import numpy as np
/// >>> xp.from_numpy(np.arange(3.0))
/// Array([0., 1., 2.])
/// >>> theirs = np.zeros(3)
/// >>> ours = xp.from_numpy(theirs, usm_type="host")  # shares memory
/// >>> theirs[1] = 5
/// >>> ours
/// Array([0., 5., 0.])
#[pyfunction]
#[pyo3(signature = (np_ary, /, *, device=None, usm_type=None, queue=None))]
fn from_numpy<'py>(
    np_ary: &Bound<'py, PyAny>,
    device: Option<DeviceLike>,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    if !foreign::is_numpy(np_ary.py(), np_ary, "ndarray")? {
        return Err(PyTypeError::new_err(format!(
            "from_numpy: expected an array of NumPy, got {}",
            foreign::describe(np_ary)
        )));
    }
    asarray(np_ary, None, device, None, usm_type, queue, "K")
}

/// Makes an array of an object with the DLPack protocol, sharing its memory.
///
/// Parameters
/// ----------
/// x : object
///     The object, for instance an array of another library.
/// device : Device, Queue or str, optional
///     Where the array goes; where the object is, if nothing is said.
/// copy : bool, optional
///     Whether memory is copied always, never, or, by default, where it is needed.
///
/// Returns
/// -------
/// Array
///     The array; it shares the memory, unless a copy was made.
///
/// Raises
/// ------
/// AttributeError
///     The object doesn't have the protocol.
/// BufferError
///     The memory can't be shared, or a copy is needed that ``copy=False`` forbids.
///
/// Notes
/// -----
/// Array API standard, creation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> import numpy as np
/// >>> xp.from_dlpack(np.arange(3.0))
/// Array([0., 1., 2.])
#[pyfunction]
#[pyo3(signature = (x, /, *, device=None, copy=None))]
fn from_dlpack<'py>(
    x: &Bound<'py, PyAny>,
    device: Option<DeviceLike>,
    copy: Option<bool>,
) -> Answer<'py> {
    let py = x.py();
    let request = Request::new(py, None, "K", device, None, None)?;
    let wanted = Wanted {
        function: Function::FromDlpack,
        request,
        copy,
    };
    if let Ok(array) = x.cast::<PyArray>() {
        let source = array.get().tensor();
        let result = wanted.of_array(source)?;
        return PyArray::object(py, result.unwrap_or_else(|| source.clone()));
    }
    let source = dlpack::import(py, x, None, copy)?;
    PyArray::object(py, wanted.of_foreign(source)?)
}

/// Which function was called: the standard has another exception for each.
#[derive(Clone, Copy)]
enum Function {
    AsArray,
    FromDlpack,
}

/// What an array is to be; what isn't said stays as it is.
struct Wanted {
    function: Function,
    request: Request,
    copy: Option<bool>,
}

impl Wanted {
    /// The array made of one of NumPy's in the most common case: nothing is asked for, the default
    /// device works in the host's memory, and the elements lie in one piece as ours do. `None` leaves
    /// it to the long way, which gives the same.
    fn copied_quickly(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
        let may_copy = matches!(self.function, Function::AsArray) && self.copy != Some(false);
        if !may_copy || !self.request.is_open() || !foreign::is_plain_array(object)? {
            return Ok(None);
        }
        if !millpond::default_device().raise()?.info().host_executed {
            return Ok(None);
        }
        let place = Place {
            queue: host_queue()?,
            kind: MemoryKind::Device,
        };
        buffer_protocol::copy(object, &place)
    }

    /// The array made of another; `None` if that is what is wanted.
    fn of_array(&self, source: &Tensor) -> PyResult<Option<Tensor>> {
        let place = self.request.place.beside(source)?;
        if self.copy != Some(true) && self.is_met(source)? {
            return Ok(None);
        }
        self.copied(source, &place).map(Some)
    }

    /// The array made of one over memory of somebody else's.
    ///
    /// Where nothing is said about memory `asarray` makes device memory of it. What is shared with
    /// the host is never worked on asynchronously.
    fn of_foreign(&self, source: Tensor) -> PyResult<Tensor> {
        let beyond = self.default_beyond(&source)?;
        let open = self.copy.is_none() && self.request.place.kind().is_none();
        let shares = match self.function {
            Function::AsArray => !open && self.copy != Some(true),
            Function::FromDlpack => self.copy != Some(true),
        };
        if shares && beyond.is_none() && self.is_met(&source)? {
            // `bfloat16` is carried, though nothing computes with it.
            if source.dtype() != DType::Bfloat16 {
                Place::of(&source).check_dtype(source.dtype()).raise()?;
            }
            return Ok(source);
        }
        let mut place = self.request.place.beside(&source)?;
        if let Some(queue) = beyond {
            place.queue = queue;
        }
        place.kind = self.request.place.kind().unwrap_or(MemoryKind::Device);
        self.copied(&source, &place)
    }

    /// The default queue, where `asarray` is told no other, if it is of a device that doesn't reach the
    /// memory.
    fn default_beyond(&self, source: &Tensor) -> PyResult<Option<Queue>> {
        if matches!(self.function, Function::FromDlpack) || self.request.place.queue()?.is_some() {
            return Ok(None);
        }
        let device = millpond::default_device().raise()?;
        if device.info().host_executed || device == source.device() {
            return Ok(None);
        }
        device.default_queue().map(Some).raise()
    }

    /// Whether an array is what is wanted, but for being a copy.
    fn is_met(&self, tensor: &Tensor) -> PyResult<bool> {
        let Request {
            dtype,
            order,
            place,
        } = &self.request;
        let there = match place.queue()? {
            // A device is where its arrays are, whatever queue they use; a queue is one of them.
            Some(queue) if place.names_queue() => tensor.memory().is_on(&queue),
            Some(queue) => tensor.device() == *queue.device(),
            None => true,
        };
        Ok(there
            && dtype.is_none_or(|dtype| dtype == tensor.dtype())
            && place.kind().is_none_or(|kind| kind == tensor.kind())
            && order::is_met(tensor, *order))
    }

    fn copied(&self, source: &Tensor, place: &Place) -> PyResult<Tensor> {
        if self.copy == Some(false) {
            let reason =
                "copy=False, but another dtype, device, kind of memory or order needs a copy";
            return Err(match self.function {
                Function::AsArray => PyValueError::new_err(format!("asarray: {reason}")),
                Function::FromDlpack => PyBufferError::new_err(format!("from_dlpack: {reason}")),
            });
        }
        let order = self.request.order;
        let dtype = self.request.dtype.unwrap_or(source.dtype());
        if source.device() != *place.device() {
            let moved = source.to_place_as(place, dtype).raise()?;
            return order::arranged(moved, order);
        }
        if source.memory().is_host_shared() {
            return source.taken_from_host(dtype, order, place).raise();
        }
        // One pass moves and converts.
        let result = creation::empty_like(source, Some(dtype), order, Some(place)).raise()?;
        result.assign(source).raise()?;
        Ok(result)
    }
}

/// Whether an object is a number or a sequence, which has no memory to share.
fn is_new(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(sequence::is_sequence(object)
        || scalar::of_python(object)?.is_some()
        || foreign::is_numpy(object.py(), object, "generic")?)
}

/// A new array at a place of a number or a sequence.
fn new(
    object: &Bound<'_, PyAny>,
    dtype: Option<DType>,
    place: &Place,
    depth: usize,
) -> PyResult<Tensor> {
    if let Some(value) = scalar::of_python(object)? {
        return creation::scalar(value, dtype, place).raise();
    }
    if let Some((value, own)) = scalar::of_numpy(object)? {
        return creation::scalar(value, dtype.or(Some(own)), place).raise();
    }
    if !sequence::holds_arrays(object)? {
        return sequence::array(object, dtype, place);
    }
    sequence::check_depth(depth)?;
    let parts: Vec<Tensor> = object
        .try_iter()?
        .map(|part| part_of(&part?, dtype, place, depth + 1))
        .collect::<PyResult<_>>()?;
    stack(&parts.iter().collect::<Vec<_>>(), 0).raise()
}

/// The array at a place of any object that can become one.
pub(crate) fn of_any(
    object: &Bound<'_, PyAny>,
    dtype: Option<DType>,
    place: &Place,
) -> PyResult<Tensor> {
    part_of(object, dtype, place, 0)
}

/// As [`of_any`], of what lies in so many sequences.
fn part_of(
    object: &Bound<'_, PyAny>,
    dtype: Option<DType>,
    place: &Place,
    depth: usize,
) -> PyResult<Tensor> {
    let source = if let Ok(array) = object.cast::<PyArray>() {
        array.get().tensor().clone()
    } else if is_new(object)? {
        return new(object, dtype, place, depth);
    } else if let Some(shown) = interface::import(object)? {
        shown
    } else {
        imported(object, Some(&place.queue), None)?
    };
    let dtype = dtype.unwrap_or(source.dtype());
    if source.device() == *place.device() {
        // What is asked of it next would wait for all that the queue has to do.
        if source.memory().is_host_shared() && !place.queue.is_idle() {
            return source.taken_from_host(dtype, Order::K, place).raise();
        }
        return source.astype(dtype, false).raise();
    }
    source.to_place_as(place, dtype).raise()
}

/// An array over the memory of an object; of a copy of it, where NumPy has elements as they can't
/// be used and `copy` allows it. A queue of a device that runs on the host is its home.
fn imported(
    object: &Bound<'_, PyAny>,
    queue: Option<&Queue>,
    copy: Option<bool>,
) -> PyResult<Tensor> {
    let py = object.py();
    let queue = match queue.filter(|queue| queue.device().info().host_executed) {
        Some(queue) => queue.clone(),
        None => host_queue()?,
    };
    let mut answer = buffer_protocol::import(object, &queue);
    let mut arranged = None;
    // Asking about NumPy's dtype costs more than the import, so it comes second.
    if !matches!(answer, Ok(Some(_))) && foreign::is_numpy(py, object, "ndarray")? {
        arranged = arranged_by_numpy(object, copy)?;
        if let Some(arranged) = &arranged {
            answer = buffer_protocol::import(arranged, &queue);
        }
    }
    if let Some(tensor) = answer? {
        return Ok(tensor);
    }
    let object = arranged.as_ref().unwrap_or(object);
    if object.hasattr("__dlpack__")? {
        return dlpack::import(py, object, None, copy);
    }
    if let Some(tensor) = by_address::import(object)? {
        return Ok(tensor);
    }
    Err(PyTypeError::new_err(format!(
        "asarray: expected an array, a number, nested sequences of them or an object with the \
         DLPack or buffer protocol, got {}",
        foreign::describe(object)
    )))
}

/// A copy by NumPy of an array of its, in the byte order and alignment of this machine, where the
/// array isn't and `copy` allows it.
fn arranged_by_numpy<'py>(
    array: &Bound<'py, PyAny>,
    copy: Option<bool>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let dtype = array.getattr("dtype")?;
    let native = dtype.call_method1("newbyteorder", ("=",))?;
    if foreign::native_dtype(&native)?.is_none() {
        return Err(PyTypeError::new_err(format!(
            "asarray: NumPy's dtype {dtype} has no equivalent; convert the array first"
        )));
    }
    let aligned = array.getattr("flags")?.getattr("aligned")?.is_truthy()?;
    let usable = aligned && dtype.getattr("isnative")?.is_truthy()?;
    if usable {
        return Ok(None);
    }
    if copy == Some(false) {
        return Err(PyValueError::new_err(format!(
            "asarray: copy=False, but elements of {dtype} that are {} need a copy",
            if aligned {
                "in foreign byte order"
            } else {
                "not aligned"
            }
        )));
    }
    array.call_method1("astype", (native,)).map(Some)
}

/// The default queue of the first device that runs on the host.
fn host_queue() -> PyResult<Queue> {
    let mut devices = millpond::devices().iter();
    let host = devices.find(|device| device.info().host_executed);
    let device = host.ok_or_else(|| PyBufferError::new_err("there is no device of the host"))?;
    device.default_queue().raise()
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(asarray, module)?)?;
    module.add_function(wrap_pyfunction!(from_numpy, module)?)?;
    module.add_function(wrap_pyfunction!(from_dlpack, module)?)
}
