//! Functions that accumulate along an axis.

use millpond::kernel::Scan;
use millpond::tensor::scan::{Accumulate, accumulate};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::enter;
use crate::tensor::operators::Answer;
use crate::tensor::out::Out;

fn call<'py>(
    py: Python<'py>,
    scan: Scan,
    x: &ArrayLike<'py>,
    how: Accumulate<'_>,
    out: Option<&Out<'py>>,
) -> Answer<'py> {
    enter(py);
    let how = Accumulate {
        out: out.map(Out::tensor),
        ..how
    };
    let result = accumulate(scan, x.tensor(), &how).raise()?;
    match out {
        Some(out) => Ok(out.object()),
        None => PyArray::object(py, result),
    }
}

/// A function for each scan: what they take is written once.
macro_rules! functions {
    ($( $(#[doc = $about:literal])* $name:ident: $scan:ident, $note:literal, $($example:literal),+; )*) => { $(
        $(#[doc = $about])*
        ///
        /// Each element of the result is that of the elements up to its own. Floats are accumulated
        /// in an order that depends on the shape and layout, and not on threads.
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The array.
        /// axis : int, optional
        ///     The axis; it may go without saying for an array of one.
        /// dtype : dtype, optional
        ///     Dtype of the result, which elements are cast to before; if nothing is said, it
        ///     follows from that of the elements.
        /// include_initial : bool, optional
        ///     Whether the result begins with that of no element, so that it is longer by one.
        /// out : Array, optional
        ///     Where the result goes; it may overlap the array.
        ///
        /// Returns
        /// -------
        /// Array
        ///     The result, of the array's shape but for the initial element.
        ///
        /// Raises
        /// ------
        /// ValueError
        ///     Without an axis, for an array of several; for an output of another shape.
        /// TypeError
        ///     For a dtype that the function isn't defined for, and for what is no array.
        /// IndexError
        ///     For an axis that `x` doesn't have.
        ///
        /// Notes
        /// -----
        #[doc = $note]
        ///
        /// Examples
        /// --------
        /// >>> import millpond.tensor as xp
        $(#[doc = $example])+
        #[pyfunction]
        #[pyo3(
            signature = (x, /, *, axis=None, dtype=None, include_initial=false, out=None)
        )]
        fn $name<'py>(
            py: Python<'py>,
            x: ArrayLike<'py>,
            #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
            dtype: Option<DTypeLike>,
            include_initial: bool,
            out: Option<Out<'py>>,
        ) -> Answer<'py> {
            let dtype = dtype.map(|dtype| dtype.0);
            let how = Accumulate { axis, dtype, include_initial, out: None };
            call(py, Scan::$scan, &x, how, out.as_ref())
        }
    )*

        /// Adds the functions.
        pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $( module.add_function(wrap_pyfunction!($name, module)?)?; )*
            Ok(())
        }
    };
}

functions! {
    /// Adds up the elements along an axis.
    cumulative_sum: Sum,
        "Array API standard, statistical functions; beyond it: `out`.",
        ">>> xp.cumulative_sum(xp.asarray([1, 2, 3]), include_initial=True).tolist()",
        "[0, 1, 3, 6]";
    /// Multiplies the elements along an axis.
    cumulative_prod: Product,
        "Array API standard, statistical functions; beyond it: `out`.",
        ">>> xp.cumulative_prod(xp.asarray([1, 2, 3])).tolist()",
        "[1, 2, 6]";
    /// Accumulates the logarithm of the sum of the exponentials along an axis.
    cumulative_logsumexp: LogSumExp,
        "Beyond the Array API standard.",
        ">>> xp.cumulative_logsumexp(xp.asarray([0.0, 0.0])).tolist()",
        "[0.0, 0.6931471805599453]";
}
