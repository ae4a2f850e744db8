//! Functions that make arrays of a shape, of ranges and of diagonals.
//!
//! Those that follow a model are in [`likeness`](super::likeness), those that take other objects
//! in [`asarray`](super::asarray).

use millpond::tensor::creation::{self, Indexing};
use millpond::tensor::{Tensor, range};
use millpond::types::Scalar;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Raise;
use crate::integer;
use crate::runtime::PyQueue;
use crate::tensor::array::{ArrayLike, PyArray, tuple_of};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::extent::ShapeLike;
use crate::tensor::operators::Answer;
use crate::tensor::place::{DeviceLike, KindLike};
use crate::tensor::request::{Fill, Request};
use crate::tensor::scalar::Number;
use crate::tensor::{enter, order};

/// Makes an array without setting its elements.
///
/// Parameters
/// ----------
/// shape : int or tuple of int
///     Sizes of the axes.
/// dtype : dtype, optional
///     The default is the device's default real dtype.
/// device : Device, Queue or str, optional
///     Where the array goes; the default device, if nothing is said.
/// order : {'C', 'F'}, optional
///     Row-major or column-major.
/// usm_type : {'device', 'shared', 'host'}, optional
///     Kind of memory; ``'device'`` if nothing is said.
/// queue : Queue, optional
///     Queue that operations on the array are submitted to; the device's default one, if nothing
///     is said.
///
/// Returns
/// -------
/// Array
///     Its elements are whatever the memory holds.
///
/// Raises
/// ------
/// ValueError
///     For a negative size, and for an order or a kind of memory that there isn't.
/// MemoryError
///     If there isn't enough memory.
///
/// Notes
/// -----
/// Array API standard, creation functions; beyond it: `order`, `usm_type`, `queue`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.empty((2, 3), dtype="int16").shape
/// (2, 3)
#[pyfunction]
#[pyo3(signature = (shape, *, dtype=None, device=None, order="C", usm_type=None, queue=None))]
fn empty<'py>(
    py: Python<'py>,
    shape: ShapeLike,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    order: &str,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    let request = Request::new(py, dtype, order, device, usm_type, queue)?;
    let place = request.place.place()?;
    let dtype = request.dtype_or_float(&place);
    PyArray::of(
        py,
        creation::empty_in_order(&shape.0, dtype, request.order, &place),
    )
}

macro_rules! constants {
    ($($(#[$about:meta])* $name:ident: $value:literal, $example:literal;)*) => { $(
        $(#[$about])*
        ///
        /// Parameters
        /// ----------
        /// shape : int or tuple of int
        ///     Sizes of the axes.
        /// dtype, device, order, usm_type, queue
        ///     As for `empty`.
        ///
        /// Returns
        /// -------
        /// Array
        ///     The array.
        ///
        /// Raises
        /// ------
        /// ValueError
        ///     For a negative size, and for an order or a kind of memory that there isn't.
        /// MemoryError
        ///     If there isn't enough memory.
        ///
        /// Notes
        /// -----
        /// Array API standard, creation functions; beyond it: `order`, `usm_type`, `queue`.
        ///
        /// Examples
        /// --------
        /// >>> import millpond.tensor as xp
        #[doc = concat!(">>> xp.", stringify!($name), "(3)")]
        #[doc = $example]
        #[pyfunction]
        #[pyo3(signature = (shape, *, dtype=None, device=None, order="C", usm_type=None, queue=None))]
        fn $name<'py>(
            py: Python<'py>,
            shape: ShapeLike,
            dtype: Option<DTypeLike>,
            device: Option<DeviceLike>,
            order: &str,
            usm_type: Option<KindLike>,
            queue: Option<Py<PyQueue>>,
        ) -> Answer<'py> {
            let request = Request::new(py, dtype, order, device, usm_type, queue)?;
            request.filled_with_float(py, &shape.0, $value)
        }
    )* };
}

constants! {
    /// Makes an array of zeros.
    zeros: 0, "Array([0., 0., 0.])";
    /// Makes an array of ones.
    ones: 1, "Array([1., 1., 1.])";
}

