//! Where a result goes: the queue whose pool gives the memory, and the kind of it.
//!
//! Compute follows data: a result goes to the first array operand's queue, and its memory is of
//! the highest-ranked kind among the operands, device before shared before host.

use millpond_runtime::{Device, MemoryKind, Queue};
use millpond_types::DType;

use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// A queue and a kind of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where commands run and whose pool gives the memory.
    pub queue: Queue,
    /// The kind of memory.
    pub kind: MemoryKind,
}

impl Place {
    /// Where an array is.
    pub fn of(tensor: &Tensor) -> Self {
        Self {
            queue: tensor.queue(),
            kind: tensor.kind(),
        }
    }

    /// Device memory of a queue.
    pub fn on(queue: &Queue) -> Self {
        Self {
            queue: queue.clone(),
            kind: MemoryKind::Device,
        }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.queue.device()
    }

    /// The place of results of an operation over these arrays.
    ///
    /// # Errors
    /// [`Error::Devices`] if they are on different devices; [`Error::Value`] if there are none.
    pub fn common<'a>(
        operation: &'static str,
        tensors: impl IntoIterator<Item = &'a Tensor>,
    ) -> Result<Self> {
        let mut tensors = tensors.into_iter();
        let Some(first) = tensors.next() else {
            return Err(Error::value(operation, "at least one array is needed"));
        };
        let mut place = Self::of(first);
        for tensor in tensors {
            place.join(operation, tensor)?;
        }
        Ok(place)
    }

    /// Lets another operand have its say.
    #[inline]
    pub(crate) fn join(&mut self, operation: &'static str, tensor: &Tensor) -> Result<()> {
        self.kind = self.kind.min(tensor.kind());
        check_device(operation, &self.queue, tensor)
    }

    /// Fails unless the device computes with the dtype.
    ///
    /// # Errors
    /// [`Error::DeviceDType`].
    pub fn check_dtype(&self, dtype: DType) -> Result<()> {
        if self.device().info().supports(dtype) {
            return Ok(());
        }
        Err(Error::DeviceDType {
            device: self.device().name().to_owned(),
            dtype,
        })
    }
}

/// Fails unless an array is on the queue's device.
#[inline]
pub(crate) fn check_device(operation: &'static str, queue: &Queue, tensor: &Tensor) -> Result<()> {
    if tensor.memory().is_on(queue) || tensor.memory().home().device() == queue.device() {
        return Ok(());
    }
    Err(Error::Devices {
        operation,
        first: queue.device().name().to_owned(),
        second: tensor.memory().home().device().name().to_owned(),
    })
}
