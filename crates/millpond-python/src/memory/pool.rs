//! Pools: made, looked at, changed and used.

use std::path::PathBuf;

use millpond::runtime::{AllocateOptions, Fit, MemoryKind, Pool, PoolOptions, Reuse, Zero};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::error::Raise;
use crate::gil;
use crate::integer;
use crate::memory::PyMemory;
use crate::memory::options::{self, ZeroLike};
use crate::memory::recording::PyRecorder;
use crate::memory::statistics::PyStatistics;
use crate::runtime::{PyDevice, PyQueue};
use crate::tensor::place::{DeviceLike, device_or_default};

/// Memory of one kind on one device: where allocations come from.
///
/// A device has a default pool for each kind. Others are made by `Pool(...)`, and over memory that
/// is there already by `Pool.over`; they are closed when nobody has them any more. Handles to the
/// same pool are equal.
///
/// Sizes are in bytes, and None is no limit: `maximum_size` is the most that it may reserve;
/// `release_threshold` what it tries to keep when something is waited for; `idle_release` for how
/// many seconds memory may be unused before it goes back; `max_poolable` the largest request that
/// doesn't get driver memory of its own; `min_driver_alloc` the least that the driver is asked for
/// at a time. `read_only` is a hint that kernels only read the memory. With `zero='always'` new
/// allocations hold zeros, with 'fresh' those that weren't used before.
///
/// Freed memory may be used by another queue that is ordered behind the free (`follow_events`), by
/// anyone once the free has completed (`opportunistic`), and by a queue that is made to wait for it
/// (`internal_dependencies`). With `shareable=True` its memory can be given to other processes, for
/// kinds that are in `Device.shareable`. `native=True` makes a pool of the driver's own, for kinds that are
/// in `Device.driver_pools`: each allocation and free is a command, and the driver decides which freed
/// memory serves again. It has no `idle_release`, `max_poolable` and `min_driver_alloc`.
#[pyclass(frozen, eq, hash, name = "Pool", module = "millpond.memory")]
#[derive(PartialEq, Hash)]
pub(crate) struct PyPool(pub(crate) Pool);

/// Whether a request would find memory, and when.
///
/// `when` is 'now' if the pool has it, 'growth' if the pool may ask the driver, 'after' if it does
/// once all the `points` are reached, and 'never' if something that is in use must be freed first.
#[pyclass(frozen, eq, name = "Fit", module = "millpond.memory")]
#[derive(PartialEq)]
struct PyFit {
    when: &'static str,
    points: Vec<(u64, u64)>,
}

impl PyFit {
    fn of(fit: Fit) -> Self {
        let (when, points) = match fit {
            Fit::Now => ("now", Vec::new()),
            Fit::Growth => ("growth", Vec::new()),
            Fit::After(points) => ("after", points),
            _ => ("never", Vec::new()),
        };
        let pairs = points.iter();
        let pairs = pairs.map(|point| (point.queue.get(), point.sequence));
        Self {
            when,
            points: pairs.collect(),
        }
    }
}

#[pymethods]
impl PyFit {
    /// 'now', 'growth', 'after' or 'never'.
    #[getter]
    fn when(&self) -> &'static str {
        self.when
    }

    /// The commands that it waits for: pairs of a queue's number and the command's on it.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.points)
    }

    fn __repr__(&self) -> String {
        format!("Fit(when='{}', points={:?})", self.when, self.points)
    }
}

