//! Arrays as text, and the options for it, which hold for the whole process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use millpond::tensor::Tensor;
use millpond::tensor::display::{FloatMode, PrintOptions, Sign};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::Raise;
use crate::gil;
use crate::tensor::array::PyArray;
use crate::tensor::{conversion, foreign};

/// The options in use; `None` until they are set.
static OPTIONS: Mutex<Option<PrintOptions>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<PrintOptions>> {
    OPTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn current() -> PrintOptions {
    lock().clone().unwrap_or_default()
}

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

/// The most digits that can be asked for: no float has more that aren't zero.
const LONGEST: usize = 1100;

/// Changes one option.
fn set(options: &mut PrintOptions, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let unknown = |expected: &str| {
        PyValueError::new_err(format!(
            "print options: {name} must be {expected}, not {}",
            foreign::describe(value)
        ))
    };
    let number = || value.extract().map_err(|_| unknown("an integer from 0"));
    match name {
        "linewidth" => options.line_width = number()?,
        "edgeitems" => options.edge_items = number()?,
        "threshold" => {
            let is_endless = value
                .extract::<f64>()
                .is_ok_and(|value| value == f64::INFINITY);
            options.threshold = if is_endless { usize::MAX } else { number()? };
        }
        "precision" => {
            options.precision = number()?;
            if options.precision > LONGEST {
                return Err(unknown(&format!("at most {LONGEST}")));
            }
        }
        "suppress" => options.suppress = value.is_truthy()?,
        "nanstr" => options.nan = value.extract()?,
        "infstr" => options.infinity = value.extract()?,
        "floatmode" => {
            options.float_mode = FloatMode::named(value.extract()?)
                .ok_or_else(|| unknown("'fixed', 'unique', 'maxprec' or 'maxprec_equal'"))?;
        }
        "sign" => {
            options.sign = match value.extract()? {
                "-" => Sign::Minus,
                "+" => Sign::Plus,
                " " => Sign::Space,
                _ => return Err(unknown("'-', '+' or ' '")),
            }
        }
        _ => {
            return Err(PyTypeError::new_err(format!(
                "print options: unknown option '{name}'"
            )));
        }
    }
    Ok(())
}

/// The options with those of a dict changed.
fn changed(mut options: PrintOptions, changes: &Bound<'_, PyDict>) -> PyResult<PrintOptions> {
    for (name, value) in changes {
        if !value.is_none() {
            set(&mut options, name.extract()?, &value)?;
        }
    }
    Ok(options)
}

/// Says how arrays are printed.
///
/// Returns
/// -------
/// dict
///     The options, by the names that `set_print_options` takes.
#[pyfunction]
fn get_print_options(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let options = current();
    let answer = PyDict::new(py);
    answer.set_item("linewidth", options.line_width)?;
    answer.set_item("edgeitems", options.edge_items)?;
    answer.set_item("threshold", options.threshold)?;
    answer.set_item("precision", options.precision)?;
    answer.set_item("suppress", options.suppress)?;
    answer.set_item("nanstr", options.nan)?;
    answer.set_item("infstr", options.infinity)?;
    let mode = match options.float_mode {
        FloatMode::Fixed => "fixed",
        FloatMode::Unique => "unique",
        FloatMode::MaxPrec => "maxprec",
        FloatMode::MaxPrecEqual => "maxprec_equal",
    };
    answer.set_item("floatmode", mode)?;
    let sign = match options.sign {
        Sign::Minus => "-",
        Sign::Plus => "+",
        Sign::Space => " ",
    };
    answer.set_item("sign", sign)?;
    Ok(answer)
}

/// Changes how arrays are printed; options that aren't given stay as they are.
///
/// Parameters
/// ----------
/// linewidth : int, optional
///     Columns of a line.
/// edgeitems : int, optional
///     Elements shown at each end of a summarised axis.
/// threshold : int or inf, optional
///     Arrays of more elements are summarised.
/// precision : int, optional
///     Digits behind the point.
/// floatmode : {'fixed', 'unique', 'maxprec', 'maxprec_equal'}, optional
///     How many digits floats have.
/// suppress : bool, optional
///     Whether floats never have an exponent.
/// nanstr, infstr : str, optional
///     What NaN and infinity are called.
/// sign : {'-', '+', ' '}, optional
///     What stands in front of positive numbers.
#[pyfunction]
#[pyo3(
    signature = (**options),
    text_signature = "(*, linewidth=None, edgeitems=None, threshold=None, precision=None, floatmode=None, suppress=None, nanstr=None, infstr=None, sign=None)"
)]
fn set_print_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    if let Some(options) = options {
        let options = changed(current(), options)?;
        *lock() = Some(options);
    }
    Ok(())
}

/// Context manager: changes how arrays are printed while a ``with`` block runs.
///
/// Parameters
/// ----------
/// **options
///     As for `set_print_options`.
#[pyclass(frozen, name = "print_options", module = "millpond.tensor")]
#[derive(Debug)]
struct ScopedOptions {
    changes: Py<PyDict>,
    /// What to go back to, for each block that was entered.
    before: Mutex<Vec<Option<PrintOptions>>>,
}

impl ScopedOptions {
    fn before(&self) -> MutexGuard<'_, Vec<Option<PrintOptions>>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl ScopedOptions {
    #[new]
    #[pyo3(
        signature = (**options),
        text_signature = "(*, linewidth=None, edgeitems=None, threshold=None, precision=None, floatmode=None, suppress=None, nanstr=None, infstr=None, sign=None)"
    )]
    fn new(py: Python<'_>, options: Option<Bound<'_, PyDict>>) -> PyResult<Self> {
        let changes = options.unwrap_or_else(|| PyDict::new(py));
        // Wrong options are refused where they are given.
        changed(current(), &changes)?;
        Ok(Self {
            changes: changes.unbind(),
            before: Mutex::default(),
        })
    }

    fn __enter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let options = changed(current(), self.changes.bind(py))?;
        let before = lock().replace(options);
        self.before().push(before);
        get_print_options(py)
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, pyo3::types::PyTuple>) {
        if let Some(before) = self.before().pop() {
            *lock() = before;
        }
    }
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScopedOptions>()?;
    module.add_function(wrap_pyfunction!(get_print_options, module)?)?;
    module.add_function(wrap_pyfunction!(set_print_options, module)?)
}
