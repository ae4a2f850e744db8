//! Exponential smoothing: each value is the new one's share and what was before, so that no function of
//! whole arrays computes it in one pass.
//!
//! Shows: arrays as arguments and results, tasks over slices in the order of the queue, failures of
//! work that is over, waits without the interpreter lock.

use millpond_extension::{Array, Event, Queue};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Smoothes a series; returns before that is done.
#[pyfunction]
fn smooth(series: Array, share: f64) -> PyResult<Array> {
    if !(0.0..=1.0).contains(&share) {
        return Err(PyValueError::new_err(format!(
            "a share is between 0 and 1, not {share}"
        )));
    }
    let queue = series.queue()?;
    let smoothed = Array::new::<f64>(&queue, series.shape()?)?;
    let operands = (series.reads::<f64>()?, smoothed.writes::<f64>()?);
    queue.submit(c"smooth", operands, move |(series, smoothed)| {
        let Some(&first) = series.first() else { return };
        let mut value = first;
        for (new, smoothed) in series.iter().zip(smoothed) {
            value += share * (new - value);
            *smoothed = value;
        }
    })?;
    // The series may go now: its bytes are used again only behind the task.
    Ok(smoothed)
}

/// Divides a series by its first value, in place; a series that begins with zero makes the event fail,
/// and whatever depends on it.
#[pyfunction]
fn normalise(series: Array) -> PyResult<Event> {
    let queue = series.queue()?;
    let event = queue.submit(
        c"normalise",
        (series.updates::<f64>()?,),
        |(series,)| match series.first().copied() {
            Some(0.0) => Err("the series begins with zero"),
            Some(first) => {
                series.iter_mut().for_each(|value| *value /= first);
                Ok(())
            }
            None => Ok(()),
        },
    );
    Ok(event?)
}

/// Adds one series to another; they must not share memory, which the submission looks at.
#[pyfunction]
fn accumulate(sum: Array, series: Array) -> PyResult<Event> {
    if sum.size()? != series.size()? {
        let (sum, series) = (sum.shape()?, series.shape()?);
        return Err(PyValueError::new_err(format!(
            "shapes {sum:?} and {series:?} differ"
        )));
    }
    let operands = (sum.updates::<f64>()?, series.reads::<f64>()?);
    let event = sum
        .queue()?
        .submit(c"accumulate", operands, |(sum, series)| {
            sum.iter_mut()
                .zip(series)
                .for_each(|(sum, value)| *sum += value);
        });
    Ok(event?)
}

/// Waits for a queue without the interpreter lock.
#[pyfunction]
fn wait(py: Python<'_>, queue: Queue) -> PyResult<()> {
    Ok(queue.wait(py)?)
}

/// The number of handles that extensions have.
#[pyfunction]
fn live_handles(py: Python<'_>) -> PyResult<usize> {
    millpond_extension::live_handles(py)
}

#[pymodule]
fn smoothing(module: &Bound<'_, PyModule>) -> PyResult<()> {
    millpond_extension::import(module.py())?;
    module.add_function(wrap_pyfunction!(smooth, module)?)?;
    module.add_function(wrap_pyfunction!(normalise, module)?)?;
    module.add_function(wrap_pyfunction!(accumulate, module)?)?;
    module.add_function(wrap_pyfunction!(wait, module)?)?;
    module.add_function(wrap_pyfunction!(live_handles, module)?)
}
