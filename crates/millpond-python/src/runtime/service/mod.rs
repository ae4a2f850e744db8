//! Python callables that run when a queue reaches them, or when an event is reached.
//!
//! No thread of a backend touches a Python object (rule M3): a task is a gate on its queue. When
//! the queue reaches the gate, the gate announces the task's number, and the task moves to the
//! list of a thread that Python owns (`millpond/_service.py`). That thread holds none of the locks
//! here while it runs the callable, and opens the gate with the outcome. Tasks whose gate is never
//! reached, since what they depend on failed, are let go by the same thread.
//!
//! A task that waits for its own queue would wait for itself, so such waits are errors.

mod held;
mod job;
mod list;

use std::sync::Arc;
use std::time::{Duration, Instant};

use millpond::runtime::{Access, Event, Gate, Queue, Use};
use millpond::tensor::Tensor;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::gil;
use crate::runtime::event::PyEvent;
use crate::runtime::{lifecycle, origin};
use job::{Cause, Job, Task};

pub(crate) use held::{check_memory, check_wait};

/// How long pending tasks may stand still at exit before they are given up.
const GRACE: Duration = Duration::from_secs(1);

/// How often they are looked at meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// What a task is made of.
pub(crate) struct Submission {
    /// What is called.
    pub(crate) function: Py<PyAny>,
    /// What it is ordered with.
    pub(crate) uses: Vec<Tensor>,
    /// Whether it is given views of that.
    pub(crate) views: bool,
    /// What messages call it.
    pub(crate) name: Arc<str>,
}

/// Starts the thread, unless it was.
fn start(py: Python<'_>) -> PyResult<()> {
    static STARTED: PyOnceLock<()> = PyOnceLock::new();
    if lifecycle::is_forked() {
        return Ok(());
    }
    STARTED
        .get_or_try_init(py, || {
            py.import("millpond._service")?
                .call_method0("start")
                .map(drop)
        })
        .map(drop)
}

/// Submits a task: the event tells when it has returned.
///
/// # Errors
/// A closed queue; views of memory that the host can't reach.
pub(crate) fn submit(py: Python<'_>, queue: &Queue, submission: Submission) -> PyResult<Event> {
    start(py)?;
    let number = list::next_number();
    let gate = Gate::announcing(move || list::announce(number));
    let uses = submission.uses.clone();
    let task = Task {
        queue: queue.clone(),
        gate: gate.clone(),
        uses: submission.uses,
        views: submission.views,
        name: submission.name,
        origin: origin::find(py),
    };
    let job = Job {
        function: submission.function,
        cause: Cause::Task(task),
    };
    list::append(number, job);
    let event = gil::submit(py, || {
        let uses: Vec<Use<'_>> = uses.iter().map(use_of).collect();
        let event = queue.gate(&gate, &uses)?;
        event.on_complete(move |_| list::abandon(number));
        Ok::<_, millpond::Error>(event)
    });
    if event.is_err() {
        drop(list::take_back(number));
    }
    event
}

fn use_of(tensor: &Tensor) -> Use<'_> {
    let access = if tensor.is_read_only() {
        Access::Read
    } else {
        Access::Update
    };
    Use {
        allocation: tensor.memory(),
        access,
    }
}

/// Calls `function(event)` when the event is reached.
///
/// # Errors
/// If the thread can't be started.
pub(crate) fn call_back(py: Python<'_>, event: Py<PyEvent>, function: Py<PyAny>) -> PyResult<()> {
    start(py)?;
    let number = list::next_number();
    let watched = event.get().0.clone();
    let job = Job {
        function,
        cause: Cause::Callback(event),
    };
    list::append(number, job);
    gil::release(py, || watched.on_complete(move |_| list::announce(number)));
    Ok(())
}

/// What messages call a callable.
pub(crate) fn name_of(function: &Bound<'_, PyAny>) -> PyResult<String> {
    match function.getattr("__qualname__") {
        Ok(name) => Ok(name.str()?.to_string()),
        Err(_) => Ok(function.get_type().name()?.to_string()),
    }
}

/// Waits until all tasks have run, or none could for a moment; Ctrl-C ends the wait.
///
/// # Errors
/// What a signal's handler raises.
pub(super) fn drain(py: Python<'_>) -> PyResult<()> {
    let mut seen = list::progress();
    let mut since = Instant::now();
    while seen.outstanding && (seen.running || since.elapsed() < GRACE) {
        gil::release(py, || list::look_again_after(LOOK));
        py.check_signals()?;
        let now = list::progress();
        if now.running || now != seen {
            seen = now;
            since = Instant::now();
        }
    }
    Ok(())
}

/// Lets the thread end when it has run what is ready, and lets go of what isn't.
pub(super) fn stop() {
    drop(list::close());
}

/// Adds what the thread calls to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    job::register(module)
}
