//! The interpreter lock: the only file that releases it (rule O9).
//!
//! Wherever the runtime blocks a thread, a hook releases the lock: a call costs nothing more unless
//! it has to wait. Waits that a program asks for are made in slices, between which signals are
//! looked at, so that Ctrl-C interrupts them.
//! Each entry from Python also lets go the owners of foreign memory whose last use has completed
//! (rule M3), which costs one load where there are none.

use std::cell::Cell;
use std::time::{Duration, Instant};

use millpond::runtime::waiting::set_hook;
use millpond::runtime::{self, Device, Event, Queue, Status, drain_releases};
use millpond::{Allocation, Error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{IntoException, Raise};
use crate::runtime::{origin, service};

/// How long a wait goes on without looking at signals.
const SLICE: Duration = Duration::from_millis(50);

thread_local! {
    /// Whether this thread came from Python and holds the interpreter lock, as far as is known
    /// here: not while it is in [`release`].
    static ATTACHED: Cell<bool> = const { Cell::new(false) };
    /// What the signal raised that interrupted a wait inside of the runtime.
    static INTERRUPT: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// To be called first by everything that Python calls and that may submit, wait or let go.
#[inline]
pub(crate) fn enter() {
    ATTACHED.set(true);
    drain_releases();
}

/// Makes the runtime let go of the interpreter lock wherever it blocks a thread, and give up a wait
/// that a signal interrupts.
pub(crate) fn install() {
    set_hook(|slice, may_stop| {
        if !ATTACHED.get() {
            return slice(None);
        }
        Python::attach(|py| {
            if !may_stop {
                return release(py, || slice(None));
            }
            while !release(py, || slice(Some(Instant::now() + SLICE))) {
                if let Err(interrupt) = py.check_signals() {
                    INTERRUPT.set(Some(interrupt));
                    return false;
                }
            }
            true
        })
    });
}

/// The exception that made this thread give up a wait.
pub(crate) fn take_interrupt() -> Option<PyErr> {
    INTERRUPT.take()
}

/// Makes a call that submits work. Where it has to wait, the interpreter lock is released.
///
/// # Errors
/// The exception for the call's error.
#[inline]
pub(crate) fn submit<T, E: IntoException>(
    py: Python<'_>,
    body: impl FnOnce() -> Result<T, E>,
) -> PyResult<T> {
    enter();
    origin::note(py);
    body().raise()
}

/// Puts the mark back, also when a body panics.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        ATTACHED.set(self.0);
    }
}

/// Calls into Python from a callback of the runtime, whether or not the thread holds the
/// interpreter lock; not at all once the interpreter ends.
pub(crate) fn call_back(body: impl FnOnce(Python<'_>)) {
    Python::try_attach(|py| {
        let _restore = Restore(ATTACHED.replace(true));
        body(py);
    });
}

/// Makes a call that may take a while with the interpreter lock released.
pub(crate) fn release<T: Send>(py: Python<'_>, body: impl FnOnce() -> T + Send) -> T {
    let _restore = Restore(ATTACHED.replace(false));
    py.detach(body)
}

/// A timeout from Python: seconds, none for ever.
///
/// # Errors
/// `ValueError` for a negative number or one that is none.
pub(crate) fn timeout(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    match seconds {
        None => Ok(None),
        // More than can be counted is for ever.
        Some(seconds) if seconds > 1.0e15 => Ok(None),
        Some(seconds) => Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| {
            PyValueError::new_err(format!("timeout must be at least 0 seconds, not {seconds}"))
        }),
    }
}

/// Waits for an event; its failure is the call's.
pub(crate) fn wait_event(py: Python<'_>, event: &Event, timeout: Option<Duration>) -> PyResult<()> {
    enter();
    if event.status() == Status::Pending {
        service::check_wait(&event.queue())?;
        wait(py, timeout, |until| event.wait_finished(Some(until)))?;
    }
    event.wait().raise()
}

/// Waits for what was submitted to a queue so far; the first failure that wasn't told is the
/// call's.
pub(crate) fn wait_queue(py: Python<'_>, queue: &Queue, timeout: Option<Duration>) -> PyResult<()> {
    enter();
    if queue.try_wait() {
        return Ok(());
    }
    wait_finished(py, queue, timeout)?;
    queue.check().raise()
}

/// Waits for all queues of some devices, and then raises the first failure that wasn't told; the
/// others are left for later waits.
pub(crate) fn wait_devices(
    py: Python<'_>,
    devices: &[Device],
    timeout: Option<Duration>,
) -> PyResult<()> {
    enter();
    if devices.iter().all(Device::try_wait) {
        return Ok(());
    }
    let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let queues: Vec<Queue> = devices.iter().flat_map(Device::open_queues).collect();
    for queue in &queues {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        wait_finished(py, queue, left)?;
    }
    for device in devices {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        wait(py, left, |until| device.finish_dropped(Some(until)))?;
    }
    queues.iter().try_for_each(|queue| queue.check().raise())?;
    let mut devices = devices.iter();
    devices.try_for_each(|device| device.check_dropped().raise())
}

/// Waits for what was submitted to a queue so far, and tells of no failure.
fn wait_finished(py: Python<'_>, queue: &Queue, timeout: Option<Duration>) -> PyResult<()> {
    service::check_wait(queue)?;
    enter();
    match queue.record() {
        Ok(event) => wait(py, timeout, |until| event.wait_finished(Some(until))),
        // It can't be asked for an event any more, but gets no more work either.
        Err(Error::Closed { .. }) => wait(py, timeout, |until| queue.finish(Some(until))),
        Err(error) => Err(error).raise(),
    }
}

/// Waits until everything that writes the memory has finished.
pub(crate) fn wait_written(py: Python<'_>, memory: &Allocation) -> PyResult<()> {
    enter();
    if memory.is_idle() {
        // It returns at once, and counts where the pool knows of nothing but waits.
        return memory.wait_written().raise();
    }
    service::check_memory(memory)?;
    wait(py, None, |until| memory.wait_written_until(until))
}

/// Waits until everything that uses the memory has finished.
pub(crate) fn wait_idle(py: Python<'_>, memory: &Allocation) -> PyResult<()> {
    enter();
    if memory.is_idle() {
        return memory.wait_idle().raise();
    }
    service::check_memory(memory)?;
    wait(py, None, |until| memory.wait_idle_until(until))
}

/// Waits in slices for something that answers [`Error::TimedOut`] while it isn't there yet.
fn wait(
    py: Python<'_>,
    timeout: Option<Duration>,
    slice: impl Fn(Instant) -> runtime::Result<()> + Sync,
) -> PyResult<()> {
    enter();
    let begin = Instant::now();
    let end = timeout.and_then(|timeout| begin.checked_add(timeout));
    loop {
        let until = Instant::now() + SLICE;
        let until = end.map_or(until, |end| end.min(until));
        match release(py, || slice(until)) {
            Err(Error::TimedOut { .. }) => py.check_signals()?,
            answer => {
                enter();
                return answer.raise();
            }
        }
        if end.is_some_and(|end| Instant::now() >= end) {
            let waited = begin.elapsed();
            return Err(Error::TimedOut { waited }).raise();
        }
    }
}
