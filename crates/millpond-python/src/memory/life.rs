//! Where the life of memory begins and ends on a queue.

use std::time::Instant;

use millpond::MemoryKind;
use millpond::runtime::{AllocateOptions, Event, Pool, Reuse, Wait};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::gil;
use crate::integer;
use crate::memory::PyMemory;
use crate::memory::options;
use crate::memory::pool::PyPool;
use crate::runtime::PyQueue;
use crate::runtime::event::PyEvent;

#[pymethods]
impl PyQueue {
    /// Allocate in queue order: memory, and the event from which on its bytes may be used.
    ///
    /// The address is known at once. Commands that name the memory are ordered behind the event;
    /// it is for uses through the address. The memory comes from `pool`, or from the current pool
    /// of `kind` (device memory, if none is named), and is used after the events in `after`.
    ///
    /// Where memory is about to be freed the call waits for it: for `timeout` seconds, after which
    /// it raises `TimeoutError`, or not at all with `wait=False`. The reuse rules are the pool's
    /// where they aren't given.
    #[pyo3(
        signature = (
            nbytes, pool=None, after=Vec::new(), *, kind=None, alignment=None, timeout=None,
            wait=true, follow_events=None, opportunistic=None, internal_dependencies=None
        ),
        text_signature = "($self, nbytes, pool=None, after=(), *, kind=None, alignment=None, \
                          timeout=None, wait=True, follow_events=None, opportunistic=None, \
                          internal_dependencies=None)"
    )]
    #[allow(
        clippy::too_many_arguments,
        reason = "keyword arguments of a Python function"
    )]
    fn alloc<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = integer::count)] nbytes: usize,
        pool: Option<Py<PyPool>>,
        after: Vec<Py<PyEvent>>,
        #[pyo3(from_py_with = options::kind_or_none)] kind: Option<MemoryKind>,
        #[pyo3(from_py_with = integer::count_or_none)] alignment: Option<usize>,
        timeout: Option<f64>,
        wait: bool,
        follow_events: Option<bool>,
        opportunistic: Option<bool>,
        internal_dependencies: Option<bool>,
    ) -> PyResult<(Bound<'py, PyAny>, PyEvent)> {
        let pool = self.pool(pool, kind)?;
        let wait = patience(timeout, wait)?;
        let own = pool.reuse();
        let reuse = Reuse {
            follow_events: follow_events.unwrap_or(own.follow_events),
            opportunistic: opportunistic.unwrap_or(own.opportunistic),
            internal_dependencies: internal_dependencies.unwrap_or(own.internal_dependencies),
        };
        let after = events(after);
        let after: Vec<&Event> = after.iter().collect();
        let options = AllocateOptions {
            after: &after,
            alignment: alignment.unwrap_or(1),
            reuse: Some(reuse),
            wait,
        };
        let (allocation, event) =
            gil::submit(py, || self.0.allocate_with(&pool, nbytes, &options))?;
        Ok((PyMemory::object(py, allocation)?, PyEvent(event)))
    }

    /// Free memory in queue order: behind every command that names the memory, the events, and, on
    /// an in-order queue, everything submitted to it so far. The answer is the free's event;
    /// nothing waits.
    ///
    /// The object can't be used afterwards. While views, buffers or pending tasks share the memory,
    /// the call fails and frees nothing. Memory that is merely let go is freed as well, behind the
    /// commands that name it; this is for memory that was used through its address.
    #[pyo3(
        signature = (memory, after=Vec::new()),
        text_signature = "($self, memory, after=())"
    )]
    fn free(
        &self,
        py: Python<'_>,
        memory: &PyMemory,
        after: Vec<Py<PyEvent>>,
    ) -> PyResult<PyEvent> {
        let after = events(after);
        let after: Vec<&Event> = after.iter().collect();
        let free = || {
            memory
                .slot
                .free(|allocation| self.0.free(allocation, &after))
        };
        gil::submit(py, free).map(PyEvent)
    }
}

impl PyQueue {
    /// The pool that arguments name.
    fn pool(&self, pool: Option<Py<PyPool>>, kind: Option<MemoryKind>) -> PyResult<Pool> {
        let Some(pool) = pool else {
            let kind = kind.unwrap_or(MemoryKind::Device);
            return Ok(self.0.device().current_pool(kind));
        };
        let pool = pool.get().0.clone();
        match kind {
            Some(kind) if kind != pool.kind() => Err(PyValueError::new_err(format!(
                "alloc: kind='{kind}', but the {} has {} memory",
                pool.name(),
                pool.kind()
            ))),
            _ => Ok(pool),
        }
    }
}

fn events(events: Vec<Py<PyEvent>>) -> Vec<Event> {
    let events = events.into_iter();
    events.map(|event| event.get().0.clone()).collect()
}

fn patience(timeout: Option<f64>, wait: bool) -> PyResult<Wait> {
    if !wait {
        return match timeout {
            None => Ok(Wait::Never),
            Some(seconds) => Err(PyValueError::new_err(format!(
                "alloc: timeout={seconds} has no meaning with wait=False"
            ))),
        };
    }
    let until = gil::timeout(timeout)?.and_then(|timeout| Instant::now().checked_add(timeout));
    Ok(until.map_or(Wait::Forever, Wait::Until))
}
