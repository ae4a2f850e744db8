//! Python callables that run when a queue reaches them, or when an event is reached.
//!
//! No thread of a backend touches a Python object (rule M3): a task is a gate on its queue. When
//! the queue reaches the gate, the gate announces the task's number, and the task moves to the
//! list of a thread that Python owns (`millpond/_service.py`). That thread holds none of the locks
//! here while it runs the callable, and opens the gate with the outcome. Tasks whose gate is never
//! reached, since what they depend on failed, are let go by the same thread.
//!
//! A task that waits for its own queue would wait for itself, so such waits are errors.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use millpond::Allocation;
use millpond::runtime::queue::serve_tasks;
use millpond::runtime::{Access, Event, Failure, FailureKind, Gate, Queue, Use};
use millpond::tensor::Tensor;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::error::error;
use crate::gil;
use crate::interop::buffer_protocol::TaskView;
use crate::runtime::event::PyEvent;
use crate::runtime::{lifecycle, origin};

/// How long pending tasks may stand still at exit before they are given up.
const GRACE: Duration = Duration::from_secs(1);

/// How often they are looked at meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// A callable, with what it is called for.
struct Job {
    function: Py<PyAny>,
    cause: Cause,
}

enum Cause {
    Task(Task),
    Callback(Py<PyEvent>),
}

struct Task {
    queue: Queue,
    gate: Gate,
    uses: Vec<Tensor>,
    /// Whether the callable is given views of what it uses.
    views: bool,
    name: Arc<str>,
    origin: Option<Arc<str>>,
}

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

