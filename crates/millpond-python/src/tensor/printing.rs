//! Arrays as text.

use millpond::tensor::Tensor;
use millpond::tensor::display::Frame;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Raise;
use crate::gil;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::conversion;
use crate::tensor::print_options::{changed, current};

/// `repr(array)`.
pub(crate) fn repr(py: Python<'_>, tensor: &Tensor) -> PyResult<String> {
    gil::wait_written(py, tensor.memory())?;
    tensor.to_repr("Array", &current()).raise()
}

/// `str(array)`.
pub(crate) fn text(py: Python<'_>, tensor: &Tensor) -> PyResult<String> {
    gil::wait_written(py, tensor.memory())?;
    tensor.to_text(&current()).raise()
}

/// `format(array, spec)`: a specification is one for the only element.
pub(crate) fn format(array: &Bound<'_, PyArray>, spec: &str) -> PyResult<String> {
    let (py, tensor) = (array.py(), array.get().tensor());
    if spec.is_empty() {
        return text(py, tensor);
    }
    if tensor.ndim() != 0 {
        return Err(PyTypeError::new_err(format!(
            "format: '{spec}' is for numbers; an array of {} dimensions is none",
            tensor.ndim()
        )));
    }
    conversion::item(py, tensor)?
        .call_method1("__format__", (spec,))?
        .extract()
}

/// An option of a call: its name, and the value if one is given.
type Given<'a, 'py> = (&'static str, Option<&'a Bound<'py, PyAny>>);

/// The options of a call as a dict.
fn given<'py>(py: Python<'py>, options: &[Given<'_, 'py>]) -> PyResult<Bound<'py, PyDict>> {
    let given = PyDict::new(py);
    for (name, value) in options {
        given.set_item(name, value)?;
    }
    Ok(given)
}

/// Writes an array as a call that would make it, by options of this call.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// line_width : int, optional
///     Columns of a line.
/// precision : int, optional
///     Digits behind the point.
/// suppress : bool, optional
///     Whether floats never have an exponent.
/// prefix : str, optional
///     The name of what is called.
///
/// Returns
/// -------
/// str
///     The text, as of ``repr(x)``; options that aren't given are those in use.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a value that an option can't have.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.array_repr(xp.asarray([xp.pi, xp.e]), precision=3)
/// 'Array([3.142, 2.718])'
#[pyfunction]
#[pyo3(signature = (x, line_width=None, precision=None, suppress=None, prefix="Array"))]
fn array_repr<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    line_width: Option<&Bound<'py, PyAny>>,
    precision: Option<&Bound<'py, PyAny>>,
    suppress: Option<&Bound<'py, PyAny>>,
    prefix: &str,
) -> PyResult<String> {
    let options = given(
        py,
        &[
            ("linewidth", line_width),
            ("precision", precision),
            ("suppress", suppress),
        ],
    )?;
    let options = changed(current(), &options)?;
    gil::wait_written(py, x.tensor().memory())?;
    x.tensor().to_repr(prefix, &options).raise()
}

/// Writes the elements of an array, by options of this call.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// line_width, edge_items, threshold, precision, floatmode, suppress, sign, numpy
///     As for `set_print_options`, where two of them are called ``linewidth`` and ``edgeitems``.
/// separator : str, optional
///     What stands between elements.
/// prefix : str, optional
///     What will stand in front; lines after the first are indented as much.
/// suffix : str, optional
///     What will stand behind; the last line leaves room for it.
///
/// Returns
/// -------
/// str
///     The text, without prefix and suffix; options that aren't given are those in use.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a value that an option can't have.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.array_str(xp.asarray([xp.pi, xp.e]), precision=3, separator=", ")
/// '[3.142, 2.718]'
#[pyfunction]
#[pyo3(signature = (
    x, line_width=None, edge_items=None, threshold=None, precision=None, floatmode=None,
    suppress=None, sign=None, numpy=None, separator=" ", prefix="", suffix="",
), text_signature = "(x, line_width=None, edge_items=None, threshold=None, precision=None, floatmode=None, suppress=None, sign=None, numpy=False, separator=' ', prefix='', suffix='')")]
fn array_str<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    line_width: Option<&Bound<'py, PyAny>>,
    edge_items: Option<&Bound<'py, PyAny>>,
    threshold: Option<&Bound<'py, PyAny>>,
    precision: Option<&Bound<'py, PyAny>>,
    floatmode: Option<&Bound<'py, PyAny>>,
    suppress: Option<&Bound<'py, PyAny>>,
    sign: Option<&Bound<'py, PyAny>>,
    numpy: Option<&Bound<'py, PyAny>>,
    separator: &str,
    prefix: &str,
    suffix: &str,
) -> PyResult<String> {
    let options = given(
        py,
        &[
            ("linewidth", line_width),
            ("edgeitems", edge_items),
            ("threshold", threshold),
            ("precision", precision),
            ("floatmode", floatmode),
            ("suppress", suppress),
            ("sign", sign),
            ("numpy", numpy),
        ],
    )?;
    let options = changed(current(), &options)?;
    let frame = Frame {
        separator,
        prefix,
        suffix,
    };
    gil::wait_written(py, x.tensor().memory())?;
    x.tensor().to_framed_text(&options, frame).raise()
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(array_repr, module)?)?;
    module.add_function(wrap_pyfunction!(array_str, module)?)
}
