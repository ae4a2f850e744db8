//! Functions about differences and products of arrays: neighbours, closeness, dot products.

use millpond::tensor::utility::Tolerance;
use pyo3::prelude::*;

use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::enter;
use crate::tensor::operators::Answer;

/// Computes the differences of neighbours along an axis.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int, optional
///     The axis.
/// n : int, optional
///     How many times differences are taken.
/// prepend, append : Array, optional
///     What is put in front and behind before.
#[pyfunction]
#[pyo3(
    signature = (x, /, *, axis=-1, n=1, prepend=None, append=None),
    text_signature = "(x, /, *, axis=-1, n=1, prepend=None, append=None)"
)]
fn diff<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
    #[pyo3(from_py_with = integer::count)] n: usize,
    prepend: Option<ArrayLike<'py>>,
    append: Option<ArrayLike<'py>>,
) -> Answer<'py> {
    enter(py);
    let (prepend, append) = (prepend.as_ref(), append.as_ref());
    PyArray::of(
        py,
        x.tensor().diff(
            axis,
            n,
            prepend.map(ArrayLike::tensor),
            append.map(ArrayLike::tensor),
        ),
    )
}

fn tolerance(absolute: f64, relative: f64, equal_nan: bool) -> Tolerance {
    Tolerance {
        absolute,
        relative,
        equal_nan,
    }
}

/// Says which elements of two arrays are close.
///
/// Parameters
/// ----------
/// a1, a2 : Array
///     The arrays.
/// atol : float, optional
///     What may always be between them.
/// rtol : float, optional
///     What may be between them for each unit of `a2`.
/// equal_nan : bool, optional
///     Whether NaNs are close to one another.
#[pyfunction]
#[pyo3(signature = (a1, a2, atol=1e-8, rtol=1e-5, equal_nan=false))]
fn isclose<'py>(
    py: Python<'py>,
    a1: ArrayLike<'py>,
    a2: ArrayLike<'py>,
    atol: f64,
    rtol: f64,
    equal_nan: bool,
) -> Answer<'py> {
    enter(py);
    PyArray::of(
        py,
        a1.tensor()
            .isclose(a2.tensor(), &tolerance(atol, rtol, equal_nan)),
    )
}

/// Says whether all elements of two arrays are close.
///
/// Parameters
/// ----------
/// a1, a2, atol, rtol, equal_nan
///     As for `isclose`.
#[pyfunction]
#[pyo3(signature = (a1, a2, atol=1e-8, rtol=1e-5, equal_nan=false))]
fn allclose<'py>(
    py: Python<'py>,
    a1: ArrayLike<'py>,
    a2: ArrayLike<'py>,
    atol: f64,
    rtol: f64,
    equal_nan: bool,
) -> Answer<'py> {
    enter(py);
    PyArray::of(
        py,
        a1.tensor()
            .allclose(a2.tensor(), &tolerance(atol, rtol, equal_nan)),
    )
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(diff, module)?)?;
    module.add_function(wrap_pyfunction!(isclose, module)?)?;
    module.add_function(wrap_pyfunction!(allclose, module)?)
}
