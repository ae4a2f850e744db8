//! `use_pool`: the pool of a thread's allocations for the length of a `with` statement.

use millpond::runtime::{Error, Pool};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::memory::pool::PyPool;
use crate::memory::scopes::Key;

/// What `use_pool` answers: a context manager that may be entered again and again.
#[pyclass(frozen, name = "PoolScope", module = "millpond.memory")]
struct PyPoolScope {
    pool: Pool,
    key: Key,
}

#[pymethods]
impl PyPoolScope {
    fn __enter__(&self) -> PyResult<PyPool> {
        if self.pool.is_closed() {
            return Err(Error::PoolClosed {
                pool: self.pool.name().to_owned(),
            })
            .raise();
        }
        self.key.enter(&self.pool);
        Ok(PyPool(self.pool.clone()))
    }

    fn __exit__(
        &self,
        _kind: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.key.exit::<Pool>()
    }

    fn __repr__(&self) -> String {
        format!("<PoolScope of '{}'>", self.pool.name())
    }
}

/// In `with use_pool(pool):` the thread's allocations come from the pool that name none, where
/// device and kind are the pool's: those of arrays and of all temporaries too.
///
/// It holds for the thread that enters it: not for threads that it starts, nor for tasks of
/// queues. Don't `await` inside of it: other coroutines of the thread would be in it too.
#[pyfunction]
fn use_pool(pool: &PyPool) -> PyPoolScope {
    PyPoolScope {
        pool: pool.0.clone(),
        key: Key::new(),
    }
}

/// Adds the class and the function to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPoolScope>()?;
    module.add_function(wrap_pyfunction!(use_pool, module)?)
}
