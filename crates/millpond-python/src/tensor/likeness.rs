//! Functions that make arrays on the model of another: of its shape and, where nothing else is
//! said, of its dtype, at its place, with axes in its order.

use millpond::tensor::creation;
use pyo3::prelude::*;

use crate::runtime::PyQueue;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::operators::Answer;
use crate::tensor::place::{DeviceLike, KindLike};
use crate::tensor::request::{Fill, Request};

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
///
/// Returns
/// -------
/// Array
///     Of the shape of `x`; its elements are whatever the memory holds.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an order or a kind of memory that there isn't.
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
/// >>> xp.empty_like(xp.ones((2, 3))).shape
/// (2, 3)
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
    let request = Request::new(py, dtype, order, device, usm_type, queue)?;
    let place = request.place.beside(x.tensor())?;
    PyArray::of(
        py,
        creation::empty_like(x.tensor(), request.dtype, request.order, Some(&place)),
    )
}

macro_rules! constants {
    ($($(#[$about:meta])* $name:ident: $value:literal, $example:literal;)*) => { $(
        $(#[$about])*
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The model.
        /// dtype, device, order, usm_type, queue
        ///     As for `empty_like`.
        ///
        /// Returns
        /// -------
        /// Array
        ///     The array, of the shape of `x`.
        ///
        /// Raises
        /// ------
        /// TypeError
        ///     For what is no array.
        /// ValueError
        ///     For an order or a kind of memory that there isn't.
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
        #[doc = concat!(">>> xp.", stringify!($name), "(xp.asarray([7, 8, 9]))")]
        #[doc = $example]
        #[pyfunction]
        #[pyo3(signature = (x, /, *, dtype=None, device=None, order="K", usm_type=None, queue=None))]
        fn $name<'py>(
            py: Python<'py>,
            x: ArrayLike<'py>,
            dtype: Option<DTypeLike>,
            device: Option<DeviceLike>,
            order: &str,
            usm_type: Option<KindLike>,
            queue: Option<Py<PyQueue>>,
        ) -> Answer<'py> {
            let request = Request::new(py, dtype, order, device, usm_type, queue)?;
            request.filled_like(py, x.tensor(), &Fill::integer($value))
        }
    )* };
}

constants! {
    /// Makes an array of zeros of the shape of another.
    zeros_like: 0, "Array([0, 0, 0])";
    /// Makes an array of ones of the shape of another.
    ones_like: 1, "Array([1, 1, 1])";
}

/// Makes an array of one value, of the shape of another.
///
/// Parameters
/// ----------
/// x : Array
///     The model.
/// fill_value : bool, int, float, complex or Array
///     The value; an array must have no dimension, or broadcast to the shape.
/// dtype, device, order, usm_type, queue
///     As for `empty_like`.
///
/// Returns
/// -------
/// Array
///     The array, of the shape of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a fill value that doesn't broadcast to the shape, and for an order or a kind of
///     memory that there isn't.
/// OverflowError
///     For an integer that the dtype can't hold.
///
/// Notes
/// -----
/// Array API standard, creation functions; beyond it: `order`, `usm_type`, `queue`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.full_like(xp.ones(3), 2)
/// Array([2., 2., 2.])
#[pyfunction]
#[pyo3(signature = (x, /, fill_value, *, dtype=None, device=None, order="K", usm_type=None, queue=None))]
fn full_like<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    fill_value: Fill<'py>,
    dtype: Option<DTypeLike>,
    device: Option<DeviceLike>,
    order: &str,
    usm_type: Option<KindLike>,
    queue: Option<Py<PyQueue>>,
) -> Answer<'py> {
    let request = Request::new(py, dtype, order, device, usm_type, queue)?;
    request.filled_like(py, x.tensor(), &fill_value)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(empty_like, module)?)?;
    module.add_function(wrap_pyfunction!(zeros_like, module)?)?;
    module.add_function(wrap_pyfunction!(ones_like, module)?)?;
    module.add_function(wrap_pyfunction!(full_like, module)?)
}
