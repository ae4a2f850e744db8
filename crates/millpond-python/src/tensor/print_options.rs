//! How arrays are printed: options that hold for the whole process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use millpond::tensor::display::{FloatMode, PrintOptions, Sign};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::tensor::foreign;

/// The options in use; `None` until they are set.
static OPTIONS: Mutex<Option<PrintOptions>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<PrintOptions>> {
    OPTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The options in use.
pub(crate) fn current() -> PrintOptions {
    lock().clone().unwrap_or_default()
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

/// What a call may change, by place or by name.
const NAMES: [&str; 10] = [
    "linewidth",
    "edgeitems",
    "threshold",
    "precision",
    "floatmode",
    "suppress",
    "nanstr",
    "infstr",
    "sign",
    NUMPY,
];

/// Whether to begin with the options of NumPy.
const NUMPY: &str = "numpy";

/// The arguments of a call by their names.
fn named<'py>(
    args: &Bound<'py, PyTuple>,
    options: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = options.unwrap_or_else(|| PyDict::new(args.py()));
    if args.len() > NAMES.len() {
        return Err(PyTypeError::new_err(format!(
            "print options: {} are given, there are {}",
            args.len(),
            NAMES.len()
        )));
    }
    for (name, value) in NAMES.into_iter().zip(args.iter_borrowed()) {
        if options.contains(name)? {
            return Err(PyTypeError::new_err(format!(
                "print options: {name} is given twice"
            )));
        }
        options.set_item(name, value)?;
    }
    Ok(options)
}

/// The options with those of a dict changed; what is `None` stays.
pub(crate) fn changed(
    mut options: PrintOptions,
    changes: &Bound<'_, PyDict>,
) -> PyResult<PrintOptions> {
    if let Some(numpy) = changes.get_item(NUMPY)?
        && numpy.is_truthy()?
    {
        let theirs = changes.py().import("numpy")?;
        let theirs = theirs.call_method0("get_printoptions")?;
        let theirs = theirs.cast::<PyDict>()?;
        for name in NAMES {
            if let Some(value) = theirs.get_item(name)?.filter(|value| !value.is_none()) {
                set(&mut options, name, &value)?;
            }
        }
    }
    for (name, value) in changes {
        let name: String = name.extract()?;
        if name != NUMPY && !value.is_none() {
            set(&mut options, &name, &value)?;
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
///
/// Raises
/// ------
/// TypeError
///     For any argument.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.get_print_options()["threshold"]
/// 1000
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
/// numpy : bool, optional
///     Whether to begin with the options that NumPy has at present.
///
/// Returns
/// -------
/// None
///     The options hold for the whole process.
///
/// Raises
/// ------
/// ValueError
///     For a value that the option can't have.
/// TypeError
///     For an option that there isn't, or that is given twice.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.set_print_options(precision=3)
/// >>> xp.asarray(xp.pi) * xp.ones(2)
/// Array([3.142, 3.142])
/// >>> xp.set_print_options(precision=8)
#[pyfunction]
#[pyo3(
    signature = (*args, **options),
    text_signature = "(linewidth=None, edgeitems=None, threshold=None, precision=None, floatmode=None, suppress=None, nanstr=None, infstr=None, sign=None, numpy=False)"
)]
fn set_print_options(
    args: &Bound<'_, PyTuple>,
    options: Option<Bound<'_, PyDict>>,
) -> PyResult<()> {
    let options = changed(current(), &named(args, options)?)?;
    *lock() = Some(options);
    Ok(())
}

/// Context manager: changes how arrays are printed while a ``with`` block runs.
///
/// Parameters
/// ----------
/// linewidth, edgeitems, threshold, precision, floatmode, suppress, nanstr, infstr, sign, numpy
///     As for `set_print_options`.
///
/// Returns
/// -------
/// dict
///     From ``with``: the options, as `get_print_options` gives them.
///
/// Raises
/// ------
/// ValueError, TypeError
///     As for `set_print_options`.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> with xp.print_options(precision=3):
/// ...     print(xp.asarray([xp.pi, xp.e]))
/// [3.142 2.718]
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
        signature = (*args, **options),
        text_signature = "(linewidth=None, edgeitems=None, threshold=None, precision=None, floatmode=None, suppress=None, nanstr=None, infstr=None, sign=None, numpy=False)"
    )]
    fn new(args: &Bound<'_, PyTuple>, options: Option<Bound<'_, PyDict>>) -> PyResult<Self> {
        let changes = named(args, options)?;
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
    fn __exit__(&self, _raised: &Bound<'_, PyTuple>) {
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
