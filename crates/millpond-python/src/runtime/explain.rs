//! Explanations under way, by number: `millpond.explain` begins and ends them on one thread.

use std::cell::RefCell;

use millpond::runtime::{Execution, Explanation, trace};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::Raise;
use crate::gil;
use crate::runtime::origin;

thread_local! {
    static UNDERWAY: RefCell<Vec<(u64, Explanation)>> = const { RefCell::new(Vec::new()) };
}

/// What Python is told of an execution, in the order of `millpond.Execution`.
type Row = (
    String,
    u64,
    bool,
    usize,
    usize,
    usize,
    usize,
    Option<f64>,
    f64,
    Vec<String>,
    Option<String>,
    bool,
);

fn row(execution: Execution) -> Row {
    (
        execution.name,
        execution.queue,
        execution.inline,
        execution.traffic.operations,
        execution.traffic.read,
        execution.traffic.written,
        execution.traffic.spared,
        execution.began.map(|began| began.as_secs_f64()),
        execution.time.as_secs_f64(),
        execution.lines.iter().map(ToString::to_string).collect(),
        execution.closed.map(|why| why.to_string()),
        execution.failed,
    )
}

/// Begins to note this thread's executions; the number that ends it.
#[pyfunction]
fn _begin_explanation() -> u64 {
    UNDERWAY.with_borrow_mut(|underway| {
        let number = underway.last().map_or(0, |(last, _)| last + 1);
        underway.push((number, Explanation::begin()));
        number
    })
}

/// Ends it, waits for what was noted, and answers that.
#[pyfunction]
fn _end_explanation(number: u64) -> PyResult<Vec<Row>> {
    gil::enter();
    let found = UNDERWAY.with_borrow_mut(|underway| {
        let is_it = |(other, _): &(u64, Explanation)| *other == number;
        let at = underway.iter().position(is_it)?;
        Some(underway.remove(at).1)
    });
    let Some(explanation) = found else {
        return Err(PyRuntimeError::new_err(
            "explain: the block must end on the thread where it began",
        ));
    };
    let executions = explanation.finish().raise()?;
    if !origin::wanted() {
        trace::set_origin(None);
    }
    Ok(executions.into_iter().map(row).collect())
}

/// Adds the functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_begin_explanation, module)?)?;
    module.add_function(wrap_pyfunction!(_end_explanation, module)?)
}