/// Makes an array of one value.
///
/// Parameters
/// ----------
/// shape : int or tuple of int
///     Sizes of the axes.
/// fill_value : bool, int, float, complex or Array
///     The value; an array must have no dimension, or broadcast to `shape`.
/// dtype : dtype, optional
///     The default is the value's.
/// device, order, usm_type, queue
///     As for `empty`; where nothing is said, an array's fill value decides.
///
/// Returns
/// -------
/// Array
///     Each element is the value.
///
/// Raises
/// ------
/// ValueError
///     For a negative size, and for a fill value that doesn't broadcast to `shape`.
/// OverflowError
///     For an integer that the dtype can't hold.
/// MemoryError
///     If there isn't enough memory.
///
/// Notes
/// -----
/// Array API standard, creation functions; beyond it: `order`, `usm_type`, `queue`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.full((2, 2), 7)
/// Array([[7, 7],
///        [7, 7]])
#[pyfunction]
#[pyo3(signature = (shape, fill_value, *, dtype=None, device=None, order="C", usm_type=None, queue=None))]
fn full<'py>(
    py: Python<'py>,
    shape: ShapeLike,
    fill_value: Fill<'py>,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    order: &str,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    let request = Request::new(py, dtype, order, device, usm_type, queue)?;
    request.filled(py, &shape.0, &fill_value)
}

/// Makes an array of evenly spaced values, `step` apart, from `start` up to `stop`, which isn't
/// among them.
///
/// Parameters
/// ----------
/// start : int or float
///     The first value; with `stop` left out, the end, and the first value is 0.
/// stop : int or float, optional
///     The end.
/// step : int or float, optional
///     The distance.
/// dtype : dtype, optional
///     The default is an integer if all values are integers, else the default real dtype.
/// device, usm_type, queue
///     As for `empty`.
///
/// Returns
/// -------
/// Array
///     The values, in one axis.
///
/// Raises
/// ------
/// ValueError
///     For a step of zero.
/// TypeError
///     For complex numbers.
/// OverflowError
///     For an integer that the dtype can't hold.
///
/// Notes
/// -----
/// Array API standard, creation functions; beyond it: `usm_type`, `queue`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.arange(2, 8, 2)
/// Array([2, 4, 6])
#[pyfunction]
#[pyo3(signature = (start, /, stop=None, step=Number(Scalar::Int(1)), *, dtype=None, device=None, usm_type=None, queue=None), text_signature = "(start, /, stop=None, step=1, *, dtype=None, device=None, usm_type=None, queue=None)")]
fn arange(
    py: Python<'_>,
    start: Number,
    stop: Option<Number>,
    step: Number,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'_> {
    let request = Request::new(py, dtype, "C", device, usm_type, queue)?;
    let place = request.place.place()?;
    let (start, stop) = match stop {
        Some(stop) => (start.0, stop.0),
        None => (Scalar::Int(0), start.0),
    };
    PyArray::of(
        py,
        range::arange(start, stop, step.0, request.dtype, &place),
    )
}

/// Makes an array of `num` evenly spaced values from `start` to `stop`.
///
/// Parameters
/// ----------
/// start, stop : int, float or complex
///     The ends.
/// num : int
///     How many.
/// dtype : dtype, optional
///     The default is the default real dtype, or complex dtype if an end is complex.
/// endpoint : bool, optional
///     Whether `stop` is the last value; else it would be the next.
/// device, usm_type, queue
///     As for `empty`.
///
/// Returns
/// -------
/// Array
///     The values, in one axis.
///
/// Raises
/// ------
/// ValueError
///     For a negative number of values.
/// TypeError
///     For complex ends and a real dtype.
///
/// Notes
/// -----
/// Array API standard, creation functions; beyond it: `usm_type`, `queue`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.linspace(0, 1, 5)
/// Array([0.  , 0.25, 0.5 , 0.75, 1.  ])
#[pyfunction]
#[pyo3(signature = (start, stop, /, num, *, dtype=None, device=None, endpoint=true, usm_type=None, queue=None))]
fn linspace(
    py: Python<'_>,
    start: Number,
    stop: Number,
    #[pyo3(from_py_with = integer::integer)] num: isize,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    endpoint: bool,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'_> {
    let num = usize::try_from(num)
        .map_err(|_| PyValueError::new_err(format!("linspace: num is negative: {num}")))?;
    let request = Request::new(py, dtype, "C", device, usm_type, queue)?;
    let place = request.place.place()?;
    PyArray::of(
        py,
        range::linspace(start.0, stop.0, num, endpoint, request.dtype, &place),
    )
}

