//! Recordings of what a pool was asked for: made, kept as text, replayed.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::runtime::{Error, PoolOptions, Recorder, Recording, RecordingWriter, Reuse};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::error::Raise;
use crate::gil;
use crate::integer;
use crate::memory::pool::PyPool;
use crate::memory::replay::PyReplay;

/// Bytes of a device without memory, unless a replay says otherwise: no limit.
const MEMORY: usize = 1 << 46;

/// Writes down what a pool is asked for, until `stop` or the end of its `with` statement.
///
/// `with pool.record() as recording:` has the recording ready when it is left. A pool has one
/// recorder at a time: another one ends it.
#[pyclass(frozen, name = "Recorder", module = "millpond.memory")]
pub(super) struct PyRecorder {
    running: Mutex<Option<Running>>,
    recording: Py<PyRecording>,
}

enum Running {
    InMemory(Recorder),
    ToFile(RecordingWriter, PathBuf),
}

impl PyRecorder {
    pub(super) fn start(py: Python<'_>, pool: &PyPool, path: Option<PathBuf>) -> PyResult<Self> {
        gil::enter();
        let running = match path {
            None => Running::InMemory(gil::release(py, || pool.0.record())),
            Some(path) => {
                let file = gil::release(py, || File::create(&path));
                let file = file.map_err(|error| os_error(&error, &path))?;
                let writer = gil::release(py, || pool.0.record_to(file)).raise()?;
                Running::ToFile(writer, path)
            }
        };
        Ok(Self {
            running: Mutex::new(Some(running)),
            recording: Py::new(py, PyRecording(Mutex::new(State::Unfinished)))?,
        })
    }
}

#[pymethods]
impl PyRecorder {
    /// End it; the recording. What a file refused is told here, as an `OSError`. Ending it twice
    /// does nothing.
    fn stop(&self, py: Python<'_>) -> PyResult<Py<PyRecording>> {
        gil::enter();
        let running = lock(&self.running).take();
        let state = match running {
            None => return Ok(self.recording.clone_ref(py)),
            Some(Running::InMemory(recorder)) => {
                State::InMemory(Arc::new(gil::release(py, || recorder.finish())))
            }
            Some(Running::ToFile(writer, path)) => {
                gil::release(py, || writer.finish()).raise()?;
                State::InFile(path)
            }
        };
        *lock(&self.recording.get().0) = state;
        Ok(self.recording.clone_ref(py))
    }

    fn __enter__(&self, py: Python<'_>) -> Py<PyRecording> {
        self.recording.clone_ref(py)
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.stop(py).map(drop)
    }
}

/// What a pool was asked for, in order: allocations and frees with the queues that used the memory,
/// and the waits between queues and of the host.
///
/// `replay` says what another pool would have made of it. As text, which `str`, `save` and `load`
/// have, it is one step a line.
#[pyclass(frozen, name = "Recording", module = "millpond.memory")]
pub(super) struct PyRecording(Mutex<State>);

enum State {
    /// The recorder is still at it.
    Unfinished,
    InMemory(Arc<Recording>),
    /// Read when it is needed.
    InFile(PathBuf),
}

impl PyRecording {
    fn get(&self, py: Python<'_>) -> PyResult<Arc<Recording>> {
        gil::enter();
        let path = match &*lock(&self.0) {
            State::Unfinished => {
                let message = "the recording is not finished: stop the recorder first";
                return Err(PyValueError::new_err(message));
            }
            State::InMemory(recording) => return Ok(Arc::clone(recording)),
            State::InFile(path) => path.clone(),
        };
        let recording = Arc::new(read(py, &path)?);
        *lock(&self.0) = State::InMemory(Arc::clone(&recording));
        Ok(recording)
    }
}

#[pymethods]
#[allow(
    clippy::needless_pass_by_value,
    reason = "arguments that Python's are converted to"
)]
impl PyRecording {
    /// Read a recording from a file. A last line that was cut off is left out.
    #[classmethod]
    #[pyo3(text_signature = "($cls, path)")]
    fn load(_class: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        gil::enter();
        let recording = read(py, &path)?;
        Ok(Self(Mutex::new(State::InMemory(Arc::new(recording)))))
    }

    /// Write the recording to a file, as text.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let recording = self.get(py)?;
        let file = gil::release(py, || File::create(&path));
        let file = file.map_err(|error| os_error(&error, &path))?;
        gil::release(py, || recording.write(BufWriter::new(file))).raise()
    }

    /// Ask a pool with these limits, on a device with `memory` bytes, for the same.
    ///
    /// Nothing is computed, and no memory is used. Work counts as done when the recorded program
    /// waited for it, or when a request would have to wait, so the answer is the same every time.
    #[pyo3(signature = (
        *, maximum_size=None, release_threshold=None, max_poolable=None, min_driver_alloc=None,
        follow_events=true, opportunistic=true, internal_dependencies=true, memory=None
    ), text_signature = "($self, *, maximum_size=None, release_threshold=None, max_poolable=None, \
                         min_driver_alloc=None, follow_events=True, opportunistic=True, \
                         internal_dependencies=True, memory=None)")]
    #[allow(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "keyword arguments of a Python function"
    )]
    fn replay(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = integer::count_or_none)] maximum_size: Option<usize>,
        #[pyo3(from_py_with = integer::count_or_none)] release_threshold: Option<usize>,
        #[pyo3(from_py_with = integer::count_or_none)] max_poolable: Option<usize>,
        #[pyo3(from_py_with = integer::count_or_none)] min_driver_alloc: Option<usize>,
        follow_events: bool,
        opportunistic: bool,
        internal_dependencies: bool,
        #[pyo3(from_py_with = integer::count_or_none)] memory: Option<usize>,
    ) -> PyResult<PyReplay> {
        let recording = self.get(py)?;
        let usual = PoolOptions::default();
        let options = PoolOptions {
            maximum_size,
            release_threshold,
            max_poolable,
            min_driver_alloc: min_driver_alloc.unwrap_or(usual.min_driver_alloc),
            reuse: Reuse {
                follow_events,
                opportunistic,
                internal_dependencies,
            },
            ..usual
        };
        let replay = gil::release(py, || recording.replay(&options, memory.unwrap_or(MEMORY)));
        replay.raise().map(PyReplay)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.get(py)?.steps().len())
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.get(py)?.to_string())
    }

    fn __repr__(&self) -> String {
        match &*lock(&self.0) {
            State::Unfinished => "<Recording, not finished>".to_owned(),
            State::InMemory(recording) => {
                format!("<Recording of {} steps>", recording.steps().len())
            }
            State::InFile(path) => format!("<Recording in '{}'>", path.display()),
        }
    }
}

fn read(py: Python<'_>, path: &Path) -> PyResult<Recording> {
    let file = gil::release(py, || File::open(path));
    let file = file.map_err(|error| os_error(&error, path))?;
    let recording = gil::release(py, || Recording::read(BufReader::new(file)));
    recording.map_err(|error| match error {
        Error::Invalid { .. } => PyValueError::new_err(format!("{}: {error}", path.display())),
        error => Err::<(), _>(error).raise().expect_err("it is an error"),
    })
}

/// An `OSError` as Python's own functions raise it.
fn os_error(error: &io::Error, path: &Path) -> PyErr {
    let text = error.to_string();
    let reason = text
        .split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned();
    PyOSError::new_err((error.raw_os_error(), reason, path.as_os_str().to_owned()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds the classes to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyRecorder>()?;
    module.add_class::<PyRecording>()
}