#[pymethods]
impl PyPool {
    #[new]
    #[pyo3(
        signature = (
            device=None, kind=MemoryKind::Device, *, name=None, maximum_size=None,
            release_threshold=None, idle_release=None, max_poolable=None, min_driver_alloc=None,
            read_only=false, zero=ZeroLike(Zero::Never), follow_events=true, opportunistic=true,
            internal_dependencies=true, shareable=false, native=false
        ),
        text_signature = "(device=None, kind='device', *, name=None, maximum_size=None, \
                          release_threshold=None, idle_release=None, max_poolable=None, \
                          min_driver_alloc=None, read_only=False, zero='never', \
                          follow_events=True, opportunistic=True, internal_dependencies=True, \
                          shareable=False, native=False)"
    )]
    #[allow(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "keyword arguments of a Python function"
    )]
    fn new(
        device: Option<DeviceLike>,
        #[pyo3(from_py_with = options::kind)] kind: MemoryKind,
        name: Option<String>,
        #[pyo3(from_py_with = integer::count_or_none)] maximum_size: Option<usize>,
        #[pyo3(from_py_with = integer::count_or_none)] release_threshold: Option<usize>,
        idle_release: Option<f64>,
        #[pyo3(from_py_with = integer::count_or_none)] max_poolable: Option<usize>,
        #[pyo3(from_py_with = integer::count_or_none)] min_driver_alloc: Option<usize>,
        read_only: bool,
        zero: ZeroLike,
        follow_events: bool,
        opportunistic: bool,
        internal_dependencies: bool,
        shareable: bool,
        native: bool,
    ) -> PyResult<Self> {
        gil::enter();
        let usual = PoolOptions::default();
        let options = PoolOptions {
            name,
            maximum_size,
            release_threshold,
            idle_release: options::idle_release(idle_release)?,
            max_poolable,
            min_driver_alloc: min_driver_alloc.unwrap_or(usual.min_driver_alloc),
            read_only,
            zero: zero.0,
            reuse: Reuse {
                follow_events,
                opportunistic,
                internal_dependencies,
            },
            shareable,
            native,
        };
        let device = device_or_default(device)?;
        device.create_pool(kind, options).raise().map(Self)
    }

    /// Make a pool of memory that is there already, of what the view shows of it.
    ///
    /// The pool keeps the memory, never grows, and gives nothing back. Nobody else should use the
    /// bytes meanwhile; what was submitted on them before comes first.
    #[classmethod]
    #[pyo3(
        signature = (
            memory, *, name=None, read_only=false, zero=ZeroLike(Zero::Never), follow_events=true,
            opportunistic=true, internal_dependencies=true
        ),
        text_signature = "($cls, memory, *, name=None, read_only=False, zero='never', \
                          follow_events=True, opportunistic=True, internal_dependencies=True)"
    )]
    #[allow(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "keyword arguments of a Python function"
    )]
    fn over(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        memory: &PyMemory,
        name: Option<String>,
        read_only: bool,
        zero: ZeroLike,
        follow_events: bool,
        opportunistic: bool,
        internal_dependencies: bool,
    ) -> PyResult<Self> {
        memory.check_writable("Pool.over")?;
        let part = memory.range("Pool.over", 0, None)?;
        let options = PoolOptions {
            name,
            read_only,
            zero: zero.0,
            reuse: Reuse {
                follow_events,
                opportunistic,
                internal_dependencies,
            },
            ..PoolOptions::default()
        };
        let memory = memory.allocation()?;
        let device = memory.device();
        gil::submit(py, || device.create_pool_over(&memory, part, options)).map(Self)
    }

    /// Device whose memory it is.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device().clone())
    }

    /// Kind of memory: 'device', 'shared' or 'host'.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// What messages call it.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether it is the device's default pool of its kind, which is always there.
    #[getter]
    fn is_default(&self) -> bool {
        self.0.is_default()
    }

    /// Whether it was closed.
    #[getter]
    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Whether it is a pool of the driver's own.
    #[getter]
    fn native(&self) -> bool {
        self.0.is_native()
    }

    /// What the driver calls it by, of a pool of its own, as a number: a `CUmemoryPool` on NVIDIA's
    /// devices, which lives as long as the pool; None of other pools.
    #[getter]
    fn native_handle(&self) -> Option<usize> {
        self.0.native_handle()
    }

    /// Whether its memory is what `Pool.over` was given.
    #[getter]
    fn is_over_buffer(&self) -> bool {
        self.0.is_over_buffer()
    }

    /// What new allocations hold: zeros 'never' for sure, if 'fresh' from the driver, or 'always'.
    #[getter]
    fn zero(&self) -> &'static str {
        options::zero_name(self.0.options().zero)
    }

    /// Whether its memory can be given to other processes.
    #[getter]
    fn shareable(&self) -> bool {
        self.0.options().shareable
    }

    /// Whether kernels only read the memory.
    #[getter]
    fn read_only(&self) -> bool {
        self.0.options().read_only
    }

    /// The largest request that is pooled, in bytes; None if all are.
    #[getter]
    fn max_poolable(&self) -> Option<usize> {
        self.0.options().max_poolable
    }

    /// The least that the driver is asked for at a time, in bytes.
    #[getter]
    fn min_driver_alloc(&self) -> usize {
        self.0.options().min_driver_alloc
    }

    /// The most that it may reserve, in bytes; None for no limit.
    ///
    /// Below what is reserved it stops growth, and takes nothing back that is in use.
    #[getter]
    fn maximum_size(&self) -> Option<usize> {
        self.0.maximum_size()
    }

    #[setter]
    fn set_maximum_size(
        &self,
        #[pyo3(from_py_with = integer::count_or_none)] maximum_size: Option<usize>,
    ) {
        self.0.set_maximum_size(maximum_size);
    }

    /// Bytes that it tries to keep when something is waited for; None to keep all.
    #[getter]
    fn release_threshold(&self) -> Option<usize> {
        self.0.release_threshold()
    }

    #[setter]
    fn set_release_threshold(
        &self,
        #[pyo3(from_py_with = integer::count_or_none)] release_threshold: Option<usize>,
    ) {
        self.0.set_release_threshold(release_threshold);
    }

    /// For how many seconds memory may be unused before it goes back; None for ever.
    #[getter]
    fn idle_release(&self) -> Option<f64> {
        self.0.idle_release().map(|limit| limit.as_secs_f64())
    }

    #[setter]
    fn set_idle_release(&self, idle_release: Option<f64>) -> PyResult<()> {
        self.0
            .set_idle_release(options::idle_release(idle_release)?);
        Ok(())
    }

    /// Whether a queue may use memory whose free it is ordered behind by events.
    #[getter]
    fn follow_events(&self) -> bool {
        self.0.reuse().follow_events
    }

    #[setter]
    fn set_follow_events(&self, follow_events: bool) {
        self.0.set_reuse(Reuse {
            follow_events,
            ..self.0.reuse()
        });
    }

    /// Whether any queue may use memory whose free has completed.
    ///
    /// Addresses then depend on timing.
    #[getter]
    fn opportunistic(&self) -> bool {
        self.0.reuse().opportunistic
    }

    #[setter]
    fn set_opportunistic(&self, opportunistic: bool) {
        self.0.set_reuse(Reuse {
            opportunistic,
            ..self.0.reuse()
        });
    }

    /// Whether a queue may be made to wait for a free, once the pool can't grow.
    #[getter]
    fn internal_dependencies(&self) -> bool {
        self.0.reuse().internal_dependencies
    }

    #[setter]
    fn set_internal_dependencies(&self, internal_dependencies: bool) {
        self.0.set_reuse(Reuse {
            internal_dependencies,
            ..self.0.reuse()
        });
    }

    /// The largest request that it has in one free piece, in bytes.
    #[getter]
    fn largest_free(&self, py: Python<'_>) -> usize {
        gil::enter();
        gil::release(py, || self.0.largest_free())
    }

    /// What it holds now.
    fn statistics(&self, py: Python<'_>) -> PyStatistics {
        gil::enter();
        PyStatistics::of(&gil::release(py, || self.0.statistics()))
    }

    /// Have `used_high` and `reserved_high` count from what is used and reserved now.
    fn reset_highs(&self, py: Python<'_>) {
        gil::enter();
        gil::release(py, || self.0.reset_highs());
    }

    /// Give free memory back until at most `keep` bytes are reserved or nothing more is free.
    ///
    /// Memory whose last use hasn't completed counts as in use; nothing waits.
    #[pyo3(signature = (keep=0))]
    fn trim(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = integer::count)] keep: usize,
    ) -> PyResult<()> {
        gil::enter();
        gil::release(py, || self.0.trim(keep)).raise()
    }

    /// Begin to write down what the pool is asked for: a `Recorder`, to be used in `with` or stopped.
    ///
    /// With a path the steps go to that file as they happen, about fifty bytes each, and nothing is
    /// kept in memory; else they are kept.
    #[pyo3(signature = (path=None))]
    fn record(&self, py: Python<'_>, path: Option<PathBuf>) -> PyResult<PyRecorder> {
        PyRecorder::start(py, self, path)
    }

    /// Refuse new allocations. Live ones stay valid; what is free goes back now, the rest when it
    /// is. Closing twice does nothing; a default pool can't be closed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        gil::enter();
        gil::release(py, || self.0.close()).raise()
    }

    /// Whether a request would find memory, and when, as things are at this moment.
    fn fit(&self, py: Python<'_>, #[pyo3(from_py_with = integer::count)] nbytes: usize) -> PyFit {
        gil::enter();
        PyFit::of(gil::release(py, || self.0.fit(nbytes)))
    }

    /// Allocate for a queue, the default one if none is named.
    #[pyo3(signature = (nbytes, *, queue=None, alignment=None))]
    fn allocate<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = integer::count)] nbytes: usize,
        queue: Option<Py<PyQueue>>,
        #[pyo3(from_py_with = integer::count_or_none)] alignment: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let queue = match queue {
            Some(queue) => queue.get().0.clone(),
            None => self.0.device().default_queue().raise()?,
        };
        let allocation = gil::submit(py, || match alignment {
            None => queue.allocate_from(&self.0, nbytes),
            Some(alignment) => {
                let options = AllocateOptions {
                    alignment,
                    ..AllocateOptions::default()
                };
                let aligned = queue.allocate_with(&self.0, nbytes, &options);
                aligned.map(|(allocation, _)| allocation)
            }
        })?;
        PyMemory::object(py, allocation)
    }

    fn __repr__(&self) -> String {
        let closed = if self.0.is_closed() { ", closed" } else { "" };
        format!(
            "<Pool '{}' of {} memory on {}{closed}>",
            self.0.name(),
            self.0.kind(),
            self.0.device()
        )
    }
}

