//! Handles of the C interface for objects of Python, and objects for handles: the table that native
//! extensions find in the capsule `_C_API`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use millpond::tensor::Tensor;
use millpond::{Event, Gate, Pool, Queue};
use millpond_capi::device::NamedDevice;
use millpond_capi::handle::{self, Given, Keep};
use millpond_capi::memory::Memory;
use millpond_capi::python::{CAPSULE, Object, PythonTable, Reference, VERSION};
use millpond_capi::status::{self, Problem};
use millpond_capi::table::Table;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::{PyTypeCheck, PyTypeInfo};

use crate::error;
use crate::gil;
use crate::memory::{PyMemory, PyPool};
use crate::runtime::event::PyEvent;
use crate::runtime::gate::PyGate;
use crate::runtime::{PyDevice, PyQueue};
use crate::tensor::array::PyArray;

static TABLE: PythonTable = PythonTable {
    version: VERSION,
    bytes: size_of::<PythonTable>() as u32,
    functions: Table::get(),
    mp_error_raise: raise,
    mp_array_check: check::<Tensor>,
    mp_array_from_python: handle_of::<Tensor>,
    mp_array_to_python: object_of::<Tensor>,
    mp_memory_check: check::<Memory>,
    mp_memory_from_python: handle_of::<Memory>,
    mp_memory_to_python: object_of::<Memory>,
    mp_queue_check: check::<Queue>,
    mp_queue_from_python: handle_of::<Queue>,
    mp_queue_to_python: object_of::<Queue>,
    mp_event_check: check::<Event>,
    mp_event_from_python: handle_of::<Event>,
    mp_event_to_python: object_of::<Event>,
    mp_gate_check: check::<Gate>,
    mp_gate_from_python: handle_of::<Gate>,
    mp_gate_to_python: object_of::<Gate>,
    mp_device_check: check::<NamedDevice>,
    mp_device_from_python: handle_of::<NamedDevice>,
    mp_device_to_python: object_of::<NamedDevice>,
    mp_pool_check: check::<Pool>,
    mp_pool_from_python: handle_of::<Pool>,
    mp_pool_to_python: object_of::<Pool>,
};

/// What C holds of a class of Python.
trait Converted: handle::Object + Sized {
    /// What it is called where an object is none.
    const DESCRIPTION: &'static str;
    type Class: PyTypeInfo;

    fn of_object(object: &Bound<'_, Self::Class>) -> PyResult<Self>;

    fn to_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

/// Classes that hold no more than what C holds.
macro_rules! converted {
    ($($description:literal $rust:ty = $class:ident: $of:expr, $to:expr;)*) => { $(
        impl Converted for $rust {
            const DESCRIPTION: &'static str = $description;
            type Class = $class;

            fn of_object(object: &Bound<'_, $class>) -> PyResult<Self> {
                let of: fn(&$class) -> PyResult<Self> = $of;
                of(object.get())
            }

            fn to_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let to: for<'p> fn(Python<'p>, &Self) -> PyResult<Bound<'p, PyAny>> = $to;
                to(py, self)
            }
        }
    )* };
}

converted! {
    "an array" Tensor = PyArray:
        |array| Ok(array.tensor().clone()),
        |py, tensor| PyArray::object(py, tensor.clone());
    "memory" Memory = PyMemory:
        PyMemory::part,
        |py, memory| PyMemory::of_part(py, memory);
    "a queue" Queue = PyQueue:
        |queue| Ok(queue.0.clone()),
        |py, queue| Ok(Bound::new(py, PyQueue(queue.clone()))?.into_any());
    "an event" Event = PyEvent:
        |event| Ok(event.0.clone()),
        |py, event| Ok(Bound::new(py, PyEvent(event.clone()))?.into_any());
    "a gate" Gate = PyGate:
        |gate| Ok(gate.0.clone()),
        |py, gate| Ok(Bound::new(py, PyGate(gate.clone()))?.into_any());
    "a device" NamedDevice = PyDevice:
        |device| Ok(device.0.clone().into()),
        |py, device| Ok(Bound::new(py, PyDevice(device.device().clone()))?.into_any());
    "a pool" Pool = PyPool:
        |pool| Ok(pool.0.clone()),
        |py, pool| Ok(Bound::new(py, PyPool(pool.clone()))?.into_any());
}