/// Makes a matrix of zeros with ones on a diagonal.
///
/// Parameters
/// ----------
/// n_rows : int
///     Number of rows.
/// n_cols : int, optional
///     Number of columns; `n_rows` if left out.
/// k : int, optional
///     The diagonal: 0 is the main one, positive ones lie above it.
/// dtype, device, order, usm_type, queue
///     As for `empty`.
///
/// Returns
/// -------
/// Array
///     The matrix, of shape (`n_rows`, `n_cols`).
///
/// Raises
/// ------
/// ValueError
///     For a negative size, and for an order or a kind of memory that there isn't.
/// MemoryError
///     If there isn't enough memory.
///
/// Notes
/// -----
/// Array API standard, creation functions; beyond it: `order`, `usm_type`, `queue`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.eye(2, 3, k=1)
/// Array([[0., 1., 0.],
///        [0., 0., 1.]])
#[pyfunction]
#[pyo3(signature = (n_rows, n_cols=None, /, *, k=0, dtype=None, device=None, order="C", usm_type=None, queue=None))]
fn eye<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = integer::count)] n_rows: usize,
    #[pyo3(from_py_with = integer::count_or_none)] n_cols: Option<usize>,
    #[pyo3(from_py_with = integer::diagonal)] k: isize,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    order: &str,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    let request = Request::new(py, dtype, order, device, usm_type, queue)?;
    let place = request.place.place()?;
    let dtype = request.dtype_or_float(&place);
    let tensor = creation::eye(n_rows, n_cols.unwrap_or(n_rows), k, dtype, &place).raise()?;
    PyArray::object(py, order::arranged(tensor, request.order)?)
}

/// Copies the elements on and below a diagonal; zeros are above it.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, in the last two axes.
/// k : int, optional
///     The diagonal: 0 is the main one, positive ones lie above it.
///
/// Returns
/// -------
/// Array
///     A copy, of the shape and dtype of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an array of fewer than two axes.
///
/// Notes
/// -----
/// Array API standard, creation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.tril(xp.asarray([[1, 2], [3, 4]]))
/// Array([[1, 0],
///        [3, 4]])
#[pyfunction]
#[pyo3(signature = (x, /, *, k=0))]
fn tril<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::diagonal)] k: isize,
) -> Answer<'py> {
    enter(py);
    PyArray::of(py, creation::tril(x.tensor(), k))
}

/// Copies the elements on and above a diagonal; zeros are below it.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, in the last two axes.
/// k : int, optional
///     The diagonal: 0 is the main one, positive ones lie above it.
///
/// Returns
/// -------
/// Array
///     A copy, of the shape and dtype of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an array of fewer than two axes.
///
/// Notes
/// -----
/// Array API standard, creation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.triu(xp.asarray([[1, 2], [3, 4]]))
/// Array([[1, 2],
///        [0, 4]])
#[pyfunction]
#[pyo3(signature = (x, /, *, k=0))]
fn triu<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::diagonal)] k: isize,
) -> Answer<'py> {
    enter(py);
    PyArray::of(py, creation::triu(x.tensor(), k))
}

/// Makes the coordinates of a grid.
///
/// Parameters
/// ----------
/// *arrays : Array
///     The coordinates along each axis, all of one dtype.
/// indexing : {'xy', 'ij'}, optional
///     Order of the first two axes: of a plane, or of a matrix.
///
/// Returns
/// -------
/// tuple of Array
///     An array for each axis.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For arrays of more axes than one or of several dtypes, and for an unknown indexing.
///
/// Notes
/// -----
/// Array API standard, creation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x, y = xp.meshgrid(xp.asarray([1, 2, 3]), xp.asarray([10, 20]))
/// >>> (x + y).tolist()
/// [[11, 12, 13], [21, 22, 23]]
#[pyfunction]
#[pyo3(signature = (*arrays, indexing="xy"))]
fn meshgrid<'py>(arrays: &Bound<'py, PyTuple>, indexing: &str) -> PyResult<Bound<'py, PyTuple>> {
    let py = arrays.py();
    enter(py);
    let arrays: Vec<ArrayLike<'py>> = arrays
        .iter_borrowed()
        .map(pyo3::Borrowed::extract)
        .collect::<PyResult<_>>()?;
    let tensors: Vec<&Tensor> = arrays.iter().map(ArrayLike::tensor).collect();
    let indexing = match indexing {
        "xy" => Indexing::Xy,
        "ij" => Indexing::Ij,
        _ => {
            return Err(PyValueError::new_err(format!(
                "meshgrid: indexing must be 'xy' or 'ij', not '{indexing}'"
            )));
        }
    };
    tuple_of(py, creation::meshgrid(&tensors, indexing).raise()?)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(empty, module)?)?;
    module.add_function(wrap_pyfunction!(zeros, module)?)?;
    module.add_function(wrap_pyfunction!(ones, module)?)?;
    module.add_function(wrap_pyfunction!(full, module)?)?;
    module.add_function(wrap_pyfunction!(arange, module)?)?;
    module.add_function(wrap_pyfunction!(linspace, module)?)?;
    module.add_function(wrap_pyfunction!(eye, module)?)?;
    module.add_function(wrap_pyfunction!(tril, module)?)?;
    module.add_function(wrap_pyfunction!(triu, module)?)?;
    module.add_function(wrap_pyfunction!(meshgrid, module)?)
}