/// The pool of a kind of memory on a device that is always there and can't be closed.
#[pyfunction]
#[pyo3(
    signature = (device=None, kind=MemoryKind::Device),
    text_signature = "(device=None, kind='device')"
)]
fn default_pool(
    device: Option<DeviceLike>,
    #[pyo3(from_py_with = options::kind)] kind: MemoryKind,
) -> PyResult<PyPool> {
    let device = device_or_default(device)?;
    Ok(PyPool(device.default_pool(kind)))
}

/// The pool that the driver of a device has for a kind of memory itself.
///
/// Other libraries of the process may use it too, and what it has reserved is theirs as well. It can't be
/// closed, and what others set of it stays until it is set here. A device without one raises
/// `millpond.DeviceError`.
#[pyfunction]
#[pyo3(
    signature = (device=None, kind=MemoryKind::Device),
    text_signature = "(device=None, kind='device')"
)]
fn driver_pool(
    py: Python<'_>,
    device: Option<DeviceLike>,
    #[pyo3(from_py_with = options::kind)] kind: MemoryKind,
) -> PyResult<PyPool> {
    let device = device_or_default(device)?;
    gil::submit(py, || device.driver_pool(kind)).map(PyPool)
}

/// The pool that allocations of a kind on a device come from that name none.
///
/// It is that of the thread's innermost `use_pool`, else the one that was set for the device by
/// `set_current_pool`, else the default pool. Pools that were closed don't count.
#[pyfunction]
#[pyo3(
    signature = (device=None, kind=MemoryKind::Device),
    text_signature = "(device=None, kind='device')"
)]
fn current_pool(
    device: Option<DeviceLike>,
    #[pyo3(from_py_with = options::kind)] kind: MemoryKind,
) -> PyResult<PyPool> {
    let device = device_or_default(device)?;
    Ok(PyPool(device.current_pool(kind)))
}

/// Have allocations of all threads that name no pool come from this one, where device and kind are
/// its own. The default pool undoes it, and so does closing the pool.
#[pyfunction]
fn set_current_pool(py: Python<'_>, pool: &PyPool) -> PyResult<()> {
    let pool = &pool.0;
    gil::submit(py, || pool.device().set_current_pool(pool))
}

/// Adds classes and functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyPool>()?;
    module.add_class::<PyFit>()?;
    module.add_function(wrap_pyfunction!(default_pool, module)?)?;
    module.add_function(wrap_pyfunction!(driver_pool, module)?)?;
    module.add_function(wrap_pyfunction!(current_pool, module)?)?;
    module.add_function(wrap_pyfunction!(set_current_pool, module)?)
}
