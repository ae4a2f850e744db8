//! Functions that make arrays on the model of another: of its shape and, where nothing else is
//! said, of its dtype, at its place, with axes in its order.

use millpond::tensor::creation;
use millpond::types::Scalar;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::runtime::PyQueue;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::operators::Answer;
use crate::tensor::place::{DeviceLike, KindLike, Where};
use crate::tensor::scalar::Number;
use crate::tensor::{enter, order};

/// Makes an array of the shape of another without setting its elements.
///
/// Parameters
/// ----------
/// x : Array
///     The model.
/// dtype : dtype, optional
///     The default is the model's.
/// order : {'K', 'C', 'F', 'A'}, optional
///     How the axes lie in memory; ``'K'`` is as those of the model.
/// device, usm_type, queue
///     As for `empty`; the model's, where nothing is said.
#[pyfunction]
#[pyo3(signature = (x, /, *, dtype=None, device=None, order="K", usm_type=None, queue=None))]
fn empty_like<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    order: &str,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    enter(py);
    let place = Where::new(device, queue, usm_type).beside(x.tensor())?;
    let dtype = dtype.map(|dtype| dtype.0);
    let order = order::parse(order)?;
    PyArray::of(
        py,
        creation::empty_like(x.tensor(), dtype, order, Some(&place)),
    )
}

/// Makes an array of zeros of the shape of another.
///
/// Parameters
/// ----------
/// x : Array
///     The model.
/// dtype, device, order, usm_type, queue
///     As for `empty_like`.
#[pyfunction]
#[pyo3(signature = (x, /, *, dtype=None, device=None, order="K", usm_type=None, queue=None))]
fn zeros_like<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    order: &str,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    let place = Where::new(device, queue, usm_type);
    filled_like(py, &x, Scalar::Int(0), dtype, order, &place)
}

/// Makes an array of ones of the shape of another.
///
/// Parameters
/// ----------
/// x : Array
///     The model.
/// dtype, device, order, usm_type, queue
///     As for `empty_like`.
#[pyfunction]
#[pyo3(signature = (x, /, *, dtype=None, device=None, order="K", usm_type=None, queue=None))]
fn ones_like<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    order: &str,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    let place = Where::new(device, queue, usm_type);
    filled_like(py, &x, Scalar::Int(1), dtype, order, &place)
}

/// Makes an array of one value, of the shape of another.
///
/// Parameters
/// ----------
/// x : Array
///     The model.
/// fill_value : bool, int, float or complex
///     The value.
/// dtype, device, order, usm_type, queue
///     As for `empty_like`.
#[pyfunction]
#[pyo3(signature = (x, /, fill_value, *, dtype=None, device=None, order="K", usm_type=None, queue=None))]
fn full_like<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    fill_value: &Bound<'py, PyAny>,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    order: &str,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    let place = Where::new(device, queue, usm_type);
    if let Ok(value) = fill_value.cast::<PyArray>() {
        enter(py);
        let dtype = dtype.map(|dtype| dtype.0);
        let place = place.beside(x.tensor())?;
        let order = order::parse(order)?;
        let tensor = creation::empty_like(x.tensor(), dtype, order, Some(&place)).raise()?;
        tensor.assign(value.get().tensor()).raise()?;
        return PyArray::object(py, tensor);
    }
    let value = fill_value.extract::<Number>()?.0;
    filled_like(py, &x, value, dtype, order, &place)
}

fn filled_like<'py>(
    py: Python<'py>,
    model: &ArrayLike<'py>,
    value: Scalar,
    dtype: Option<DTypeLike>,
    order: &str,
    place: &Where,
) -> Answer<'py> {
    enter(py);
    let model = model.tensor();
    let dtype = dtype.map(|dtype| dtype.0);
    let (order, place) = (order::parse(order)?, place.beside(model)?);
    PyArray::of(
        py,
        creation::full_like(model, value, dtype, order, Some(&place)),
    )
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(empty_like, module)?)?;
    module.add_function(wrap_pyfunction!(zeros_like, module)?)?;
    module.add_function(wrap_pyfunction!(ones_like, module)?)?;
    module.add_function(wrap_pyfunction!(full_like, module)?)
}