#[derive(Default)]
struct State {
    /// Jobs whose time hasn't come.
    waiting: HashMap<u64, Job>,
    /// Jobs whose time has come, in that order.
    ready: VecDeque<Job>,
    /// Jobs whose time won't come, to be dropped by a thread of Python's.
    dead: Vec<Job>,
    running: bool,
    /// How many have been run.
    served: u64,
    stopping: bool,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
static CHANGED: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The time of a job has come.
fn announce(number: u64) {
    let mut state = lock();
    if let Some(job) = state.waiting.remove(&number) {
        state.ready.push_back(job);
        CHANGED.notify_all();
    }
}

/// The time of a job won't come any more, unless it has.
fn abandon(number: u64) {
    let mut state = lock();
    if let Some(job) = state.waiting.remove(&number) {
        state.dead.push(job);
        CHANGED.notify_all();
    }
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
    let number = next_number();
    let gate = Gate::announcing(move || announce(number));
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
    lock().waiting.insert(number, job);
    let event = gil::submit(py, || {
        let uses: Vec<Use<'_>> = uses.iter().map(use_of).collect();
        let event = queue.gate(&gate, &uses)?;
        event.on_complete(move |_| abandon(number));
        Ok::<_, millpond::Error>(event)
    });
    if event.is_err() {
        let job = lock().waiting.remove(&number);
        drop(job);
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
    let number = next_number();
    let watched = event.get().0.clone();
    let job = Job {
        function,
        cause: Cause::Callback(event),
    };
    lock().waiting.insert(number, job);
    gil::release(py, || watched.on_complete(move |_| announce(number)));
    Ok(())
}

/// What messages call a callable.
pub(crate) fn name_of(function: &Bound<'_, PyAny>) -> PyResult<String> {
    match function.getattr("__qualname__") {
        Ok(name) => Ok(name.str()?.to_string()),
        Err(_) => Ok(function.get_type().name()?.to_string()),
    }
}

thread_local! {
    /// The queue and the memory that wait for the task that this thread runs.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

struct Held {
    queue: Queue,
    memory: Vec<Allocation>,
    name: Arc<str>,
}

/// Fails if the calling thread runs a task that the queue waits for.
///
/// # Errors
/// `millpond.Error`.
pub(crate) fn check_wait(queue: &Queue) -> PyResult<()> {
    HELD.with_borrow(|held| match held {
        Some(held) if held.queue == *queue => Err(error(format!(
            "task {} cannot wait for queue {}, which waits for the task",
            held.name,
            queue.id()
        ))),
        _ => Ok(()),
    })
}

/// Fails if the calling thread runs a task that work on this memory waits for.
///
/// # Errors
/// `millpond.Error`.
pub(crate) fn check_memory(memory: &Allocation) -> PyResult<()> {
    HELD.with_borrow(|held| match held {
        Some(held) if held.memory.iter().any(|used| used.same_as(memory)) => Err(error(format!(
            "task {} cannot wait for memory that it uses: submit it with views=True, and look at \
             those",
            held.name
        ))),
        Some(held) if memory.is_on(&held.queue) => check_wait(&held.queue),
        _ => Ok(()),
    })
}

/// A callable whose time has come, for the thread that runs it.
#[pyclass(frozen, name = "_Job", module = "millpond")]
struct PyJob(Job);

#[pymethods]
impl PyJob {
    /// What is to be called.
    #[getter]
    fn function(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.function.clone_ref(py)
    }

    /// What it is to be called with.
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0.cause {
            Cause::Callback(event) => PyTuple::new(py, [event.clone_ref(py)]),
            Cause::Task(task) if task.views => {
                let views: PyResult<Vec<_>> = task
                    .uses
                    .iter()
                    .map(|tensor| TaskView::memoryview(py, tensor))
                    .collect();
                PyTuple::new(py, views?)
            }
            Cause::Task(_) => Ok(PyTuple::empty(py)),
        }
    }

    /// Tell that it has returned.
    fn finish(&self, py: Python<'_>) {
        self.conclude(py, Ok(()));
    }

    /// Tell that it has raised.
    fn fail(&self, py: Python<'_>, exception: Bound<'_, PyAny>) -> PyResult<()> {
        match &self.0.cause {
            Cause::Callback(_) => {
                let function = self.0.function.bind(py);
                PyErr::from_value(exception).write_unraisable(py, Some(function));
                self.conclude(py, Ok(()));
            }
            Cause::Task(task) => {
                let lines = py
                    .import("traceback")?
                    .call_method1("format_exception", (exception,))?;
                let lines: Vec<String> = lines.extract()?;
                let command = format!("task {}", task.name);
                let failure = Failure::with_origin(
                    FailureKind::Command,
                    command,
                    lines.concat().trim_end(),
                    task.origin.clone(),
                );
                self.conclude(py, Err(failure));
            }
        }
        Ok(())
    }
}

impl PyJob {
    fn conclude(&self, py: Python<'_>, outcome: Result<(), Failure>) {
        HELD.set(None);
        if let Cause::Task(task) = &self.0.cause {
            gil::release(py, || task.gate.open(outcome));
        }
    }
}

/// The next callable whose time has come; none when the thread should end.
#[pyfunction]
fn next_job(py: Python<'_>) -> Option<PyJob> {
    gil::enter();
    serve_tasks();
    loop {
        let (job, dead) = gil::release(py, wait_for_job);
        drop(dead);
        match job {
            Next::Run(job) => {
                if let Cause::Task(task) = &job.cause {
                    let memory = task.uses.iter().map(|tensor| tensor.memory().clone());
                    HELD.set(Some(Held {
                        queue: task.queue.clone(),
                        memory: memory.collect(),
                        name: Arc::clone(&task.name),
                    }));
                }
                return Some(PyJob(job));
            }
            Next::Look => {}
            Next::Stop => return None,
        }
    }
}

enum Next {
    Run(Job),
    /// There were only jobs to let go.
    Look,
    Stop,
}

fn wait_for_job() -> (Next, Vec<Job>) {
    let mut state = lock();
    if std::mem::take(&mut state.running) {
        state.served += 1;
        CHANGED.notify_all();
    }
    loop {
        let dead = std::mem::take(&mut state.dead);
        if let Some(job) = state.ready.pop_front() {
            state.running = true;
            return (Next::Run(job), dead);
        }
        if state.stopping {
            return (Next::Stop, dead);
        }
        if !dead.is_empty() {
            return (Next::Look, dead);
        }
        state = CHANGED.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Waits until all tasks have run, or none could for a moment; Ctrl-C ends the wait.
///
/// # Errors
/// What a signal's handler raises.
pub(super) fn drain(py: Python<'_>) -> PyResult<()> {
    let mut seen = None;
    let mut since = Instant::now();
    loop {
        let (outstanding, progress) = {
            let state = lock();
            let outstanding = !state.waiting.is_empty() || !state.ready.is_empty();
            (outstanding || state.running, (state.served, state.running))
        };
        if !outstanding {
            return Ok(());
        }
        if progress.1 || seen != Some(progress) {
            seen = Some(progress);
            since = Instant::now();
        }
        if since.elapsed() >= GRACE {
            return Ok(());
        }
        gil::release(py, || {
            let state = lock();
            drop(CHANGED.wait_timeout(state, LOOK));
        });
        py.check_signals()?;
    }
}

/// Lets the thread end when it has run what is ready, and lets go of what isn't.
pub(super) fn stop() {
    let (waiting, dead) = {
        let mut state = lock();
        state.stopping = true;
        CHANGED.notify_all();
        (
            std::mem::take(&mut state.waiting),
            std::mem::take(&mut state.dead),
        )
    };
    drop((waiting, dead));
}

/// Adds what the thread calls to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyJob>()?;
    module.add_function(wrap_pyfunction!(next_job, module)?)
}
