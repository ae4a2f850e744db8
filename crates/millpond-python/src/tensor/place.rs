//! Where a new array goes: the arguments `device=`, `queue=` and `usm_type=`.

use millpond::tensor::{Place, Tensor};
use millpond::{Device, MemoryKind, Queue};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::Raise;
use crate::runtime::PyDevice;
use crate::runtime::PyQueue;
use crate::tensor::foreign;

/// A queue, as `device=` names it: a device or its name, meaning the device's default queue, or a
/// queue.
#[derive(Clone, Debug)]
pub(crate) struct DeviceLike {
    queue: Queue,
    /// Whether a queue was named rather than a device.
    by_queue: bool,
}

impl DeviceLike {
    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Whether a queue was named rather than a device.
    pub(crate) fn names_queue(&self) -> bool {
        self.by_queue
    }

    pub(crate) fn device(&self) -> &Device {
        self.queue.device()
    }
}

impl<'py> FromPyObject<'_, 'py> for DeviceLike {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let device = if let Ok(device) = obj.cast::<PyDevice>() {
            device.get().0.clone()
        } else if let Ok(queue) = obj.cast::<PyQueue>() {
            return Ok(Self {
                queue: queue.get().0.clone(),
                by_queue: true,
            });
        } else if let Ok(name) = obj.cast::<PyString>() {
            millpond::device(name.to_str()?).raise()?
        } else {
            return Err(PyTypeError::new_err(format!(
                "device: expected a device, its name or a queue, got {}",
                foreign::describe(&obj)
            )));
        };
        let queue = device.default_queue().raise()?;
        Ok(Self {
            queue,
            by_queue: false,
        })
    }
}

/// The device of an argument, or the default one.
///
/// # Errors
/// If there is no device.
pub(crate) fn device_or_default(device: Option<DeviceLike>) -> PyResult<Device> {
    match device {
        Some(device) => Ok(device.device().clone()),
        None => millpond::default_device().raise(),
    }
}

/// A kind of memory, by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindLike(pub(crate) MemoryKind);

impl<'py> FromPyObject<'_, 'py> for KindLike {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let name = obj.cast::<PyString>().ok();
        let name = name.as_ref().map(|name| name.to_str()).transpose()?;
        MemoryKind::ALL
            .into_iter()
            .find(|kind| name == Some(kind.name()))
            .map(Self)
            .ok_or_else(|| {
                PyValueError::new_err(format!(
                    "usm_type: expected 'device', 'shared' or 'host', got {}",
                    foreign::describe(&obj)
                ))
            })
    }
}

/// The arguments that say where an array goes.
#[derive(Debug, Default)]
pub(crate) struct Where {
    device: Option<DeviceLike>,
    queue: Option<Py<PyQueue>>,
    kind: Option<KindLike>,
}

impl Where {
    pub(crate) fn new(
        device: Option<DeviceLike>,
        queue: Option<Py<PyQueue>>,
        kind: Option<KindLike>,
    ) -> Self {
        Self {
            device,
            queue,
            kind,
        }
    }

    /// Whether nothing was said.
    #[inline]
    pub(crate) const fn is_open(&self) -> bool {
        self.device.is_none() && self.queue.is_none() && self.kind.is_none()
    }

    /// Whether a queue was named rather than a device.
    pub(crate) fn names_queue(&self) -> bool {
        self.queue.is_some() || self.device.as_ref().is_some_and(|device| device.by_queue)
    }

    /// The queue that was named.
    ///
    /// # Errors
    /// `ValueError` if `device=` and `queue=` disagree.
    pub(crate) fn queue(&self) -> PyResult<Option<Queue>> {
        let named = self.queue.as_ref().map(|queue| queue.get().0.clone());
        match (&self.device, named) {
            (Some(device), Some(queue)) if device.device() != queue.device() => {
                Err(PyValueError::new_err(format!(
                    "device={} and queue={:?} are of different devices",
                    device.device(),
                    queue
                )))
            }
            (_, Some(queue)) => Ok(Some(queue)),
            (Some(device), None) => Ok(Some(device.queue.clone())),
            (None, None) => Ok(None),
        }
    }

    /// The kind of memory that was named.
    pub(crate) fn kind(&self) -> Option<MemoryKind> {
        self.kind.map(|KindLike(kind)| kind)
    }

    /// The place that was named; where nothing was said, memory of the default device.
    ///
    /// # Errors
    /// As for [`Where::queue`]; if there is no device.
    pub(crate) fn place(&self) -> PyResult<Place> {
        let queue = match self.queue()? {
            Some(queue) => queue,
            None => millpond::default_device()
                .and_then(|device| device.default_queue())
                .raise()?,
        };
        let kind = self.kind().unwrap_or(MemoryKind::Device);
        Ok(Place { queue, kind })
    }

    /// The place that was named; where nothing was said, that of an array.
    ///
    /// # Errors
    /// As for [`Where::queue`].
    pub(crate) fn beside(&self, tensor: &Tensor) -> PyResult<Place> {
        let mut place = Place::of(tensor);
        if let Some(queue) = self.queue()? {
            place.queue = queue;
        }
        if let Some(kind) = self.kind() {
            place.kind = kind;
        }
        Ok(place)
    }
}
