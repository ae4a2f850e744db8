//! Pickling: elements travel in row-major order; from protocol 5 on, out of band where the pickler
//! takes buffers.

use millpond::Queue;
use millpond::tensor::{Place, creation};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::Raise;
use crate::gil;
use crate::interop::view::View;
use crate::tensor::array::PyArray;
use crate::tensor::dtype::{DTypeLike, PyDType};
use crate::tensor::extent::{ShapeLike, tuple};
use crate::tensor::operators::Answer;
use crate::tensor::place::KindLike;
use crate::tensor::{enter, order};

/// What makes the array again: a function and its arguments.
pub(crate) fn reduce<'py>(
    array: &Bound<'py, PyArray>,
    protocol: i32,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = array.py();
    enter(py);
    let tensor = array.get().tensor();
    gil::wait_written(py, tensor.memory())?;
    let bytes = PyBytes::new_with(py, tensor.bytes(), |bytes| tensor.read_into(bytes).raise())?;
    let bytes = if protocol >= 5 {
        py.import("pickle")?
            .getattr("PickleBuffer")?
            .call1((bytes,))?
    } else {
        bytes.into_any()
    };
    let column_major = tensor.layout().is_column_major() && !tensor.is_contiguous();
    let arguments = (
        bytes,
        PyDType::of(py, tensor.dtype())?,
        tuple(py, tensor.shape())?,
        if column_major { "F" } else { "C" },
        tensor.device().name().to_owned(),
        tensor.kind().name(),
        tensor.is_read_only(),
    );
    let rebuild = py.import("millpond.tensor")?.getattr("_rebuild")?;
    PyTuple::new(py, [rebuild, arguments.into_pyobject(py)?.into_any()])
}

/// Makes a pickled array again: on the device of the same name if there is one, else on the
/// default device.
#[pyfunction]
fn _rebuild<'py>(
    py: Python<'py>,
    buffer: &Bound<'py, PyAny>,
    dtype: DTypeLike,
    shape: ShapeLike,
    order: &str,
    device: &str,
    kind: KindLike,
    read_only: bool,
) -> Answer<'py> {
    enter(py);
    let bytes: Vec<u8> = View::in_one_piece(buffer, false)?.bytes().to_vec();
    let place = Place {
        queue: queue_of(device)?,
        kind: kind.0,
    };
    let tensor = creation::from_bytes(bytes, dtype.0, &shape.0, &place).raise()?;
    let tensor = order::arranged(tensor, order::parse(order)?)?;
    PyArray::object(
        py,
        if read_only {
            tensor.read_only()
        } else {
            tensor
        },
    )
}

fn queue_of(device: &str) -> PyResult<Queue> {
    millpond::device(device)
        .or_else(|_| millpond::default_device())
        .and_then(|device| device.default_queue())
        .raise()
}

/// Adds the function.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_rebuild, module)?)
}
