//! Where a result goes: the queue whose pool gives the memory, and the kind of it.
//!
//! Compute follows data: a result goes to the first array operand's queue, and its memory is of
//! the highest-ranked kind among the operands, device before shared before host.

use millpond_runtime::{Allocation, Device, HostKernel, MemoryKind, Queue};
use millpond_types::{DType, Layout, Shape};

use crate::data_types::{self, Casting};
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
        let home = Home::common(operation, tensors)?;
        Ok(Self {
            queue: home.queue.clone(),
            kind: home.kind,
        })
    }

    /// Fails unless the device computes with the dtype.
    ///
    /// # Errors
    /// [`Error::DeviceDType`].
    pub fn check_dtype(&self, dtype: DType) -> Result<()> {
        Home::from(self).check_dtype(dtype)
    }
}

/// A place whose queue is borrowed: counting its users costs more than small operations do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home<'a> {
    pub(crate) queue: &'a Queue,
    pub(crate) kind: MemoryKind,
}

impl<'a> From<&'a Place> for Home<'a> {
    #[inline]
    fn from(place: &'a Place) -> Self {
        Self {
            queue: &place.queue,
            kind: place.kind,
        }
    }
}

impl<'a> From<&'a Tensor> for Home<'a> {
    #[inline]
    fn from(tensor: &'a Tensor) -> Self {
        Self {
            queue: tensor.memory().home(),
            kind: tensor.kind(),
        }
    }
}

impl<'a> Home<'a> {
    /// As [`Place::common`].
    #[inline]
    pub(crate) fn common(
        operation: &'static str,
        tensors: impl IntoIterator<Item = &'a Tensor>,
    ) -> Result<Self> {
        let mut tensors = tensors.into_iter();
        let Some(first) = tensors.next() else {
            return Err(Error::value(operation, "at least one array is needed"));
        };
        let mut home = Self::from(first);
        for tensor in tensors {
            home.kind = home.kind.min(tensor.kind());
            check_device(operation, home.queue, tensor)?;
        }
        Ok(home)
    }

    /// Makes a new array of a layout without gaps the first operand of a kernel, which gets the others
    /// besides.
    #[inline]
    pub(crate) fn compute<K: HostKernel + 'static>(
        self,
        kernel: K,
        (layout, dtype): (Layout, DType),
        inputs: &[&Allocation],
        nanoseconds: u32,
    ) -> Result<Tensor> {
        let bytes = layout.size() * dtype.size();
        let memory = self
            .queue
            .launch_into_new(kernel, self.kind, bytes, inputs, nanoseconds)?;
        Ok(Tensor::assemble(memory, dtype, layout, false))
    }

    /// Whether kernels are compiled for the device, so that one which has code is best left whole.
    pub(crate) fn compiles(self) -> bool {
        self.queue.device().info().compiles
    }

    /// As [`Place::check_dtype`].
    #[inline]
    pub(crate) fn check_dtype(self, dtype: DType) -> Result<()> {
        let device = self.queue.device();
        if device.info().supports(dtype) {
            return Ok(());
        }
        Err(Error::DeviceDType {
            device: device.name().to_owned(),
            dtype,
        })
    }

    /// Fails unless a result of this shape and dtype can be put into an array.
    pub(crate) fn check_out(
        self,
        operation: &'static str,
        out: &Tensor,
        shape: &Shape,
        dtype: DType,
    ) -> Result<()> {
        out.check_writable(operation)?;
        check_device(operation, self.queue, out)?;
        if *out.shape() != **shape {
            return Err(Error::OutputShape {
                operation,
                output: out.shape().into(),
                result: shape.clone(),
            });
        }
        data_types::check_cast(operation, dtype, out.dtype(), Casting::SameKind)
    }
}

/// Fails unless an array is on the queue's device.
#[inline]
pub(crate) fn check_device(operation: &'static str, queue: &Queue, tensor: &Tensor) -> Result<()> {
    if tensor.memory().is_on(queue) {
        return Ok(());
    }
    check_other_queue(operation, queue, tensor)
}

#[cold]
fn check_other_queue(operation: &'static str, queue: &Queue, tensor: &Tensor) -> Result<()> {
    let (first, second) = (queue.device(), tensor.memory().home().device());
    if first == second {
        return Ok(());
    }
    Err(Error::Devices {
        operation,
        first: first.name().to_owned(),
        second: second.name().to_owned(),
    })
}
