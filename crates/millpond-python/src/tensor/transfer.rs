//! Copies: to other devices, to NumPy, and of the same array.

use millpond::tensor::{Order, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::interop;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::operators::Answer;
use crate::tensor::place::DeviceLike;
use crate::tensor::{enter, order};

/// `array.to_device(device, stream=stream)`.
pub(crate) fn to_device<'py>(
    array: &Bound<'py, PyArray>,
    device: &DeviceLike,
    stream: Option<&DeviceLike>,
) -> Answer<'py> {
    let py = array.py();
    enter(py);
    let source = array.get().tensor();
    let queue = match stream {
        Some(stream) if !stream.names_queue() => {
            return Err(PyTypeError::new_err("to_device: stream must be a queue"));
        }
        Some(stream) => Some(stream),
        None => device.names_queue().then_some(device),
    };
    let result = match queue {
        Some(queue) if queue.device() != device.device() => {
            return Err(PyValueError::new_err(format!(
                "to_device: the stream is on {}, not on {}",
                queue.device(),
                device.device()
            )));
        }
        Some(queue) => source.to_queue(queue.queue()).raise()?,
        None => source.to_device(device.device()).raise()?,
    };
    if result.memory().same_as(source.memory()) {
        return Ok(array.clone().into_any());
    }
    PyArray::object(py, result)
}

/// A copy with its axes as they are.
pub(crate) fn copied(source: &Tensor) -> PyResult<Tensor> {
    source.copy(Order::K).raise()
}

/// Copies an array.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// order : {'K', 'C', 'F', 'A'}, optional
///     How the axes of the copy lie in memory.
///
/// Returns
/// -------
/// Array
///     The copy.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an order that there isn't.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x = xp.zeros(2)
/// >>> y = xp.copy(x)
/// >>> y[0] = 1
/// >>> x
/// Array([0., 0.])
#[pyfunction]
#[pyo3(signature = (x, /, *, order="K"))]
fn copy<'py>(py: Python<'py>, x: ArrayLike<'py>, order: &str) -> Answer<'py> {
    enter(py);
    PyArray::of(py, x.tensor().copy(order::parse(order)?))
}

/// Copies an array to a new array of NumPy; waits for the elements.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
///
/// Returns
/// -------
/// numpy.ndarray
///     The copy.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// CommandError
///     If what computes the elements failed.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.to_numpy(xp.arange(3)).sum().item()
/// 3
#[pyfunction]
#[pyo3(signature = (x, /))]
fn to_numpy(x: ArrayLike<'_>) -> Answer<'_> {
    interop::numpy::array(x.object(), None, Some(true))
}

/// Copies an array to a new array of NumPy; waits for the elements.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
///
/// Returns
/// -------
/// numpy.ndarray
///     The copy.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// CommandError
///     If what computes the elements failed.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.asnumpy(xp.arange(3)).sum().item()
/// 3
#[pyfunction]
#[pyo3(signature = (x, /))]
fn asnumpy(x: ArrayLike<'_>) -> Answer<'_> {
    to_numpy(x)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(copy, module)?)?;
    module.add_function(wrap_pyfunction!(to_numpy, module)?)?;
    module.add_function(wrap_pyfunction!(asnumpy, module)?)
}