/// Runs the body of a function that C calls with the interpreter lock; where it raises, or panics, the exception is set.
pub(crate) fn guarded<T>(absent: T, body: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    // The caller holds the lock, so nothing is waited for.
    Python::attach(|py| {
        gil::enter();
        let raised = match catch_unwind(AssertUnwindSafe(|| body(py))) {
            Ok(Ok(answer)) => return answer,
            Ok(Err(error)) => error,
            Err(payload) => PanicException::new_err(millpond::Failure::panic_reason(payload)),
        };
        raised.restore(py);
        absent
    })
}

/// The object at a pointer; none for null.
fn borrowed(py: Python<'_>, object: Object) -> Option<Bound<'_, PyAny>> {
    // SAFETY: the header says that the pointer is to an object that the caller has, or null.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, object.pointer().cast()) }
}

unsafe extern "C" fn check<T: Converted>(object: Object) -> i32 {
    guarded(0, |py| {
        let object = borrowed(py, object);
        Ok(object
            .is_some_and(|object| object.is_instance_of::<T::Class>())
            .into())
    })
}

unsafe extern "C" fn handle_of<T: Converted>(object: Object) -> Given<T>
where
    T::Class: PyTypeCheck,
{
    guarded(Given::null(), |py| {
        let Some(object) = borrowed(py, object) else {
            return Err(PyValueError::new_err(format!(
                "{} was expected, got a null",
                T::DESCRIPTION
            )));
        };
        match object.cast::<T::Class>() {
            Ok(object) => T::of_object(object).map(Given::new),
            Err(_) => Err(PyTypeError::new_err(format!(
                "expected {}, got {}",
                T::DESCRIPTION,
                object.get_type().name()?
            ))),
        }
    })
}

unsafe extern "C" fn object_of<T: Converted>(handle: Keep<T>) -> Reference {
    guarded(Reference::new(std::ptr::null_mut()), |py| {
        let object = handle.get().map_err(exception)?.to_object(py)?;
        Ok(Reference::new(object.into_ptr().cast()))
    })
}

unsafe extern "C" fn raise() -> Reference {
    // Asked before owners are let go, whose ends may make calls that fail.
    let last = status::last();
    guarded(Reference::new(std::ptr::null_mut()), |_| {
        Err(last.map_or_else(
            || error::error("no call of this thread has failed".to_owned()),
            exception,
        ))
    })
}

/// The exception for a problem.
fn exception(problem: Problem) -> PyErr {
    match problem {
        Problem::Runtime(error) => error::runtime_error(&error),
        Problem::Tensor(error) => error::tensor_error(error),
        Problem::Null { .. } | Problem::Number { .. } | Problem::Argument { .. } => {
            PyValueError::new_err(problem.to_string())
        }
        Problem::Panic(reason) => PanicException::new_err(reason),
        problem => error::error(problem.to_string()),
    }
}

/// Adds the capsule.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    static NAME: &std::ffi::CStr = c"millpond._millpond._C_API";
    debug_assert_eq!(NAME.to_str(), Ok(CAPSULE), "extensions look there");
    let table = (&raw const TABLE).cast_mut().cast();
    // SAFETY: the table and the name are static, and capsules only hand the pointer on.
    let capsule = unsafe { ffi::PyCapsule_New(table, NAME.as_ptr(), None) };
    // SAFETY: it is null with an exception set, or a new reference.
    let capsule = unsafe { Bound::from_owned_ptr_or_err(module.py(), capsule) }?;
    module.add("_C_API", capsule)
}
